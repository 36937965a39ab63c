/* What a job's sender said before it ran. */
#ifndef DB_NOTES_SCORES_H
#define DB_NOTES_SCORES_H

#include "db/core/store.h"
#include "gpu/record/run.h"

#define STORE_NEAR_MIN 0.85 /* settled DRAM/ask from here ... */
#define STORE_NEAR_MAX 1.15 /* ... to here is near */

/* Inside a transaction: the job's note becomes its run's first, its predictions are scored. */
int store_take_said(struct store *store, int64_t job_id, int64_t run_id, const struct rl_run *run, int64_t now_ms,
                    struct rl_err *err);

#endif
