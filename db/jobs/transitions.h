/* The job state machine: one function makes every step, in the transaction that stores it with all that belongs to it.
 */
#ifndef DB_JOBS_TRANSITIONS_H
#define DB_JOBS_TRANSITIONS_H

#include "db/core/store.h"
#include "db/jobs/queue.h"
#include "db/runs/insert.h"

/* The one function that changes a job's state. A step that the table in db/jobs/queue.c does not have is RL_E_INTERNAL;
 * RL_E_CONFLICT when the stored state is not `from` (whoever commits first wins), or when interrupted → queued is asked
 * of a job that was not to be retried, was tried twice or was to be cancelled; RL_E_NOT_FOUND. A run of another device
 * than the job's is RL_E_MEASURE_PROTOCOL. Everything is stored in one transaction. ret_run_id may be NULL; 0 without a
 * run. */
struct store_transition {
    int64_t id;
    int attempt; /* not 0: RL_E_CONFLICT unless the job is at this attempt */
    enum job_state from, to;
    int64_t now_ms;
    const struct rl_err
        *error; /* failed: needed; interrupted: NULL gives a sentence of its own; cancelled: may be; else not stored */
    const char *transcript;          /* stored when not NULL, in place of an earlier one; any bytes */
    const struct store_run_new *run; /* only running → done: stored in the same transaction */
};

int store_job_transition(struct store *store, const struct store_transition *t, int64_t *ret_run_id,
                         struct rl_err *err);
/* Sets the mark of a running job; else RL_E_CONFLICT or RL_E_NOT_FOUND. */
int store_job_request_cancel(struct store *store, int64_t id, struct rl_err *err);
/* At start, and at shutdown once every process is gone: running → interrupted, or → queued with attempt 2 once when
 * retry_on_interrupt. Cancel-requested ones → cancelled. Those stay running that keep() (may be NULL) says yes to:
 * their end is known and will be stored. */
int store_recover(struct store *store, int64_t now_ms, bool (*keep)(void *arg, int64_t id, int attempt), void *arg,
                  int64_t *ret_interrupted, int64_t *ret_requeued, struct rl_err *err);

#endif
