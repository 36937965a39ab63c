/* Which suites there are. */
#ifndef GPU_SUITES_SUITES_H
#define GPU_SUITES_SUITES_H

#include "gpu/suites/base/suite.h"

extern const struct rl_suite *const rl_suites[]; /* in the order of list.h */
extern const size_t rl_suite_count;
/* NULL: there is none of this name. */
const struct rl_suite *rl_suite_find(const char *name);

#endif
