/* The tables of a kernel's row. Limits are those of an honest run with room to spare: a document that passes them
 * cannot make a reader overflow, divide by zero or draw a page of megabytes. */
#include "gpu/record/table.h"

static const char *const stops[] = {"std_error", "noise_stable", "wall_time", "max_samples", NULL};
static const char *const bounds[] = {"memory", "compute", "latency", NULL};
static const char *const advices[] = {"fix_access", "change_algorithm", "fix_kernel", NULL};
static const char *const dram_causes[] = {"half_used_sectors", "re_reads", "write_back", NULL};

static const struct rl_field rl_object_times_fields[] = {
    POSITIVE(rl_times, median, SECONDS_MAX, .help = "Median of the samples."),
    POSITIVE(rl_times, p25, SECONDS_MAX, .help = "Quantile by linear interpolation."),
    POSITIVE(rl_times, p75, SECONDS_MAX, .help = "Quantile by linear interpolation."),
    POSITIVE(rl_times, min, SECONDS_MAX, .help = "Smallest sample."),
    REAL(rl_times, std_error, SECONDS_MAX, .help = "McKean-Schrader standard error of the median."),
    INT(rl_times, n, 0, 1000000, .help = "Samples kept."),
    INT(rl_times, launches, 0, 1000000000, .help = "Launches per sample; 1 when cold."),
    TEXT_OF(rl_times, stop, stops, .help = "The rule that ended sampling."),
};
TABLE(rl_object_times, "times", rl_times, "Times", "One row's time per launch, from raw samples; s.");

static const struct rl_field bytes_fields[] = {
    COUNTED(rl_bytes, l1, .help = "Global and local traffic of L1."),
    COUNTED(rl_bytes, l2, .help = "All L2 traffic, its partitions' own included (lts__t_bytes)."),
    COUNTED(rl_bytes, l2_sm, .help = "L2 traffic of the SMs."),
    COUNTED(rl_bytes, dram, .help = "dram_read + dram_write."),
    COUNTED(rl_bytes, dram_read),
    COUNTED(rl_bytes, dram_write),
    COUNTED(rl_bytes, dram_settled, .help = "Cold: all that the launch owed DRAM, write-back included; warm: dram."),
    COUNTED(rl_bytes, dram_4n, .help = "Warm: dram per launch of a batch four times as long."),
};
static TABLE(bytes, "bytes", rl_bytes, "Bytes",
             "Bytes per launch, from counters of the same cache state as the time: whole numbers over the launches "
             "counted, so that what is not 0 is at least 1e-9.");

static const struct rl_field intensity_fields[] = {
    REAL(rl_intensity, ask, RATIO_MAX, .help = "Over hand-counted asked bytes."),
    REAL(rl_intensity, l1, RATIO_MAX),
    REAL(rl_intensity, l2, RATIO_MAX),
    REAL(rl_intensity, dram, RATIO_MAX, .help = "Over DRAM bytes, settled when cold."),
};
static TABLE(intensity, "an intensity", rl_intensity, "Intensity",
             "Flop per byte; unknown without flop or with bytes at the floor: the counter's, or when warm 0.0001 of "
             "the asked bytes.");

static const struct rl_field profiled_fields[] = {
    POSITIVE(rl_profiled, time_s, SECONDS_MAX, .help = "Seconds per launch, by the profiler's own clock."),
    POSITIVE(rl_profiled, sm_hz, HERTZ_MAX, .help = "The SM clock that the profiler saw; by default it locks it."),
};
static TABLE(profiled, "a profiler's time", rl_profiled, "Profiled",
             "What a profiler said of the time of the launches that it counted: the mean over them.");

