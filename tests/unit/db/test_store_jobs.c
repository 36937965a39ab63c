/* Jobs in the store: the queue, idempotency, limits, and every step of the state machine. */
#include "db/check.h"
#include "tests/unit/db/store_fixture.h"

static void a_job_comes_back_as_it_went_in(void **state)
{
    struct fixture *f = *state;
    static const char text[] = "\xc3\xa9 <b>'; DROP TABLE job; -- \xe6\xb8\xac";
    char *spec = malloc(7200);
    struct store_job_new new = new_job(DEVICE_A);
    struct store_job job;
    int64_t id = 0;
    bool replayed = true;

    memset(spec, 'x', 7199);
    memcpy(spec, "{\"note\":\"", 9);
    memcpy(spec + 7197, "\"}", 3);
    memcpy(spec + 9, text, sizeof text - 1);
    new.spec = spec;
    new.principal = "token:\"3\"'<script>";
    new.retry_on_interrupt = true;
    OK(f, store_job_add(f->store, &new, &id, &replayed, &f->err));
    assert_false(replayed);
    reopen_fixture(f);
    OK(f, store_job_get(f->store, id, &job, &f->err));
    assert_string_equal(job.spec, spec);
    assert_string_equal(job.principal, new.principal);
    assert_string_equal(job.device, DEVICE_A);
    assert_int_equal(job.state, JOB_QUEUED);
    assert_int_equal(job.attempt, 1);
    assert_true(job.retry_on_interrupt);
    assert_false(job.cancel_requested);
    assert_int_equal(job.created_at_ms, T0);
    assert_int_equal(job.started_at_ms, 0);
    assert_int_equal(job.ended_at_ms, 0);
    assert_int_equal(job.run_id, 0);
    assert_null(job.outcome);
    assert_null(job.error);
    store_job_fini(&job);
    FAILS(f, RL_E_NOT_FOUND, store_job_get(f->store, id + 1, &job, &f->err));
    FAILS(f, RL_E_NOT_FOUND, store_job_get(f->store, -1, &job, &f->err));
    free(spec);
}

static void bad_jobs_are_refused_whole(void **state)
{
    struct fixture *f = *state;
    struct store_job_new new = new_job("GPU-none");
    int64_t id = 77;

    FAILS(f, RL_E_NOT_FOUND, store_job_add(f->store, &new, &id, NULL, &f->err));
    assert_string_equal(f->err.field, "device");
    new = new_job(DEVICE_A);
    new.spec = "{not json";
    FAILS(f, RL_E_INTERNAL, store_job_add(f->store, &new, &id, NULL, &f->err));
    new.spec = "{\"a\":\"\xff\"}";
    FAILS(f, RL_E_INTERNAL, store_job_add(f->store, &new, &id, NULL, &f->err));
    assert_int_equal(id, 77);
    assert_int_equal(query_int(f, "SELECT count(*) FROM job"), 0);
    assert_int_equal(store_job_count(f->store, JOB_QUEUED), 0);
}

static void keys_belong_to_principals(void **state)
{
    struct fixture *f = *state;
    struct store_job_new new = new_job(DEVICE_A);
    int64_t first = 0, again = 0, other = 0;
    bool replayed = false;

    new.idempotency_key = "key 1";
    new.body_sha256 = "0000000000000000000000000000000000000000000000000000000000000001";
    OK(f, store_job_add(f->store, &new, &first, &replayed, &f->err));
    assert_false(replayed);
    new.max_queued = 0; /* an answer that was given once is given again, whatever the queue holds now */
    OK(f, store_job_add(f->store, &new, &again, &replayed, &f->err));
    assert_true(replayed);
    assert_int_equal(again, first);
    new.body_sha256 = "0000000000000000000000000000000000000000000000000000000000000002";
    FAILS(f, RL_E_IDEMPOTENCY_CONFLICT, store_job_add(f->store, &new, &again, &replayed, &f->err));
    assert_string_equal(f->err.field, "Idempotency-Key");
    new.max_queued = 10;
    new.principal = "uid:1001";
    OK(f, store_job_add(f->store, &new, &other, &replayed, &f->err));
    assert_false(replayed);
    assert_int_not_equal(other, first);
    assert_int_equal(store_job_count(f->store, JOB_QUEUED), 2);
    new.principal = "uid:1000";
    new.body_sha256 = "0000000000000000000000000000000000000000000000000000000000000001";
    OK(f, step(f, first, JOB_QUEUED, JOB_CANCELLED)); /* the key lives as long as the job */
    reopen_fixture(f);
    OK(f, store_job_add(f->store, &new, &again, &replayed, &f->err));
    assert_true(replayed);
    assert_int_equal(again, first);
}

