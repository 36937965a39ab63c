/* Rows before anything is known of them. */
#ifndef GPU_IMPORT_COMMON_ROWS_H
#define GPU_IMPORT_COMMON_ROWS_H

#include "gpu/import/common/state.h"

#define IMPORT_ROWS_MAX 512u   /* kernels of one run; as gpu/record takes them */
#define IMPORT_NAME_MAX 16384u /* bytes of a kernel's name */

/* A row whose every value is unknown for this reason. */
void import_blank_row(struct rl_row *row, const char *why);
/* "NAME @ (8, 1, 1)x(256, 1, 1)", of the run's arena. */
const char *import_shape_name(struct import *import, const char *name, const int64_t grid[3], const int64_t block[3]);

#endif
