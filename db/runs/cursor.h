/* Cursors: where a page of a list ended. */
#ifndef DB_RUNS_CURSOR_H
#define DB_RUNS_CURSOR_H

#include "db/runs/list.h"

#define CURSOR_LENGTH 64
/* The filter's "any" already resolved to NULL. */
int store_cursor_write(struct store *store, const struct store_run_filter *filter, struct store_place place,
                       char ret[CURSOR_LENGTH + 1], struct rl_err *err);
int store_cursor_read(struct store *store, const struct store_run_filter *filter, struct store_place *ret,
                      struct rl_err *err);

#endif