static void limits_hold(void **state)
{
    struct fixture *f = *state;
    struct store_job_new new = new_job(DEVICE_A);
    int64_t first = 0, id = 0;

    new.max_queued = 2;
    new.max_open_per_principal = 2;
    OK(f, store_job_add(f->store, &new, &first, NULL, &f->err));
    OK(f, store_job_add(f->store, &new, &id, NULL, &f->err));
    FAILS(f, RL_E_QUEUE_FULL, store_job_add(f->store, &new, &id, NULL, &f->err));
    OK(f, step(f, first, JOB_QUEUED, JOB_RUNNING));
    FAILS(f, RL_E_TOO_MANY_JOBS, store_job_add(f->store, &new, &id, NULL, &f->err)); /* one queued, one running */
    new.principal = "uid:1001";
    OK(f, store_job_add(f->store, &new, &id, NULL, &f->err));
    new.principal = "uid:1000";
    OK(f, step(f, first, JOB_RUNNING, JOB_FAILED));
    new.max_queued = 3;
    OK(f, store_job_add(f->store, &new, &id, NULL, &f->err));
}

static void the_oldest_of_a_device_is_next(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_job(f, DEVICE_A), b = add_job(f, DEVICE_B), c = add_job(f, DEVICE_A);
    struct store_job job;

    OK(f, store_job_next(f->store, DEVICE_A, &job, &f->err));
    assert_int_equal(job.id, a);
    store_job_fini(&job);
    OK(f, step(f, a, JOB_QUEUED, JOB_RUNNING));
    OK(f, store_job_next(f->store, DEVICE_A, &job, &f->err));
    assert_int_equal(job.id, c);
    store_job_fini(&job);
    OK(f, step(f, b, JOB_QUEUED, JOB_CANCELLED));
    FAILS(f, RL_E_NOT_FOUND, store_job_next(f->store, DEVICE_B, &job, &f->err));
}

/* Brings a new job to `state` by legal steps. */
static int64_t job_in(struct fixture *f, enum job_state state)
{
    struct store_job_new new = new_job(DEVICE_A);
    struct rl_run *run = make_run(DEVICE_A, T0);
    struct store_run_new run_new = {.run = run, .document = document_of(f, "{\"suite\":\"verify\"}")};
    struct store_transition done = {.from = JOB_RUNNING, .to = JOB_DONE, .now_ms = T0, .run = &run_new};
    int64_t id = 0;

    new.retry_on_interrupt = true;
    OK(f, store_job_add(f->store, &new, &id, NULL, &f->err));
    if (state != JOB_QUEUED)
        OK(f, step(f, id, JOB_QUEUED, JOB_RUNNING));
    done.id = id;
    if (state == JOB_DONE)
        OK(f, store_job_transition(f->store, &done, NULL, &f->err));
    else if (state != JOB_QUEUED && state != JOB_RUNNING)
        OK(f, step(f, id, JOB_RUNNING, state));
    rl_run_free(run);
    return id;
}

