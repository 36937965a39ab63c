/* Record and replay: the replayed run is the recorded one in all but its source and dates; subsets; gaps; faults. The
 * recorded figures are those of the tests' model card (synthetic_recording), whose file is the first argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/engine/engine.h"
#include "gpu/recording/replay.h"
#include "gpu/suites/document.h"
#include "tests/tools/faulty_backend.h"
#include "tests/unit/engine/fake_backend.h"

static const char *path; /* of the synthetic recording */

static struct recording *load(void)
{
    struct recording *recording = NULL;
    struct rl_err err;
    if (recording_load(path, &recording, &err) != 0)
        fail_msg("%s: %s", path, err.message);
    return recording;
}

/* A replay of the synthetic recording with one more fault, or none. */
static struct gpu_backend *replay(const char *fault)
{
    struct recording *recording = load();
    struct gpu_backend *backend = NULL, *faulty = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(gpu_backend_new_replay(recording, NULL, &backend, &err), 0);
    if (!fault)
        return backend;
    json_t *rules = json_pack("[o]", json_loads(fault, 0, NULL));
    assert_non_null(rules);
    if (fault_check(json_array_get(rules, 0), &err) != 0)
        fail_msg("%s: %s", fault, err.message);
    assert_int_equal(faulty_backend_open(backend, rules, &faulty, &err), 0);
    json_decref(rules);
    return faulty;
}

static struct engine_request request_of(enum rl_sizes sizes, const char *kernel, bool warm, bool cold, bool counters)
{
    struct engine_request request = {.sizes = sizes, .state = {warm, cold}, .counters = counters};
    for (size_t i = 0; i < rl_kernel_count; i++)
        request.kernel[i] = !kernel || strcmp(rl_units[i]->id, kernel) == 0;
    return request;
}

static struct rl_run *run_on(struct gpu_backend *backend, const struct engine_request *request, struct rl_err *err)
{
    struct rl_run *run = NULL;
    err->code = RL_E_NONE;
    backend->sizes = request->sizes;
    return engine_run(backend, request, NULL, &run, err) == 0 ? run : NULL;
}

static struct rl_run *must_run(struct gpu_backend *backend, const struct engine_request *request)
{
    struct rl_err err;
    struct rl_run *run = run_on(backend, request, &err);
    if (!run)
        fail_msg("%s", err.message);
    return run;
}

/* The document without what a replay must change; time_s of telemetry is by the wall clock. */
static json_t *comparable(const struct rl_run *run)
{
    static const char *const changing[] = {"source", "recorded_at", "date", "started_at", "finished_at"};
    json_t *document = rl_run_to_json(run), *telemetry;
    size_t index;
    assert_non_null(document);
    for (size_t i = 0; i < sizeof changing / sizeof changing[0]; i++)
        json_object_del(document, changing[i]);
    json_t *why = json_object_get(document, "why"); /* recorded_at's reason in the measured run */
    json_object_del(why, "recorded_at");
    if (json_object_size(why) == 0)
        json_object_del(document, "why");
    json_array_foreach(json_object_get(document, "telemetry"), index, telemetry)
    {
        json_object_del(telemetry, "time_s");
    }
    return document;
}

static int full_identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                         struct rl_environment *ret_environment, struct rl_err *err)
{
    struct gpu_backend *same = replay(NULL); /* any device will do; this one is complete */
    int rc = same->ops->identify(same, arena, ret_device, ret_environment, err);
    (void)b;
    same->ops->close(same);
    return rc;
}

static double drifting_hz(const struct fake_backend *fake, const struct gpu_work *work, enum rl_state state,
                          unsigned sample)
{
    (void)fake;
    /* one row's clock moves, so that the engine measures it again */
    return strcmp(work->unit->id, "stencil_tiled") == 0 && state == RL_WARM && sample < 12
               ? FAKE_SM_HZ * (1 - 0.01 * sample)
               : FAKE_SM_HZ;
}

