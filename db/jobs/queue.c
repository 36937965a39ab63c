/* Jobs as they are queued and read, their states and the steps between them. */
#include "db/jobs/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/deflate.h"
#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/series/devices.h"
#include "gpu/base/num.h"

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_QUEUED] = "queued", [JOB_RUNNING] = "running",     [JOB_DONE] = "done",
    [JOB_FAILED] = "failed", [JOB_CANCELLED] = "cancelled", [JOB_INTERRUPTED] = "interrupted",
};

/* SCHEMA.md, jobs; the job_state_legal trigger says the same to any other program. */
static const bool steps[JOB_STATE_COUNT][JOB_STATE_COUNT] = {
    [JOB_QUEUED] = {[JOB_RUNNING] = true, [JOB_FAILED] = true, [JOB_CANCELLED] = true},
    [JOB_RUNNING] = {[JOB_DONE] = true, [JOB_FAILED] = true, [JOB_CANCELLED] = true, [JOB_INTERRUPTED] = true},
    [JOB_INTERRUPTED] = {[JOB_QUEUED] = true},
};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

int job_state_from_name(const char *name, enum job_state *ret)
{
    for (int i = 0; i < JOB_STATE_COUNT; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *ret = (enum job_state)i;
            return 0;
        }
    }
    return -1;
}

bool store_job_step_legal(enum job_state from, enum job_state to)
{
    return (unsigned)from < JOB_STATE_COUNT && (unsigned)to < JOB_STATE_COUNT && steps[from][to];
}

int store_load_job_counts(struct store *store, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_JOB_COUNTS);
    int64_t counts[JOB_STATE_COUNT] = {0};
    enum job_state state;
    int rc;

    while ((rc = stmt_step(&stmt, err, "counting jobs")) == 1) {
        const char *name = (const char *)sqlite3_column_text(stmt.handle, 0);

        if (name == NULL || job_state_from_name(name, &state) < 0) {
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "a job has the unknown state \"%s\"", name ? name : "");
            break;
        }
        counts[state] = sqlite3_column_int64(stmt.handle, 1);
    }
    stmt_end(&stmt);
    if (rc == 0 && store->job_counts == NULL && (store->job_counts = calloc(1, sizeof counts)) == NULL)
        rc = rl_fail(err, RL_E_NO_MEMORY, "database", "no memory to count jobs");
    if (rc == 0)
        memcpy(store->job_counts, counts, sizeof counts);
    return rc;
}

int64_t store_job_count(struct store *store, enum job_state state)
{
    return (unsigned)state < JOB_STATE_COUNT ? store->job_counts[state] : -1;
}

/* ---- adding ---- */

/* 1: the key is known, *ret_id is its job; 0: it is not; -1 */
static int find_by_key(struct store *store, const struct store_job_new *job, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt;
    int rc;

    if (job->idempotency_key == NULL)
        return 0;
    stmt = stmt_start(store, STMT_JOB_BY_KEY);
    stmt_text(&stmt, ":principal", job->principal);
    stmt_text(&stmt, ":key", job->idempotency_key);
    rc = stmt_step(&stmt, err, "looking up an Idempotency-Key");
    if (rc == 1) {
        const char *hash = (const char *)sqlite3_column_text(stmt.handle, 1);

        if (hash == NULL || strcmp(hash, job->body_sha256) != 0)
            rc = rl_fail(err, RL_E_IDEMPOTENCY_CONFLICT, "Idempotency-Key",
                         "job %lld was sent with this key and a different body",
                         (long long)sqlite3_column_int64(stmt.handle, 0));
        else
            *ret_id = sqlite3_column_int64(stmt.handle, 0);
    }
    stmt_end(&stmt);
    return rc;
}

