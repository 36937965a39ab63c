/* The field tables. Limits are those of an honest run with room to spare: a document that passes them cannot make a
 * reader overflow, divide by zero or draw a page of megabytes. */
#include "gpu/record/fields.h"

#include <string.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"

#define TEXT_MAX       512u
#define DETAIL_MAX     1024u
#define WORDS_MAX      64u
#define NAME_MAX_BYTES 16384u /* a template's name with its arguments: up to 7 KB have been seen */
#define ROWS_MAX       512u   /* the catalogue has ten; an import may bring a program's own */
#define FILES_MAX      4u
#define PERCENTS_MAX   16u
#define CEILINGS_MAX   32u
#define CHECKS_MAX     64u
#define TELEMETRY_MAX  256u
#define METRICS_MAX    64u

#define SECONDS_MAX 1e6  /* eleven days in one launch */
#define BYTES_MAX   1e18 /* per launch: an hour at 250 TB/s */
/* A counter's value per launch is 0 or at least one over the launches that it was divided by: at most 1e9, as a sample
 * may have. */
#define COUNTED_LEAST 1e-9
#define RATE_MAX      1e21 /* flop/s or byte/s of one GPU */
#define RATIO_MAX     1e15
#define HERTZ_MAX     1e12
#define COUNT_MAX     INT64_C(1000000000000000000)