static void test_round_trip(void **state)
{
    (void)state;
    char file[64] = "/tmp/test_replay.XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    for (int variation = 0; variation < 3; variation++) {
        struct fake_backend *fake = fake_new();
        struct gpu_backend_ops ops = *fake->base.ops;
        struct gpu_backend *recorder = NULL, *again = NULL;
        struct rl_err err = {.code = RL_E_NONE};
        json_t *recorded[RL_SIZES_COUNT], *replayed;
        ops.identify = full_identify;
        fake->base.ops = &ops;
        if (variation == 1) {
            fake->hz = drifting_hz;
            fake->wrong_result = "matmul_naive";
            fake->driver_at_end = NULL;
            fake->absent_dram = "vector_add";
        }
        if (variation == 2) {
            fake->blind = true;
            fake->base.shared_why = "the lock cannot be opened";
            fake->count_status = "counters_permission";
            fake->fails_in_warm = "stencil_global";
            fake->warm_error = RL_E_OUT_OF_MEMORY;
            fake->fails_in_check = "polynomial256";
        }
        assert_int_equal(gpu_backend_open_recorder(&fake->base, file, &recorder, &err), 0);
        for (int sizes = 0; sizes < RL_SIZES_COUNT; sizes++) {
            struct engine_request request = request_of((enum rl_sizes)sizes, NULL, true, true, true);
            struct rl_run *run = must_run(recorder, &request);
            recorded[sizes] = comparable(run);
            rl_run_free(run);
        }
        if (gpu_recorder_finish(recorder, &err) != 0)
            fail_msg("%s", err.message);
        recorder->ops->close(recorder);
        if (gpu_backend_open_replay(file, NULL, &again, &err) != 0)
            fail_msg("%s", err.message);
        for (int sizes = RL_SIZES_COUNT - 1; sizes >= 0; sizes--) { /* in another order than recorded */
            struct engine_request request = request_of((enum rl_sizes)sizes, NULL, true, true, true);
            struct rl_run *run = must_run(again, &request);
            assert_int_equal(run->source, RL_REPLAYED);
            assert_true(run->recorded_at_ms > 0);
            assert_int_equal(rl_strings_has(&run->flags, "shared"), variation == 2);
            replayed = comparable(run);
            if (!json_equal(replayed, recorded[sizes])) {
                json_dump_file(recorded[sizes], "recorded.json", JSON_INDENT(1));
                json_dump_file(replayed, "replayed.json", JSON_INDENT(1));
                fail_msg("variation %d: recorded.json and replayed.json differ", variation);
            }
            json_decref(replayed);
            json_decref(recorded[sizes]);
            rl_run_free(run);
        }
        again->ops->close(again);
    }
    unlink(file);
}

static void expect_warm(struct gpu_backend *backend, const struct gpu_work *work, unsigned sample, bool fails)
{
    struct gpu_sample got;
    struct rl_err err = {.code = RL_E_NONE};
    int rc = backend->ops->warm(backend, work, 10, sample, &got, &err);
    if (rc != (fails ? -1 : 0) || (fails && (err.code != RL_E_CUDA_FAILED || strcmp(err.message, "once") != 0)))
        fail_msg("sample %u: %d, %s", sample, rc, rc == 0 ? "" : err.message);
}

/* What failed once fails once in a replay: at that sample of that series, and not in the one after it. */
static void test_a_failure_is_of_its_call(void **state)
{
    (void)state;
    char file[64] = "/tmp/test_replay.XXXXXX";
    int fd = mkstemp(file);
    struct gpu_work work = {.unit = rl_unit_find("vector_add"), .sizes = RL_COURSE, .dims = {1 << 20, 0, 0}};
    struct gpu_backend *faulty = NULL, *backends[2] = {NULL, NULL};
    struct rl_device device;
    struct rl_environment environment;
    struct rl_arena *arena = rl_arena_new(1024 * 1024);
    struct rl_err err = {.code = RL_E_NONE};
    json_t *rules =
        json_loads("[{\"op\":\"fault\",\"on\":\"warm\",\"skip\":2,\"times\":1,\"error\":{\"code\":\"cuda_failed\","
                   "\"message\":\"once\"}}]",
                   0, NULL);
    assert_true(fd >= 0 && arena);
    close(fd);
    struct fake_backend *fake = fake_new();
    struct gpu_backend_ops ops = *fake->base.ops;
    ops.identify = full_identify;
    fake->base.ops = &ops;
    assert_int_equal(faulty_backend_open(&fake->base, rules, &faulty, &err), 0);
    assert_int_equal(gpu_backend_open_recorder(faulty, file, &backends[0], &err), 0);
    for (int replayed = 0; replayed < 2; replayed++) {
        struct gpu_backend *backend = backends[replayed];
        assert_int_equal(backend->ops->identify(backend, arena, &device, &environment, &err), 0);
        assert_int_equal(backend->ops->prepare(backend, &work, &err), 0);
        expect_warm(backend, &work, 0, false);
        expect_warm(backend, &work, 1, false);
        expect_warm(backend, &work, 2, true);
        expect_warm(backend, &work, 2, false);
        for (unsigned sample = 0; sample < 4; sample++) /* another series */
            expect_warm(backend, &work, sample, false);
        if (replayed)
            continue;
        assert_int_equal(gpu_recorder_finish(backend, &err), 0);
        if (gpu_backend_open_replay(file, NULL, &backends[1], &err) != 0)
            fail_msg("%s", err.message);
    }
    backends[0]->ops->close(backends[0]);
    backends[1]->ops->close(backends[1]);
    rl_arena_free(arena);
    json_decref(rules);
    unlink(file);
}

