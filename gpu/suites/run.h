/* Measuring a suite. */
#ifndef GPU_SUITES_RUN_H
#define GPU_SUITES_RUN_H

#include "gpu/suites/base/measure.h"

/* The measuring half of a suite; NULL when it has none. */
const struct suite_measure *suite_measure_find(const struct rl_suite *suite);
/* Measures what params ask for and returns a derived run (owned by the caller), or fails with nothing returned. */
int suite_run(struct gpu_backend *backend, const struct rl_params *params, const struct engine_events *events,
              struct rl_run **ret_run, struct rl_err *err);

#endif
