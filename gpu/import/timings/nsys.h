/* CSV of nsys stats. */
#ifndef GPU_IMPORT_TIMINGS_NSYS_H
#define GPU_IMPORT_TIMINGS_NSYS_H

#include <stdbool.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/decode.h"

/* Reader and recogniser as gpu/import/timings/formats.h has them. */
bool import_is_nsys(const struct import_text *text, char first);
int import_nsys(struct import *import, const struct import_file *file, const struct import_text *text,
                const char **ret_format);

#endif
