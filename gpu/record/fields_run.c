/* The tables of a run and of all of it but its kernels' rows (fields_row.c). */
#include <string.h>

#include "gpu/record/table.h"

static const char *const device_bys[] = {"uuid", "name", NULL};
static const char *const states[] = {"warm", "cold", NULL};
static const char *const units[] = {"byte_per_s", "flop_per_s", NULL};
static const char *const suites[] = {"verify", "import", NULL};
static const char *const sizes[] = {"course", "scaled", "other", NULL};
static const char *const file_kinds[] = {"ncu", "timings", "recording", "record", "power", NULL};
static const char *const sources[] = {"measured", "replayed", "imported", NULL};
static const char *const outcomes[] = {"ok", "refused", "partial", NULL};

static const struct rl_field rl_object_ceiling_fields[] = {
    STRING(rl_ceiling, name),
    ENUM(rl_ceiling, state, states),
    POSITIVE(rl_ceiling, value, RATE_MAX, .help = "In unit."),
    ONE_OF(rl_ceiling, unit, units),
    STRING(rl_ceiling, method, .help = "What was launched and what is counted."),
    TEXT(rl_ceiling, shape, .help = "The best launch shape."),
    OBJECT(rl_ceiling, time_s, rl_object_times),
    COUNT(rl_ceiling, work, .help = "Bytes or flop per launch, hand-counted."),
    COUNTED(rl_ceiling, dram, .help = "Counted DRAM bytes per launch."),
    REAL(rl_ceiling, dram_per_ask, RATIO_MAX),
    POSITIVE(rl_ceiling, nominal, RATE_MAX, .help = "From queried attributes and the clock seen; an annotation."),
    TEXT(rl_ceiling, nominal_of, .help = "The denominator in words."),
    REAL(rl_ceiling, percent_of_nominal, RATIO_MAX),
    POSITIVE(rl_ceiling, sm_hz, HERTZ_MAX),
    POSITIVE(rl_ceiling, memory_hz, HERTZ_MAX),
    WORDS(rl_ceiling, reasons),
    WORDS(rl_ceiling, flags),
};
TABLE(rl_object_ceiling, "a ceiling", rl_ceiling, "Ceiling", "A measured ceiling of the machine.");

static const struct rl_field check_fields[] = {
    STRING(rl_check, name),
    STRING(rl_check, title, .help = "What was compared."),
    FLAG3(rl_check, passed),
    DETAIL(rl_check, detail, .help = "Figures seen."),
    BOOL(rl_check, refuses, .help = "A failure makes the run refused."),
};
static TABLE(check, "a check", rl_check, "Check", "A check of the run.");

static const struct rl_field rl_object_device_fields[] = {
    STRING(rl_device, id),
    TEXT(rl_device, uuid),
    STRING(rl_device, name),
    TEXT(rl_device, chip, .help = "The profiling library's name."),
    TEXT(rl_device, pci_bus_id),
    COUNT(rl_device, compute_major),
    COUNT(rl_device, compute_minor),
    COUNT(rl_device, sm_count),
    COUNT(rl_device, l2_bytes),
    COUNT(rl_device, memory_bytes),
    COUNT(rl_device, memory_bus_bits),
    COUNT(rl_device, fp32_lanes_per_sm),
    COUNT(rl_device, max_sm_hz),
    COUNT(rl_device, max_memory_hz),
    COUNT(rl_device, warp_size),
    COUNT(rl_device, persisting_l2_bytes),
    COUNT(rl_device, max_threads_per_sm),
};
TABLE(rl_object_device, "a device", rl_device, "Device", "A GPU.");

static const struct rl_field rl_object_environment_fields[] = {
    TEXT(rl_environment, driver_version),
    TEXT(rl_environment, cuda_driver_version),
    TEXT(rl_environment, cuda_runtime_version),
    TEXT(rl_environment, cupti_version),
    TEXT(rl_environment, hostname),
    TEXT(rl_environment, kernel_release),
    FLAG3(rl_environment, ecc),
    TEXT(rl_environment, mig, .help = "off, or the profile's name."),
    REAL(rl_environment, power_limit_w, 1e6, .help = "W"),
    TEXT(rl_environment, compute_mode),
    TEXT(rl_environment, persistence_mode),
    FLAG3(rl_environment, profiling_admin_only, .help = "The driver gives counters to administrators only."),
    STRING(rl_environment, build, .help = "Of the measuring program."),
    TEXT(rl_environment, cubin, .help = "The code that ran: sm_90, or ptx."),
    INT(rl_environment, method_version, 1, 1000000),
};
TABLE(rl_object_environment, "an environment", rl_environment, "Environment", "What the device was measured under.");

