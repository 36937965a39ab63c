/* Timing files: unpacked, decoded, and handed to the reader of their format. */
#include "gpu/import/timings/read.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu/import/common/files.h"
#include "gpu/import/text/decode.h"
#include "gpu/import/text/gzip.h"
#include "gpu/import/timings/formats.h"

static int decode(struct import *import, const struct import_file *file, struct import_text *ret)
{
    struct import_place at = {import->err, file, 0};
    struct import_file plain = *file;
    char *unpacked = NULL;
    if (import_is_gzip(file)) {
        if (import_inflate(&at, &unpacked, &plain.len) != 0) {
            free(unpacked);
            return -1;
        }
        plain.data = unpacked;
    }
    int rc = import_text_decode(&plain, ret, import->err);
    free(unpacked);
    if (rc != 0 && import->err->code == RL_E_IMPORT_OTHER_FILE)
        import->err->code = RL_E_IMPORT_NOT_TIMINGS;
    return rc;
}

int import_timings(struct import *import, const struct import_file *file)
{
    struct import_text text = {0};
    char words[128];
    if (decode(import, file, &text) != 0)
        return -1;
    const struct import_timings_format *format = import_timings_format_of(&text);
    const char *name = format->name;
    int rc = format->read(import, file, &text, &name);
    snprintf(words, sizeof words, "%s, %s%s", name, text.encoding, import_is_gzip(file) ? ", compressed by gzip" : "");
    free(text.data);
    return rc == 0 ? import_add_file(import, file, words) : -1;
}
