/* Whether a run is there, and its raw samples. */
#ifndef DB_RUNS_READ_H
#define DB_RUNS_READ_H

#include "db/core/store.h"

/* {"items":[{unit,state,launches,times_s:[…]}]} by unit and state: float32 values with nine digits. RL_E_RUN_NOT_FOUND.
 */
int store_run_samples(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err);
/* RL_E_RUN_NOT_FOUND */
int store_check_run(struct store *store, int64_t id, struct rl_err *err);

#endif