static const struct rl_field metric_fields[] = {
    STRING(rl_metric, name),
    STRING(rl_metric, metric),
};
static TABLE(metric, "a metric", rl_metric, NULL, NULL);

static bool is_counter_status(const char *text)
{
    return strcmp(text, "ok") == 0 || strcmp(text, "off") == 0 || rl_code_from_id(text) != RL_E_NONE;
}

static const struct rl_field rl_object_counters_fields[] = {
    {AT(rl_counters, status), .kind = RL_KIND_STRING, .max_count = TEXT_MAX, .allowed = is_counter_status,
     .help = "ok, off, or an error's code."},
    {.name = "reason",
     .kind = RL_KIND_TEXT,
     .offset = offsetof(struct rl_counters, why),
     .max_count = DETAIL_MAX,
     .help = "Why the status is not ok."},
    LIST(rl_counters, "metrics", metrics, metric_count, METRICS_MAX, metric),
    COUNT(rl_counters, passes),
    COUNTED(rl_counters, floor_dram_bytes, .help = "DRAM bytes of an empty range."),
    COUNTED(rl_counters, flush_dram_bytes, .help = "Of a flush alone."),
    REAL(rl_counters, flush_spread_bytes, BYTES_MAX, .help = "Its largest less its smallest."),
    REAL(rl_counters, self_test, RATIO_MAX, .help = "Warm copy: DRAM bytes over asked bytes."),
};
TABLE(rl_object_counters, "counters", rl_counters, "Counters", "The counter session.");

static const struct rl_field rl_object_telemetry_fields[] = {
    STRING(rl_telemetry, at),
    REAL(rl_telemetry, time_s, SECONDS_MAX, .help = "Since the run's start."),
    REAL(rl_telemetry, sm_hz, HERTZ_MAX),
    REAL(rl_telemetry, memory_hz, HERTZ_MAX),
    CELSIUS(rl_telemetry, temperature_c),
    REAL(rl_telemetry, power_w, 1e6),
    REAL(rl_telemetry, energy_j, 1e18),
    WORDS(rl_telemetry, reasons),
    COUNT(rl_telemetry, other_processes, .help = "On the GPU beside ours; counted, not named."),
};
TABLE(rl_object_telemetry, "telemetry", rl_telemetry, "Telemetry", NULL);

static const struct rl_field lent_ceiling_fields[] = {
    STRING(rl_lent_ceiling, name),
    ENUM(rl_lent_ceiling, state, states),
    POSITIVE(rl_lent_ceiling, value, RATE_MAX, .help = "In the unit."),
    ONE_OF(rl_lent_ceiling, unit, units),
};
static TABLE(lent_ceiling, "a lent ceiling", rl_lent_ceiling, "LentCeiling", "A lent roof.");

static const struct rl_field lent_fields[] = {
    STRING(rl_lent, run, .help = "The lender.", .pattern = "^[1-9][0-9]{0,18}$"),
    ENUM(rl_lent, source, sources, .help = "Of the lender."),
    {.name = "date", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_lent, date_ms), .help = "Of the lender."},
    {.name = "recorded_at",
     .kind = RL_KIND_TIME_OR_NULL,
     .offset = offsetof(struct rl_lent, recorded_at_ms),
     .absent = "the run that lent is not a replay of a recording",
     .help = "Of a replayed lender: when its recording was made."},
    TEXT(rl_lent, driver, .help = "Of the lender."),
    ONE_OF(rl_lent, device_by, device_bys,
           .help = "How the device is known to be the same: by its UUID, or by its name, which one measured device "
                   "alone has."),
    DETAIL(rl_lent, sentence, .help = "All of that in words."),
    LIST(rl_lent, "ceilings", ceilings, ceiling_count, CEILINGS_MAX, lent_ceiling),
};
static TABLE(lent, "lent roofs", rl_lent, "Lent",
             "Roofs that another run of the same device lent to this one, which has none of their kind: copied when "
             "they were lent, so that they outlive the lender.");

