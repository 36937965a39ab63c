/* The draws of a comparison: stored runs with their rows, as two sides of one are made of.
 *
 * An *eligible* run has the outcome ok and none of the flags shared, throttled and driver_changed: only such a run may
 * be a draw, a trend's point or a baseline, and only while it is not withdrawn.
 * `source`: NULL is "measured or imported"; "any", or one of the three words. Else RL_E_BAD_FIELD. */
#ifndef DB_HISTORY_OBSERVATIONS_H
#define DB_HISTORY_OBSERVATIONS_H

#include "db/core/store.h"
#include "db/same/work.h"
#include "gpu/base/buf.h"
#include "gpu/record/flags.h"
#include "gpu/record/run.h"

#define STORE_OBSERVATIONS_MAX        100 /* runs of one side; over it: RL_E_BAD_FIELD */
#define STORE_OBSERVATION_KERNELS_MAX 64  /* named of one side; over it: RL_E_BAD_FIELD */
#define STORE_OBSERVATION_NAME_BYTES  2048

struct store_observation_row { /* one kernel or ceiling in one state; NaN, -1 and NULL: unknown in that run */
    const char *unit;          /* id */
    bool ceiling;
    enum rl_state state;
    int64_t launches;          /* per sample: 1 when cold; 0 unknown */
    double time_s;             /* median per launch */
    double value;              /* ceilings: byte/s or flop/s; kernels NaN */
    double sm_hz, memory_hz;   /* seen around the samples */
    double dram_bytes;         /* per launch, within it */
    double settled_bytes;      /* rl_dram_owed: with what the launch left to be written back, if known; ceilings NaN */
    double dram_per_ask;       /* settled over asked */
    double percent_of_ceiling; /* kernels */
    int64_t ask_bytes;         /* -1 unknown, and for compute ceilings */
    unsigned flags;            /* enum rl_row_flag */
    const char *bound;         /* "memory", "compute", "latency" or NULL */
    struct store_work work;
    struct store_launch launch;
};
struct store_observation { /* one run */
    int64_t run_id, date_ms;
    const char *device, *driver, *cuda; /* driver and cuda "" when unknown; cuda: of the runtime */
    const char *suite, *sizes, *source, *counters, *outcome;
    bool eligible, withdrawn;
    unsigned flags; /* enum rl_run_flag: why not eligible, beside the outcome */
    int64_t method_version;
    int ecc;                                       /* 1, 0, -1 unknown */
    double power_limit_w, floor_dram_bytes;        /* NaN unknown */
    const char *mig, *cuda_driver, *cubin, *build; /* NULL unknown */
    const struct store_observation_row *rows;      /* by unit and state */
    size_t row_count;
};
struct store_observations {
    struct store_observation *draws; /* newest first; of named runs: in the order of their names */
    size_t count;
    size_t row_count;                   /* of all draws */
    struct store_observation *left_out; /* newest first, without their rows */
    size_t left_out_count;
    struct rl_arena *arena; /* holds everything; free with store_observations_fini */
};
struct store_side {
    /* Named runs: any outcome, flags said in the draw. An unknown id is RL_E_RUN_NOT_FOUND naming it; one twice is
     * RL_E_BAD_FIELD. NULL: the newest eligible runs of what follows. */
    const int64_t *runs;
    size_t run_count;
    const char *device, *sizes; /* needed without runs */
    const char *suite;          /* NULL: verify */
    const char *driver, *cuda;  /* NULL: any, as for the spread that a row had in history */
    const char *label;          /* NULL: any */
    const char *source;         /* NULL: measured and imported */
    int64_t method_version;     /* 0: the highest that an eligible run of this side has */
    int64_t before_ms;          /* only runs before it; 0: none */
    int limit;                  /* 1 to STORE_OBSERVATIONS_MAX */
    int left_out_limit; /* so many runs that are of this side but no draws: not eligible, of any outcome and method,
                         * withdrawn, or of another method; the newest that are not older than the oldest draw; 0 to
                         * STORE_OBSERVATIONS_MAX
                         */
    /* Of the kernels only these, and all ceilings; a name that no run has: RL_E_NOT_FOUND. 0: all. */
    const char *const *kernels;
    size_t kernel_count; /* at most STORE_OBSERVATION_KERNELS_MAX */
    size_t rows_max; /* that all draws may have together, names counting as one for every STORE_OBSERVATION_NAME_BYTES
                      * of them; 0: any number */
    bool fewer_runs; /* over rows_max: the older runs are not read; else RL_E_TOO_LARGE */
};
/* No eligible run is no error: count is 0. */
int store_history_observations(struct store *store, const struct store_side *side, struct store_observations *ret,
                               struct rl_err *err);
void store_observations_fini(struct store_observations *draws);

#endif
