/* A run: everything that one measurement found out, as typed values. A suite whose runs hold more has a struct of its
 * own that begins with this one (gpu/suites).
 *
 * The measuring program fills a struct rl_run, gpu/record writes it as JSON (gpu/record/json.h), the daemon
 * reads that back as untrusted input, derives the rates again (derive.h) and stores the document.
 * Units are SI base units: seconds, bytes, flop, joules, hertz, watts, degrees Celsius.
 *
 * A value that could not be had has a reason instead: in JSON it is null and the enclosing object's
 * "why" object has a member of the same name with the reason. Every null has one.
 *
 * All strings and arrays belong to the run's arena; rl_run_free releases everything.
 */
#ifndef GPU_RECORD_RUN_H
#define GPU_RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/buf.h"

/* Goes up when a change of method makes numbers incomparable with older ones. */
#define RL_METHOD_VERSION 1
/* Goes up when a document gains a member: the version of a run's document, of the device, environment and telemetry in
 * a recording, and of what fields.h calls `since`. A document without one is of version 1. 2  record_version itself;
 * why_code */
#define RL_RECORD_VERSION 2

enum rl_why_code { /* why.def */
                   RL_WHY_NONE,
#define RL_WHY_CODE(name, id, sentence) RL_WHY_##name,
#include "gpu/record/why.def"
#undef RL_WHY_CODE
                   RL_WHY_COUNT
};

struct rl_real {
    double value;          /* finite; meaningful only when why is NULL */
    const char *why;       /* NULL: known; else one sentence that says why not */
    enum rl_why_code code; /* which of the reasons that rules act on it is, or RL_WHY_NONE */
};
struct rl_count {
    int64_t value;
    const char *why;
};
struct rl_text {
    const char *value;
    const char *why;
};
struct rl_flag3 { /* a truth value that may be unknown */
    bool value;
    const char *why;
};

static inline struct rl_real rl_known(double value)
{
    return (struct rl_real){value, NULL, RL_WHY_NONE};
}
static inline struct rl_real rl_unknown(const char *why)
{
    return (struct rl_real){0, why, RL_WHY_NONE};
}
const char *rl_why_sentence(enum rl_why_code code); /* of why.def; NULL for RL_WHY_NONE */
const char *rl_why_id(enum rl_why_code code);       /* "below_spread" */
enum rl_why_code rl_why_from_id(const char *id);    /* RL_WHY_NONE: no such id */
static inline struct rl_real rl_unknown_by(enum rl_why_code code)
{
    return (struct rl_real){0, rl_why_sentence(code), code};
}
static inline bool rl_is_known(struct rl_real real)
{
    return real.why == NULL;
}

struct rl_strings { /* a list of short words */
    const char **items;
    size_t count;
};

enum rl_state {
    RL_WARM,
    RL_COLD,
    RL_STATE_COUNT,            /* those that can be measured */
    RL_MIXED = RL_STATE_COUNT, /* imports only: bytes of cold launches with times of warm ones; shown, never judged */
    RL_ROW_STATES
};
enum rl_source { RL_MEASURED, RL_REPLAYED, RL_IMPORTED };
enum rl_outcome {
    RL_OK,      /* every requested row was measured and every result check passed */
    RL_REFUSED, /* a kernel's or ceiling's result is wrong: kept as evidence, never a baseline */
    RL_PARTIAL, /* a requested row or ceiling is missing */
};

/* Statistics of one row's time per launch, from its raw samples (each a batch divided by its launches). */
struct rl_times {
    struct rl_real median, p25, p75, min; /* s; quantiles by linear interpolation (type 7) */
    struct rl_real std_error;             /* s; McKean-Schrader standard error of the median */
    int64_t n;                            /* samples kept */
    int64_t launches;                     /* launches per sample: 1 when cold */
    struct rl_text stop; /* rule that ended sampling: "std_error", "noise_stable", "wall_time", "max_samples" */
};

/* Bytes per launch, from counters (METHOD: warm range / launches; cold range of one launch):
 * whole numbers, or averages of such over launches. */
