/* Jobs: from an accepted request to a stored run. Knows nothing of HTTP. */
#ifndef SERVER_JOBS_JOBS_H
#define SERVER_JOBS_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/jobs/queue.h"
#include "gpu/base/err.h"
#include "server/loop/loop.h"

struct jobs;

struct jobs_config {
    const char *measure_exec;   /* program path, or NULL */
    const char *measure_socket; /* unix socket path, or NULL; exactly one of the two */
    const char *replay;         /* recording for --replay of the measuring program (exec only), or NULL */
    int64_t
        job_timeout_ms; /* 0: the limits of limits.h; else the limit of a whole job, its phases' limits in proportion */
};

/* Starts a probe at once and, when devices are known, whatever the store holds as queued. */
int jobs_new(const struct jobs_config *config, struct store *store, struct loop *loop, struct jobs **ret,
             struct rl_err *err);
/* Ends running processes; their jobs become interrupted (or queued again) as after a kill. Calls done when all are
 * gone. */
void jobs_shutdown(struct jobs *jobs, void (*done)(void *arg), void *arg);
void jobs_free(struct jobs *jobs);

/* Checks a POSTed job (object already parsed without duplicate keys), fills defaults, resolves the device, stores it,
 * starts it when the device is free. idempotency_key and body_sha256 may be NULL. */
int jobs_submit(struct jobs *jobs, const char *principal, const json_t *body, const char *idempotency_key,
                const char *body_sha256, int64_t *ret_id, bool *ret_replayed, struct rl_err *err);
/* queued → cancelled at once; running → cancel_requested, ended when the process is gone; ended → RL_E_CONFLICT.
 * may_any: the caller is an admin; else only the principal that submitted may (RL_E_FORBIDDEN). */
int jobs_cancel(struct jobs *jobs, const char *principal, bool may_any, int64_t id, struct rl_err *err);
/* The job as the API shows it, every member always there:
 * id, state, suite, device, sizes, cache[], kernels[], counters, on_interrupt, note (string|null), predictions {kernel:
 * word}, principal, created_at, started_at (null before), ended_at (null before), attempt, cancel_requested, progress
 * ({done,total,phase,what}|null), error ({code,message,next_action,field?}|null), run (id|null), outcome
 * (ok|refused|partial|null: of the run), links {self, transcript, run (string; absent without a run)}, why {name of
 * each null member: reason}. A new reference. */
int jobs_view(struct jobs *jobs, int64_t id, json_t **ret, struct rl_err *err);
int jobs_view_stored(struct jobs *jobs, const struct store_job *job, json_t **ret, struct rl_err *err);
/* Transcript so far when running, stored else. */
int jobs_transcript(struct jobs *jobs, int64_t id, struct rl_buf *out, struct rl_err *err);

/* For /readyz: {ready, reasons:[{code,message,next_action}],
 * devices:[{id,name,counters{status,why},driver_version,source,quarantined,busy,why{}}],
 * queue{queued,running,limit,why{}}, store{writable,schema_version,why{}}, measure{way, backend, build, checked_at,
 * why{}}}. ready is false when no device can measure, one is quarantined, the store cannot be written or the engine is
 * stopping. counters.status is "ok" or an error id, its why null or a sentence. A new reference, or NULL when memory
 * ran out. */
json_t *jobs_readiness(struct jobs *jobs, bool *ret_ready);
/* Asks for a fresh probe unless one ran within the last minute. */
void jobs_probe(struct jobs *jobs);

#endif
