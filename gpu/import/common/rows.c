/* Rows before anything is known of them. */
#include "gpu/import/common/rows.h"

void import_blank_row(struct rl_row *row, const char *why)
{
    *row = (struct rl_row){0};
    rl_row_unknown(row, why);
    row->launch.dims_why = row->launch.shared_why = why;
}

const char *import_shape_name(struct import *import, const char *name, const int64_t grid[3], const int64_t block[3])
{
    return rl_arena_printf(import->run->arena, "%.*s @ (%lld, %lld, %lld)x(%lld, %lld, %lld)",
                           (int)(IMPORT_NAME_MAX - 128), name, (long long)grid[0], (long long)grid[1],
                           (long long)grid[2], (long long)block[0], (long long)block[1], (long long)block[2]);
}