static void test_subsets(void **state)
{
    (void)state;
    struct gpu_backend *backend = replay(NULL);
    struct engine_request all = request_of(RL_COURSE, NULL, true, true, true);
    struct rl_run *whole = must_run(backend, &all);
    for (size_t i = 0; i < rl_kernel_count; i++)
        for (int states = 1; states < 4; states++) {
            bool warm = states & 1, cold = states & 2;
            struct engine_request request = request_of(RL_COURSE, rl_units[i]->id, warm, cold, true);
            struct rl_run *run = must_run(backend, &request);
            const struct rl_row *expected = rl_run_row(whole, rl_units[i]->id), *row = rl_run_row(run, rl_units[i]->id);
            assert_int_equal(run->row_count, 1);
            assert_non_null(row);
            for (int s = 0; s < RL_STATE_COUNT; s++) {
                if (!(s == RL_WARM ? warm : cold))
                    continue;
                assert_true(row->state[s].time_s.median.value == expected->state[s].time_s.median.value);
                assert_true(rl_is_known(row->state[s].bytes.dram));
                assert_true(row->state[s].bytes.dram.value == expected->state[s].bytes.dram.value);
            }
            rl_run_free(run);
        }
    rl_run_free(whole);
    backend->ops->close(backend);
}

/* Removes the entries of one op (of one unit, unless NULL). */
static void forget(struct recording *recording, const char *op, const char *unit)
{
    const char *key;
    json_t *entry;
    void *next;
    size_t before = json_object_size(recording->entries);
    json_object_foreach_safe(recording->entries, next, key, entry)
    {
        const char *its = json_string_value(json_object_get(entry, "unit"));
        if (strcmp(json_string_value(json_object_get(entry, "op")), op) == 0 &&
            (!unit || (its && strcmp(its, unit) == 0)))
            json_object_del(recording->entries, key);
    }
    assert_true(json_object_size(recording->entries) < before);
}

static void test_gaps_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *op, *unit, *words;
    } gaps[] = {{"warm", "transpose_tiled", "no warm samples of transpose_tiled"},
                {"cold", "vector_add", "no cold samples of vector_add"},
                {"count", "block_reduction", "no counts of block_reduction"},
                {"check", "matmul_naive", "no check of matmul_naive"},
                {"describe", "matmul_naive", "no describe of matmul_naive"},
                {"card_state", NULL, "no card state"},
                {"spin", NULL, "no spin"},
                {"driver_now", NULL, "no driver_now"},
                {"session", NULL, "no session"}};
    struct engine_request request = request_of(RL_COURSE, NULL, true, true, true);
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        struct recording *recording = load();
        struct gpu_backend *backend = NULL;
        struct rl_err err = {.code = RL_E_NONE};
        forget(recording, gaps[i].op, gaps[i].unit);
        assert_int_equal(gpu_backend_new_replay(recording, NULL, &backend, &err), 0);
        struct rl_run *run = run_on(backend, &request, &err);
        if (run || err.code != RL_E_REPLAY_MISSING || !strstr(err.message, gaps[i].words))
            fail_msg("without %s of %s: %s", gaps[i].op, gaps[i].unit ? gaps[i].unit : "any",
                     run ? "a run" : err.message);
        backend->ops->close(backend);
    }
    /* what the gap does not concern can still be had */
    struct recording *recording = load();
    struct gpu_backend *backend = NULL;
    struct rl_err err;
    forget(recording, "session", NULL);
    forget(recording, "cold", NULL);
    assert_int_equal(gpu_backend_new_replay(recording, NULL, &backend, &err), 0);
    request = request_of(RL_SCALED, NULL, true, false, false);
    rl_run_free(must_run(backend, &request));
    backend->ops->close(backend);
}

