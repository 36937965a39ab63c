/* Transactions, and one view for all statements of an answer. */
#ifndef DB_CORE_TRANSACTION_H
#define DB_CORE_TRANSACTION_H

#include "db/core/store.h"

/* One view for all statements of an answer; without it each takes and gives back the file's locks, which costs as much
 * as finding a row. Not inside of a transaction. Every store_look that returned 0 needs its store_look_end. */
int store_look(struct store *store, struct rl_err *err);
void store_look_end(struct store *store);
int store_begin(struct store *store, struct rl_err *err);
/* Commits when rc is 0; when rc is not, or the commit fails, rolls back. Returns rc, or -1. */
int store_end(struct store *store, int rc, struct rl_err *err);

#endif
