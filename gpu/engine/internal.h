/* What the engine's files share: its working state, and one function per subject. Not for other parts. */
#ifndef GPU_ENGINE_INTERNAL_H
#define GPU_ENGINE_INTERNAL_H

#include "gpu/base/time.h"
#include "gpu/engine/engine.h"
#include "gpu/engine/stop.h"

#define ENGINE_CLOCK_TOLERANCE 0.01  /* METHOD "Timing": a clock that changed by more than 1 percent flags the row */
#define ENGINE_RETRIES_MAX     2     /* METHOD: "retried a bounded number of times" */
#define ENGINE_SELF_TEST       0.01  /* METHOD "Counters": the copy must read 1 within 1 percent */
#define ENGINE_FLOP_TOLERANCE  0.001 /* METHOD "Flop": counted and hand count agree within 0.1 percent */
#define ENGINE_SCALING         0.05  /* METHOD "Ceilings": twice the work takes twice the time within 5 percent */

/* A unit and what became of it. One for every member of rl_units, in that order. */
struct engine_unit {
    const struct rl_unit *unit;
    bool asked; /* ceilings always are */
    bool state[RL_STATE_COUNT];
    struct gpu_work work;  /* ceilings: at the best launch shape once the sweep is over */
    int64_t warm_launches; /* per batch; 0 until measured warm */
    double sweep_time_s;   /* seconds per launch of the best shape; 0 without a sweep */
    const char *missing;   /* why there is no measurement of it at all; NULL when there is */
    bool checked;          /* result is there */
    struct gpu_result result;
    const char *unchecked_why;
    struct rl_row *row;
    struct rl_ceiling *ceiling[RL_STATE_COUNT];
};

/* One row's or ceiling's timing in one state. */
struct engine_measure {
    const char *missing; /* why it could not be measured; the members below are then unknown or 0 */
    struct rl_times times;
    struct rl_real sm_hz, memory_hz, temperature_c;
    struct rl_strings reasons, flags;
    int64_t attempts;
};

struct engine {
    struct gpu_backend *backend;
    const struct engine_request *request;
    const struct engine_events *events;
    struct rl_run *run;
    struct rl_arena *arena; /* the run's */
    int64_t started_ns;
    struct rl_moment began;
    bool memory_failed;   /* a string could not be made: the run is given up at the end */
    unsigned done, total; /* progress */
    unsigned count_base;  /* steps done when the counter session began */
    struct engine_unit *units;
    size_t telemetry_max;
    double flush_cost_s; /* what emptying the L2 costs per cold sample, estimated from the copy ceiling */
    /* findings that checks look at */
    struct {
        unsigned steps;
        bool steady;
        double hz; /* the last seen; 0 when none was */
    } spin;
    struct {
        bool made;
        double ratio; /* time of twice the steps over time of the steps */
        const char *why;
    } scaling;
    struct {
        struct rl_real warm, warm_four, cold; /* the copy's counted bytes over asked bytes; cold is settled */
    } copy_counted;
    struct rl_text driver_at_end;
    const char *not_alone; /* the backend's shared_why, once it was told; NULL: the locks are held */
};

/* ---- gpu/engine/engine.c: telling, and small helpers ---- */
/* A sentence in the run's arena; never NULL (a reason that is NULL would make its value known). */
const char *engine_say(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void engine_log(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void engine_warn(struct engine *e, enum rl_code code, const char *message);
void engine_step_begin(struct engine *e, const char *phase, const char *what); /* reports; done counts finished steps */
void engine_step_end(struct engine *e);
int engine_flag(struct engine *e, struct rl_strings *list, const char *word, struct rl_err *err);
/* Asks the backend for the card's state and keeps it as telemetry. */
int engine_card_state(struct engine *e, const char *at, struct gpu_card_state *ret, struct rl_err *err);
/* Warns, once, and flags the run when the backend could not lock the GPU or the node for itself. */
int engine_note_sharing(struct engine *e, struct rl_err *err);
struct engine_unit *engine_unit_find(struct engine *e, const char *id);
/* Whether an error spoils one unit only: its row or ceiling is then missing and the run goes on as partial. All others
 * end the run: after a CUDA error nothing that follows can be trusted, and a recording's gap is an error by design. */
bool engine_error_is_local(enum rl_code code);
/* "thermal", "power" or "slowdown" in an event reason's name. */
bool engine_reason_throttles(const char *reason);

/* ---- gpu/engine/sample.c ---- */
/* Median seconds per launch of `count` (at most 16) batches, no stopping rule and no events: sweeps, scaling. */
int engine_quick(struct engine *e, const struct gpu_work *work, int64_t launches, unsigned first_sample, unsigned count,
                 double *ret_time_s, struct rl_err *err);
/* Samples a unit in one state until the stopping rule is content, with the card's state around it and retries. Warm:
 * sets unit->warm_launches. A local error becomes ret->missing. */
int engine_measure(struct engine *e, struct engine_unit *unit, enum rl_state state, struct engine_measure *ret,
                   struct rl_err *err);
/* The largest relative difference between the clocks of consecutive parts of a series, and how much of it noise and the
 * timer's grain explain; entries with hz 0 are skipped. 0 with fewer than 6 entries. */
double engine_clock_change(const double *hz, const double *batch_s, size_t count, double *ret_noise);

/* ---- gpu/engine/ceilings.c, gpu/engine/rows.c, gpu/engine/counts.c ---- */
int engine_ceilings(struct engine *e, struct rl_err *err);
int engine_kernels(struct engine *e, struct rl_err *err);
/* Prepare, describe and check of a unit. A local error becomes unit->missing or unchecked_why. */
int engine_ready_unit(struct engine *e, struct engine_unit *unit, struct gpu_launch *ret_launch, struct rl_err *err);
int engine_counts(struct engine *e, struct rl_err *err);
void engine_blank_bytes(struct rl_bytes *bytes, const char *why);

/* ---- gpu/engine/checks.c: each adds one or more named checks to the run ---- */
/* Why a unit's output proves nothing: its check found it wrong, compared nothing or could not be made. NULL: right. */
const char *engine_unproven(struct engine *e, const struct engine_unit *unit);
void engine_check_results(struct engine *e); /* result_<unit>, copy_bit_for_bit, fma_host_recurrence */
void engine_check_fma_scaling(struct engine *e);
void engine_check_copy_reaches_memcpy(struct engine *e);
void engine_check_polynomial(struct engine *e);
void engine_check_dram_rows(struct engine *e);
void engine_check_self_test(struct engine *e);
void engine_check_copy_streams(struct engine *e);
void engine_check_flop(struct engine *e);
void engine_check_driver(struct engine *e);
void engine_check_steady(struct engine *e);
void engine_check_clock(struct engine *e);
void engine_check_shared(struct engine *e);
void engine_check_throttled(struct engine *e);
/* All of the above in this order. */
int engine_checks(struct engine *e, struct rl_err *err);

#endif