static void every_step_is_legal_or_refused(void **state)
{
    static const char *const legal = "queued>running queued>failed queued>cancelled running>done running>failed "
                                     "running>cancelled running>interrupted interrupted>queued ";
    static const struct rl_err why = {.code = RL_E_CUDA_FAILED, .message = "it failed"};
    struct fixture *f = *state;

    for (int from = 0; from < JOB_STATE_COUNT; from++) {
        for (int to = 0; to < JOB_STATE_COUNT; to++) {
            struct rl_run *run = make_run(DEVICE_A, T0);
            struct store_run_new run_new = {.run = run, .document = document_of(f, "{\"suite\":\"verify\"}")};
            int64_t id = job_in(f, (enum job_state)from);
            struct store_transition t = {.id = id,
                                         .from = (enum job_state)from,
                                         .to = (enum job_state)to,
                                         .now_ms = T0 + 9,
                                         .error = to == JOB_FAILED ? &why : NULL,
                                         .run = to == JOB_DONE ? &run_new : NULL};
            char name[40], sql[120];
            bool is_legal;

            snprintf(name, sizeof name, "%s>%s ", job_state_name(t.from), job_state_name(t.to));
            is_legal = strstr(legal, name) != NULL;
            assert_int_equal(store_job_step_legal(t.from, t.to), is_legal);
            /* the file refuses it from anybody, not only from this code */
            snprintf(sql, sizeof sql, "UPDATE job SET state = '%s', attempt = 2 WHERE id = %lld", job_state_name(t.to),
                     (long long)id);
            if (!is_legal) {
                FAILS(f, RL_E_INTERNAL, store_job_transition(f->store, &t, NULL, &f->err));
                assert_int_not_equal(sqlite3_exec(f->store->db, sql, NULL, NULL, NULL), SQLITE_OK);
                assert_string_equal(sqlite3_errmsg(f->store->db), "a job cannot make this step");
                assert_int_equal(state_of(f, id), from);
            } else {
                OK(f, store_job_transition(f->store, &t, NULL, &f->err));
                assert_int_equal(state_of(f, id), to);
                FAILS(f, RL_E_CONFLICT, store_job_transition(f->store, &t, NULL, &f->err)); /* the second one loses */
                assert_int_equal(state_of(f, id), to);
            }
            rl_run_free(run);
        }
    }
    OK(f, store_check_integrity(f->store, &f->err));
    assert_false(store_job_step_legal(JOB_STATE_COUNT, JOB_QUEUED));
    assert_false(store_job_step_legal((enum job_state) - 1, JOB_QUEUED));
    FAILS(f, RL_E_NOT_FOUND, step(f, 999999, JOB_QUEUED, JOB_RUNNING));
}

static void a_step_needs_what_belongs_to_it(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_job(f, DEVICE_A);
    struct store_transition t = {.id = id, .from = JOB_QUEUED, .to = JOB_FAILED, .now_ms = T0};
    struct rl_run *run = make_run(DEVICE_B, T0);
    struct store_run_new run_new = {.run = run, .document = document_of(f, "{\"suite\":\"verify\"}")};

    FAILS(f, RL_E_INTERNAL, store_job_transition(f->store, &t, NULL, &f->err)); /* failed without a reason */
    OK(f, step(f, id, JOB_QUEUED, JOB_RUNNING));
    t = (struct store_transition){.id = id, .from = JOB_RUNNING, .to = JOB_DONE, .now_ms = T0};
    FAILS(f, RL_E_INTERNAL, store_job_transition(f->store, &t, NULL, &f->err)); /* done without a run */
    t.run = &run_new;
    FAILS(f, RL_E_MEASURE_PROTOCOL, store_job_transition(f->store, &t, NULL, &f->err)); /* the run of another device */
    t.to = JOB_CANCELLED;
    FAILS(f, RL_E_INTERNAL, store_job_transition(f->store, &t, NULL, &f->err)); /* a run without done */
    assert_int_equal(state_of(f, id), JOB_RUNNING);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run"), 0);
    rl_run_free(run);
}

