/* What follows from a suite's tables. */
#include "gpu/suites/base/suite.h"

#include <string.h>

size_t rl_suite_phase(const struct rl_suite *suite, const char *id)
{
    for (size_t i = 0; id != NULL && i < suite->phase_count; i++)
        if (strcmp(suite->phases[i].id, id) == 0)
            return i;
    return SIZE_MAX;
}

size_t rl_suite_metric(const struct rl_suite *suite, const char *id)
{
    for (size_t i = 0; id != NULL && i < suite->metric_count; i++)
        if (strcmp(suite->metrics[i].id, id) == 0)
            return i;
    return SIZE_MAX;
}

int rl_accept_refuse(struct rl_err *err, const char *field, const char *why)
{
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, field, "The measuring process sent %s: %s.", field, why);
}
