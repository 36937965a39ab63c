/* Chrome traces of the PyTorch profiler. */
#ifndef GPU_IMPORT_TIMINGS_TRACE_H
#define GPU_IMPORT_TIMINGS_TRACE_H

#include <stdbool.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/decode.h"

/* Reader and recogniser as gpu/import/timings/formats.h has them. */
bool import_is_trace(const struct import_text *text, char first);
int import_trace(struct import *import, const struct import_file *file, const struct import_text *text,
                 const char **ret_format);

#endif
