/* Timings in JSON: lines, or an array of the same objects. */
#ifndef GPU_IMPORT_TIMINGS_JSONL_H
#define GPU_IMPORT_TIMINGS_JSONL_H

#include <stdbool.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/decode.h"

/* Readers and recognisers as gpu/import/timings/formats.h has them. */
int import_jsonl(struct import *import, const struct import_file *file, const struct import_text *text,
                 const char **ret_format);
bool import_is_json_array(const struct import_text *text, char first);
int import_json_array(struct import *import, const struct import_file *file, const struct import_text *text,
                      const char **ret_format);

#endif
