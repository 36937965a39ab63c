/* What the planning half (gpu/counters/plan.c) and the session half (gpu/counters/cupti.c) of counters share. */
#ifndef GPU_COUNTERS_INTERNAL_H
#define GPU_COUNTERS_INTERNAL_H

#include "gpu/counters/api.h"
#include "gpu/counters/counters.h"

#define COUNTER_METRICS_MAX (COUNTER_COUNT * 2) /* each counter and its packed form */

/* A set of counters configured for one chip: CUPTI's host object and the config image that the hardware is given. */
struct counter_plan {
    CUpti_Profiler_Host_Object *host;
    const char *metric[COUNTER_METRICS_MAX];
    enum counter_id id[COUNTER_METRICS_MAX];
    double weight[COUNTER_METRICS_MAX];
    size_t metric_count;
    uint8_t *config;
    size_t config_size;
    size_t passes;
};

/* availability may be NULL (planning for a chip that is not there). Counters that the chip lacks are left out; none
 * left at all is RL_E_COUNTERS_UNSUPPORTED. On failure the plan is empty. */
int counter_plan_make(const struct cupti_api *api, const char *chip, enum counter_set set, const uint8_t *availability,
                      struct counter_plan *ret, struct rl_err *err);
void counter_plan_free(const struct cupti_api *api, struct counter_plan *plan); /* accepts an empty plan */

#endif
