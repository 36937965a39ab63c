/* How much work a row is and how it was launched, each kept once for all rows that have it (db/same/work.h). */
#ifndef DB_ROWS_WORK_H
#define DB_ROWS_WORK_H

#include "db/core/store.h"
#include "db/same/work.h"
#include "gpu/base/buf.h"
#include "gpu/record/run.h"

/* Inside a transaction: the id of the same work or launch, stored if it is new. */
int store_work_put(struct store *store, const struct store_work *work, int64_t *ret_id, struct rl_err *err);
int store_launch_put(struct store *store, const struct store_launch *launch, int64_t *ret_id, struct rl_err *err);
/* Texts are copied into arena. RL_E_STORE_CORRUPT when there is none of this id. */
int store_work_get(struct store *store, int64_t id, struct rl_arena *arena, struct store_work *ret, struct rl_err *err);
int store_launch_get(struct store *store, int64_t id, struct rl_arena *arena, struct store_launch *ret,
                     struct rl_err *err);

#define LAUNCH_DIMS_TEXT 72 /* three numbers */
/* What of a kernel's row is its work and its launch; borrowed from the row and these texts. */
void store_work_of_row(const struct rl_row *row, struct store_work *work);
void store_launch_of_row(const struct rl_row *row, char grid[LAUNCH_DIMS_TEXT], char block[LAUNCH_DIMS_TEXT],
                         struct store_launch *launch);
/* The same of a ceiling, whose shape is its launch. */
void store_work_of_ceiling(const struct rl_ceiling *ceiling, struct store_work *work, struct store_launch *launch);

#endif
