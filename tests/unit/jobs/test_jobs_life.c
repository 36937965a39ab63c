/* The job engine's life: stopping, dying, devices that come and go, a store that takes nothing. */
#include "db/jobs/transitions.h"
#include "db/series/devices.h"
#include "server/jobs/internal.h"
#include "tests/unit/jobs/jobs_fixture.h"

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
          "{\"t\":\"hello\",\"seq\":@SEQ,\"at_ns\":@NS,\"protocol\":2,\"build\":\"b\",\"backend\":\"replay\",\"pid\":@"
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

static bool device_is_free(struct bench *bench)
{
    bool ready;
    json_t *answer = jobs_readiness(bench->jobs, &ready);
    json_t *device = json_array_get(json_object_get(answer, "devices"), 0);
    bool is_free = json_is_false(json_object_get(device, "busy"));
    json_decref(answer);
    return is_free;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static bool says_storing(struct bench *bench, const char *where)
{
    json_t *job = view(bench, bench->id);
    const json_t *progress = json_object_get(job, "progress");
    bool storing = strcmp(text_of(job, "state"), "running") == 0 &&
                   strcmp(text_of(progress, "phase"), "storing") == 0 &&
                   strstr(text_of(progress, "what"), where) != NULL;
    json_decref(job);
    return storing;
}

static bool waits_in_memory(struct bench *bench)
{
    return says_storing(bench, "in memory");
}

/* Neither the database nor the spool can be written. */
static void a_run_that_cannot_be_kept_on_disk_waits_in_memory_and_shows_red(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    signal(SIGXFSZ, SIG_IGN);
    int64_t id = post(bench, VERIFY);
    until(bench, runs, "it runs");
    limit_files(4096);
    until(bench, store_is_red, "red");
    until(bench, waits_in_memory, "it waits to be stored");
    assert_true(device_is_free(bench));
    limit_files(RLIM_INFINITY);
    ends(bench, id, "done", NULL);
    assert_true(is_ready(bench));
    next_job_is_right(bench);
}

static void stopping_gives_a_run_that_waits_its_last_try(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    signal(SIGXFSZ, SIG_IGN);
    int64_t id = post(bench, VERIFY), next = post(bench, VERIFY);
    bench->id = id;
    until(bench, runs, "it runs");
    limit_files(4096);
    until(bench, waits_in_memory, "it waits to be stored");
    limit_files(RLIM_INFINITY);
    jobs_shutdown(bench->jobs, on_stopped, bench);
    until(bench, has_stopped, "stopped");
    assert_true(has_ended(bench));
    assert_string_equal(bench->state, "done");
    bench->id = next;
    assert_false(has_ended(bench));
}

/* As after a kill: the run of a job, which is running for the store, is in the spool alone. */
static int64_t leave_in_the_spool(struct bench *bench)
{
    struct rl_err err = {0};
    start_ready(bench, DATA "/base.jsonl");
    signal(SIGXFSZ, SIG_IGN);
    int64_t id = post(bench, VERIFY);
    until(bench, runs, "it runs");
    limit_files(4096);
    until(bench, waits_in_memory, "it waits to be stored");
    limit_files(RLIM_INFINITY);
    struct active *active = active_find(bench->jobs, id);
    struct spool_run kept = {
        .job = id, .attempt = 1, .run = active->run, .samples = active->samples, .transcript = active->transcript};
    assert_int_equal(spool_put(bench->jobs->spool, &kept, &err), 0);
    assert_true(spool_has(bench->jobs->spool, id, 1));
    jobs_free(bench->jobs); /* as by a kill: nothing more is stored */
    bench->jobs = NULL;
    return id;
}

static void a_run_in_the_spool_is_stored_once_after_a_restart(void **state)
{
    struct bench *bench = *state;
    char text[32];
    int64_t id = leave_in_the_spool(bench);
    start(bench, DATA "/base.jsonl");
    ends(bench, id, "done", NULL);
    assert_false(spool_has(bench->jobs->spool, id, 1));
    assert_int_equal(access(bench->spool, F_OK), -1);
    json_t *job = view(bench, id);
    assert_int_equal(json_integer_value(json_object_get(job, "attempt")), 1);
    snprintf(text, sizeof text, "%s", text_of(job, "run"));
    json_decref(job);
    assert_string_equal(text, "1");
}

static void put_file(struct bench *bench, const char *name, const char *text)
{
    char path[192];
    mkdir(bench->spool, 0700);
    snprintf(path, sizeof path, "%s/%s", bench->spool, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(struct bench *bench, const char *name)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", bench->spool, name);
    return access(path, F_OK) == 0;
}

static void a_damaged_file_in_the_spool_is_set_aside(void **state)
{
    struct bench *bench = *state;
    put_file(bench, "job-7-1.run", "rooflined spool 1 0000 12\n{\"job\":7}   ");
    put_file(bench, "job-8-1.run", "");
    put_file(bench, "job-9-1.run.partial", "rooflined sp");
    put_file(bench, "job-07-1.run", "no name of ours");
    start_ready(bench, DATA "/base.jsonl");
    assert_true(is_there(bench, "job-7-1.run.damaged"));
    assert_true(is_there(bench, "job-8-1.run.damaged"));
    assert_false(is_there(bench, "job-9-1.run.partial"));
    assert_true(is_there(bench, "job-07-1.run"));
    next_job_is_right(bench);
}

/* ---- a store that fails at one question, or refuses a run ---- */

/* RL_E_NONE: the store answers as ever. */
static enum rl_code get_fails_with, done_fails_with;

int __real_store_job_get(struct store *store, int64_t id, struct store_job *ret, struct rl_err *err);
int __wrap_store_job_get(struct store *store, int64_t id, struct store_job *ret, struct rl_err *err);
int __real_store_job_transition(struct store *store, const struct store_transition *transition, int64_t *ret_run_id,
                                struct rl_err *err);
int __wrap_store_job_transition(struct store *store, const struct store_transition *transition, int64_t *ret_run_id,
                                struct rl_err *err);

int __wrap_store_job_get(struct store *store, int64_t id, struct store_job *ret, struct rl_err *err)
{
    if (get_fails_with != RL_E_NONE)
        return rl_fail(err, get_fails_with, "database", "a test's");
    return __real_store_job_get(store, id, ret, err);
}

int __wrap_store_job_transition(struct store *store, const struct store_transition *transition, int64_t *ret_run_id,
                                struct rl_err *err)
{
    if (done_fails_with != RL_E_NONE && transition->to == JOB_DONE)
        return rl_fail(err, done_fails_with, "database", "a test's");
    return __real_store_job_transition(store, transition, ret_run_id, err);
}

/* The daemon does not start, and the next time all is as it was. */
static void a_run_is_not_given_up_for_an_error_that_passes(void **state)
{
    static const enum rl_code codes[] = {RL_E_NO_MEMORY, RL_E_STORE_IO, RL_E_STORE_BUSY};
    struct bench *bench = *state;
    int64_t id = leave_in_the_spool(bench);
    bench->config.replay = DATA "/base.jsonl";
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct rl_err err = {0};
        get_fails_with = codes[i];
        int rc = jobs_new(&bench->config, bench->store, bench->loop, &bench->jobs, &err);
        get_fails_with = RL_E_NONE;
        assert_int_equal(rc, -1);
        assert_int_equal(err.code, codes[i]);
        assert_true(is_there(bench, "job-1-1.run"));
    }
    start(bench, DATA "/base.jsonl");
    ends(bench, id, "done", NULL);
    assert_int_equal(access(bench->spool, F_OK), -1);
}

/* A damaged file that stands under its own name again: nobody has the run of that job in memory. */
static void a_job_whose_run_cannot_be_read_gets_an_end(void **state)
{
    struct bench *bench = *state;
    int64_t id = leave_in_the_spool(bench);
    put_file(bench, "job-1-1.run", "rooflined spool 1 0000 12\n{\"job\":1}   ");
    start(bench, DATA "/base.jsonl");
    ends(bench, id, "interrupted", "interrupted");
    assert_true(is_there(bench, "job-1-1.run.damaged"));
}

/* The job fails with the store's reason, and its run stays for whoever wants to know it. */
static void a_run_that_the_store_refuses_is_set_aside(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    done_fails_with = RL_E_INTERNAL;
    ends(bench, post(bench, VERIFY), "failed", "internal");
    done_fails_with = RL_E_NONE;
    assert_false(is_there(bench, "job-1-1.run"));
    assert_true(is_there(bench, "job-1-1.run.refused"));
    next_job_is_right(bench);
}

static void so_is_one_that_was_in_the_spool(void **state)
{
    struct bench *bench = *state;
    int64_t id = leave_in_the_spool(bench);
    start(bench, DATA "/base.jsonl");
    done_fails_with = RL_E_INTERNAL;
    ends(bench, id, "failed", "internal");
    done_fails_with = RL_E_NONE;
    assert_true(is_there(bench, "job-1-1.run.refused"));
}

/* Killed after the job's end was stored and before the file was set aside. */
static void so_is_one_whose_job_has_failed(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    int64_t id = leave_in_the_spool(bench);
    struct store_transition failed = {.id = id,
                                      .attempt = 1,
                                      .from = JOB_RUNNING,
                                      .to = JOB_FAILED,
                                      .now_ms = rl_now_ms(),
                                      .error = &(struct rl_err){.code = RL_E_INTERNAL, .message = "refused"}};
    assert_int_equal(store_job_transition(bench->store, &failed, NULL, &err), 0);
    start(bench, DATA "/base.jsonl");
    assert_true(is_there(bench, "job-1-1.run.refused"));
}

/* The end comes before the store has answered for good: the next start asks it again. */
static void stopping_keeps_a_refused_run(void **state)
{
    struct bench *bench = *state;
    start_ready(bench, DATA "/base.jsonl");
    signal(SIGXFSZ, SIG_IGN);
    int64_t id = post(bench, VERIFY);
    until(bench, runs, "it runs");
    limit_files(4096);
    until(bench, waits_in_memory, "it waits to be stored");
    limit_files(RLIM_INFINITY);
    done_fails_with = RL_E_INTERNAL;
    jobs_shutdown(bench->jobs, on_stopped, bench);
    assert_true(bench->stopped);
    done_fails_with = RL_E_NONE;
    assert_true(is_there(bench, "job-1-1.run"));
    jobs_free(bench->jobs);
    start(bench, DATA "/base.jsonl");
    ends(bench, id, "done", NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(stopping_interrupts_what_runs_and_keeps_the_queue),
        CASE(stopping_while_nothing_runs_is_done_at_once),
        CASE(an_interrupted_job_is_tried_once_more_when_asked),
        CASE(a_queued_job_whose_device_is_gone_fails),
        CASE(devices_measure_side_by_side_and_each_one_at_a_time),
        CASE(a_new_driver_is_seen_by_the_next_job_and_probed_for_at_once),
        CASE(a_run_that_cannot_be_kept_on_disk_waits_in_memory_and_shows_red),
        CASE(stopping_gives_a_run_that_waits_its_last_try),
        CASE(a_run_in_the_spool_is_stored_once_after_a_restart),
        CASE(a_damaged_file_in_the_spool_is_set_aside),
        CASE(a_run_is_not_given_up_for_an_error_that_passes),
        CASE(a_job_whose_run_cannot_be_read_gets_an_end),
        CASE(a_run_that_the_store_refuses_is_set_aside),
        CASE(so_is_one_that_was_in_the_spool),
        CASE(so_is_one_whose_job_has_failed),
        CASE(stopping_keeps_a_refused_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
