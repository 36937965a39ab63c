/* The job engine over a real store, with the real measuring program replaying recordings with faults, and with a
 * scripted one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/time.h"
#include "record/record_json.h"
#include "server/jobs.h"
#include "server/limits.h"

#define GIVE_UP_MS               30000
#define SCALED_TO(ms_of_a_phase) ((ms_of_a_phase) * (LIMIT_JOB_MS / LIMIT_CEILINGS_MS))
#define VERIFY                   "{\"suite\":\"verify\",\"kernels\":[\"vector_add\",\"matmul_naive\"]}"
#define SYNTHETIC                "GPU-00000000-0000-0000-0000-000000000001"

struct bench {
    char directory[64], database[96], script[96];
    struct store *store;
    struct loop *loop;
    struct jobs *jobs;
    struct jobs_config config;
    struct loop_source *tick, *give_up;
    bool (*done)(struct bench *bench);
    bool came, stopped;
    int64_t id;
    char state[16];
};

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    snprintf(bench->directory, sizeof bench->directory, "/tmp/rl_jobs_XXXXXX");
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->database, sizeof bench->database, "%s/test.db", bench->directory);
    snprintf(bench->script, sizeof bench->script, "%s/script", bench->directory);
    assert_int_equal(store_open(bench->database, false, &bench->store, NULL), 0);
    assert_int_equal(loop_new(&bench->loop, NULL), 0);
    bench->config.measure_exec = ROOFLINE_MEASURE;
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    struct bench *bench = *state;
    char path[128];
    jobs_free(bench->jobs);
    loop_free(bench->loop);
    store_close(bench->store);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", bench->database, suffixes[i]);
        unlink(path);
    }
    unlink(bench->script);
    rmdir(bench->directory);
    free(bench);
    return 0;
}

static void on_tick(void *arg)
{
    struct bench *bench = arg;
    bench->came = bench->done(bench);
    if (bench->came)
        loop_stop(bench->loop);
    else
        loop_timer_set(bench->loop, bench->tick, 2);
}

static void on_give_up(void *arg)
{
    struct bench *bench = arg;
    loop_stop(bench->loop);
}

static void until(struct bench *bench, bool (*done)(struct bench *bench), const char *words)
{
    bench->done = done;
    bench->came = false;
    loop_add_timer(bench->loop, 0, on_tick, bench, &bench->tick, NULL);
    loop_add_timer(bench->loop, GIVE_UP_MS, on_give_up, bench, &bench->give_up, NULL);
    assert_int_equal(loop_run(bench->loop, NULL), 0);
    loop_remove(bench->loop, bench->tick);
    loop_remove(bench->loop, bench->give_up);
    if (!bench->came)
        fail_msg("never: %s", words);
}

static bool ready_says(struct bench *bench, bool wanted)
{
    bool ready = false;
    json_t *view = jobs_readiness(bench->jobs, &ready);
    bool checked = json_is_string(json_object_get(json_object_get(view, "measure"), "checked_at"));
    bool reasons = json_array_size(json_object_get(view, "reasons")) > 0;
    json_decref(view);
    return wanted ? ready : !ready && (checked || reasons);
}

static bool is_ready(struct bench *bench)
{
    return ready_says(bench, true);
}

static void start(struct bench *bench, const char *recording)
{
    struct rl_err err = {0};
    bench->config.replay = recording;
    if (jobs_new(&bench->config, bench->store, bench->loop, &bench->jobs, &err) != 0)
        fail_msg("%s", err.message);
}

static void start_ready(struct bench *bench, const char *recording)
{
    start(bench, recording);
    until(bench, is_ready, "ready");
}

static int post_as(struct bench *bench, const char *who, const char *text, const char *key, int64_t *id, bool *replayed,
                   struct rl_err *err)
{
    json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    static const char hash[] = "0000000000000000000000000000000000000000000000000000000000000001";
    int result = jobs_submit(bench->jobs, who, body, key, key != NULL ? hash : NULL, id, replayed, err);
    json_decref(body);
    return result;
}

static int64_t post(struct bench *bench, const char *text)
{
    struct rl_err err = {0};
    bool replayed;
    int64_t id = 0;
    if (post_as(bench, "uid:1", text, NULL, &id, &replayed, &err) != 0)
        fail_msg("%s: %s", text, err.message);
    bench->id = id;
    return id;
}

static json_t *view(struct bench *bench, int64_t id)
{
    struct rl_err err = {0};
    json_t *job = NULL;
    if (jobs_view(bench->jobs, id, &job, &err) != 0)
        fail_msg("%s", err.message);
    return job;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static bool has_ended(struct bench *bench)
{
    json_t *job = view(bench, bench->id);
    snprintf(bench->state, sizeof bench->state, "%s", text_of(job, "state"));
    json_decref(job);
    return strcmp(bench->state, "queued") != 0 && strcmp(bench->state, "running") != 0;
}

static bool runs(struct bench *bench)
{
    has_ended(bench);
    return strcmp(bench->state, "running") == 0;
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

/* The job ends in a state, with the error's code (NULL: none). */
static void ends(struct bench *bench, int64_t id, const char *state, const char *code)
{
    bench->id = id;
    until(bench, has_ended, "the job ends");
    json_t *job = view(bench, id);
    const char *got = text_of(json_object_get(job, "error"), "code");
    if (strcmp(bench->state, state) != 0 || strcmp(got, code != NULL ? code : "") != 0)
        fail_msg("job %lld is %s, %s: %s", (long long)id, bench->state, got,
                 text_of(json_object_get(job, "error"), "message"));
    json_decref(job);
}

