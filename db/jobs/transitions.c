/* The job state machine: one function makes every step, in the transaction that stores it with all that belongs to it.
 */
#include "db/jobs/transitions.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/transaction.h"
#include "db/notes/scores.h"
#include "gpu/record/json_text.h"

struct facts { /* of the stored job, before the step */
    enum job_state state;
    bool retry_on_interrupt, cancel_requested, started;
    int attempt;
    int64_t started_at_ms;
    char *device, *label; /* label NULL: none */
};

static void facts_fini(struct facts *facts)
{
    free(facts->device);
    free(facts->label);
}

static int read_facts(struct store *store, int64_t id, struct facts *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_JOB_FACTS);
    struct facts facts = {0};
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a job");
    if (rc == 0)
        rc = rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no job %lld", (long long)id);
    else if (rc == 1) {
        const char *name = (const char *)sqlite3_column_text(stmt.handle, 0);

        rc = 0;
        facts.device = stmt_column_dup(&stmt, 1);
        facts.attempt = sqlite3_column_int(stmt.handle, 2);
        facts.retry_on_interrupt = sqlite3_column_int(stmt.handle, 3) != 0;
        facts.cancel_requested = sqlite3_column_int(stmt.handle, 4) != 0;
        facts.started = sqlite3_column_type(stmt.handle, 5) != SQLITE_NULL;
        facts.started_at_ms = sqlite3_column_int64(stmt.handle, 5);
        bool has_label = sqlite3_column_type(stmt.handle, 6) != SQLITE_NULL;
        facts.label = has_label ? stmt_column_dup(&stmt, 6) : NULL;
        if (facts.device == NULL || name == NULL || (has_label && facts.label == NULL))
            rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a job");
        else if (job_state_from_name(name, &facts.state) < 0)
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "job %lld has the unknown state \"%s\"", (long long)id,
                         name);
    }
    stmt_end(&stmt);
    if (rc < 0)
        facts_fini(&facts);
    else
        *ret = facts;
    return rc;
}

/* {"code","message","next_action","field"?}; NULL when memory ran out. */
static char *error_json(const struct rl_err *error)
{
    json_t *object = json_pack("{s:s, s:o, s:s}", "code", rl_code_id(error->code), "message",
                               json_string(error->message), "next_action", rl_code_next_action(error->code));
    char *text;

    if (object == NULL) /* a message that is no UTF-8, against its contract: the code still says what happened */
        object = json_pack("{s:s, s:s, s:s}", "code", rl_code_id(error->code), "message",
                           "the message could not be stored: it is not UTF-8", "next_action",
                           rl_code_next_action(error->code));
    if (object != NULL && error->field[0] != '\0')
        json_object_set_new(object, "field", json_string(error->field));
    text = rl_json_dumps(object);
    json_decref(object);
    return text;
}

static int check_step(const struct store_transition *t, const struct facts *facts, struct rl_err *err)
{
    if (!store_job_step_legal(t->from, t->to))
        return rl_fail(err, RL_E_INTERNAL, NULL, "no job goes from state %d to state %d", (int)t->from, (int)t->to);
    if ((t->to == JOB_DONE) != (t->run != NULL))
        return rl_fail(err, RL_E_INTERNAL, NULL, "a job is done exactly when its run is stored");
    if (t->to == JOB_FAILED && t->error == NULL)
        return rl_fail(err, RL_E_INTERNAL, NULL, "a failed job has to say why");
    if (t->attempt != 0 && facts->attempt != t->attempt)
        return rl_fail(err, RL_E_CONFLICT, NULL, "job %lld is at attempt %d, not %d", (long long)t->id, facts->attempt,
                       t->attempt);
    if (facts->state != t->from)
        return rl_fail(err, RL_E_CONFLICT, NULL, "job %lld is %s, not %s", (long long)t->id,
                       job_state_name(facts->state), job_state_name(t->from));
    if (t->to == JOB_QUEUED && (facts->attempt != 1 || !facts->retry_on_interrupt || facts->cancel_requested))
        return rl_fail(err, RL_E_CONFLICT, NULL, "job %lld was not to be tried again", (long long)t->id);
    if (t->run != NULL && strcmp(t->run->run->device.id, facts->device) != 0)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "device.id",
                       "the run is of device \"%s\" and job %lld asked for \"%s\"", t->run->run->device.id,
                       (long long)t->id, facts->device);
    return 0;
}

