/* Text that came from elsewhere, made safe to be shown: no byte of it steers a terminal. */
#ifndef GPU_BASE_ESCAPE_H
#define GPU_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/base/buf.h"

/* Appends text to out as it may be shown: printable UTF-8, tab and (when lines) newline as they are, every other byte
 * as \xNN. 0, or -1 when out is full. */
int text_escape(struct rl_buf *out, const void *text, size_t len, bool lines);

#endif
