/* The job engine over a real store, with the real measuring program replaying recordings with faults. */
#include "db/runs/document.h"
#include "db/runs/read.h"
#include "tests/unit/jobs/jobs_fixture.h"

/* The store counts from memory, which cannot fail: here it can. */
static bool uncounted;
int64_t __real_store_job_count(struct store *store, enum job_state state);
int64_t __wrap_store_job_count(struct store *store, enum job_state state);
int64_t __wrap_store_job_count(struct store *store, enum job_state state)
{
    return uncounted ? -1 : __real_store_job_count(store, state);
}

/* In a phase of the running job. */
static const char *wanted_phase;
static bool in_phase(struct bench *bench)
{
    json_t *job = view(bench, bench->id);
    bool there = strcmp(text_of(json_object_get(job, "progress"), "phase"), wanted_phase) == 0;
    json_decref(job);
    return there;
}

/* ---- the way of a good job ---- */

static void a_job_goes_through_and_is_stored(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    int64_t id = post(bench, "{\"suite\":\"verify\",\"note\":\"n\",\"predictions\":{\"vector_add\":\"near\"}}");
    json_t *queued = view(bench, id);
    assert_string_equal(text_of(queued, "state"), "queued");
    assert_string_equal(text_of(queued, "device"), SYNTHETIC);
    assert_true(json_is_null(json_object_get(queued, "run")));
    assert_string_not_equal(text_of(json_object_get(queued, "why"), "run"), "");
    json_decref(queued);
    ends(bench, id, "done", NULL);
    json_t *job = view(bench, id);
    assert_string_equal(text_of(job, "outcome"), "ok");
    assert_string_equal(text_of(job, "note"), "n");
    assert_string_equal(text_of(json_object_get(job, "predictions"), "vector_add"), "near");
    int64_t run = strtoll(text_of(job, "run"), NULL, 10);
    json_decref(job);
    struct rl_buf text;
    rl_buf_init(&text, 8 << 20);
    assert_int_equal(store_run_document(bench->store, run, &text, NULL), 0);
    json_t *document = json_loadb(text.data, text.len, 0, NULL);
    assert_string_equal(text_of(document, "source"), "replayed");
    assert_int_equal(json_array_size(json_object_get(document, "kernels")), 10);
    json_decref(document);
    rl_buf_clear(&text);
    assert_int_equal(store_run_samples(bench->store, run, &text, NULL), 0);
    assert_non_null(strstr(text.data, "vector_add"));
    rl_buf_clear(&text);
    assert_int_equal(jobs_transcript(bench->jobs, id, &text, NULL), 0);
    assert_non_null(strstr(text.data, "exited with status 0"));
    rl_buf_free(&text);
}

static void a_refused_run_is_done_and_says_so(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/faults/wrong_result.jsonl");
    int64_t id = post(bench, "{\"suite\":\"verify\"}");
    ends(bench, id, "done", NULL);
    json_t *job = view(bench, id);
    assert_string_equal(text_of(job, "outcome"), "refused");
    json_decref(job);
}

static void counters_that_cannot_be_had_give_a_timed_only_run(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/faults/counters_permission.jsonl");
    ends(bench, post(bench, VERIFY), "done", NULL);
}

/* ---- what goes wrong ---- */

static const struct fault {
    const char *recording, *body, *code;
} faults[] = {
    {"crash", "{\"suite\":\"verify\"}", "measure_crashed"},
    {"crash_in_line", "{\"suite\":\"verify\"}", "measure_crashed"},
    {"exit", "{\"suite\":\"verify\"}", "measure_crashed"},
    {"exit_quietly", VERIFY, "measure_crashed"},
    {"garbage", "{\"suite\":\"verify\"}", "measure_protocol"},
    {"oversize", "{\"suite\":\"verify\"}", "measure_protocol"},
    {"line_dropped", "{\"suite\":\"verify\"}", "measure_protocol"},
    {"line_twice", "{\"suite\":\"verify\"}", "measure_protocol"},
    {"cuda_failed", "{\"suite\":\"verify\"}", "cuda_failed"},
    {"out_of_memory", VERIFY, "out_of_memory"},
};

static void each_fault_fails_its_job_alone(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA "/faults/%s.jsonl", faults[i].recording);
        start_ready(bench, path);
        int64_t id = post(bench, faults[i].body);
        bench->id = id;
        until(bench, has_ended, faults[i].recording);
        json_t *job = view(bench, id);
        const json_t *error = json_object_get(job, "error");
        if (strcmp(bench->state, "failed") != 0 || strcmp(text_of(error, "code"), faults[i].code) != 0)
            fail_msg("%s: %s, %s: %s", faults[i].recording, bench->state, text_of(error, "code"),
                     text_of(error, "message"));
        json_decref(job);
        jobs_free(bench->jobs);
        bench->jobs = NULL;
    }
}