static int check_room(struct store *store, const struct store_job_new *job, struct rl_err *err)
{
    struct stmt stmt;
    int64_t open = 0;
    int rc;

    if (store->job_counts[JOB_QUEUED] >= job->max_queued)
        return rl_fail(err, RL_E_QUEUE_FULL, NULL, "%lld job%s queued and %lld is the limit",
                       (long long)store->job_counts[JOB_QUEUED], store->job_counts[JOB_QUEUED] == 1 ? " is" : "s are",
                       (long long)job->max_queued);
    stmt = stmt_start(store, STMT_JOB_OPEN_OF);
    stmt_text(&stmt, ":principal", job->principal);
    rc = stmt_step(&stmt, err, "counting a principal's jobs");
    if (rc == 1)
        open = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    if (rc < 0)
        return -1;
    if (open >= job->max_open_per_principal)
        return rl_fail(err, RL_E_TOO_MANY_JOBS, NULL, "you have %lld job%s queued or running and %lld is the limit",
                       (long long)open, rl_plural((uint64_t)open), (long long)job->max_open_per_principal);
    return 0;
}

static int insert_job(struct store *store, const struct store_job_new *job, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt;
    int known;

    if (check_room(store, job, err) < 0 || (known = store_device_exists(store, job->device, err)) < 0)
        return -1;
    if (known == 0)
        return rl_fail(err, RL_E_NOT_FOUND, "device", "no device \"%s\" is known", job->device);
    stmt = stmt_start(store, STMT_JOB_ADD);
    stmt_text(&stmt, ":device", job->device);
    stmt_text(&stmt, ":principal", job->principal);
    stmt_int(&stmt, ":retry", job->retry_on_interrupt);
    stmt_int(&stmt, ":created", job->now_ms);
    stmt_text(&stmt, ":key", job->idempotency_key);
    stmt_text(&stmt, ":body_sha256", job->idempotency_key != NULL ? job->body_sha256 : NULL);
    stmt_text(&stmt, ":spec", job->spec);
    if (stmt_run(&stmt, err, "storing the job") < 0)
        return -1;
    *ret_id = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int store_job_add(struct store *store, const struct store_job_new *job, int64_t *ret_id, bool *ret_replayed,
                  struct rl_err *err)
{
    int64_t id = 0;
    int found, rc;

    assert((job->idempotency_key == NULL) || (job->body_sha256 != NULL));
    if (store_begin(store, err) < 0)
        return -1;
    found = find_by_key(store, job, &id, err);
    rc = found < 0 ? -1 : 0;
    if (found == 0)
        rc = insert_job(store, job, &id, err);
    if (store_end(store, rc, err) < 0)
        return -1;
    if (found == 0)
        store->job_counts[JOB_QUEUED]++;
    *ret_id = id;
    if (ret_replayed != NULL)
        *ret_replayed = found == 1;
    return 0;
}

/* ---- reading ---- */

void store_job_fini(struct store_job *job)
{
    free(job->principal);
    free(job->device);
    free(job->spec);
    free(job->error);
    free(job->outcome);
    job->principal = job->device = job->spec = job->error = job->outcome = NULL;
}

/* The columns of JOB_SELECT. */
static int read_job(struct stmt *stmt, struct store_job *ret, struct rl_err *err)
{
    const char *state = (const char *)sqlite3_column_text(stmt->handle, 2);
    struct store_job job = {
        .id = sqlite3_column_int64(stmt->handle, 0),
        .run_id = sqlite3_column_int64(stmt->handle, 1),
        .cancel_requested = sqlite3_column_int(stmt->handle, 3) != 0,
        .retry_on_interrupt = sqlite3_column_int(stmt->handle, 4) != 0,
        .attempt = sqlite3_column_int(stmt->handle, 5),
        .created_at_ms = sqlite3_column_int64(stmt->handle, 6),
        .started_at_ms = sqlite3_column_int64(stmt->handle, 7),
        .ended_at_ms = sqlite3_column_int64(stmt->handle, 8),
        .principal = stmt_column_dup(stmt, 9),
        .device = stmt_column_dup(stmt, 10),
        .spec = stmt_column_dup(stmt, 11),
    };
    bool has_error = sqlite3_column_type(stmt->handle, 12) != SQLITE_NULL;
    bool has_outcome = sqlite3_column_type(stmt->handle, 13) != SQLITE_NULL;

    if (has_error)
        job.error = stmt_column_dup(stmt, 12);
    if (has_outcome)
        job.outcome = stmt_column_dup(stmt, 13);
    if (job.principal == NULL || job.device == NULL || job.spec == NULL || (has_error && job.error == NULL) ||
        (has_outcome && job.outcome == NULL)) {
        store_job_fini(&job);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a job");
    }
    if (state == NULL || job_state_from_name(state, &job.state) < 0) {
        store_job_fini(&job);
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "job %lld has an unknown state", (long long)job.id);
    }
    *ret = job;
    return 0;
}