/* What stands behind a field's own arguments is set besides: .since = N. */
/* clang-format off */
#define TABLE(name, title, type)                                                                                       \
    const struct rl_object name = {title, name##_fields, sizeof name##_fields / sizeof name##_fields[0], sizeof(struct type)}
#define AT(type, member) .name = #member, .offset = offsetof(struct type, member)
#define STRING(type, member, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = TEXT_MAX, __VA_ARGS__}
#define NAME(type, member, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = NAME_MAX_BYTES, __VA_ARGS__}
#define NAME_TEXT(type, member, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = NAME_MAX_BYTES, __VA_ARGS__}
#define DETAIL(type, member, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = DETAIL_MAX, __VA_ARGS__}
#define ONE_OF(type, member, list, ...) {AT(type, member), .kind = RL_KIND_STRING, .max_count = TEXT_MAX, .words = list, __VA_ARGS__}
#define ENUM(type, member, list, ...) {AT(type, member), .kind = RL_KIND_ENUM, .words = list, __VA_ARGS__}
#define BOOL(type, member, ...) {AT(type, member), .kind = RL_KIND_BOOL, __VA_ARGS__}
#define INT(type, member, low, high, ...) {AT(type, member), .kind = RL_KIND_INT, .int_min = low, .int_max = high, __VA_ARGS__}
#define INT3(type, member, low, high, ...) {AT(type, member), .kind = RL_KIND_INT3, .int_min = low, .int_max = high, __VA_ARGS__}
#define REAL(type, member, high, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = 0, .max = high, __VA_ARGS__}
#define POSITIVE(type, member, high, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = 0, .max = high, .above_min = true, __VA_ARGS__}
#define COUNTED(type, member, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = 0, .max = BYTES_MAX, .least = COUNTED_LEAST, __VA_ARGS__}
#define CELSIUS(type, member, ...) {AT(type, member), .kind = RL_KIND_REAL, .min = -273.15, .max = 1000, __VA_ARGS__}
#define COUNT(type, member, ...) {AT(type, member), .kind = RL_KIND_COUNT, .int_min = 0, .int_max = COUNT_MAX, __VA_ARGS__}
#define TEXT(type, member, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = TEXT_MAX, __VA_ARGS__}
#define TEXT_OF(type, member, list, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = TEXT_MAX, .words = list, __VA_ARGS__}
#define ADVICE(type, member, ...) {AT(type, member), .kind = RL_KIND_TEXT, .max_count = DETAIL_MAX, __VA_ARGS__}
#define FLAG3(type, member, ...) {AT(type, member), .kind = RL_KIND_FLAG3, __VA_ARGS__}
#define WORDS(type, member, ...) {AT(type, member), .kind = RL_KIND_WORDS, .max_count = WORDS_MAX, __VA_ARGS__}
#define INT_OR_NULL(type, member, reason, low, high, ...) \
    {AT(type, member), .kind = RL_KIND_INT_OR_NULL, .int_min = low, .int_max = high, .why_offset = offsetof(struct type, reason), __VA_ARGS__}
#define INT3_OR_NULL(type, member, reason, low, high, ...) \
    {AT(type, member), .kind = RL_KIND_INT3_OR_NULL, .int_min = low, .int_max = high, .why_offset = offsetof(struct type, reason), __VA_ARGS__}
#define OBJECT(type, member, table, ...) {AT(type, member), .kind = RL_KIND_OBJECT, .object = &table, __VA_ARGS__}
#define OPTIONAL(type, member, table, ...) {AT(type, member), .kind = RL_KIND_STATE, .object = &table, __VA_ARGS__}
#define LIST(type, json, member, counter, most, table, ...) \
    {.name = json, .offset = offsetof(struct type, member), .kind = RL_KIND_LIST, \
     .count_offset = offsetof(struct type, counter), .max_count = most, .object = &table, __VA_ARGS__}
/* clang-format on */

static const char *const stops[] = {"std_error", "noise_stable", "wall_time", "max_samples", NULL};
static const char *const bounds[] = {"memory", "compute", "latency", NULL};
static const char *const advices[] = {"fix_access", "change_algorithm", "fix_kernel", NULL};
static const char *const dram_causes[] = {"half_used_sectors", "re_reads", "write_back", NULL};
static const char *const device_bys[] = {"uuid", "name", NULL};
static const char *const states[] = {"warm", "cold", NULL};
static const char *const units[] = {"byte_per_s", "flop_per_s", NULL};
static const char *const suites[] = {"verify", "import", NULL};
static const char *const sizes[] = {"course", "scaled", "other", NULL};
static const char *const file_kinds[] = {"ncu", "timings", "recording", "record", "power", NULL};
static const char *const sources[] = {"measured", "replayed", "imported", NULL};
static const char *const outcomes[] = {"ok", "refused", "partial", NULL};

static const struct rl_field times_fields[] = {
    POSITIVE(rl_times, median, SECONDS_MAX), POSITIVE(rl_times, p25, SECONDS_MAX),
    POSITIVE(rl_times, p75, SECONDS_MAX),    POSITIVE(rl_times, min, SECONDS_MAX),
    REAL(rl_times, std_error, SECONDS_MAX),  INT(rl_times, n, 0, 1000000),
    INT(rl_times, launches, 0, 1000000000),  TEXT_OF(rl_times, stop, stops),
};
static TABLE(times, "times", rl_times);

static const struct rl_field bytes_fields[] = {
    COUNTED(rl_bytes, l1),           COUNTED(rl_bytes, l2),        COUNTED(rl_bytes, l2_sm),
    COUNTED(rl_bytes, dram),         COUNTED(rl_bytes, dram_read), COUNTED(rl_bytes, dram_write),
    COUNTED(rl_bytes, dram_settled), COUNTED(rl_bytes, dram_4n),
};
static TABLE(bytes, "bytes", rl_bytes);

static const struct rl_field intensity_fields[] = {
    REAL(rl_intensity, ask, RATIO_MAX),
    REAL(rl_intensity, l1, RATIO_MAX),
    REAL(rl_intensity, l2, RATIO_MAX),
    REAL(rl_intensity, dram, RATIO_MAX),
};
static TABLE(intensity, "an intensity", rl_intensity);

static const struct rl_field profiled_fields[] = {
    POSITIVE(rl_profiled, time_s, SECONDS_MAX),
    POSITIVE(rl_profiled, sm_hz, HERTZ_MAX),
};
static TABLE(profiled, "a profiler's time", rl_profiled);

static const struct rl_field levels_fields[] = {
    POSITIVE(rl_levels, dram_byte_per_s, RATE_MAX),    REAL(rl_levels, dram_percent, RATIO_MAX),
    POSITIVE(rl_levels, l2_byte_per_s, RATE_MAX),      REAL(rl_levels, l2_percent, RATIO_MAX),
    POSITIVE(rl_levels, l1_byte_per_s, RATE_MAX),      REAL(rl_levels, l1_percent, RATIO_MAX),
    POSITIVE(rl_levels, compute_flop_per_s, RATE_MAX), REAL(rl_levels, compute_percent, RATIO_MAX),
};
static TABLE(levels, "levels", rl_levels);

static const struct rl_field explained_fields[] = {
    ADVICE(rl_explained, dram_per_ask),
    TEXT_OF(rl_explained, dram_cause, dram_causes),
    ADVICE(rl_explained, flop),
    ADVICE(rl_explained, roof),
};
static TABLE(explained, "an explanation", rl_explained);

static const struct rl_field state_fields[] = {
    OBJECT(rl_row_state, time_s, times),
    OBJECT(rl_row_state, bytes, bytes),
    REAL(rl_row_state, dram_per_ask, RATIO_MAX),
    OBJECT(rl_row_state, intensity, intensity),
    REAL(rl_row_state, flop_per_s, RATE_MAX),
    REAL(rl_row_state, dram_byte_per_s, RATE_MAX),
    REAL(rl_row_state, percent_of_ceiling, RATIO_MAX),
    TEXT_OF(rl_row_state, bound, bounds),
    ADVICE(rl_row_state, advice),
    TEXT_OF(rl_row_state, advice_code, advices),
    REAL(rl_row_state, attainable_flop_per_s, RATE_MAX),
    REAL(rl_row_state, percent_of_roof, RATIO_MAX),
    REAL(rl_row_state, occupancy, 1.01), /* a ratio of two counters: a hair above 1 is noise, more is nonsense */
    COUNTED(rl_row_state, local_bytes),
    POSITIVE(rl_row_state, sm_hz, HERTZ_MAX),
    POSITIVE(rl_row_state, memory_hz, HERTZ_MAX),
    CELSIUS(rl_row_state, temperature_c),
    WORDS(rl_row_state, reasons),
    INT(rl_row_state, attempts, 0, 1000),
    WORDS(rl_row_state, flags),
    OPTIONAL(rl_row_state, profiled, profiled),
    OPTIONAL(rl_row_state, levels, levels),
    OPTIONAL(rl_row_state, explained, explained),
};
static TABLE(state, "a state", rl_row_state);

static const struct rl_field launch_fields[] = {
    INT3_OR_NULL(rl_launch, grid, dims_why, 0, INT32_MAX),
    INT3_OR_NULL(rl_launch, block, dims_why, 0, 1024),
    INT_OR_NULL(rl_launch, shared_bytes, shared_why, 0, INT32_MAX),
    COUNT(rl_launch, registers),
    COUNT(rl_launch, local_bytes),
    COUNT(rl_launch, max_blocks_per_sm),
    TEXT(rl_launch, shape),
};
static TABLE(launch, "a launch", rl_launch);

static const struct rl_field import_launch_fields[] = {
    INT(rl_import_launch, order, 1, INT32_MAX),
    INT(rl_import_launch, id, 0, INT64_MAX),
    COUNTED(rl_import_launch, dram),
    COUNTED(rl_import_launch, dram_read),
    COUNTED(rl_import_launch, dram_write),
};
static TABLE(import_launch, "a counted launch", rl_import_launch);

static const struct rl_field import_percent_fields[] = {
    STRING(rl_import_percent, metric),
    REAL(rl_import_percent, percent, RATIO_MAX),
};
static TABLE(import_percent, "a percentage", rl_import_percent);

static const struct rl_field row_import_fields[] = {
    NAME_TEXT(rl_row_import, function),
    TEXT(rl_row_import, combined),
    INT(rl_row_import, launch_count, 0, INT32_MAX),
    LIST(rl_row_import, "launches", launches, launches_shown, RL_IMPORT_LAUNCHES_SHOWN, import_launch),
    LIST(rl_row_import, "percents", percents, percent_count, PERCENTS_MAX, import_percent),
};
static TABLE(row_import, "an import's row", rl_row_import);

static const struct rl_field import_file_fields[] = {
    ONE_OF(rl_import_file, kind, file_kinds),
    STRING(rl_import_file, format),
    INT(rl_import_file, bytes, 0, INT64_MAX),
    STRING(rl_import_file, sha256),
};
static TABLE(import_file, "an imported file", rl_import_file);

static const struct rl_field import_fields[] = {
    LIST(rl_import, "files", files, file_count, FILES_MAX, import_file),
    WORDS(rl_import, notes),
};
static TABLE(import, "an import", rl_import);

static const struct rl_field power_fields[] = {
    REAL(rl_power, average_w, 1e6),
    REAL(rl_power, energy_j, 1e18),
    INT(rl_power, samples, 1, 1000000000),
    POSITIVE(rl_power, interval_s, SECONDS_MAX),
    TEXT(rl_power, from),
    TEXT(rl_power, until),
    STRING(rl_power, source),
};
static TABLE(power, "power", rl_power);

static const struct rl_field flop_by_precision_fields[] = {
    COUNTED(rl_flop_by_precision, fp64),
    COUNTED(rl_flop_by_precision, fp32),
    COUNTED(rl_flop_by_precision, fp16),
    COUNTED(rl_flop_by_precision, tensor),
};
static TABLE(flop_by_precision, "flop by precision", rl_flop_by_precision);

static const struct rl_field rl_object_row_fields[] = {
    NAME(rl_row, kernel),
    NAME(rl_row, title),
    COUNT(rl_row, flop),
    COUNTED(rl_row, flop_counted),
    COUNT(rl_row, ask_bytes),
    OBJECT(rl_row, launch, launch),
    {.name = "warm", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, state[RL_WARM]), .object = &state},
    {.name = "cold", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, state[RL_COLD]), .object = &state},
    {.name = "mixed", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, state[RL_MIXED]), .object = &state},
    WORDS(rl_row, flags),
    OPTIONAL(rl_row, flop_by_precision, flop_by_precision),
    {.name = "import", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_row, import), .object = &row_import},
};
TABLE(rl_object_row, "a kernel row", rl_row);

