/* A row's figures from its launches. */
#ifndef GPU_IMPORT_JOIN_VALUES_H
#define GPU_IMPORT_JOIN_VALUES_H

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

/* The row's and its state's figures from the group's launches: bytes, percentages, shape, flop,
 * and s->profiled: the profiler's own time and SM clock, each the mean over the launches that count, unknown where a
 * launch does not tell it, absent where none tells either. Launches whose DRAM bytes are "n/a" are left out, with a
 * note. RL_E_IMPORT_MISSING: a launch has no DRAM bytes; RL_E_IMPORT_NOT_COUNTED: they are "n/a" in all of them. */
int import_row_values(struct import *import, struct import_table *table, struct import_group *group, struct rl_row *row,
                      struct rl_row_state *s);

#endif
