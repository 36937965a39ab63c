/* A run is stored once, whole. */
#ifndef DB_RUNS_INSERT_H
#define DB_RUNS_INSERT_H

#include "db/core/deflate.h"
#include "db/core/store.h"
#include "gpu/record/run.h"

#define STORE_SAMPLES_MAX 256 /* raw samples per row and state */

struct store_run_new {
    const struct rl_run *run;
    const struct store_document *document;
    const struct store_samples *samples;
    size_t sample_count;
    /* Of imports; a job's run has its job's. NULL: none; no principal: not known. */
    const char *label, *principal;
};
struct store_samples {
    const char *unit;
    enum rl_state state;
    int64_t launches;
    const double *times_s; /* seconds per launch, not negative; stored as float32 */
    size_t count;          /* at most STORE_SAMPLES_MAX */
};

/* Inside a transaction. job_id 0: none. */
int store_insert_run(struct store *store, int64_t job_id, const struct store_run_new *run, int64_t *ret_id,
                     struct rl_err *err);

#endif