static const struct rl_field rl_object_ceiling_fields[] = {
    STRING(rl_ceiling, name),
    ENUM(rl_ceiling, state, states),
    POSITIVE(rl_ceiling, value, RATE_MAX),
    ONE_OF(rl_ceiling, unit, units),
    STRING(rl_ceiling, method),
    TEXT(rl_ceiling, shape),
    OBJECT(rl_ceiling, time_s, times),
    COUNT(rl_ceiling, work),
    COUNTED(rl_ceiling, dram),
    REAL(rl_ceiling, dram_per_ask, RATIO_MAX),
    POSITIVE(rl_ceiling, nominal, RATE_MAX),
    TEXT(rl_ceiling, nominal_of),
    REAL(rl_ceiling, percent_of_nominal, RATIO_MAX),
    POSITIVE(rl_ceiling, sm_hz, HERTZ_MAX),
    POSITIVE(rl_ceiling, memory_hz, HERTZ_MAX),
    WORDS(rl_ceiling, reasons),
    WORDS(rl_ceiling, flags),
};
TABLE(rl_object_ceiling, "a ceiling", rl_ceiling);

static const struct rl_field check_fields[] = {
    STRING(rl_check, name),   STRING(rl_check, title), FLAG3(rl_check, passed),
    DETAIL(rl_check, detail), BOOL(rl_check, refuses),
};
static TABLE(check, "a check", rl_check);

