/* The store: one SQLite file, one connection, one process. Only db/ includes sqlite3.h.
 *
 * Every function that writes does so in one IMMEDIATE transaction and is durable when it returns 0 (WAL,
 * synchronous=FULL); when it returns -1 nothing of it is stored. Text returned in struct rl_buf or in a struct's char*
 * is owned by the caller as said; JSON is appended to the buffer, which is left as it was on failure (RL_E_NO_MEMORY
 * when it would pass its max). Times are ms since 1970 UTC. All text has to be UTF-8; numbers finite: else
 * RL_E_INTERNAL.
 *
 * Besides the errors named below, any function may fail with RL_E_STORE_FULL, _READONLY, _BUSY, _IO or _CORRUPT;
 * err.field is then "database", and no message holds a path. SCHEMA.md describes the file.
 */
#ifndef DB_CORE_STORE_H
#define DB_CORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"

struct store;

#define STORE_MIGRATE_AT_START_MAX_BYTES (1000LL * 1000 * 1000)
#define STORE_LIMIT_MAX                  1000               /* rows of one list; over it, or under 1: RL_E_BAD_FIELD */
#define STORE_SAMPLES_MAX                256                /* raw samples per row and state */
#define STORE_DOCUMENT_MAX_BYTES         (16 * 1024 * 1024) /* one run */

/* Opens or creates. A newer file is RL_E_STORE_NEWER; an older one is migrated (backup first by VACUUM INTO beside it,
 * "FILE.vN-TIME.backup" once it is whole and synced, ".partial" until then; a migration removes an earlier one's part)
 * when it is below 1 GB or allow_big, else RL_E_STORE_BIG_MIGRATION. A file that another process holds:
 * RL_E_STORE_BUSY, for another daemon after a second (a lock on "FILE-lock", kept until store_close or the process's
 * end). A file of another program, or no database at all: RL_E_STORE_OPEN, the file untouched. The sqlite3 command line
 * may read while the store is open. */
int store_open(const char *path, bool allow_big, struct store **ret, struct rl_err *err);
void store_close(struct store *store); /* accepts NULL */
/* Whether a write would work now: some pages are really written to the log, in a transaction that is rolled back. For
 * /readyz. */
int store_check_writable(struct store *store, struct rl_err *err);
/* PRAGMA integrity_check and foreign_key_check, and that runs, jobs and series agree. Reads the whole file: not for the
 * loop. */
int store_check_integrity(struct store *store, struct rl_err *err);
/* The same of a file that no daemon has open, its log with it: only read, nothing is made beside it. A file that is
 * empty or no rooflined database: RL_E_STORE_OPEN; one that is open: RL_E_STORE_BUSY. One of an older version is told
 * of too. */
struct store_report {
    int version;
    int64_t runs, jobs;
    int64_t newest_run, newest_run_ms; /* by date; 0 without one */
    int64_t newest_job, newest_job_ms; /* by id, when it was accepted */
    bool log;                          /* a write-ahead log stands beside the file and was read with it */
    bool log_missing; /* a store had it open and its log is not there: the newest commits may be lost */
};
int store_check_file(const char *path, struct store_report *ret, struct rl_err *err);
/* Copies a database into one new file, while a daemon writes to it too: `target` has its name once it is whole, checked
 * and synced, "TARGET.partial" until then. One that is there already is RL_E_STORE_IO. */
int store_backup(const char *path, const char *target, struct rl_err *err);
int store_schema_version(const struct store *store);
/* At the start: the file was open when it was last written, and its log is not there. What stood in it alone is lost.
 */
bool store_lost_log(const struct store *store);
/* Looks whether the database's files are in place, as each write does. 1: something was wrong and has been mended, with
 * a sentence in err (its code is RL_E_STORE_IO); 0; -1: it cannot be mended. */
int store_look_after(struct store *store, struct rl_err *err);
const char *store_path(const struct store *store); /* of its file: absolute, without symbolic links */

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
/* {"items":[…],"next":null} in PCI order. A device: id, name, ordinal, source, counters{status,why}, checked_at,
 * device{…}, environment{…}; the last two as rl_device_to_json and rl_environment_to_json give them; why is null when
 * status is ok. */
int store_list_devices(struct store *store, struct rl_buf *out, struct rl_err *err);

