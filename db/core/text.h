/* JSON without a tree. */
#ifndef DB_CORE_TEXT_H
#define DB_CORE_TEXT_H

#include <stdint.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"

void json_put_text(struct rl_buf *out, const char *text); /* a JSON string */
void json_put_real(struct rl_buf *out, double value, int digits);
void json_put_int(struct rl_buf *out, int64_t value);
/* Nine significant digits, at most one unit of the ninth off: ten times quicker than printf. */
void json_put_nine(struct rl_buf *out, double value);
void json_put_time(struct rl_buf *out, int64_t ms);
/* Ends an answer whose first byte is at `length`: when rc is not 0 or the buffer overflowed, cuts it back to there. */
int store_finish_text(struct rl_buf *out, size_t length, int rc, struct rl_err *err);

#endif
