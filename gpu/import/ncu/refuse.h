/* Files that are no counter file. */
#ifndef GPU_IMPORT_NCU_REFUSE_H
#define GPU_IMPORT_NCU_REFUSE_H

#include "gpu/import/text/decode.h"

/* Why text holds no table of the profiler: fails with the code and words that name what it is. */
int import_refuse(const struct import_file *file, const struct import_text *text, struct rl_err *err);

#endif
