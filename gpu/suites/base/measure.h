/* The measuring half of suites: what roofline-measure alone links. */
#ifndef GPU_SUITES_BASE_MEASURE_H
#define GPU_SUITES_BASE_MEASURE_H

#include "gpu/engine/engine.h"
#include "gpu/suites/base/suite.h"

/* What a suite measures, over the engine's mechanics; its files are gpu/suites/NAME/measure*.c, and it is named
 * rl_measure_NAME. */
struct suite_measure {
    const struct rl_suite *suite;
    /* The sizes and whether counters are asked for, which the backend has to know before anything is measured. */
    enum rl_sizes (*sizes)(const struct rl_params *params);
    bool (*counters)(const struct rl_params *params);
    /* Plans, measures and judges: fills e->run from a device that is identified. */
    int (*measure)(struct engine *e, const struct rl_params *params, struct rl_err *err);
};

#endif
