/* How much work a row is and how it was launched, each kept once for all rows that have it; and the one rule of whether
 * two rows are the same work, which trends and comparisons share. What is stored is private to db/. */
#ifndef DB_HISTORY_WORK_H
#define DB_HISTORY_WORK_H

#include "db/history/history.h"

/* ---- the rule: db/history/work_same.c, which needs no store ---- */

enum work_member { WORK_FLOP, WORK_ASK_BYTES, WORK_DIMS, WORK_MEMBERS };
bool work_knows(const struct store_work *work, enum work_member member);
/* Both know the member, and it is not equal. */
bool work_differs_in(const struct store_work *a, const struct store_work *b, enum work_member member);
/* A member differs that both know; what only one knows, or neither, is no difference. */
bool work_is_other(const struct store_work *a, const struct store_work *b);
/* *known gets the members that it has not. Texts are borrowed. */
void work_learn(struct store_work *known, const struct store_work *work);
/* Both known (not NULL), and not equal. */
bool work_texts_differ(const char *a, const char *b);

/* ---- stored ---- */

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
