/* From a counter file's cells to values, and launches grouped by kernel and shape. */
#ifndef GPU_IMPORT_NCU_LAUNCHES_H
#define GPU_IMPORT_NCU_LAUNCHES_H

#include "gpu/import/ncu/table.h"

/* Decides the number format, turns cells into values, and groups launches. */
int import_table_values(struct import_table *table, struct rl_err *err);
/* A device value in its own unit, or unknown. */
struct rl_count import_table_device(const struct import_table *table, enum import_value value, double factor);

#endif
