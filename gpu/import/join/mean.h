/* Means over launches. */
#ifndef GPU_IMPORT_JOIN_MEAN_H
#define GPU_IMPORT_JOIN_MEAN_H

#include "gpu/import/ncu/table.h"
#include "gpu/record/run.h"

/* The mean of a value over the group's launches that count; unknown with `why` (borrowed) where one has none. */
struct rl_real import_mean(const struct import_group *group, enum import_value value, const char *why);

#endif