struct rl_bytes {
    struct rl_real l1;    /* l1tex__t_bytes: global and local, no shared memory */
    struct rl_real l2;    /* lts__t_bytes: all units, the L2 partitions' own traffic included */
    struct rl_real l2_sm; /* lts__t_sectors_srcunit_tex * 32 */
    struct rl_real dram;  /* dram_read + dram_write */
    struct rl_real dram_read;
    struct rl_real dram_write;
    struct rl_real dram_settled; /* cold: launch and read flush, less the flush alone; warm: equals dram */
    struct rl_real dram_4n;      /* warm: dram per launch of a batch four times as long (steadiness) */
};

struct rl_intensity {                 /* flop per byte; unknown without flop or with bytes at the counter's floor */
    struct rl_real ask, l1, l2, dram; /* dram uses settled bytes when cold */
};

/* Floating-point operations per launch as counted, by the precision that they were done in: add + mul + 2 fma thread
 * instructions (a packed half2 instruction counts twice that), and the tensor cores' own operations. What was not
 * counted is unknown, not 0. */
struct rl_flop_by_precision {
    bool present; /* false: the JSON member is absent */
    struct rl_real fp64, fp32, fp16, tensor;
};
/* What a profiler said of the time of the launches that it counted: the mean over them. */
struct rl_profiled {
    bool present;          /* false: the JSON member is absent */
    struct rl_real time_s; /* s per launch, of the profiler's own clock (gpu__time_duration) */
    struct rl_real sm_hz;  /* the SM clock that the profiler saw; by default it locks it */
};

/* Each level's roof and how near the row is to it, where a row's roofs are more than the run's own copy and FMA
 * ceilings: lent ones, and the compute roof of a row's own precisions. A run that measured its ceilings is judged by
 * those alone: these stand beside the judgement and enter no trend, comparison or verdict. */
struct rl_levels {
    bool present;                   /* false: the JSON member is absent */
    struct rl_real dram_byte_per_s; /* of the row's own mix of reads and writes, where that was measured */
    struct rl_real dram_percent;
    struct rl_real l2_byte_per_s, l2_percent;
    struct rl_real l1_byte_per_s, l1_percent;
    struct rl_real compute_flop_per_s; /* of the row's own precisions */
    struct rl_real compute_percent;
};
/* What a row's figures do not say by themselves, a sentence each. */
struct rl_explained {
    bool present;                /* false: the JSON member is absent */
    struct rl_text dram_per_ask; /* where DRAM/ask is above 1 and the counters tell why */
    struct rl_text dram_cause;   /* the same as a word: "half_used_sectors", "re_reads", "write_back" */
    struct rl_text flop;         /* which count of flop is used, and where the other is apart from it */
    struct rl_text roof;         /* which roof the percentage is of, where that is not all of the row's own roof */
};

struct rl_row_state {
    bool present; /* false: the state was not asked for; the JSON member is absent */
    struct rl_times time_s;
    struct rl_bytes bytes;
    struct rl_real dram_per_ask; /* settled bytes over ask bytes when cold */
    struct rl_intensity intensity;
    struct rl_real flop_per_s;
    struct rl_real dram_byte_per_s;
    struct rl_real percent_of_ceiling;    /* dram_byte_per_s over dram_copy of the same state; not clamped */
    struct rl_text bound;                 /* "memory", "compute", "latency" */
    struct rl_text advice;                /* a sentence */
    struct rl_text advice_code;           /* "fix_access", "change_algorithm", "fix_kernel" */
    struct rl_real attainable_flop_per_s; /* min(FMA ceiling, intensity * memory roof) */
    struct rl_real percent_of_roof;
    struct rl_real occupancy;   /* achieved, 0 to 1 */
    struct rl_real local_bytes; /* local-memory bytes per launch (spills, stack) */
    struct rl_real sm_hz;       /* seen on the SM during the samples: clock64 over globaltimer */
    struct rl_real memory_hz;   /* NVML, around the row */
    struct rl_real temperature_c;
    struct rl_strings reasons; /* clock event reasons seen around the row, by NVML's names */
    int64_t attempts;          /* 1, or more after a clock or thermal retry */
    struct rl_strings flags;   /* see gpu/METHOD.md: clock_moved, throttled, not_steady, cache_resident, … */
    struct rl_profiled profiled;
    struct rl_levels levels;
    struct rl_explained explained;
};

