/* The verification: ten kernels under the machine's measured roof, each with its times and counted bytes. */
#ifndef GPU_SUITES_VERIFY_VERIFY_H
#define GPU_SUITES_VERIFY_VERIFY_H

#include "gpu/suites/base/suite.h"

/* Its parameters by their place in the table. */
enum verify_param { VERIFY_SIZES, VERIFY_CACHE, VERIFY_KERNELS, VERIFY_COUNTERS, VERIFY_PREDICTIONS, VERIFY_PARAMS };
/* Its metrics by their place in the list, which is that of stored points: what comes later goes to the end. */
enum verify_metric {
    VERIFY_LAUNCHES,
    VERIFY_TIME_S, /* seconds of a launch, the median */
    VERIFY_VALUE,  /* of ceilings */
    VERIFY_SM_HZ,
    VERIFY_MEMORY_HZ,
    VERIFY_ASK_BYTES,
    VERIFY_DRAM_BYTES,
    VERIFY_SETTLED_BYTES,
    VERIFY_DRAM_PER_ASK,
    VERIFY_PERCENT_OF_CEILING,
    VERIFY_METRICS
};
/* Both are imports' too. */
extern const struct rl_metric_info verify_metrics[VERIFY_METRICS];
extern const struct rl_phase verify_phases[];

extern const struct rl_suite rl_suite_verify;

/* Members of a suite's table; see gpu/suites/base/suite.h. The first three are imports' too. */
int verify_check(const struct rl_run *run, const json_t *document, struct rl_err *err);
int verify_times(const struct rl_run *run, rl_times_sink *take, void *arg, struct rl_err *err);
int verify_points(const struct rl_run *run, rl_point_sink *put, void *arg, struct rl_err *err);
int verify_accept(const struct rl_run *run, const struct rl_params *params, struct rl_err *err);

#endif
