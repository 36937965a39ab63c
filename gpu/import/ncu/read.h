/* Reading Nsight Compute's CSV. */
#ifndef GPU_IMPORT_NCU_READ_H
#define GPU_IMPORT_NCU_READ_H

#include "gpu/import/ncu/table.h"
#include "gpu/import/text/decode.h"

/* Reads text to launches with their raw cells. */
int import_table_read(const struct import_file *file, const struct import_text *text, struct import_table *table,
                      struct rl_err *err);

#endif
