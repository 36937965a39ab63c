/* Compressed files: the one user of zlib. */
#ifndef GPU_IMPORT_TEXT_GZIP_H
#define GPU_IMPORT_TEXT_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/import/text/message.h"

bool import_is_gzip(const struct import_file *file);
/* The content of at->file; *ret is the caller's (free) on errors too. RL_E_TOO_LARGE above IMPORT_INFLATED_MAX,
 * RL_E_IMPORT_FORMAT for one that is cut or damaged. */
int import_inflate(const struct import_place *at, char **ret, size_t *ret_len);

#endif