static void test_devices(void **state)
{
    (void)state;
    struct gpu_backend *backend = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(gpu_backend_open_replay(path, "GPU-00000000-0000-0000-0000-000000000002", &backend, &err), -1);
    assert_int_equal(err.code, RL_E_DEVICE_GONE);
    assert_null(backend);
    assert_int_equal(gpu_backend_open_replay(path, "GPU-00000000-0000-0000-0000-000000000001", &backend, &err), 0);
    assert_string_equal(backend->ops->name, "replay");
    assert_int_equal(backend->ops->probe_counters(backend, &err), 0);
    assert_int_equal(backend->ops->profile(backend, NULL, 0, &err), -1);
    backend->ops->close(backend);
    backend =
        replay("{\"op\":\"fault\",\"on\":\"count\",\"session\":{\"status\":\"counters_busy\",\"reason\":\"held\"}}");
    assert_int_equal(backend->ops->probe_counters(backend, &err), -1);
    assert_int_equal(err.code, RL_E_COUNTERS_BUSY);
    assert_string_equal(err.message, "held");
    backend->ops->close(backend);
}

static void test_faults_fail_runs(void **state)
{
    (void)state;
    static const char *const ops[] = {"identify", "reserve", "spin",       "describe",
                                      "warm",     "cold",    "card_state", "driver_now"};
    struct engine_request request = request_of(RL_COURSE, "vector_add", true, true, true);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        char fault[256];
        struct rl_err err;
        snprintf(fault, sizeof fault,
                 "{\"op\":\"fault\",\"on\":\"%s\",\"error\":{\"code\":\"cuda_failed\",\"message\":\"broken here\"}}",
                 ops[i]);
        struct gpu_backend *backend = replay(fault);
        struct rl_run *run = run_on(backend, &request, &err);
        if (run || err.code != RL_E_CUDA_FAILED || !strstr(err.message, "broken here"))
            fail_msg("fault on %s: %s", ops[i], run ? "a run" : err.message);
        backend->ops->close(backend);
    }
}

static void test_faults_change_answers(void **state)
{
    (void)state;
    struct engine_request request = request_of(RL_COURSE, NULL, true, false, true);
    struct gpu_backend *backend = replay(
        "{\"op\":\"fault\",\"on\":\"check\",\"unit\":\"transpose_tiled\",\"set\":{\"passed\":false,\"wrong\":3}}");
    struct rl_run *run = must_run(backend, &request);
    assert_int_equal(run->outcome, RL_REFUSED);
    rl_run_free(run);
    backend->ops->close(backend);

    backend = replay(
        "{\"op\":\"fault\",\"on\":\"count\",\"unit\":\"vector_add\",\"set\":{\"dram_read\":0,\"dram_write\":0}}");
    run = must_run(backend, &request);
    assert_string_equal(run->counters.status, "counters_unreliable");
    rl_run_free(run);
    backend->ops->close(backend);

    backend = replay(
        "{\"op\":\"fault\",\"on\":\"count\",\"session\":{\"status\":\"counters_permission\",\"reason\":\"error 35\"}}");
    run = must_run(backend, &request);
    assert_string_equal(run->counters.status, "counters_permission");
    assert_false(run->counter_backed);
    assert_false(rl_is_known(run->rows[0].state[RL_WARM].bytes.dram));
    rl_run_free(run);
    backend->ops->close(backend);

    backend = replay("{\"op\":\"fault\",\"on\":\"card_state\",\"set\":{\"other_processes\":1}}");
    run = must_run(backend, &request);
    assert_true(rl_strings_has(&run->flags, "shared"));
    rl_run_free(run);
    backend->ops->close(backend);
}

static void test_recorder_leaves_nothing_behind(void **state)
{
    (void)state;
    char folder[64] = "/tmp/test_replay.XXXXXX", file[96];
    struct gpu_backend *recorder = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x.jsonl", folder);
    assert_int_equal(gpu_backend_open_recorder(&fake_new()->base, file, &recorder, &err), 0);
    assert_int_equal(gpu_recorder_finish(recorder, &err), -1); /* nothing was measured */
    recorder->ops->close(recorder);
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(gpu_backend_open_recorder(&fake_new()->base, file, &recorder, &err), -1); /* no such folder now */
    assert_int_equal(err.code, RL_E_IO);
    assert_int_equal(gpu_backend_open_recorder(&fake_new()->base, "/tmp/", &recorder, &err), -1);
    assert_int_equal(err.code, RL_E_IO);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_a_failure_is_of_its_call),
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_gaps_are_errors),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_faults_fail_runs),
        cmocka_unit_test(test_faults_change_answers),
        cmocka_unit_test(test_recorder_leaves_nothing_behind),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_replay RECORDING\n");
        return 64;
    }
    path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