static const struct rl_field rl_object_device_fields[] = {
    STRING(rl_device, id),
    TEXT(rl_device, uuid),
    STRING(rl_device, name),
    TEXT(rl_device, chip),
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
TABLE(rl_object_device, "a device", rl_device);

static const struct rl_field rl_object_environment_fields[] = {
    TEXT(rl_environment, driver_version),
    TEXT(rl_environment, cuda_driver_version),
    TEXT(rl_environment, cuda_runtime_version),
    TEXT(rl_environment, cupti_version),
    TEXT(rl_environment, hostname),
    TEXT(rl_environment, kernel_release),
    FLAG3(rl_environment, ecc),
    TEXT(rl_environment, mig),
    REAL(rl_environment, power_limit_w, 1e6),
    TEXT(rl_environment, compute_mode),
    TEXT(rl_environment, persistence_mode),
    FLAG3(rl_environment, profiling_admin_only),
    STRING(rl_environment, build),
    TEXT(rl_environment, cubin),
    INT(rl_environment, method_version, 1, 1000000),
};
TABLE(rl_object_environment, "an environment", rl_environment);

static const struct rl_field metric_fields[] = {STRING(rl_metric, name), STRING(rl_metric, metric)};
static TABLE(metric, "a metric", rl_metric);

static bool is_counter_status(const char *text)
{
    return strcmp(text, "ok") == 0 || strcmp(text, "off") == 0 || rl_code_from_id(text) != RL_E_NONE;
}

static const struct rl_field rl_object_counters_fields[] = {
    {AT(rl_counters, status), .kind = RL_KIND_STRING, .max_count = TEXT_MAX, .allowed = is_counter_status},
    {.name = "reason", .kind = RL_KIND_TEXT, .offset = offsetof(struct rl_counters, why), .max_count = DETAIL_MAX},
    LIST(rl_counters, "metrics", metrics, metric_count, METRICS_MAX, metric),
    COUNT(rl_counters, passes),
    COUNTED(rl_counters, floor_dram_bytes),
    COUNTED(rl_counters, flush_dram_bytes),
    REAL(rl_counters, flush_spread_bytes, BYTES_MAX),
    REAL(rl_counters, self_test, RATIO_MAX),
};
TABLE(rl_object_counters, "counters", rl_counters);

static const struct rl_field rl_object_telemetry_fields[] = {
    STRING(rl_telemetry, at),
    REAL(rl_telemetry, time_s, SECONDS_MAX),
    REAL(rl_telemetry, sm_hz, HERTZ_MAX),
    REAL(rl_telemetry, memory_hz, HERTZ_MAX),
    CELSIUS(rl_telemetry, temperature_c),
    REAL(rl_telemetry, power_w, 1e6),
    REAL(rl_telemetry, energy_j, 1e18),
    WORDS(rl_telemetry, reasons),
    COUNT(rl_telemetry, other_processes),
};
TABLE(rl_object_telemetry, "telemetry", rl_telemetry);

static const struct rl_field lent_ceiling_fields[] = {
    STRING(rl_lent_ceiling, name),
    ENUM(rl_lent_ceiling, state, states),
    POSITIVE(rl_lent_ceiling, value, RATE_MAX),
    ONE_OF(rl_lent_ceiling, unit, units),
};
static TABLE(lent_ceiling, "a lent ceiling", rl_lent_ceiling);

/* clang-format off */
static const struct rl_field lent_fields[] = {
    STRING(rl_lent, run),
    ENUM(rl_lent, source, sources),
    {.name = "date", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_lent, date_ms)},
    {.name = "recorded_at", .kind = RL_KIND_TIME_OR_NULL, .offset = offsetof(struct rl_lent, recorded_at_ms),
     .absent = "the run that lent is not a replay of a recording"},
    TEXT(rl_lent, driver),
    ONE_OF(rl_lent, device_by, device_bys),
    DETAIL(rl_lent, sentence),
    LIST(rl_lent, "ceilings", ceilings, ceiling_count, CEILINGS_MAX, lent_ceiling),
};
/* clang-format on */
static TABLE(lent, "lent roofs", rl_lent);

