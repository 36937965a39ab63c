/* The narrow rows beside a run's document, and the days of its trends. Private to db/ and its tests. */
#ifndef DB_HISTORY_ROLLUP_H
#define DB_HISTORY_ROLLUP_H

#include "db/history/trend_day.h"

/* kind is "kernel" or "ceiling". 1 found, 0 not, -1. */
int store_unit_find(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err);
int store_unit_put(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err);
int store_state_from_name(const char *name, enum rl_state *ret);
/* Outcome ok, and neither shared nor throttled nor with a driver that changed under it. */
bool store_run_eligible(const struct rl_run *run);
/* Inside a transaction: makes the days of trend_stale anew from the runs' rows. */
int store_remake_trends(struct store *store, struct rl_err *err);

#endif
