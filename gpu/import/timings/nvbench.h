/* JSON of nvbench. */
#ifndef GPU_IMPORT_TIMINGS_NVBENCH_H
#define GPU_IMPORT_TIMINGS_NVBENCH_H

#include "gpu/import/common/state.h"
#include "gpu/import/text/decode.h"

/* Reader as gpu/import/timings/formats.h has it. */
int import_nvbench(struct import *import, const struct import_file *file, const struct import_text *text,
                   const char **ret_format);

#endif