/* clang-format off */
static const struct rl_field rl_object_run_fields[] = {
    INT(rl_run, record_version, 1, INT32_MAX, .since = 2), /* of a document without it: 1 */
    ONE_OF(rl_run, suite, suites),
    ONE_OF(rl_run, sizes, sizes),
    ENUM(rl_run, source, sources),
    ENUM(rl_run, outcome, outcomes),
    WORDS(rl_run, outcome_reasons),
    {.name = "date", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_run, finished_at_ms)}, /* the run's date, by name */
    {.name = "started_at", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_run, started_at_ms)},
    {.name = "finished_at", .kind = RL_KIND_TIME, .offset = offsetof(struct rl_run, finished_at_ms)},
    {.name = "recorded_at", .kind = RL_KIND_TIME_OR_NULL, .offset = offsetof(struct rl_run, recorded_at_ms),
     .absent = "this run is not a replay of a recording"},
    OBJECT(rl_run, device, rl_object_device),
    OBJECT(rl_run, environment, rl_object_environment),
    OBJECT(rl_run, counters, rl_object_counters),
    LIST(rl_run, "ceilings", ceilings, ceiling_count, CEILINGS_MAX, rl_object_ceiling),
    POSITIVE(rl_run, ridge_flop_per_byte, RATIO_MAX),
    LIST(rl_run, "kernels", rows, row_count, ROWS_MAX, rl_object_row),
    LIST(rl_run, "checks", checks, check_count, CHECKS_MAX, check),
    LIST(rl_run, "telemetry", telemetry, telemetry_count, TELEMETRY_MAX, rl_object_telemetry),
    BOOL(rl_run, counter_backed),
    WORDS(rl_run, flags),
    {.name = "lent", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_run, lent), .object = &lent},
    {.name = "import", .kind = RL_KIND_STATE, .offset = offsetof(struct rl_run, import), .object = &import},
    OPTIONAL(rl_run, power, power),
};
/* clang-format on */
TABLE(rl_object_run, "a run", rl_run);

