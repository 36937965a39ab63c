/* The narrow rows beside a run's document, and its part in the days of its trends. */
#ifndef DB_ROWS_ROLLUP_H
#define DB_ROWS_ROLLUP_H

#include "db/core/store.h"
#include "gpu/record/run.h"

/* The first bit of enum rl_row_flag that is in run_row_import.flags; those below it are in run_row.flags. */
#define IMPORT_FLAGS_AT 7

/* Outcome ok, and neither shared nor throttled nor with a driver that changed under it. */
bool store_run_eligible(const struct rl_run *run);
/* Inside a transaction: the facts, rows and trends of a stored run. */
int store_insert_history(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run,
                         struct rl_err *err);

#endif
