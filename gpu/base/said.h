/* Rules of what people write: labels, reasons, sentences. */
#ifndef RL_BASE_SAID_H
#define RL_BASE_SAID_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/base/err.h"

/* Whether the len bytes at text are valid UTF-8 of 1 to max characters without control characters and with one that is
 * to be seen. lines: line feeds and tabs are taken too. Else RL_E_BAD_FIELD of this field, saying what is wrong. */
int rl_said_check(const char *text, size_t len, const char *field, size_t max, bool lines, struct rl_err *err);

/* A label of a job or an import: one line. The same bytes are the same label. */
#define RL_LABEL_CHARACTERS 64
#define RL_LABEL_BYTES      (4 * RL_LABEL_CHARACTERS)
int rl_label_check(const char *text, size_t len, const char *field, struct rl_err *err);

#endif
