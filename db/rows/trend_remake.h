/* Days of trends that are made anew. */
#ifndef DB_ROWS_TREND_REMAKE_H
#define DB_ROWS_TREND_REMAKE_H

#include "db/core/store.h"

/* Inside a transaction: makes the days of trend_stale anew from the runs' rows. */
int store_remake_trends(struct store *store, struct rl_err *err);
/* After opening: makes trends' days anew that a migration or another program's deletion left stale. */
int store_mend_trends(struct store *store, struct rl_err *err);

#endif
