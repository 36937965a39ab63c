/* The measurement itself: ceilings, kernels, checks, counters, in one order, over any backend. */
#ifndef GPU_ENGINE_ENGINE_H
#define GPU_ENGINE_ENGINE_H

#include <stdbool.h>

#include "gpu/backend/backend.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "kernels/unit/list.h"

struct engine_request {
    enum rl_sizes sizes;
    bool state[RL_STATE_COUNT];   /* at least one */
    bool kernel[RL_KERNEL_COUNT]; /* by index in rl_units; at least one */
    bool counters;
};

/* Where the engine tells what it does. Every member may be NULL. */
struct engine_events {
    void *arg;
    void (*device)(void *arg, const struct rl_device *device, const struct rl_environment *environment);
    /* phase: "start", "ceilings", "kernels", "counters", "checks"; done of total steps over the whole run */
    void (*progress)(void *arg, const char *phase, const char *what, unsigned done, unsigned total);
    /* raw samples of a row or ceiling, all of them, seconds per launch */
    void (*samples)(void *arg, const char *unit, enum rl_state state, int64_t launches, const double *times_s,
                    size_t count);
    void (*counts)(void *arg, const char *unit, enum rl_state state, const struct gpu_count_answer *answer);
    void (*telemetry)(void *arg, const struct rl_telemetry *telemetry);
    void (*log)(void *arg, const char *line); /* transcript */
    void (*warning)(void *arg, enum rl_code code, const char *message);
};

/* Measures and returns a derived run (owned by the caller), or fails with nothing returned. */
int engine_run(struct gpu_backend *backend, const struct engine_request *request, const struct engine_events *events,
               struct rl_run **ret_run, struct rl_err *err);

#endif
