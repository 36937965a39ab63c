/* Launches with times beside the launches of a counter file. */
#ifndef GPU_IMPORT_JOIN_EVENTS_H
#define GPU_IMPORT_JOIN_EVENTS_H

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

/* Rows of the counter file's kernels that have events, with their times. RL_E_IMPORT_MISSING, or a partial run, for
 * events that find no launch. */
int import_events_match(struct import *import, struct import_table *table);

#endif