/* ---- jobs ---- */
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

/* The one function that changes a job's state. A step that the table in jobs.c does not have is RL_E_INTERNAL;
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
/* A run's document as it is kept, deflated. Made apart from the store, so that the work that a large one is can be done
 * on a thread beside it; storing it then is writing bytes. */
struct store_document {
    unsigned char *deflated; /* owned: a raw stream (RFC 1951) of all but the opening brace */
    size_t size;             /* of the stream */
    size_t bytes;            /* of its text */
    uint32_t check;          /* Adler-32 of its text (RFC 1950) */
};
/* text: the whole run as compact JSON, without id, job and label, which the store adds as its first members. It is not
 * kept. Touches its arguments alone: any thread may call it. RL_E_INTERNAL when text is no such object or no UTF-8,
 * RL_E_TOO_LARGE over STORE_DOCUMENT_MAX_BYTES, RL_E_NO_MEMORY. Free with store_document_fini. */
int store_document_make(const char *text, struct store_document *ret, struct rl_err *err);
void store_document_fini(struct store_document *document); /* accepts a zeroed one */

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
int store_job_transition(struct store *store, const struct store_transition *t, int64_t *ret_run_id,
                         struct rl_err *err);
/* Sets the mark of a running job; else RL_E_CONFLICT or RL_E_NOT_FOUND. */
int store_job_request_cancel(struct store *store, int64_t id, struct rl_err *err);
/* At start, and at shutdown once every process is gone: running → interrupted, or → queued with attempt 2 once when
 * retry_on_interrupt. Cancel-requested ones → cancelled. Those stay running that keep() (may be NULL) says yes to:
 * their end is known and will be stored. */
int store_recover(struct store *store, int64_t now_ms, bool (*keep)(void *arg, int64_t id, int attempt), void *arg,
                  int64_t *ret_interrupted, int64_t *ret_requeued, struct rl_err *err);
int store_transcript(struct store *store, int64_t job_id, struct rl_buf *out, struct rl_err *err);

/* ---- runs ---- */
struct store_run_filter { /* NULL or 0 members do not filter; counters: "counter-backed" or "timed-only" */
    /* outcome, source: "any" is the same as NULL. cuda is the CUDA runtime's version. An unknown word in sizes, source,
     * counters or outcome is RL_E_BAD_FIELD; an unknown device, driver, cuda or suite gives an empty list. driver and
     * cuda may be "": runs whose version is not known. source may be "measured,imported": what history is about. */
    const char *device, *driver, *cuda, *suite, *sizes, *source, *counters, *outcome;
    const char *label;          /* an unknown one gives an empty list */
    const char *withdrawn;      /* NULL or "false": without the withdrawn ones; "true": these alone; "any" */
    int64_t since_ms, until_ms; /* inclusive, exclusive; 0: none */
    const char *cursor;         /* opaque text of an earlier answer; bound to the filter: else RL_E_BAD_CURSOR */
    int limit;
};
/* {"items":[summary…],"next":cursor|null}, newest first by (date, id). A summary: id, job, date, device{id,name},
 * driver, cuda, suite, sizes, source, outcome, counters, label, withdrawn, recorded_at, dram_copy_byte_per_s,
 * fp32_fma_flop_per_s, ridge_flop_per_byte, why{}: the reason of each member that is null; of a withdrawn one also
 * withdrawal{reason,principal,at}. date is the run's finished_at; the two ceilings are the warm ones. */
int store_run_list(struct store *store, const struct store_run_filter *filter, struct rl_buf *out, struct rl_err *err);
/* The bytes as stored: {"id":"7","job":"9",…}, then "label" if the run has one; an import: job null, with its reason in
 * why. RL_E_RUN_NOT_FOUND. */
int store_run_document(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err);
/* Such bytes as a struct, *ret the caller's: touches no store, so that any thread may call it. RL_E_STORE_CORRUPT;
 * RL_E_NO_MEMORY. 1.4 MB take some 50 ms (2026-11-29). */
int store_document_parse(const struct rl_buf *document, int64_t id, struct rl_run **ret, struct rl_err *err);
/* {"items":[{unit,state,launches,times_s:[…]}]} by unit and state: float32 values with nine digits. RL_E_RUN_NOT_FOUND.
 */
int store_run_samples(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err);

#endif