struct rl_launch {
    int64_t grid[3], block[3];
    int64_t shared_bytes;              /* static and dynamic, per block */
    struct rl_count registers;         /* per thread */
    struct rl_count local_bytes;       /* per thread, of the compiled function */
    struct rl_count max_blocks_per_sm; /* occupancy API */
    struct rl_text shape;              /* the dims in words, e.g. "n 16777216" or "512 x 512" */
    const char *dims_why;              /* imports: why grid and block are unknown (JSON null); NULL: known */
    const char *shared_why;            /* imports: why shared_bytes is unknown */
};

/* One launch that a profiler counted, as it stood in the imported file. */
struct rl_import_launch {
    int64_t order; /* among the launches of its row, 1 first: that of the file */
    int64_t id;    /* the profiler's own */
    struct rl_real dram, dram_read, dram_write;
};
struct rl_import_percent {
    const char *metric;
    struct rl_real percent; /* mean over the launches, as given: not clamped */
};
#define RL_IMPORT_LAUNCHES_SHOWN 64
/* Where an imported row's figures come from. */
struct rl_row_import {
    bool present;            /* false: the JSON member is absent */
    struct rl_text function; /* the kernel's name as the profiler gave it */
    struct rl_text combined; /* how several launches became one row, in words */
    int64_t launch_count;
    struct rl_import_launch *launches; /* the first RL_IMPORT_LAUNCHES_SHOWN of them */
    size_t launches_shown;
    struct rl_import_percent *percents;
    size_t percent_count;
};

struct rl_row {
    const char *kernel, *title;  /* ids of the catalogue; imports: also other names, as given */
    struct rl_count flop;        /* hand count per launch; 0 is legal */
    struct rl_real flop_counted; /* add + mul + 2 fma thread instructions per launch */
    struct rl_count ask_bytes;
    struct rl_launch launch;
    struct rl_row_state state[RL_ROW_STATES]; /* JSON members "warm", "cold" and, of imports, "mixed" */
    struct rl_strings flags;
    struct rl_flop_by_precision flop_by_precision;
    struct rl_row_import import;
};

struct rl_ceiling {
    const char *name; /* dram_copy, fp32_fma, dram_copy_scalar, dram_memcpy, … */
    enum rl_state state;
    struct rl_real value;
    const char *unit;     /* "byte_per_s" or "flop_per_s" */
    const char *method;   /* one sentence: what was launched and what is counted */
    struct rl_text shape; /* grid, block and items of the best shape */
    struct rl_times time_s;
    struct rl_count work; /* bytes or flop per launch, hand-counted */
    struct rl_real dram;  /* counted DRAM bytes per launch */
    struct rl_real dram_per_ask;
    struct rl_real nominal;    /* from queried attributes and the clock seen; an annotation */
    struct rl_text nominal_of; /* the denominator in words */
    struct rl_real percent_of_nominal;
    struct rl_real sm_hz; /* seen inside the kernel */
    struct rl_real memory_hz;
    struct rl_strings reasons, flags;
};

struct rl_check {
    const char *name;       /* see gpu/METHOD.md for the list */
    const char *title;      /* what was compared, in words */
    struct rl_flag3 passed; /* unknown when it could not be made, with the reason */
    const char *detail;     /* figures seen: "max relative error 1.2e-7 of 4.0e-6 allowed at 16777216 elements" */
    bool refuses;           /* a failure makes the run `refused` */
};