static const struct rl_field levels_fields[] = {
    POSITIVE(rl_levels, dram_byte_per_s, RATE_MAX,
             .help = "Of the row's own mix of reads and writes, where that was measured."),
    REAL(rl_levels, dram_percent, RATIO_MAX, .help = "Of it, DRAM traffic's."),
    POSITIVE(rl_levels, l2_byte_per_s, RATE_MAX, .help = "The L2 read roof."),
    REAL(rl_levels, l2_percent, RATIO_MAX, .help = "Of it, the traffic's between SMs and L2."),
    POSITIVE(rl_levels, l1_byte_per_s, RATE_MAX, .help = "The L1 read roof."),
    REAL(rl_levels, l1_percent, RATIO_MAX, .help = "Of it, the L1 traffic's."),
    POSITIVE(rl_levels, compute_flop_per_s, RATE_MAX,
             .help = "Of the row's own precisions: all flop over the sum of each precision's flop over its ceiling."),
    REAL(rl_levels, compute_percent, RATIO_MAX, .help = "Of it, the flop rate's."),
};
static TABLE(levels, "levels", rl_levels, "Levels",
             "Each level's roof, and how near the row is to it, where roofs are lent or the flop are counted by "
             "precision. A run that measured its own ceilings is judged by those alone: these stand beside the "
             "judgement and enter no trend, comparison or verdict.");

static const struct rl_field explained_fields[] = {
    ADVICE(rl_explained, dram_per_ask, .help = "Why DRAM/ask is above 1, where the counters tell."),
    TEXT_OF(rl_explained, dram_cause, dram_causes, .help = "The same as a word."),
    ADVICE(rl_explained, flop, .help = "Which count of flop is used, and where the other is apart from it."),
    ADVICE(rl_explained, roof, .help = "What the percentage is of, where that is not simply the row's own roof."),
};
static TABLE(explained, "an explanation", rl_explained, "Explained",
             "What a row's figures do not say by themselves, a sentence each.");

static const struct rl_field state_fields[] = {
    OBJECT(rl_row_state, time_s, rl_object_times),
    OBJECT(rl_row_state, bytes, bytes),
    REAL(rl_row_state, dram_per_ask, RATIO_MAX, .help = "DRAM bytes (settled when cold) over asked bytes."),
    OBJECT(rl_row_state, intensity, intensity),
    REAL(rl_row_state, flop_per_s, RATE_MAX),
    REAL(rl_row_state, dram_byte_per_s, RATE_MAX),
    REAL(rl_row_state, percent_of_ceiling, RATIO_MAX,
         .help = "DRAM byte rate over dram_copy of the same state; not clamped."),
    TEXT_OF(rl_row_state, bound, bounds, .help = "What limits the row."),
    ADVICE(rl_row_state, advice, .help = "What to do about the kernel."),
    TEXT_OF(rl_row_state, advice_code, advices),
    REAL(rl_row_state, attainable_flop_per_s, RATE_MAX, .help = "The roof at the row's DRAM intensity."),
    REAL(rl_row_state, percent_of_roof, RATIO_MAX),
    /* a ratio of two counters: a hair above 1 is noise, more is nonsense */
    REAL(rl_row_state, occupancy, 1.01, .help = "Achieved, 0 to 1."),
    COUNTED(rl_row_state, local_bytes, .help = "Local-memory bytes per launch (spills, stack)."),
    POSITIVE(rl_row_state, sm_hz, HERTZ_MAX, .help = "SM clock seen inside the kernel."),
    POSITIVE(rl_row_state, memory_hz, HERTZ_MAX),
    CELSIUS(rl_row_state, temperature_c),
    WORDS(rl_row_state, reasons, .help = "Clock event reasons seen around the row."),
    INT(rl_row_state, attempts, 0, 1000, .help = "1, or more after a retry."),
    WORDS(rl_row_state, flags, .help = "clock_moved, throttled, not_steady, cache_resident and others."),
    OPTIONAL(rl_row_state, profiled, profiled),
    OPTIONAL(rl_row_state, levels, levels),
    OPTIONAL(rl_row_state, explained, explained),
};
static TABLE(state, "a state", rl_row_state, "RowState", "A kernel in one cache state.");

