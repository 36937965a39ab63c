/* Which runs are withdrawn now, in memory: every list, observation and trend asks it of each run. */
#ifndef DB_SERIES_WITHDRAWN_H
#define DB_SERIES_WITHDRAWN_H

#include "db/core/store.h"

struct withdrawn_run { /* a run that is withdrawn now */
    int64_t run_id, series_id, date_ms;
};
struct withdrawn_set {
    struct withdrawn_run *runs; /* by run_id */
    size_t count;
};

/* Reads the set from the file; on -1 it is empty and the series in memory are to be called stale. */
int store_load_withdrawn(struct store *store, struct rl_err *err);
void store_forget_withdrawn(struct store *store); /* frees it */
/* As committed. */
bool store_is_withdrawn(const struct store *store, int64_t run_id);

#endif
