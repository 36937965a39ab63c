/* The engine's working state. For the engine's own files alone. */
#ifndef GPU_ENGINE_STATE_H
#define GPU_ENGINE_STATE_H

#include "gpu/base/time.h"
#include "gpu/engine/engine.h"

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

#endif