static const struct rl_field import_file_fields[] = {
    ONE_OF(rl_import_file, kind, file_kinds),
    STRING(rl_import_file, format, .help = "What it was found to be: encoding, shape, separators."),
    INT(rl_import_file, bytes, 0, INT64_MAX),
    STRING(rl_import_file, sha256, .pattern = "^[0-9a-f]{64}$"),
};
static TABLE(import_file, "an imported file", rl_import_file, NULL, NULL);

static const struct rl_field import_fields[] = {
    LIST(rl_import, "files", files, file_count, FILES_MAX, import_file),
    WORDS(rl_import, notes, .help = "What was left out, summed, derived or not found."),
};
static TABLE(import, "an import", rl_import, "Import", "What an imported run was made of.");

static const struct rl_field power_fields[] = {
    REAL(rl_power, average_w, 1e6, .help = "Over the time that samples cover."),
    REAL(rl_power, energy_j, 1e18, .help = "Of the whole window; null where samples are missing or the clock was set."),
    INT(rl_power, samples, 1, 1000000000, .help = "Within the window."),
    POSITIVE(rl_power, interval_s, SECONDS_MAX,
             .help = "The usual one between samples: the grain of what is told here."),
    TEXT(rl_power, from, .help = "The window's beginning, by the log's own clock, whose time zone it does not say."),
    TEXT(rl_power, until, .help = "The window's end, likewise."),
    STRING(rl_power, source),
};
static TABLE(power, "power", rl_power, "Power", "Power over an imported run's window, from a log of the GPU's.");

static const struct rl_field rl_object_run_fields[] = {
    INT(rl_run, record_version, 1, INT32_MAX, .since = 2,
        .help = "Version of this document: which members it has. Absent: 1. Members are only added."),
    ONE_OF(rl_run, suite, suites, .help = "import: rows that are not of the suite."),
    ONE_OF(rl_run, sizes, sizes, .help = "other: an import with sizes of its own."),
    ENUM(rl_run, source, sources),
    ENUM(rl_run, outcome, outcomes, .help = "refused: a kernel's result is wrong."),
    WORDS(rl_run, outcome_reasons),
    {.name = "date",
     .kind = RL_KIND_TIME,
     .offset = offsetof(struct rl_run, finished_at_ms),
     .help = "By which runs are listed."},
    {.name = "started_at", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_run, started_at_ms)},
    {.name = "finished_at", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_run, finished_at_ms)},
    {.name = "recorded_at",
     .kind = RL_KIND_TIME_OR_NULL,
     .offset = offsetof(struct rl_run, recorded_at_ms),
     .absent = "this run is not a replay of a recording",
     .help = "Of a replayed run: when its recording was made."},
    OBJECT(rl_run, device, rl_object_device),
    OBJECT(rl_run, environment, rl_object_environment),
    OBJECT(rl_run, counters, rl_object_counters),
    LIST(rl_run, "ceilings", ceilings, ceiling_count, CEILINGS_MAX, rl_object_ceiling),
    POSITIVE(rl_run, ridge_flop_per_byte, RATIO_MAX, .help = "fp32_fma over dram_copy."),
    LIST(rl_run, "kernels", rows, row_count, ROWS_MAX, rl_object_row),
    LIST(rl_run, "checks", checks, check_count, CHECKS_MAX, check),
    LIST(rl_run, "telemetry", telemetry, telemetry_count, TELEMETRY_MAX, rl_object_telemetry),
    BOOL(rl_run, counter_backed, .help = "Every requested row has DRAM bytes."),
    WORDS(rl_run, flags, .help = "shared, throttled, driver_changed, clock_stepped."),
    {.name = "lent", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_run, lent), .object = &lent},
    {.name = "import", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_run, import), .object = &import},
    OPTIONAL(rl_run, power, power),
};
TABLE(rl_object_run, "a run", rl_run, "Run", "One verification, whole and immutable.");
