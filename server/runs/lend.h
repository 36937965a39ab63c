/* Lends a run, before it is stored, the roofs that it has not. On the loop: it asks the store. */
#ifndef SERVER_RUNS_LEND_H
#define SERVER_RUNS_LEND_H

#include "db/core/store.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"

/* Fills run->lent from the newest run that may lend; the caller derives again where run->lent.present is then true.
 * An import of a measured device that gets none and has not all of its own is told why in its notes. */
int run_lend(struct store *store, struct rl_run *run, struct rl_err *err);

#endif
