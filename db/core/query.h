/* SQL that is run once, and so is not among the prepared statements. `doing` says what failed: "storing a job". */
#ifndef DB_CORE_QUERY_H
#define DB_CORE_QUERY_H

#include "db/core/store.h"

/* The integer of the first row. */
int store_read_int(struct store *store, const char *sql, int64_t *ret, struct rl_err *err, const char *doing);
int store_execute(struct store *store, const char *sql, struct rl_err *err, const char *doing);
/* RL_E_INTERNAL when it does not have that value then. */
int store_set_pragma(struct store *store, const char *set, const char *get, int64_t want, struct rl_err *err);
int store_has_rows(struct store *store, const char *sql, bool *ret, struct rl_err *err, const char *doing);

#endif