void rl_object_unknown(const struct rl_object *object, void *base, const char *why, enum rl_why_code code)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct rl_field *field = &object->fields[i];
        char *at = (char *)base + field->offset;
        switch (field->kind) {
        case RL_KIND_REAL:
            *(struct rl_real *)(void *)at = (struct rl_real){0, why, code};
            break;
        case RL_KIND_COUNT:
            *(struct rl_count *)(void *)at = (struct rl_count){0, why};
            break;
        case RL_KIND_TEXT:
            *(struct rl_text *)(void *)at = (struct rl_text){NULL, why};
            break;
        case RL_KIND_FLAG3:
            *(struct rl_flag3 *)(void *)at = (struct rl_flag3){false, why};
            break;
        case RL_KIND_OBJECT:
        case RL_KIND_STATE:
            rl_object_unknown(field->object, at, why, code);
            break;
        default:
            break;
        }
    }
}

void rl_row_unknown(struct rl_row *row, const char *why)
{
    rl_object_unknown(&rl_object_row, row, why, RL_WHY_NONE);
}

void rl_ceiling_unknown(struct rl_ceiling *ceiling, const char *why)
{
    rl_object_unknown(&rl_object_ceiling, ceiling, why, RL_WHY_NONE);
}

void rl_counters_unknown(struct rl_counters *counters, const char *why)
{
    rl_object_unknown(&rl_object_counters, counters, why, RL_WHY_NONE);
}

void rl_device_unknown(struct rl_device *device, const char *why)
{
    rl_object_unknown(&rl_object_device, device, why, RL_WHY_NONE);
}

void rl_environment_unknown(struct rl_environment *environment, const char *why)
{
    rl_object_unknown(&rl_object_environment, environment, why, RL_WHY_NONE);
}

void rl_telemetry_unknown(struct rl_telemetry *telemetry, const char *why)
{
    rl_object_unknown(&rl_object_telemetry, telemetry, why, RL_WHY_NONE);
}
