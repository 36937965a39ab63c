/* Errors: one catalogue (err.def), one carrier (struct rl_err).
 *
 * Every fallible function of the project returns 0 or -1 and takes a struct rl_err * as its last
 * parameter, which may be NULL. On -1 the carrier is filled and no output parameter was written.
 */
#ifndef RL_BASE_ERR_H
#define RL_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

enum rl_code {
    RL_E_NONE = 0,
#define RL_ERROR(symbol, id, http, exit, next_action) RL_E_##symbol,
#include "gpu/base/err.def"
#undef RL_ERROR
    RL_E_COUNT
};

struct rl_err {
    enum rl_code code;
    char field[128];    /* the request field, option or file at fault; empty when none is */
    char message[1024]; /* one sentence: what was wrong, with the value seen; valid UTF-8, no server path */
};

/* Fills err (when not NULL; cut at a UTF-8 boundary) and returns -1, so that a caller can
 * `return rl_fail(err, RL_E_…, "field", "…")`. field may be NULL. */
int rl_fail(struct rl_err *err, enum rl_code code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Prefixes the message of an error already set with context; code and field stay. Returns -1. */
int rl_wrap(struct rl_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Catalogue look-ups. code must be a member of the enum; RL_E_NONE gives "ok", 200, 0, "". */
const char *rl_code_id(enum rl_code code);
int rl_code_http(enum rl_code code);
int rl_code_exit(enum rl_code code);
const char *rl_code_next_action(enum rl_code code);
/* The code whose id is `id`, or RL_E_NONE when there is none. */
enum rl_code rl_code_from_id(const char *id);
/* Whether code is one of the counters', which leaves a run without bytes, not without times. */
bool rl_code_is_counters(enum rl_code code);

/* Prints "program: message (next action)" as one line on stderr and returns the exit code. */
int rl_err_print(const char *program, const struct rl_err *err);
/* The same with another next action: that of a program whose user does it in another way. */
int rl_err_print_action(const char *program, const struct rl_err *err, const char *action);

#endif
