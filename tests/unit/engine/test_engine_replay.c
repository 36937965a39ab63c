/* The engine over a recording asks for what was recorded and finds what was found, whole and in part. */
#include <stdio.h>
#include <unistd.h>

#include "gpu/suites/document.h"
#include "tests/unit/engine/engine_fixture.h"

static char path[64];

static void record(const struct engine_request *requests, size_t count)
{
    struct fake_backend *fake = fake_new();
    struct gpu_backend *recorder = NULL;
    struct rl_err err = {0};

    if (gpu_backend_open_recorder(&fake->base, path, &recorder, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        struct rl_run *run = NULL;

        if (engine_run(recorder, &requests[i], NULL, &run, &err))
            fail_msg("%s", err.message);
        assert_int_equal(run->outcome, RL_OK);
        rl_run_free(run);
    }
    if (gpu_recorder_finish(recorder, &err))
        fail_msg("%s", err.message);
    recorder->ops->close(recorder);
}

static struct rl_run *replay(const struct engine_request *request)
{
    struct gpu_backend *backend = NULL;
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    if (gpu_backend_open_replay(path, NULL, &backend, &err) || engine_run(backend, request, NULL, &run, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(run->source, RL_REPLAYED);
    assert_true(run->recorded_at_ms > 0);
    assert_int_equal(run->outcome, RL_OK);
    backend->ops->close(backend);
    return run;
}

static struct rl_run *measure(const struct engine_request *request)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run = run_whole(fake, request);

    fake->base.ops->close(&fake->base);
    return run;
}

/* The document without what says when and from what it was made. */
static char *essence(struct rl_run *run)
{
    json_t *document = rl_run_to_json(run);
    char *text;
    static const char *const dated[] = {"source",      "date",      "started_at", "finished_at",
                                        "recorded_at", "telemetry", "why"};

    assert_non_null(document);
    for (size_t i = 0; i < sizeof dated / sizeof dated[0]; i++)
        json_object_del(document, dated[i]);
    text = json_dumps(document, JSON_SORT_KEYS);
    assert_non_null(text);
    json_decref(document);
    return text;
}

static void assert_same_findings(const struct engine_request *request)
{
    struct rl_run *measured = measure(request), *replayed = replay(request);
    char *expected = essence(measured), *seen = essence(replayed);

    size_t same = 0;

    while (expected[same] && expected[same] == seen[same])
        same++;
    if (expected[same] || seen[same])
        fail_msg("%.200s\nis\n%.200s", expected + (same > 100 ? same - 100 : 0), seen + (same > 100 ? same - 100 : 0));
    free(expected);
    free(seen);
    rl_run_free(measured);
    rl_run_free(replayed);
}

static void test_whole_and_parts(void **state)
{
    struct engine_request requests[2] = {whole_request(), whole_request()}, part = whole_request();

    (void)state;
    requests[1].sizes = RL_SCALED;
    record(requests, 2);
    assert_same_findings(&requests[0]);
    assert_same_findings(&requests[1]);

    part.counters = false;
    assert_same_findings(&part);
    part = (struct engine_request){.sizes = RL_SCALED, .state = {false, true}, .counters = true};
    part.kernel[3] = part.kernel[8] = true;
    assert_same_findings(&part);
    part.state[RL_WARM] = true;
    part.state[RL_COLD] = false;
    assert_same_findings(&part);
}

static void test_gap_is_an_error(void **state)
{
    struct engine_request request = whole_request();
    struct gpu_backend *backend = NULL;
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    (void)state;
    request.kernel[5] = false;
    record(&request, 1);
    request.kernel[5] = true;
    assert_int_equal(gpu_backend_open_replay(path, NULL, &backend, &err), 0);
    assert_int_equal(engine_run(backend, &request, NULL, &run, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_MISSING);
    assert_non_null(strstr(err.message, "matmul_tiled16"));
    assert_null(run);
    backend->ops->close(backend);
}

static int remove_recording(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_whole_and_parts, remove_recording),
        cmocka_unit_test_teardown(test_gap_is_an_error, remove_recording),
    };

    snprintf(path, sizeof path, "/tmp/test_engine_replay.%ld.recording", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