static void next_job_is_right(struct bench *bench)
{
    ends(bench, post(bench, "{\"suite\":\"verify\",\"kernels\":[\"vector_add\"],\"cache\":[\"warm\"]}"), "done", NULL);
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

static void a_job_that_hangs_times_out_in_each_phase(void **state)
{
    struct bench *bench = *state;
    for (size_t i = 0; i < PHASES; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA "/faults/hang_%s.jsonl", phases[i]);
        bench->config.job_timeout_ms = SCALED_TO(500);
        start_ready(bench, path);
        int64_t id = post(bench, VERIFY);
        ends(bench, id, "failed", "measure_timeout");
        json_t *job = view(bench, id);
        assert_non_null(strstr(text_of(json_object_get(job, "error"), "message"), phases[i]));
        json_decref(job);
        jobs_free(bench->jobs);
        bench->jobs = NULL;
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

/* ---- death and stopping ---- */

static void on_stopped(void *arg)
{
    struct bench *bench = arg;
    bench->stopped = true;
}
static bool has_stopped(struct bench *bench)
{
    return bench->stopped;
}

static void stopping_interrupts_what_runs_and_keeps_the_queue(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    int64_t ignored;
    bool replayed;
    start_ready(bench, DATA "/faults/hang_kernels.jsonl");
    int64_t first = post(bench, VERIFY), second = post(bench, VERIFY);
    bench->id = first;
    until(bench, runs, "it runs");
    jobs_shutdown(bench->jobs, on_stopped, bench);
    assert_int_equal(post_as(bench, "uid:1", VERIFY, NULL, &ignored, &replayed, &err), -1);
    assert_int_equal(err.code, RL_E_SHUTTING_DOWN);
    until(bench, has_stopped, "stopped");
    ends(bench, first, "interrupted", "interrupted");
    jobs_free(bench->jobs);
    start(bench, DATA "/base.jsonl");
    ends(bench, second, "done", NULL);
}

static void stopping_while_nothing_runs_is_done_at_once(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    jobs_shutdown(bench->jobs, on_stopped, bench);
    assert_true(bench->stopped);
}

static void an_interrupted_job_is_tried_once_more_when_asked(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/faults/hang_kernels.jsonl");
    int64_t id = post(bench, "{\"suite\":\"verify\",\"kernels\":[\"matmul_naive\"],\"on_interrupt\":\"retry\"}");
    for (int attempt = 1; attempt <= 2; attempt++) {
        bench->id = id;
        until(bench, runs, "it runs");
        json_t *job = view(bench, id);
        assert_int_equal(json_integer_value(json_object_get(job, "attempt")), attempt);
        json_decref(job);
        jobs_free(bench->jobs); /* as a kill: nothing is stored */
        start(bench, DATA "/faults/hang_kernels.jsonl");
    }
    ends(bench, id, "interrupted", "interrupted");
}

static void a_queued_job_whose_device_is_gone_fails(void **state)
{
    struct bench *bench = *state;
    struct store_job_new job = {.principal = "uid:1",
                                .device = "GPU-gone",
                                .now_ms = rl_now_ms(),
                                .max_queued = 9,
                                .max_open_per_principal = 9,
                                .spec = "{\"suite\":\"verify\",\"device\":\"GPU-gone\"}"};
    struct rl_environment environment;
    struct rl_device device;
    struct rl_err err = {0};
    bool replayed;
    rl_device_unknown(&device, "a test's");
    rl_environment_unknown(&environment, "a test's");
    device.id = "GPU-gone";
    device.name = "gone";
    environment.build = "t";
    environment.method_version = 1;
    struct store_device row = {.device = &device,
                               .environment = &environment,
                               .counters_status = "ok",
                               .source = RL_MEASURED,
                               .checked_at_ms = 1};
    if (store_put_device(bench->store, &row, &err) != 0 ||
        store_job_add(bench->store, &job, &bench->id, &replayed, &err) != 0)
        fail_msg("%s", err.message);
    start(bench, DATA "/base.jsonl");
    ends(bench, bench->id, "failed", "device_gone");
}

/* ---- two devices, and a driver that changes ---- */

/* A device line of a probe for the scripted process. */
static void put_device(FILE *script, const char *id, const char *driver)
{
    struct rl_environment environment;
    struct rl_device device;
    rl_device_unknown(&device, "a test's");
    rl_environment_unknown(&environment, "a test's");
    device.id = id;
    device.name = "scripted";
    environment.build = "t";
    environment.method_version = 1;
    environment.driver_version = (struct rl_text){driver, NULL};
    json_t *line = json_pack("{s:o, s:o, s:{s:s, s:n}}", "device", rl_device_to_json(&device), "environment",
                             rl_environment_to_json(&environment), "counters", "status", "ok", "why");
    char *text = json_dumps(line, JSON_COMPACT);
    fprintf(script, "line {\"t\":\"device\",\"seq\":@SEQ,\"at_ns\":@NS,%s\n", text + 1);
    free(text);
    json_decref(line);
}

static void two_scripted_devices(struct bench *bench)
{
    FILE *script = fopen(bench->script, "we");
    assert_non_null(script);
    fputs("line "
          "{\"t\":\"hello\",\"seq\":@SEQ,\"at_ns\":@NS,\"protocol\":1,\"build\":\"b\",\"backend\":\"replay\",\"pid\":@"
          "PID}\n"
          "request\nwhen \"run\"\nhang\nend\n",
          script);
    put_device(script, "GPU-b", "1.0"); /* PCI order is the probe's, not that of the ids */
    put_device(script, "GPU-a", "1.0");
    fputs("line {\"t\":\"result\",\"seq\":@SEQ,\"at_ns\":@NS,\"run\":null}\n", script);
    assert_int_equal(fclose(script), 0);
    bench->config.measure_exec = FAKE_MEASURE;
    start_ready(bench, bench->script);
}

static void is_on(struct bench *bench, int64_t id, const char *state, const char *device)
{
    json_t *job = view(bench, id);
    assert_string_equal(text_of(job, "state"), state);
    assert_string_equal(text_of(job, "device"), device);
    json_decref(job);
}

static void devices_measure_side_by_side_and_each_one_at_a_time(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    two_scripted_devices(bench);
    int64_t first = post(bench, VERIFY), third = post(bench, VERIFY);
    int64_t second = post(bench, "{\"suite\":\"verify\",\"device\":\"GPU-a\"}");
    until(bench, runs, "the second device's job runs");
    is_on(bench, first, "running", "GPU-b"); /* the first in PCI order is the default */
    is_on(bench, second, "running", "GPU-a");
    is_on(bench, third, "queued", "GPU-b");
    assert_int_equal(jobs_cancel(bench->jobs, "uid:1", false, first, &err), 0);
    bench->id = third;
    until(bench, runs, "the next one on the first device runs");
    is_on(bench, first, "cancelled", "GPU-b"); /* the device was free only when its process was gone */
    is_on(bench, second, "running", "GPU-a");
}

static char seen_driver[32];
static bool has_new_driver(struct bench *bench)
{
    bool ready;
    json_t *answer = jobs_readiness(bench->jobs, &ready);
    const char *driver = text_of(json_array_get(json_object_get(answer, "devices"), 0), "driver_version");
    snprintf(seen_driver, sizeof seen_driver, "%s", driver);
    json_decref(answer);
    return strcmp(seen_driver, "999.99.999") == 0;
}

static void write_recording(const struct bench *bench, const char *driver)
{
    static char text[4 << 20];
    static const char known[] = "580.159.04";
    FILE *from = fopen(DATA "/base.jsonl", "re"), *to = fopen(bench->script, "we");
    assert_true(from != NULL && to != NULL);
    size_t len = fread(text, 1, sizeof text - 1, from);
    text[len] = '\0';
    for (char *at = text; (at = strstr(at, known)) != NULL; at += sizeof known - 1)
        memcpy(at, driver, sizeof known - 1);
    assert_int_equal(fwrite(text, 1, len, to), len);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static void a_new_driver_is_seen_by_the_next_job_and_probed_for_at_once(void **state)
{
    struct bench *bench = *state;
    write_recording(bench, "580.159.04");
    start_ready(bench, bench->script);
    write_recording(bench, "999.99.999");
    ends(bench, post(bench, VERIFY), "done", NULL);
    until(bench, has_new_driver, "the new driver is known");
}

/* ---- a store that takes nothing ---- */

static bool store_is_red(struct bench *bench)
{
    bool ready = true;
    json_t *answer = jobs_readiness(bench->jobs, &ready);
    bool writable = json_is_true(json_object_get(json_object_get(answer, "store"), "writable"));
    json_decref(answer);
    return !writable && !ready;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_run_that_cannot_be_stored_shows_red_and_fails_its_job(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    signal(SIGXFSZ, SIG_IGN);
    int64_t id = post(bench, VERIFY);
    until(bench, runs, "it runs");
    limit_files(4096);
    until(bench, store_is_red, "red");
    /* all tries to store the run are over when the device is free again */
    loop_add_timer(bench->loop, LIMIT_STORE_TRIES * LIMIT_STORE_TRY_MS + 500, on_give_up, bench, &bench->give_up, NULL);
    assert_int_equal(loop_run(bench->loop, NULL), 0);
    loop_remove(bench->loop, bench->give_up);
    json_t *job = view(bench, id);
    assert_string_equal(text_of(job, "state"), "running");
    json_decref(job);
    limit_files(RLIM_INFINITY);
    bench->id = id;
    until(bench, has_ended, "it ends");
    job = view(bench, id);
    assert_string_equal(bench->state, "failed");
    assert_memory_equal(text_of(json_object_get(job, "error"), "code"), "store_", 6);
    assert_non_null(strstr(text_of(json_object_get(job, "error"), "message"), "could not be stored"));
    json_decref(job);
    assert_true(is_ready(bench));
    next_job_is_right(bench);
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
        CASE(a_job_can_be_cancelled_in_each_phase),
        CASE(a_job_that_hangs_times_out_in_each_phase),
        CASE(cancelling_asks_who_and_when),
        CASE(a_device_that_is_not_here_is_named_with_those_that_are),
        CASE(the_same_key_gives_the_same_job_even_when_nothing_is_ready),
        CASE(a_full_queue_and_a_greedy_principal_are_refused),
        CASE(stopping_interrupts_what_runs_and_keeps_the_queue),
        CASE(stopping_while_nothing_runs_is_done_at_once),
        CASE(an_interrupted_job_is_tried_once_more_when_asked),
        CASE(a_queued_job_whose_device_is_gone_fails),
        CASE(devices_measure_side_by_side_and_each_one_at_a_time),
        CASE(a_new_driver_is_seen_by_the_next_job_and_probed_for_at_once),
        CASE(a_run_that_cannot_be_stored_shows_red_and_fails_its_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