static int read_one(struct stmt *stmt, struct store_job *ret, struct rl_err *err)
{
    int rc = stmt_step(stmt, err, "reading a job");

    if (rc == 1)
        rc = read_job(stmt, ret, err) < 0 ? -1 : 1;
    stmt_end(stmt);
    return rc;
}

int store_job_get(struct store *store, int64_t id, struct store_job *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_JOB_GET);
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = read_one(&stmt, ret, err);
    if (rc == 0)
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no job %lld", (long long)id);
    return rc < 0 ? -1 : 0;
}

int store_job_next(struct store *store, const char *device, struct store_job *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_JOB_NEXT);
    int rc;

    stmt_text(&stmt, ":device", device);
    rc = read_one(&stmt, ret, err);
    if (rc == 0)
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "no job is queued for this device");
    return rc < 0 ? -1 : 0;
}

/* Up to limit + 1 jobs into a new array: each() may then use the store. */
static int collect_jobs(struct store *store, const struct store_job_filter *filter, struct store_job **ret_jobs,
                        int *ret_count, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, filter->label != NULL ? STMT_JOB_LIST_LABEL
                                         : filter->state < 0   ? STMT_JOB_LIST
                                                               : STMT_JOB_LIST_STATE);
    int limit = filter->limit, count = 0, rc;
    struct store_job *jobs = calloc((size_t)limit + 1, sizeof *jobs);

    if (jobs == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a list of jobs");
    if (filter->label != NULL)
        stmt_text(&stmt, ":label", filter->label);
    if (filter->state >= 0)
        stmt_text(&stmt, ":state", job_state_name((enum job_state)filter->state));
    stmt_int(&stmt, ":before", filter->before_id > 0 ? filter->before_id : INT64_MAX);
    stmt_int(&stmt, ":limit", (int64_t)limit + 1);
    while ((rc = stmt_step(&stmt, err, "listing jobs")) == 1 && count <= limit) {
        rc = read_job(&stmt, &jobs[count], err);
        if (rc < 0)
            break;
        count++;
    }
    stmt_end(&stmt);
    *ret_jobs = jobs;
    *ret_count = count;
    return rc < 0 ? -1 : 0;
}

int store_job_list(struct store *store, const struct store_job_filter *filter,
                   int (*each)(void *arg, const struct store_job *job), void *arg, bool *ret_more, struct rl_err *err)
{
    struct store_job *jobs = NULL;
    int limit = filter->limit, count = 0, rc;

    if (limit < 1 || limit > STORE_LIMIT_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "limit", "limit is %d and has to be 1 to %d", limit, STORE_LIMIT_MAX);
    if (filter->state >= JOB_STATE_COUNT)
        return rl_fail(err, RL_E_BAD_FIELD, "state", "state number %d is unknown", filter->state);
    rc = collect_jobs(store, filter, &jobs, &count, err);
    for (int i = 0; rc == 0 && i < count && i < limit; i++)
        rc = each(arg, &jobs[i]) != 0 ? -1 : 0;
    if (rc == 0)
        *ret_more = count > limit;
    for (int i = 0; i < count; i++)
        store_job_fini(&jobs[i]);
    free(jobs);
    return rc;
}

int store_transcript(struct store *store, int64_t job_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_TRANSCRIPT_GET);
    size_t length = out->len;
    int rc;

    stmt_int(&stmt, ":id", job_id);
    rc = stmt_step(&stmt, err, "reading a transcript");
    if (rc == 0)
        rc = rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no job %lld", (long long)job_id);
    else if (rc == 1) {
        const void *text = sqlite3_column_blob(stmt.handle, 0);
        size_t size = (size_t)sqlite3_column_bytes(stmt.handle, 0);

        rc = 0;
        if (sqlite3_column_type(stmt.handle, 1) != SQLITE_NULL)
            rc = store_inflate(text, size, sqlite3_column_int64(stmt.handle, 1), out, err);
        else if (text != NULL)
            rl_buf_add(out, text, size);
    }
    stmt_end(&stmt);
    return store_finish_text(out, length, rc, err);
}
