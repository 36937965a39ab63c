/* Which launches of a counter file are a timing's. */
#ifndef GPU_IMPORT_JOIN_MATCH_H
#define GPU_IMPORT_JOIN_MATCH_H

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

/* Sets import->row_group for the rows of timings. With the field partial, rows that find none are left out.
 * RL_E_IMPORT_MISSING without it, and where none finds one. */
int import_match_rows(struct import *import, struct import_table *table);

#endif
