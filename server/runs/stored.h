/* A run, measured or imported, on its way into the store. Pure. */
#ifndef SERVER_RUNS_STORED_H
#define SERVER_RUNS_STORED_H

#include "db/core/deflate.h"
#include "db/core/store.h"
#include "db/runs/insert.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "kernels/unit/list.h"
#include "server/runs/samples.h"

/* A run as the store takes it. run and samples are borrowed, the rest is owned: free with run_stored_fini. */
struct run_stored {
    struct store_run_new row;
    struct store_document document;
    struct store_samples samples[RL_UNIT_COUNT * RL_STATE_COUNT];
};
/* The run's whole document as compact JSON, the caller's (free); NULL when memory ran out. */
char *run_document(const struct rl_run *run);
/* Writes and deflates the document: that of a run of 512 kernels takes a tenth of a second. RL_E_NO_MEMORY,
 * RL_E_TOO_LARGE. Any thread may. */
int run_stored_make(const struct rl_run *run, const struct run_samples *samples, struct run_stored *ret,
                    struct rl_err *err);
void run_stored_fini(struct run_stored *stored); /* accepts a zeroed one */

#endif
