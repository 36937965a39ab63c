/* How much work a row is and how it was launched, each kept once for all rows that have it (db/same/work.h). */
#ifndef DB_ROWS_WORK_H
#define DB_ROWS_WORK_H

#include "db/core/store.h"
#include "db/same/work.h"
#include "gpu/base/buf.h"

/* Inside a transaction: the id of the same work or launch, stored if it is new. */
int store_work_put(struct store *store, const struct store_work *work, int64_t *ret_id, struct rl_err *err);
int store_launch_put(struct store *store, const struct store_launch *launch, int64_t *ret_id, struct rl_err *err);
/* Texts are copied into arena. RL_E_STORE_CORRUPT when there is none of this id. */
int store_work_get(struct store *store, int64_t id, struct rl_arena *arena, struct store_work *ret, struct rl_err *err);
int store_launch_get(struct store *store, int64_t id, struct rl_arena *arena, struct store_launch *ret,
                     struct rl_err *err);

#endif
