/* Counters beside times. */
#ifndef GPU_IMPORT_JOIN_MERGE_H
#define GPU_IMPORT_JOIN_MERGE_H

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

/* Gives every row the bytes, figures and notes of its launches (import->row_group), in the state that counters and
 * times were both taken in. RL_E_IMPORT_DISAGREES where there is none. */
int import_merge(struct import *import, struct import_table *table);

#endif
