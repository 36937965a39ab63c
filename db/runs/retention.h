/* Retention: runs that go. */
#ifndef DB_RUNS_RETENTION_H
#define DB_RUNS_RETENTION_H

#include "db/core/store.h"

/* Names the run in run_retired and deletes it with its document, samples, rows, note and predictions; days without it
 * are made anew; its job stays. RL_E_RUN_NOT_FOUND. */
int store_run_retire(struct store *store, int64_t run_id, const char *reason, int64_t now_ms, struct rl_err *err);

#endif