struct rl_device {
    const char *id; /* the GPU's UUID ("GPU-…"), or a slug for imports */
    struct rl_text uuid;
    const char *name;    /* "NVIDIA H200" */
    struct rl_text chip; /* CUPTI's name, "GH100" */
    struct rl_text pci_bus_id;
    struct rl_count compute_major, compute_minor, sm_count, l2_bytes, memory_bytes;
    struct rl_count memory_bus_bits, fp32_lanes_per_sm, max_sm_hz, max_memory_hz, warp_size;
    struct rl_count persisting_l2_bytes, max_threads_per_sm;
};

struct rl_environment {
    struct rl_text driver_version;       /* "580.159.04" */
    struct rl_text cuda_driver_version;  /* "13.0" */
    struct rl_text cuda_runtime_version; /* "13.0" */
    struct rl_text cupti_version;
    struct rl_text hostname, kernel_release;
    struct rl_flag3 ecc;
    struct rl_text mig; /* "off" or the profile's name */
    struct rl_real power_limit_w;
    struct rl_text compute_mode, persistence_mode;
    struct rl_flag3 profiling_admin_only; /* RmProfilingAdminOnly of /proc/driver/nvidia/params */
    const char *build;                    /* version and git hash of the measuring program */
    struct rl_text cubin;                 /* "sm_90": the code that ran, or "ptx" */
    int64_t method_version;
};

struct rl_metric { /* our name and the counter's */
    const char *name, *metric;
};
struct rl_counters {
    const char *status; /* "ok", "off", or an error id of err.def: "counters_permission", … */
    struct rl_text why; /* JSON "reason": null with its why when status is ok */
    struct rl_metric *metrics;
    size_t metric_count;
    struct rl_count passes;
    struct rl_real floor_dram_bytes; /* DRAM bytes of an empty range */
    struct rl_real flush_dram_bytes; /* flush-only range, and its spread (max - min) */
    struct rl_real flush_spread_bytes;
    struct rl_real self_test; /* warm copy: DRAM bytes over asked bytes */
};

struct rl_telemetry {
    const char *at;        /* "start", "vector_add warm before", … */
    struct rl_real time_s; /* since the run's start */
    struct rl_real sm_hz, memory_hz, temperature_c, power_w, energy_j;
    struct rl_strings reasons;
    struct rl_count other_processes; /* on the GPU beside ours; counted, not named */
};

struct rl_import_file {
    const char *kind;   /* "ncu", "timings", "recording", "record", "power" */
    const char *format; /* what it was found to be, in words: encoding, shape, separators */
    int64_t bytes;
    const char *sha256; /* hex, of the bytes as they came */
};
/* What an imported run was made of. */
struct rl_import {
    bool present; /* false: the JSON member is absent */
    struct rl_import_file *files;
    size_t file_count;
    struct rl_strings notes; /* what was left out, summed, derived or not found: sentences */
};

struct rl_lent_ceiling {
    const char *name;
    enum rl_state state;
    struct rl_real value;
    const char *unit;
};
/* Roofs that another run of the same device lent to one that has none of their kind. They are copied when they are
 * lent, so that they outlive the lender. */
struct rl_lent {
    bool present;           /* false: the JSON member is absent */
    const char *run;        /* the lender's id */
    enum rl_source source;  /* the lender's: measured or replayed */
    int64_t date_ms;        /* the lender's */
    int64_t recorded_at_ms; /* of a replayed lender: when the recording was made; else 0 and JSON null */
    struct rl_text driver;  /* the lender's */
    const char *device_by;  /* how the device is known to be the same: "uuid", or "name": one measured device has it */
    const char *sentence;   /* all of that, for people */
    struct rl_lent_ceiling *ceilings;
    size_t ceiling_count;
};

/* Power over an imported run's window, from a log of the GPU's. */
struct rl_power {
    bool present;               /* false: the JSON member is absent */
    struct rl_real average_w;   /* over the time that samples cover */
    struct rl_real energy_j;    /* of the whole window; unknown where samples are missing */
    int64_t samples;            /* within the window */
    struct rl_real interval_s;  /* the usual one between samples: the grain of what is told here */
    struct rl_text from, until; /* the window by the log's own clock, whose time zone it does not say */
    const char *source;         /* "nvidia-smi --query-gpu", "nvidia-smi dmon" */
};

