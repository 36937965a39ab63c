/* Imports: from uploaded files to a stored run. Takes the parts of a form as they come, each file into memory that is
 * the kernel's and not this process's, has an importing process read them, judges its answer and stores it. Knows
 * nothing of HTTP. */
#ifndef SERVER_IMPORTS_IMPORTS_H
#define SERVER_IMPORTS_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/core/store.h"
#include "gpu/base/err.h"
#include "server/loop/loop.h"
#include "server/request/auth.h"

struct imports;
struct import; /* one of them, from its upload to its end */

/* exec: the importing program; borrowed. NULL when memory ran out. */
struct imports *imports_new(const char *exec, struct store *store, struct loop *loop);
/* Ends the processes that run: their imports fail with RL_E_SHUTTING_DOWN. Calls done when none is left. */
void imports_shutdown(struct imports *imports, void (*done)(void *arg), void *arg);
void imports_free(struct imports *imports); /* accepts NULL; no import may be left but abandoned ones */

/* RL_E_TOO_MANY_IMPORTS when LIMIT_IMPORTS are being read, or LIMIT_IMPORTS_PER_PRINCIPAL of who's share. To be
 * ended by import_abandon, whatever becomes of it. */
int import_begin(struct imports *imports, const struct auth_principal *who, struct import **ret, struct rl_err *err);
/* The next part of the form, its bytes, its end; in this order. Errors' field is the part's name: unknown
 * (RL_E_UNKNOWN_FIELD), twice, a field sent as a file (RL_E_BAD_FIELD), too long (RL_E_TOO_LARGE), a field that is no
 * UTF-8 or holds control characters, a label that rl_label_check refuses. An empty field is as good as none: a
 * browser's form sends all it has. */
int import_part(struct import *import, const char *name, const char *filename, struct rl_err *err);
int import_data(struct import *import, const char *data, size_t len, struct rl_err *err);
int import_part_end(struct import *import, struct rl_err *err);

/* All parts are there: has them read, in a place that it holds until it is abandoned; RL_E_TOO_MANY_IMPORTS when there
 * is none any more. Files that are a run already and a label that is not its: RL_E_CONFLICT. done is called once, from
 * the loop or from inside this call, when the run is stored or has failed; not after import_abandon. On -1 it is not
 * called. */
int import_run(struct import *import, void (*done)(void *arg), void *arg, struct rl_err *err);
/* After done: the stored run and whether it was there before, or -1 with the error. */
int import_result(const struct import *import, int64_t *ret_run, bool *ret_existing, struct rl_err *err);
/* Nobody waits for it any more: its process is ended if there is one, what it had is freed, nothing is stored. Accepts
 * NULL. */
void import_abandon(struct import *import);

#endif
