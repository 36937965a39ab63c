/* What an error of SQLite means to the reader. */
#ifndef DB_CORE_ERROR_H
#define DB_CORE_ERROR_H

#include "db/core/store.h"

/* Fills err from the connection's last error, by its extended code; `doing` says what failed: "storing a job". */
int store_fail(struct store *store, struct rl_err *err, const char *doing);
/* The same for a code that is not, or no longer, the connection's; to be called while errno is the failed call's. */
int store_fail_code(struct store *store, int rc, const char *message, struct rl_err *err, const char *doing);

#endif
