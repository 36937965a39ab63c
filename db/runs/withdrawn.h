/* Which runs are withdrawn now, in memory: every list, draw and trend asks it of each run. Private to db/. */
#ifndef DB_RUNS_WITHDRAWN_H
#define DB_RUNS_WITHDRAWN_H

#include "db/core/internal.h"

/* Reads the set from the file; on -1 it is empty and store->series_stale is to be set. */
int store_load_withdrawn(struct store *store, struct rl_err *err);
void store_forget_withdrawn(struct store *store); /* frees it */
/* As committed. */
bool store_is_withdrawn(const struct store *store, int64_t run_id);
/* Appends "withdrawal":{"reason","principal","at"} with a comma before it, for a run that is withdrawn. */
int store_put_withdrawal(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err);

#endif