static void errors_and_times_are_kept(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_job(f, DEVICE_A);
    struct rl_err why = {
        .code = RL_E_MEASURE_CRASHED, .field = "kernels[3]", .message = "signal 11 in \"<matmul>\" \xe6\xb8\xac"};
    struct store_transition t = {.id = id,
                                 .from = JOB_RUNNING,
                                 .to = JOB_FAILED,
                                 .now_ms = T0 + 7,
                                 .error = &why,
                                 .transcript = "line\n\x01\xff raw"};
    struct store_job job;
    struct rl_buf out;

    rl_buf_init(&out, 1000);
    OK(f, store_transcript(f->store, id, &out, &f->err));
    assert_int_equal(out.len, 0);
    OK(f, step(f, id, JOB_QUEUED, JOB_RUNNING));
    OK(f, store_job_transition(f->store, &t, NULL, &f->err));
    OK(f, store_job_get(f->store, id, &job, &f->err));
    assert_string_equal(job.error,
                        "{\"code\":\"measure_crashed\",\"message\":\"signal 11 in \\\"<matmul>\\\" \xe6\xb8\xac\","
                        "\"next_action\":\"Read the transcript; the measuring process ended without a result.\","
                        "\"field\":\"kernels[3]\"}");
    assert_int_equal(job.started_at_ms, T0 + 1000);
    assert_int_equal(job.ended_at_ms, T0 + 7); /* a clock that was set back is no reason to lose a job */
    store_job_fini(&job);
    OK(f, store_transcript(f->store, id, &out, &f->err));
    assert_string_equal(out.data, "line\n\x01\xff raw");
    FAILS(f, RL_E_NOT_FOUND, store_transcript(f->store, id + 1, &out, &f->err));
    assert_string_equal(out.data, "line\n\x01\xff raw");
    rl_buf_free(&out);
}

static void recovery_ends_or_requeues(void **state)
{
    struct fixture *f = *state;
    struct store_job_new new = new_job(DEVICE_A);
    int64_t plain = add_job(f, DEVICE_A), cancel = add_job(f, DEVICE_A), queued = add_job(f, DEVICE_B), retry = 0, done;
    int64_t interrupted = -1, requeued = -1;
    struct store_job job;

    new.retry_on_interrupt = true;
    OK(f, store_job_add(f->store, &new, &retry, NULL, &f->err));
    done = job_in(f, JOB_DONE);
    OK(f, step(f, plain, JOB_QUEUED, JOB_RUNNING));
    OK(f, step(f, cancel, JOB_QUEUED, JOB_RUNNING));
    OK(f, step(f, retry, JOB_QUEUED, JOB_RUNNING));
    OK(f, store_job_request_cancel(f->store, cancel, &f->err));
    FAILS(f, RL_E_CONFLICT, store_job_request_cancel(f->store, queued, &f->err));
    FAILS(f, RL_E_NOT_FOUND, store_job_request_cancel(f->store, 12345, &f->err));
    reopen_fixture(f);
    OK(f, store_recover(f->store, T0 + 60000, NULL, NULL, &interrupted, &requeued, &f->err));
    assert_int_equal(interrupted, 1);
    assert_int_equal(requeued, 1);
    assert_int_equal(state_of(f, plain), JOB_INTERRUPTED);
    assert_int_equal(state_of(f, cancel), JOB_CANCELLED);
    assert_int_equal(state_of(f, queued), JOB_QUEUED);
    assert_int_equal(state_of(f, done), JOB_DONE);
    OK(f, store_job_get(f->store, retry, &job, &f->err));
    assert_int_equal(job.state, JOB_QUEUED);
    assert_int_equal(job.attempt, 2);
    assert_int_equal(job.started_at_ms, 0);
    assert_null(job.error);
    store_job_fini(&job);
    OK(f, store_job_get(f->store, plain, &job, &f->err));
    assert_non_null(strstr(job.error, "\"code\":\"interrupted\""));
    assert_int_equal(job.ended_at_ms, T0 + 60000);
    store_job_fini(&job);
    OK(f, step(f, retry, JOB_QUEUED, JOB_RUNNING)); /* once only */
    OK(f, store_recover(f->store, T0 + 70000, NULL, NULL, &interrupted, &requeued, &f->err));
    assert_int_equal(interrupted, 1);
    assert_int_equal(requeued, 0);
    assert_int_equal(state_of(f, retry), JOB_INTERRUPTED);
    FAILS(f, RL_E_CONFLICT, step(f, retry, JOB_INTERRUPTED, JOB_QUEUED));
    FAILS(f, RL_E_CONFLICT, step(f, plain, JOB_INTERRUPTED, JOB_QUEUED)); /* it asked for no retry */
    OK(f, store_check_integrity(f->store, &f->err));
}