static const struct refusal {
    const char *recording, *code;
} refusals[] = {
    {"no_driver", "no_driver"},
    {"old_driver", "old_driver"},
    {"no_device", "no_device"},
    {"device_busy", "device_busy"},
    {"unsupported_chip", "unsupported_chip"},
};
static bool is_not_ready(struct bench *bench)
{
    return ready_says(bench, false);
}
static bool probe_has_failed(struct bench *bench)
{
    bool ready = false;
    json_t *answer = jobs_readiness(bench->jobs, &ready);
    const char *code = text_of(json_array_get(json_object_get(answer, "reasons"), 0), "code");
    bool failed = !ready && code[0] != '\0' && strcmp(code, "no_device_ready") != 0;
    json_decref(answer);
    return failed;
}

static void a_node_that_cannot_measure_says_why_and_takes_no_job(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char path[256];
        bool ready, replayed;
        int64_t id;
        struct rl_err err = {0};
        snprintf(path, sizeof path, DATA "/faults/%s.jsonl", refusals[i].recording);
        start(bench, path);
        until(bench, is_not_ready, "not ready");
        assert_int_equal(post_as(bench, "uid:1", VERIFY, NULL, &id, &replayed, &err), -1);
        assert_int_equal(err.code, RL_E_NO_DEVICE_READY);
        until(bench, probe_has_failed, refusals[i].recording);
        json_t *answer = jobs_readiness(bench->jobs, &ready);
        assert_string_equal(text_of(json_array_get(json_object_get(answer, "reasons"), 0), "code"), refusals[i].code);
        json_decref(answer);
        jobs_free(bench->jobs);
        bench->jobs = NULL;
    }
}

static void a_queue_that_was_not_counted_is_null_and_why(void **state)
{
    static const char *const names[] = {"queued", "running"};
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    for (int pass = 0; pass < 2; pass++) {
        bool ready;
        uncounted = pass == 1;
        json_t *answer = jobs_readiness(bench->jobs, &ready);
        uncounted = false;
        const json_t *queue = json_object_get(answer, "queue"), *why = json_object_get(queue, "why");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            const json_t *count = json_object_get(queue, names[i]);
            assert_true(pass == 0 ? json_is_integer(count) && json_integer_value(count) == 0 : json_is_null(count));
            assert_int_equal(text_of(why, names[i])[0] == '\0', pass == 0);
        }
        assert_int_equal(json_integer_value(json_object_get(queue, "limit")), LIMIT_QUEUED_JOBS);
        json_decref(answer);
    }
}

static const char *const phases[] = {"start", "ceilings", "kernels", "counters", "checks"};
#define PHASES (sizeof phases / sizeof phases[0])

static void a_job_can_be_cancelled_in_each_phase(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    for (size_t i = 0; i < PHASES; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA "/faults/hang_%s.jsonl", phases[i]);
        start_ready(bench, path);
        int64_t id = post(bench, VERIFY), waiting = post(bench, VERIFY);
        bench->id = id;
        wanted_phase = phases[i];
        until(bench, in_phase, "in the phase");
        assert_int_equal(jobs_cancel(bench->jobs, "uid:1", false, id, &err), 0);
        json_t *job = view(bench, id);
        assert_string_equal(text_of(job, "state"), "running"); /* as long as its process is there */
        assert_true(json_is_true(json_object_get(job, "cancel_requested")));
        json_decref(job);
        assert_int_equal(jobs_cancel(bench->jobs, "uid:1", false, waiting, &err), 0);
        ends(bench, waiting, "cancelled", "cancelled");
        ends(bench, id, "cancelled", "cancelled");
        jobs_free(bench->jobs);
        bench->jobs = NULL;
    }
}

/* Whether the error names this phase, when the phases together may take so long. */
static bool times_out_in(struct bench *bench, const char *phase, int64_t timeout_ms)
{
    char path[256];
    snprintf(path, sizeof path, DATA "/faults/hang_%s.jsonl", phase);
    bench->config.job_timeout_ms = timeout_ms;
    start_ready(bench, path);
    int64_t id = post(bench, VERIFY);
    ends(bench, id, "failed", "measure_timeout");
    json_t *job = view(bench, id);
    bool named = strstr(text_of(json_object_get(job, "error"), "message"), phase) != NULL;
    json_decref(job);
    jobs_free(bench->jobs);
    bench->jobs = NULL;
    return named;
}

