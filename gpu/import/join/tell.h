/* What a run's notes say of the cells that it was made of. */
#ifndef GPU_IMPORT_JOIN_TELL_H
#define GPU_IMPORT_JOIN_TELL_H

#include "gpu/import/ncu/table.h"
#include "gpu/record/run.h"

/* Notes of what the table's cells were. */
void import_tell_values(struct rl_run *run, const struct import_table *table);

#endif