static int move(struct store *store, const struct store_transition *t, const struct facts *facts, struct rl_err *err)
{
    static const struct rl_err interrupted = {.code = RL_E_INTERRUPTED,
                                              .message = "The daemon or the node died while the job was running."};
    const struct rl_err *error = t->error == NULL && t->to == JOB_INTERRUPTED ? &interrupted : t->error;
    bool open = t->to == JOB_QUEUED || t->to == JOB_RUNNING, keep_error = t->to != JOB_DONE && !open;
    char *text = NULL;
    struct stmt stmt;
    int rc;

    if (keep_error && error != NULL && (text = error_json(error)) == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a job's error");
    stmt = stmt_start(store, STMT_JOB_MOVE);
    stmt_int(&stmt, ":id", t->id);
    stmt_text(&stmt, ":from", job_state_name(t->from));
    stmt_text(&stmt, ":to", job_state_name(t->to));
    stmt_int(&stmt, ":attempt", t->to == JOB_QUEUED ? 2 : facts->attempt);
    if (t->to == JOB_RUNNING)
        stmt_int(&stmt, ":started", t->now_ms);
    else if (t->to != JOB_QUEUED && facts->started)
        stmt_int(&stmt, ":started", facts->started_at_ms);
    if (!open)
        stmt_int(&stmt, ":ended", t->now_ms);
    stmt_text(&stmt, ":error", text);
    rc = stmt_run(&stmt, err, "storing a job's state");
    free(text);
    if (rc == 0 && sqlite3_changes(store->db) != 1)
        rc = rl_fail(err, RL_E_INTERNAL, NULL, "job %lld was not where it was a moment ago", (long long)t->id);
    return rc;
}

static int put_transcript(struct store *store, int64_t id, const char *text, struct rl_err *err)
{
    size_t length = strlen(text);
    struct deflated deflated;
    struct stmt stmt;
    int rc;

    if (store_deflate(text, length, &deflated, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_TRANSCRIPT_PUT);
    stmt_int(&stmt, ":id", id);
    stmt_int(&stmt, ":bytes", (int64_t)length);
    stmt_blob(&stmt, ":text", deflated.data, deflated.size);
    rc = stmt_run(&stmt, err, "storing a transcript");
    free(deflated.data);
    return rc;
}

/* Inside a transaction; the caller moves job_counts once it is committed. */
static int step_job(struct store *store, const struct store_transition *t, int64_t *ret_run_id, struct rl_err *err)
{
    struct store_run_new run;
    struct facts facts;
    int64_t run_id = 0;
    int rc;

    if (read_facts(store, t->id, &facts, err) < 0)
        return -1;
    if (t->run != NULL) {
        run = *t->run;
        run.label = facts.label;
        run.principal = NULL;
    }
    rc = check_step(t, &facts, err);
    if (rc == 0)
        rc = move(store, t, &facts, err);
    if (rc == 0 && t->transcript != NULL)
        rc = put_transcript(store, t->id, t->transcript, err);
    if (rc == 0 && t->run != NULL)
        rc = store_insert_run(store, t->id, &run, &run_id, err);
    if (rc == 0 && t->run != NULL)
        rc = store_take_said(store, t->id, run_id, t->run->run, t->now_ms, err);
    facts_fini(&facts);
    if (rc == 0)
        *ret_run_id = run_id;
    return rc;
}

int store_job_transition(struct store *store, const struct store_transition *t, int64_t *ret_run_id, struct rl_err *err)
{
    int64_t run_id = 0;
    int rc;

    if (store_begin(store, err) < 0)
        return -1;
    rc = step_job(store, t, &run_id, err);
    if (store_end(store, rc, err) < 0)
        return -1;
    store->job_counts[t->from]--;
    store->job_counts[t->to]++;
    if (ret_run_id != NULL)
        *ret_run_id = run_id;
    return 0;
}

int store_job_request_cancel(struct store *store, int64_t id, struct rl_err *err)
{
    struct facts facts;
    struct stmt stmt;
    int rc;

    if (store_begin(store, err) < 0)
        return -1;
    rc = read_facts(store, id, &facts, err);
    if (rc == 0) {
        if (facts.state != JOB_RUNNING)
            rc = rl_fail(err, RL_E_CONFLICT, NULL, "job %lld is %s, not running", (long long)id,
                         job_state_name(facts.state));
        facts_fini(&facts);
    }
    if (rc == 0) {
        stmt = stmt_start(store, STMT_JOB_CANCEL);
        stmt_int(&stmt, ":id", id);
        rc = stmt_run(&stmt, err, "marking a job for cancelling");
    }
    return store_end(store, rc, err);
}

/* ---- after a death ---- */

static int next_running(struct store *store, int64_t after, struct store_job *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_JOB_NEXT_RUNNING);
    int rc;

    stmt_int(&stmt, ":after", after);
    rc = stmt_step(&stmt, err, "looking for running jobs");

    if (rc == 1)
        *ret = (struct store_job){
            .id = sqlite3_column_int64(stmt.handle, 0),
            .cancel_requested = sqlite3_column_int(stmt.handle, 1) != 0,
            .retry_on_interrupt = sqlite3_column_int(stmt.handle, 2) != 0,
            .attempt = sqlite3_column_int(stmt.handle, 3),
        };
    stmt_end(&stmt);
    return rc;
}

static int recover_job(struct store *store, const struct store_job *job, int64_t now_ms,
                       int64_t deltas[JOB_STATE_COUNT], struct rl_err *err)
{
    static const struct rl_err cancelled = {.code = RL_E_CANCELLED,
                                            .message = "The job was to be cancelled when the daemon or the node died."};
    struct store_transition t = {.id = job->id, .from = JOB_RUNNING, .to = JOB_INTERRUPTED, .now_ms = now_ms};
    int64_t none;

    if (job->cancel_requested) {
        t.to = JOB_CANCELLED;
        t.error = &cancelled;
    }
    if (step_job(store, &t, &none, err) < 0)
        return -1;
    deltas[JOB_RUNNING]--;
    if (t.to == JOB_INTERRUPTED && job->retry_on_interrupt && job->attempt == 1) {
        t = (struct store_transition){.id = job->id, .from = JOB_INTERRUPTED, .to = JOB_QUEUED, .now_ms = now_ms};
        if (step_job(store, &t, &none, err) < 0)
            return -1;
    }
    deltas[t.to]++;
    return 0;
}

int store_recover(struct store *store, int64_t now_ms, bool (*keep)(void *arg, int64_t id, int attempt), void *arg,
                  int64_t *ret_interrupted, int64_t *ret_requeued, struct rl_err *err)
{
    int64_t deltas[JOB_STATE_COUNT] = {0};
    struct store_job job = {0};
    int rc;

    if (store_begin(store, err) < 0)
        return -1;
    while ((rc = next_running(store, job.id, &job, err)) == 1) {
        if (keep != NULL && keep(arg, job.id, job.attempt))
            continue;
        if (recover_job(store, &job, now_ms, deltas, err) < 0) {
            rc = -1;
            break;
        }
    }
    if (store_end(store, rc, err) < 0)
        return -1;
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        store->job_counts[i] += deltas[i];
    *ret_interrupted = deltas[JOB_INTERRUPTED];
    *ret_requeued = deltas[JOB_QUEUED];
    return 0;
}