/* On a busy machine a phase that does not hang may be the slow one: then with more time, which it is bound to get. */
static void a_job_that_hangs_times_out_in_each_phase(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < PHASES; i++) {
        bool named = false;
        for (int64_t phase_ms = 500; !named && phase_ms <= 32000; phase_ms *= 4)
            named = times_out_in(bench, phases[i], SCALED_TO(phase_ms));
        assert_true(named);
    }
}

static void cancelling_asks_who_and_when(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    start_ready(bench, DATA "/faults/hang_kernels.jsonl");
    int64_t id = post(bench, VERIFY);
    assert_int_equal(jobs_cancel(bench->jobs, "uid:2", false, id, &err), -1);
    assert_int_equal(err.code, RL_E_FORBIDDEN);
    assert_int_equal(jobs_cancel(bench->jobs, "uid:2", true, id, &err), 0);
    ends(bench, id, "cancelled", "cancelled");
    assert_int_equal(jobs_cancel(bench->jobs, "uid:1", false, id, &err), -1);
    assert_int_equal(err.code, RL_E_CONFLICT);
    assert_int_equal(jobs_cancel(bench->jobs, "uid:1", false, id + 1, &err), -1);
    assert_int_equal(err.code, RL_E_NOT_FOUND);
}

/* ---- accepting ---- */

static void a_device_that_is_not_here_is_named_with_those_that_are(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    int64_t id;
    bool replayed;
    start_ready(bench, DATA "/base.jsonl");
    assert_int_equal(post_as(bench, "uid:1", "{\"suite\":\"verify\",\"device\":\"GPU-2\"}", NULL, &id, &replayed, &err),
                     -1);
    assert_int_equal(err.code, RL_E_BAD_FIELD);
    assert_string_equal(err.field, "device");
    assert_non_null(strstr(err.message, SYNTHETIC));
    ends(bench, post(bench, "{\"suite\":\"verify\",\"kernels\":[\"vector_add\"],\"device\":\"" SYNTHETIC "\"}"), "done",
         NULL);
}

static void the_same_key_gives_the_same_job_even_when_nothing_is_ready(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    int64_t first, again;
    bool replayed = true;
    start_ready(bench, DATA "/base.jsonl");
    assert_int_equal(post_as(bench, "uid:1", VERIFY, "key", &first, &replayed, &err), 0);
    assert_false(replayed);
    ends(bench, first, "done", NULL);
    jobs_free(bench->jobs);
    start(bench, DATA "/faults/no_driver.jsonl");
    assert_int_equal(post_as(bench, "uid:1", VERIFY, "key", &again, &replayed, &err), 0);
    assert_true(replayed);
    assert_int_equal(first, again);
    assert_int_equal(post_as(bench, "uid:1", VERIFY, "other", &again, &replayed, &err), -1);
    assert_int_equal(err.code, RL_E_NO_DEVICE_READY);
    assert_int_equal(post_as(bench, "uid:2", VERIFY, "key", &again, &replayed, &err), -1); /* another principal's key */
    assert_int_equal(err.code, RL_E_NO_DEVICE_READY);
}

static void a_full_queue_and_a_greedy_principal_are_refused(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    int64_t id, accepted = 0;
    bool replayed;
    start_ready(bench, DATA "/faults/hang_kernels.jsonl");
    post(bench, VERIFY);
    until(bench, runs, "the first one runs");
    while (post_as(bench, "uid:1", VERIFY, NULL, &id, &replayed, &err) == 0)
        accepted++;
    assert_int_equal(err.code, RL_E_TOO_MANY_JOBS);
    assert_int_equal(accepted, LIMIT_OPEN_JOBS_PER_PRINCIPAL - 1);
    for (int who = 2; err.code != RL_E_QUEUE_FULL; who++) {
        char name[16];
        snprintf(name, sizeof name, "uid:%d", who);
        while (post_as(bench, name, VERIFY, NULL, &id, &replayed, &err) == 0)
            accepted++;
    }
    assert_int_equal(accepted, LIMIT_QUEUED_JOBS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_job_goes_through_and_is_stored),
        CASE(a_refused_run_is_done_and_says_so),
        CASE(counters_that_cannot_be_had_give_a_timed_only_run),
        CASE(each_fault_fails_its_job_alone),
        CASE(a_node_that_cannot_measure_says_why_and_takes_no_job),
        CASE(a_queue_that_was_not_counted_is_null_and_why),
        CASE(a_job_can_be_cancelled_in_each_phase),
        CASE(a_job_that_hangs_times_out_in_each_phase),
        CASE(cancelling_asks_who_and_when),
        CASE(a_device_that_is_not_here_is_named_with_those_that_are),
        CASE(the_same_key_gives_the_same_job_even_when_nothing_is_ready),
        CASE(a_full_queue_and_a_greedy_principal_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
