/* Jobs as they are queued and read, their states and the steps between them. */
#ifndef DB_JOBS_QUEUE_H
#define DB_JOBS_QUEUE_H

#include "db/core/store.h"

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_INTERRUPTED, JOB_STATE_COUNT };
const char *job_state_name(enum job_state state);
int job_state_from_name(const char *name, enum job_state *ret);

struct store_job_new {
    const char *principal; /* "uid:1000", "token:3", "anonymous" */
    const char *device;    /* resolved device id; one that store_put_device never saw: RL_E_NOT_FOUND */
    const char *spec;      /* canonical JSON of the job with every default filled in; its "label" is the job's and its
                            * run's */
    bool retry_on_interrupt;
    const char *idempotency_key; /* NULL when none */
    const char *body_sha256;     /* 64 hex; NULL when no key */
    int64_t now_ms;
    int64_t max_queued;             /* over it: RL_E_QUEUE_FULL */
    int64_t max_open_per_principal; /* queued and running; over it: RL_E_TOO_MANY_JOBS */
};
/* Stores the job as queued. A known key of the same principal with the same hash answers the existing id and
 * *ret_replayed; with another hash RL_E_IDEMPOTENCY_CONFLICT. Ids are never reused (AUTOINCREMENT). */
int store_job_add(struct store *store, const struct store_job_new *job, int64_t *ret_id, bool *ret_replayed,
                  struct rl_err *err);

struct store_job {
    int64_t id, run_id; /* run_id 0: none */
    enum job_state state;
    bool cancel_requested, retry_on_interrupt;
    int attempt;                                       /* 1, or 2 after an interrupt */
    int64_t created_at_ms, started_at_ms, ended_at_ms; /* 0: not yet */
    char *principal, *device, *spec;                   /* free with store_job_fini */
    char *outcome;                                     /* "ok", "refused", "partial" of the run; NULL without one */
    char *error;                                       /* {"code","message","next_action","field"?} or NULL */
};
int store_job_get(struct store *store, int64_t id, struct store_job *ret, struct rl_err *err); /* RL_E_NOT_FOUND */
void store_job_fini(struct store_job *job);
/* Oldest queued job of a device; RL_E_NOT_FOUND when none. */
int store_job_next(struct store *store, const char *device, struct store_job *ret, struct rl_err *err);
int64_t store_job_count(struct store *store, enum job_state state); /* from memory; -1 for no state */
struct store_job_filter {
    int state;         /* enum job_state; -1: all */
    const char *label; /* NULL: any and none */
    int64_t before_id; /* 0: from the newest */
    int limit;
};
/* Newest first by id; calls each(), which may use the store. *ret_more says whether older ones are left. each()
 * returning other than 0 ends the list: -1, with err as each() left it. */
int store_job_list(struct store *store, const struct store_job_filter *filter,
                   int (*each)(void *arg, const struct store_job *job), void *arg, bool *ret_more, struct rl_err *err);

int store_transcript(struct store *store, int64_t job_id, struct rl_buf *out, struct rl_err *err);

int store_load_job_counts(struct store *store, struct rl_err *err);
/* Whether the state machine has this step at all (the retry's other conditions apart). */
bool store_job_step_legal(enum job_state from, enum job_state to);

#endif
