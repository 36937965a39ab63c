/* A run as lists show it. */
#ifndef DB_RUNS_SUMMARY_H
#define DB_RUNS_SUMMARY_H

#include "db/core/store.h"

/* Appends the summary of a run that exists; the series have to be loaded. */
int store_put_summary(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err);

#endif
