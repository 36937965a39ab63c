/* See gpu/suites/suites.h. */
#include "gpu/suites/suites.h"

#include <string.h>

#include "gpu/suites/list.h"

#define DECLARE(name) extern const struct rl_suite rl_suite_##name;
#define NAME(name)    &rl_suite_##name,
RL_SUITES(DECLARE)
const struct rl_suite *const rl_suites[] = {RL_SUITES(NAME)};
#define COUNT(name) +1
const size_t rl_suite_count = 0 RL_SUITES(COUNT);

const struct rl_suite *rl_suite_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < rl_suite_count; i++)
        if (strcmp(rl_suites[i]->name, name) == 0)
            return rl_suites[i];
    return NULL;
}
