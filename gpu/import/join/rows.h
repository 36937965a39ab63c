/* Rows of groups of launches. */
#ifndef GPU_IMPORT_JOIN_ROWS_H
#define GPU_IMPORT_JOIN_ROWS_H

#include <stddef.h>

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

/* Rows of these groups of the table, which becomes import->row_group. */
int import_rows_of(struct import *import, const struct import_table *table, struct import_group **groups, size_t count);

#endif