struct seen {
    struct fixture *f;
    int64_t ids[16];
    int count, stop_at;
};
static int see(void *arg, const struct store_job *job)
{
    struct seen *seen = arg;

    if (seen->count == seen->stop_at)
        return 1;
    assert_int_equal(state_of(seen->f, job->id), job->state); /* the store may be used from within */
    seen->ids[seen->count++] = job->id;
    return 0;
}

static void lists_go_back_in_pages(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {.f = f, .stop_at = -1};
    int64_t ids[5];
    bool more = false;

    for (int i = 0; i < 5; i++)
        ids[i] = add_job(f, DEVICE_A);
    OK(f, step(f, ids[1], JOB_QUEUED, JOB_RUNNING));
    OK(f, step(f, ids[3], JOB_QUEUED, JOB_RUNNING));
    OK(f, store_job_list(f->store, &(struct store_job_filter){-1, NULL, 0, 3}, see, &seen, &more, &f->err));
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.ids[0], ids[4]);
    assert_true(more);
    OK(f, store_job_list(f->store, &(struct store_job_filter){-1, NULL, seen.ids[2], 2}, see, &seen, &more, &f->err));
    assert_int_equal(seen.count, 5);
    assert_int_equal(seen.ids[4], ids[0]);
    assert_false(more);
    seen.count = 0;
    OK(f, store_job_list(f->store, &(struct store_job_filter){JOB_RUNNING, NULL, 0, 1}, see, &seen, &more, &f->err));
    assert_int_equal(seen.ids[0], ids[3]);
    assert_true(more);
    OK(f,
       store_job_list(f->store, &(struct store_job_filter){JOB_RUNNING, NULL, ids[3], 1}, see, &seen, &more, &f->err));
    assert_int_equal(seen.ids[1], ids[1]);
    assert_false(more);
    seen = (struct seen){.f = f, .stop_at = 1};
    assert_int_equal(store_job_list(f->store, &(struct store_job_filter){-1, NULL, 0, 5}, see, &seen, &more, &f->err),
                     -1);
    assert_int_equal(seen.count, 1);
    FAILS(f, RL_E_BAD_FIELD,
          store_job_list(f->store, &(struct store_job_filter){-1, NULL, 0, 0}, see, &seen, &more, &f->err));
    FAILS(f, RL_E_BAD_FIELD,
          store_job_list(f->store, &(struct store_job_filter){-1, NULL, 0, STORE_LIMIT_MAX + 1}, see, &seen, &more,
                         &f->err));
}

static void ids_are_never_used_again(void **state)
{
    struct fixture *f = *state;
    int64_t last = add_job(f, DEVICE_A);
    char sql[64];

    OK(f, step(f, last, JOB_QUEUED, JOB_CANCELLED));
    snprintf(sql, sizeof sql, "DELETE FROM job WHERE id = %lld", (long long)last);
    assert_int_equal(sqlite3_exec(f->store->db, sql, NULL, NULL, NULL), SQLITE_OK);
    reopen_fixture(f);
    assert_true(add_job(f, DEVICE_A) > last);
}

static void names_and_states_agree(void **state)
{
    enum job_state parsed;

    (void)state;
    for (int i = 0; i < JOB_STATE_COUNT; i++) {
        assert_int_equal(job_state_from_name(job_state_name((enum job_state)i), &parsed), 0);
        assert_int_equal(parsed, i);
    }
    assert_int_equal(job_state_from_name("Queued", &parsed), -1);
    assert_int_equal(job_state_from_name("", &parsed), -1);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_job_comes_back_as_it_went_in),  WITH_STORE(bad_jobs_are_refused_whole),
        WITH_STORE(keys_belong_to_principals),       WITH_STORE(limits_hold),
        WITH_STORE(the_oldest_of_a_device_is_next),  WITH_STORE(every_step_is_legal_or_refused),
        WITH_STORE(a_step_needs_what_belongs_to_it), WITH_STORE(errors_and_times_are_kept),
        WITH_STORE(recovery_ends_or_requeues),       WITH_STORE(lists_go_back_in_pages),
        WITH_STORE(ids_are_never_used_again),        cmocka_unit_test(names_and_states_agree),
    };

    return cmocka_run_group_tests_name("store: jobs", tests, NULL, NULL);
}
