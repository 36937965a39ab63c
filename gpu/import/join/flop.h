/* Floating-point operations of a row. */
#ifndef GPU_IMPORT_JOIN_FLOP_H
#define GPU_IMPORT_JOIN_FLOP_H

#include "gpu/import/ncu/table.h"
#include "gpu/record/run.h"

/* row->flop_counted and row->flop_by_precision. */
void import_row_flop(struct rl_row *row, const struct import_group *group);

#endif