struct rl_run {
    struct rl_arena *arena;
    int64_t record_version; /* RL_RECORD_VERSION: what is in memory has all members, those of older documents unknown */
    const char *suite;      /* "verify"; "import": rows that are not of the catalogue */
    const char *sizes;      /* "course", "scaled"; "other": an import that does not say, or whose sizes are its own */
    enum rl_source source;
    enum rl_outcome outcome;
    struct rl_strings outcome_reasons;
    int64_t started_at_ms, finished_at_ms;
    int64_t recorded_at_ms; /* replayed: when the recording was made; else 0 and JSON null */
    struct rl_device device;
    struct rl_environment environment;
    struct rl_counters counters;
    struct rl_ceiling *ceilings;
    size_t ceiling_count;
    struct rl_real ridge_flop_per_byte;
    struct rl_row *rows;
    size_t row_count;
    struct rl_check *checks;
    size_t check_count;
    struct rl_telemetry *telemetry;
    size_t telemetry_count;
    bool counter_backed;     /* every requested row has DRAM bytes */
    struct rl_strings flags; /* run-wide: shared, throttled, driver_changed, clock_stepped */
    struct rl_lent lent;
    struct rl_import import;
    struct rl_power power;
};

/* A run with an arena of its own, or NULL when memory ran out. */
struct rl_run *rl_run_new(void);
/* The same as the first member of a suite's own struct of this size. */
struct rl_run *rl_run_new_of(size_t size);
void rl_run_free(struct rl_run *run); /* accepts NULL */
/* Make every member that may be unknown unknown with this reason (borrowed: a literal, or of the run's arena), in
 * nested objects too; plain members and lists stay. A zeroed struct reads as known zeros, so whoever fills one starts
 * here. */
void rl_row_unknown(struct rl_row *row, const char *why);
void rl_ceiling_unknown(struct rl_ceiling *ceiling, const char *why);
void rl_counters_unknown(struct rl_counters *counters, const char *why);
void rl_device_unknown(struct rl_device *device, const char *why);
void rl_environment_unknown(struct rl_environment *environment, const char *why);
void rl_telemetry_unknown(struct rl_telemetry *telemetry, const char *why);
/* A known text that lives in arena; unknown when memory ran out. */
struct rl_text rl_text_copy(struct rl_arena *arena, const char *value);
/* A reason that lives in arena, or a literal when memory ran out: never NULL, which would make its value known. */
const char *rl_why_copy(struct rl_arena *arena, const char *why);
/* Appends a copy of word unless it is there. 0, or -1 when memory ran out. */
int rl_strings_add(struct rl_arena *arena, struct rl_strings *list, const char *word);
bool rl_strings_has(const struct rl_strings *list, const char *word);

const char *rl_state_name(enum rl_state state);    /* "warm", "cold", "mixed" */
const char *rl_source_name(enum rl_source source); /* "measured", "replayed", "imported" */
const char *rl_outcome_name(enum rl_outcome outcome);
struct rl_row *rl_run_row(const struct rl_run *run, const char *kernel); /* NULL when absent */
struct rl_ceiling *rl_run_ceiling(const struct rl_run *run, const char *name, enum rl_state state);
/* The first check that was made, failed, and refuses a run for it; NULL when there is none. Of the run. */
const struct rl_check *rl_run_refused_by(const struct rl_run *run);
/* Whether the id is the UUID or, without one, a slug (lower-case letters, digits, dashes): so a device that was only
 * named never becomes one that was measured. */
bool rl_device_id_valid(const struct rl_device *device);
/* Whether it is one line of UTF-8 with something to be seen (rl_utf8_is_line): an address can ask for it, and a
 * terminal shows it as it is. Device names are held to the same. */
bool rl_kernel_name_valid(const char *name);

#endif
