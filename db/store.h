/* The store: one SQLite file, one connection, one process. Only db/ includes sqlite3.h.
 *
 * Every function that writes does so in one IMMEDIATE transaction and is durable when it returns 0 (WAL, synchronous=FULL).
 * Text returned in struct rl_buf or in a struct's char* is owned by the caller as said. Times are ms since 1970 UTC.
 */
#ifndef DB_STORE_H
#define DB_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "record/record.h"

struct store;

#define STORE_MIGRATE_AT_START_MAX_BYTES (1000LL * 1000 * 1000)

/* Opens or creates. A newer file is RL_E_STORE_NEWER; an older one is migrated (backup first by VACUUM INTO beside it) when it
 * is below 1 GB or allow_big, else RL_E_STORE_BIG_MIGRATION. A file that another process holds: RL_E_STORE_BUSY. */
int store_open(const char *path, bool allow_big, struct store **ret, struct rl_err *err);
void store_close(struct store *store); /* accepts NULL */
/* Whether a write would work now (a real write in a transaction that is rolled back). For /readyz. */
int store_check_writable(struct store *store, struct rl_err *err);
/* PRAGMA integrity_check and foreign_key_check. */
int store_check_integrity(struct store *store, struct rl_err *err);
int store_schema_version(const struct store *store);

/* ---- devices ---- */
/* Inserts or refreshes what a probe found; can_count is "ok" or an error id with its reason. */
struct store_device {
    const struct rl_device *device;
    const struct rl_environment *environment;
    const char *counters_status;
    const char *counters_why; /* NULL when ok */
    enum rl_source source;
    int64_t checked_at_ms;
    int ordinal; /* PCI order, 0 first */
};
int store_put_device(struct store *store, const struct store_device *device, struct rl_err *err);
/* {"items":[…],"next":null} into out. */
int store_list_devices(struct store *store, struct rl_buf *out, struct rl_err *err);
int store_device_json(struct store *store, const char *id, struct rl_buf *out, struct rl_err *err); /* RL_E_NOT_FOUND */

/* ---- jobs ---- */
enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_INTERRUPTED, JOB_STATE_COUNT };
const char *job_state_name(enum job_state state);
int job_state_from_name(const char *name, enum job_state *ret);

struct store_job_new {
    const char *principal;   /* "uid:1000", "token:3", "anonymous" */
    const char *device;      /* resolved device id */
    const char *spec;        /* canonical JSON of the job with every default filled in */
    bool retry_on_interrupt;
    const char *idempotency_key; /* NULL when none */
    const char *body_sha256;     /* 64 hex; NULL when no key */
    int64_t now_ms;
    int64_t max_queued;               /* over it: RL_E_QUEUE_FULL */
    int64_t max_open_per_principal;   /* queued and running; over it: RL_E_TOO_MANY_JOBS */
};
/* Stores the job as queued. A known key of the same principal with the same hash answers the existing id and *ret_replayed;
 * with another hash RL_E_IDEMPOTENCY_CONFLICT. Ids are never reused (AUTOINCREMENT). */
int store_job_add(struct store *store, const struct store_job_new *job, int64_t *ret_id, bool *ret_replayed, struct rl_err *err);

struct store_job {
    int64_t id, run_id; /* run_id 0: none */
    enum job_state state;
    bool cancel_requested, retry_on_interrupt;
    int attempt; /* 1, or 2 after an interrupt */
    int64_t created_at_ms, started_at_ms, ended_at_ms; /* 0: not yet */
    char *principal, *device, *spec; /* free with store_job_fini */
    char *error; /* {"code","message","next_action","field"?} or NULL */
};
int store_job_get(struct store *store, int64_t id, struct store_job *ret, struct rl_err *err); /* RL_E_NOT_FOUND */
void store_job_fini(struct store_job *job);
/* Oldest queued job of a device; RL_E_NOT_FOUND when none. */
int store_job_next(struct store *store, const char *device, struct store_job *ret, struct rl_err *err);
int64_t store_job_count(struct store *store, enum job_state state); /* -1 on error */
/* Newest first by id; calls each(); state -1 for all; before_id 0 for the start. *ret_more says whether older ones are left. */
int store_job_list(struct store *store, int state, int64_t before_id, int limit,
                   int (*each)(void *arg, const struct store_job *job), void *arg, bool *ret_more, struct rl_err *err);

/* The one function that changes a job's state. Asserts that from → to is legal (DESIGN section 4), fails with RL_E_CONFLICT when
 * the stored state is not `from`. Stores everything in one transaction. */
struct store_transition {
    int64_t id;
    enum job_state from, to;
    int64_t now_ms;
    const struct rl_err *error; /* for failed, interrupted; NULL else */
    const char *transcript;     /* stored when not NULL */
    const struct store_run_new *run; /* only running → done: stored in the same transaction */
};
struct store_run_new {
    const struct rl_run *run;
    const char *document;  /* the whole run as JSON, without id and job: the store adds them as its first members */
    const struct store_samples *samples;
    size_t sample_count;
};
struct store_samples {
    const char *unit;
    enum rl_state state;
    int64_t launches;
    const double *times_s; /* seconds per launch; stored as float32 */
    size_t count;          /* at most 256 */
};
int store_job_transition(struct store *store, const struct store_transition *t, int64_t *ret_run_id, struct rl_err *err);
int store_job_request_cancel(struct store *store, int64_t id, struct rl_err *err); /* sets the mark of a running job */
/* At start: running → interrupted, or → queued with attempt 2 once when retry_on_interrupt. Cancel-requested ones → cancelled. */
int store_recover(struct store *store, int64_t now_ms, int64_t *ret_interrupted, int64_t *ret_requeued, struct rl_err *err);
int store_transcript(struct store *store, int64_t job_id, struct rl_buf *out, struct rl_err *err);

/* ---- runs ---- */
struct store_run_filter { /* NULL or 0 members do not filter; counters: "counter-backed" or "timed-only" */
    const char *device, *driver, *cuda, *suite, *sizes, *source, *counters, *outcome; /* outcome, source: "any" for all */
    int64_t since_ms, until_ms; /* inclusive, exclusive; 0: none */
    const char *cursor;         /* opaque text of an earlier answer; bound to the filter: else RL_E_BAD_CURSOR */
    int limit;
};
/* {"items":[summary…],"next":cursor|null}, newest first by (date, id). A summary: id, job, date, device{id,name}, driver, cuda,
 * suite, sizes, source, outcome, counters, recorded_at, dram_copy_byte_per_s, fp32_fma_flop_per_s, ridge_flop_per_byte. */
int store_run_list(struct store *store, const struct store_run_filter *filter, struct rl_buf *out, struct rl_err *err);
int store_run_document(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err); /* bytes as stored */
int store_run_samples(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err);  /* {"items":[{unit,state,launches,times_s:[…]}]} */
int64_t store_run_newest(struct store *store); /* any source, outcome ok; 0 when none */

#endif
