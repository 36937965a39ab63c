/* Uploaded bytes as UTF-8 lines, whatever wrote them. */
#ifndef GPU_IMPORT_TEXT_DECODE_H
#define GPU_IMPORT_TEXT_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/base/err.h"
#include "gpu/import/common/file.h"

#define IMPORT_ROW_MAX ((size_t)1 << 20) /* bytes of one line or CSV record */

/* A file as UTF-8 with LF alone, without a byte order mark; data is NUL-terminated, free with free(). */
struct import_text {
    char *data;
    size_t len;
    const char *encoding; /* "UTF-8", "UTF-8 with a byte order mark", "UTF-16 …" */
};
/* RL_E_IMPORT_OTHER_FILE for binary content, RL_E_IMPORT_FORMAT with the line for bytes that are no UTF-8. */
int import_text_decode(const struct import_file *file, struct import_text *ret, struct rl_err *err);
/* The line at *at (without its LF) and its length; false at the end. Moves *at behind it. */
bool import_text_line(const struct import_text *text, size_t *at, const char **ret_line, size_t *ret_len);

#endif