static const struct rl_field launch_fields[] = {
    INT3_OR_NULL(rl_launch, grid, dims_why, 0, INT32_MAX),
    INT3_OR_NULL(rl_launch, block, dims_why, 0, 1024),
    INT_OR_NULL(rl_launch, shared_bytes, shared_why, 0, INT32_MAX, .help = "Per block."),
    COUNT(rl_launch, registers, .help = "Per thread."),
    COUNT(rl_launch, local_bytes, .help = "Per thread, of the compiled function."),
    COUNT(rl_launch, max_blocks_per_sm, .help = "By the occupancy API."),
    TEXT(rl_launch, shape, .help = "The sizes in words."),
};
static TABLE(launch, "a launch", rl_launch, "Launch", NULL);

static const struct rl_field import_launch_fields[] = {
    INT(rl_import_launch, order, 1, INT32_MAX, .help = "Among the launches of its row, in the file's order."),
    INT(rl_import_launch, id, 0, INT64_MAX, .help = "The profiler's own."),
    COUNTED(rl_import_launch, dram, .help = "Bytes."),
    COUNTED(rl_import_launch, dram_read, .help = "Bytes."),
    COUNTED(rl_import_launch, dram_write, .help = "Bytes."),
};
static TABLE(import_launch, "a counted launch", rl_import_launch, "ImportLaunch",
             "One launch that a profiler counted.");

static const struct rl_field import_percent_fields[] = {
    STRING(rl_import_percent, metric),
    REAL(rl_import_percent, percent, RATIO_MAX,
         .help = "Mean over the launches; may pass 100, and then the row is flagged."),
};
static TABLE(import_percent, "a percentage", rl_import_percent, NULL, NULL);

static const struct rl_field row_import_fields[] = {
    NAME_TEXT(rl_row_import, function, .help = "The kernel's name as the profiler gave it."),
    TEXT(rl_row_import, combined, .help = "How several launches became one row."),
    INT(rl_row_import, launch_count, 0, INT32_MAX),
    LIST(rl_row_import, "launches", launches, launches_shown, RL_IMPORT_LAUNCHES_SHOWN, import_launch,
         .help = "The first of them."),
    LIST(rl_row_import, "percents", percents, percent_count, PERCENTS_MAX, import_percent),
};
static TABLE(row_import, "an import's row", rl_row_import, "RowImport", "Where an imported row's bytes come from.");

static const struct rl_field flop_by_precision_fields[] = {
    COUNTED(rl_flop_by_precision, fp64),
    COUNTED(rl_flop_by_precision, fp32),
    COUNTED(rl_flop_by_precision, fp16),
    COUNTED(rl_flop_by_precision, tensor),
};
static TABLE(flop_by_precision, "flop by precision", rl_flop_by_precision, "FlopByPrecision",
             "Floating-point operations per launch as counted, by the precision that they were done in; what was not "
             "counted is null, not 0.");

static const struct rl_field rl_object_row_fields[] = {
    NAME(rl_row, kernel),
    NAME(rl_row, title),
    COUNT(rl_row, flop, .help = "Hand count per launch; an FMA is 2."),
    COUNTED(rl_row, flop_counted, .help = "add + mul + 2 fma instructions per launch, by SASS counters."),
    COUNT(rl_row, ask_bytes, .help = "Hand-counted global-memory bytes per launch."),
    OBJECT(rl_row, launch, launch),
    {.name = "warm", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, state[RL_WARM]), .object = &state},
    {.name = "cold", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, state[RL_COLD]), .object = &state},
    {.name = "mixed",
     .kind = RL_KIND_STATE,
     .offset = offsetof(struct rl_row, state[RL_MIXED]),
     .object = &state,
     .help = "Bytes of cold launches with times of warm ones: shown, never judged."},
    WORDS(rl_row, flags),
    OPTIONAL(rl_row, flop_by_precision, flop_by_precision),
    {.name = "import", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, import), .object = &row_import},
};
TABLE(rl_object_row, "a kernel row", rl_row, "KernelRow",
      "One of the ten kernels, or of an import's own; warm and cold are there when they were asked for. mixed and "
      "import are there in imports only.");
