/* The recording format: doubles bit for bit, strictness, overlays, cut files, and the words for a gap. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/record/json.h"
#include "gpu/recording/recording.h"

#define LINE(text) text "\n"
#define SPIN       LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"sm_hz\":[1.5e9,1.6e9]}")
#define WARM(times)                                                                                                    \
    LINE("{\"op\":\"warm\",\"sizes\":\"course\",\"unit\":\"vector_add\",\"dims\":[16777216,0,0],\"variant\":0,"        \
         "\"launches\":10,\"time_s\":[" times "],\"sm_hz\":[0]}")
#define ERROR       "\"error\":{\"code\":\"out_of_memory\",\"message\":\"none left\"}"
#define FAILED_SPIN LINE("{\"op\":\"failure\",\"of\":\"spin\",\"sizes\":\"course\",\"sample\":2," ERROR "}")
#define END(count)  LINE("{\"op\":\"end\",\"entries\":" #count "}")

static char header[8192]; /* with newline */
static char folder[64];

static int setup(void **state)
{
    (void)state;
    const struct rl_device device = {
        .id = "GPU-1", .uuid = {"GPU-1", NULL}, .name = "card", .chip = {NULL, "none"}, .pci_bus_id = {NULL, "none"}};
    const struct rl_environment environment = {.driver_version = {"1", NULL},
                                               .cuda_driver_version = {NULL, "none"},
                                               .cuda_runtime_version = {NULL, "none"},
                                               .cupti_version = {NULL, "none"},
                                               .hostname = {NULL, "none"},
                                               .kernel_release = {NULL, "none"},
                                               .mig = {NULL, "none"},
                                               .compute_mode = {NULL, "none"},
                                               .persistence_mode = {NULL, "none"},
                                               .build = "b",
                                               .cubin = {NULL, "none"},
                                               .method_version = RL_METHOD_VERSION};
    json_t *object = json_pack("{s:i, s:s, s:s, s:i, s:o, s:o}", "roofline_recording", RECORDING_VERSION, "recorded_at",
                               "2026-11-29T20:00:00.000Z", "build", "b", "method_version", RL_METHOD_VERSION, "device",
                               rl_device_to_json(&device), "environment", rl_environment_to_json(&environment));
    char *text = json_dumps(object, JSON_COMPACT);
    snprintf(header, sizeof header, "%s\n", text);
    free(text);
    json_decref(object);
    snprintf(folder, sizeof folder, "/tmp/test_recording.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* header and body, parsed */
static int parse(const char *body, struct recording **ret, struct rl_err *err)
{
    char *text = NULL;
    assert_true(asprintf(&text, "%s%s", header, body) > 0);
    int rc = recording_parse(text, strlen(text), ret, err);
    free(text);
    return rc;
}

static void must_parse(const char *body)
{
    struct recording *recording = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    if (parse(body, &recording, &err) != 0)
        fail_msg("%s: %s", body, err.message);
    recording_free(recording);
}

static void must_fail(const char *body, const char *field, const char *words)
{
    struct recording *recording = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    if (parse(body, &recording, &err) == 0)
        fail_msg("taken: %s", body);
    assert_null(recording);
    assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    if (strcmp(err.field, field) != 0 || !strstr(err.message, words))
        fail_msg("%s says [%s] '%s', not [%s] '%s'", body, err.field, err.message, field, words);
}

static void test_doubles_survive(void **state)
{
    (void)state;
    static const double values[] = {
        0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 4.0, 1e-5, 123456789012345680.0, 0.0015697662767781785};
    struct recording *recording = recording_new(), *again = NULL;
    struct gpu_work work = {.unit = rl_unit_find("vector_add"), .sizes = RL_SCALED, .dims = {1, 2, 3}, .variant = 7};
    struct recording_key key = recording_key_work(RECORDING_WARM, &work);
    struct rl_err err;
    struct rl_buf text;
    key.launches = 64;
    json_decref(recording->header);
    recording->header = json_loads(header, 0, NULL);
    assert_int_equal(recording_put(recording, &key, recording_series_new(true, 5)), 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_int_equal(recording_sample_add(recording_find(recording, &key), true, values[i], values[i] / 7), 0);
    rl_buf_init(&text, RECORDING_BYTES_MAX);
    assert_int_equal(recording_write(recording, &text, &err), 0);
    if (recording_parse(text.data, text.len, &again, &err) != 0)
        fail_msg("%s\n%s", err.message, text.data);
    assert_true(json_equal(recording->entries, again->entries));
    assert_true(json_equal(recording->header, again->header));
    assert_int_equal(again->recorded_at_ms, INT64_C(1795982400000));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double time_s = 0, sm_hz = 0;
        assert_true(recording_sample(recording_find(again, &key), i + 5, &time_s, &sm_hz)); /* numbers begin at 5 */
        assert_memory_equal(&time_s, &values[i], sizeof time_s);
        assert_true(sm_hz == values[i] / 7);
    }
    double unused;
    assert_false(recording_sample(recording_find(again, &key), 4, &unused, &unused));
    assert_false(recording_sample(recording_find(again, &key), 13, &unused, &unused));
    rl_buf_free(&text);
    recording_free(recording);
    recording_free(again);
}

static void test_results_survive(void **state)
{
    (void)state;
    static const double worst[] = {0.25, INFINITY, -INFINITY, NAN};
    static const uint64_t index[] = {0, 77, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        struct gpu_result result = {.wrong = 3, .worst_index = index[i], .worst = worst[i], .detail = "d"}, again;
        struct rl_err err;
        json_t *entry = recording_from_result(&result);
        memset(&again, 0x5a, sizeof again);
        assert_int_equal(recording_to_result(entry, &again, &err), 0);
        assert_true(again.worst_index == index[i] && again.wrong == 3 && !again.passed);
        assert_true(isnan(worst[i]) ? isnan(again.worst) : again.worst == worst[i]);
        assert_string_equal(again.detail, "d");
        static const char *const bad[] = {"", "-1", "18446744073709551616", "1x"};
        json_object_set_new(entry, "worst_index", json_string(bad[i]));
        assert_int_equal(recording_to_result(entry, &again, &err), -1);
        json_decref(entry);
    }
}

static void test_sessions_survive(void **state)
{
    (void)state;
    struct rl_metric metrics[] = {
        {"fp32_fma", "a.sum"}, {"fp32_fma", "packed.sum"}, {"l1", "b.sum"}}; /* one name twice */
    struct gpu_count_session session = {.chip = {"GH100", NULL}, .flush_count = 2}, again;
    struct rl_arena *arena = rl_arena_new(65536);
    struct rl_err err;
    session.counters = (struct rl_counters){
        .status = "ok", .why = {NULL, "available"}, .metrics = metrics, .metric_count = 3, .passes = {2, NULL}};
    session.flush[1].dram_read = rl_unknown("dropped");
    session.flush[1].l1 = rl_known(0.1);
    json_t *entry = recording_from_session(&session);
    assert_non_null(entry);
    assert_int_equal(recording_to_session(entry, arena, &again, &err), 0);
    assert_int_equal(again.counters.metric_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(again.counters.metrics[i].name, metrics[i].name);
        assert_string_equal(again.counters.metrics[i].metric, metrics[i].metric);
    }
    assert_string_equal(again.counters.status, "ok");
    assert_string_equal(again.counters.why.why, "available");
    assert_string_equal(again.chip.value, "GH100");
    assert_int_equal(again.counters.passes.value, 2);
    assert_int_equal(again.flush_count, 2);
    assert_string_equal(again.flush[1].dram_read.why, "dropped");
    assert_true(rl_is_known(again.flush[1].l1) && again.flush[1].l1.value == 0.1);
    json_object_set_new(entry, "passes", json_integer(-1));
    assert_int_equal(recording_to_session(entry, arena, &again, &err), -1);
    assert_non_null(strstr(err.message, "'passes'"));
    json_object_set_new(entry, "passes", json_integer(2));
    json_object_set_new(json_array_get(json_object_get(entry, "flush"), 1), "l1", json_real(-0.1));
    assert_int_equal(recording_to_session(entry, arena, &again, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    assert_non_null(strstr(err.message, "in 'flush'"));
    assert_non_null(strstr(err.message, "'l1' is below 0"));
    json_decref(entry);
    rl_arena_free(arena);
}

static void test_strict(void **state)
{
    (void)state;
    must_parse(SPIN WARM("1e-3") END(2));
    must_parse(END(0));
    must_fail(SPIN, "end", "no end line");
    must_fail(SPIN END(2), "line 3", "where 1 stand");
    must_fail(SPIN END(1) SPIN, "line 4", "behind the end line");
    must_fail(SPIN SPIN END(2), "line 3", "repeats the key");
    must_fail("{\"op\":\"end\",\"entries\":0}", "line 2", "does not end with a newline");
    must_fail(LINE("nonsense"), "line 2", "not JSON");
    must_fail(LINE(""), "line 2", "not JSON");
    must_fail(LINE("[1]"), "line 2", "not a JSON object");
    must_fail(LINE("{\"op\":\"end\",\"entries\":0,\"entries\":0}"), "line 2", "duplicate");
    must_fail(LINE("{\"op\":\"spins\",\"sizes\":\"course\",\"sm_hz\":[1]}"), "line 2", "'op'");
    must_fail(LINE("{\"op\":\"spin\",\"sizes\":\"huge\",\"sm_hz\":[1]}"), "line 2", "'sizes'");
    must_fail(LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"sm_hz\":[]}"), "line 2", "'sm_hz'");
    must_fail(LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"sm_hz\":[-1]}"), "line 2", "'sm_hz'");
    must_fail(LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"sm_hz\":[1],\"hm\":1}"), "line 2", "'hm'");
    must_fail(LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"unit\":\"vector_add\",\"sm_hz\":[1]}"), "line 2",
              "key member");
    must_fail(LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"time_s\":[1],\"sm_hz\":[1]}"), "line 2", "'time_s'");
    must_fail(WARM("0"), "line 2", "'time_s'");
    must_fail(WARM("-1"), "line 2", "'time_s'");
    must_fail(WARM("1,2"), "line 2", "as many as");
    must_fail(WARM("\"1\""), "line 2", "'time_s'");
    must_fail(WARM("1e999"), "line 2", "not JSON");
    must_fail(WARM("NaN"), "line 2", "not JSON");
    must_fail(LINE("{\"op\":\"cold\",\"sizes\":\"course\",\"unit\":\"nothing\",\"dims\":[1,0,0],\"variant\":0,\"time_"
                   "s\":[1],\"sm_hz\":[1]}"),
              "line 2", "'unit'");
    must_fail(LINE("{\"op\":\"cold\",\"sizes\":\"course\",\"unit\":\"vector_add\",\"dims\":[1,0],\"variant\":0,\"time_"
                   "s\":[1],\"sm_hz\":[1]}"),
              "line 2", "'dims'");
    must_fail(LINE("{\"op\":\"cold\",\"sizes\":\"course\",\"unit\":\"vector_add\",\"dims\":[-1,0,0],\"variant\":0,"
                   "\"time_s\":[1],\"sm_hz\":[1]}"),
              "line 2", "'dims'");
    must_fail(LINE("{\"op\":\"driver_now\",\"sizes\":\"course\",\"values\":[1]}"), "line 2", "'value'");
}

static void test_headers(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}\n",
        "{\"roofline_recording\":2}\n",
        "{\"roofline_recording\":\"1\"}\n",
        "{\"roofline_recording\":1}\n",
        "{\"roofline_recording\":1,\"base\":\"x\"}\n", /* from memory there is no folder */
    };
    struct recording *recording = NULL;
    struct rl_err err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(recording_parse(bad[i], strlen(bad[i]), &recording, &err), -1);
        assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    }
    char *other = strdup(header), *method = strstr(other, "\"method_version\":1");
    assert_non_null(method);
    method[strlen("\"method_version\":")] = '9';
    assert_int_equal(recording_parse(other, strlen(other), &recording, &err), -1);
    assert_non_null(strstr(err.message, "method 9"));
    free(other);
}

static void test_cursors(void **state)
{
    (void)state;
    static const struct {
        unsigned sample, attempt;
        bool fresh;
    } steps[] = {{0, 0, true},  {1, 0, false}, {2, 0, false}, {0, 1, true},
                 {1, 1, false}, {5, 2, true},  {6, 2, false}, {6, 3, true}};
    json_t *cursors = json_object();
    struct recording_key key = {.op = RECORDING_COLD, .unit = "vector_add"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bool fresh = false;
        assert_int_equal(recording_cursor_step(cursors, &key, steps[i].sample, &fresh), 0);
        assert_int_equal(key.attempt, steps[i].attempt);
        assert_int_equal(fresh, steps[i].fresh);
    }
    json_decref(cursors);
}

static void write_file(const char *name, const char *first, const char *rest)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", first, rest);
    fclose(file);
}

static void remove_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static int load(const char *name, struct recording **ret, struct rl_err *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return recording_load(path, ret, err);
}

static void test_overlay(void **state)
{
    (void)state;
    struct recording *recording = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    double clock = 0;
    struct recording_key key = {.op = RECORDING_SPIN, .sizes = RL_COURSE};
    write_file("base.jsonl", header, SPIN WARM("1e-3") FAILED_SPIN END(3));
    write_file("over.jsonl", "{\"roofline_recording\":1,\"base\":\"base.jsonl\",\"note\":\"n\"}\n",
               LINE("{\"op\":\"spin\",\"sizes\":\"course\",\"sm_hz\":[7]}")
                   LINE("{\"op\":\"failure\",\"of\":\"session\",\"sizes\":\"course\"," ERROR "}"));
    if (load("over.jsonl", &recording, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(json_object_size(recording->entries), 4);
    assert_true(recording_sample(recording_find(recording, &key), 0, NULL, &clock));
    assert_true(clock == 7); /* the overlay's, not the base's */
    assert_false(recording_sample(recording_find(recording, &key), 1, NULL, &clock));
    assert_int_equal(recording_failed(recording, key, 2, &err), -1);
    assert_int_equal(recording_failed(recording, (struct recording_key){.op = RECORDING_SESSION}, 0, &err), -1);
    assert_true(recording->recorded_at_ms > 0 && json_object_get(recording->header, "device"));
    recording_free(recording);

    write_file("third.jsonl", "{\"roofline_recording\":1,\"base\":\"over.jsonl\"}\n", "");
    write_file("fourth.jsonl", "{\"roofline_recording\":1,\"base\":\"third.jsonl\"}\n", "");
    write_file("fifth.jsonl", "{\"roofline_recording\":1,\"base\":\"fourth.jsonl\"}\n", "");
    assert_int_equal(load("fourth.jsonl", &recording, &err), 0); /* four files: as deep as it goes */
    recording_free(recording);
    assert_int_equal(load("fifth.jsonl", &recording, &err), -1);
    assert_non_null(strstr(err.message, "deep"));
    remove_file("third.jsonl");
    remove_file("fourth.jsonl");
    remove_file("fifth.jsonl");

    write_file("self.jsonl", "{\"roofline_recording\":1,\"base\":\"self.jsonl\"}\n", "");
    assert_int_equal(load("self.jsonl", &recording, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    assert_non_null(strstr(err.message, "deep"));
    write_file("lost.jsonl", "{\"roofline_recording\":1,\"base\":\"nowhere.jsonl\"}\n", "");
    assert_int_equal(load("lost.jsonl", &recording, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_OPEN);
    assert_null(strstr(err.message, folder)); /* messages reach clients: no folder in them */
    write_file("root.jsonl", "{\"roofline_recording\":1,\"base\":\"/etc/passwd\"}\n", "");
    assert_int_equal(load("root.jsonl", &recording, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_FORMAT);
    assert_int_equal(load(".", &recording, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_OPEN);
    assert_int_equal(load("none.jsonl", &recording, &err), -1);
    assert_int_equal(err.code, RL_E_REPLAY_OPEN);
    remove_file("base.jsonl");
    remove_file("over.jsonl");
    remove_file("self.jsonl");
    remove_file("lost.jsonl");
    remove_file("root.jsonl");
}

static void test_save(void **state)
{
    (void)state;
    struct recording *recording = NULL, *again = NULL;
    struct rl_err err;
    char path[128];
    assert_int_equal(parse(SPIN WARM("1e-3") FAILED_SPIN END(3), &recording, &err), 0);
    snprintf(path, sizeof path, "%s/saved.jsonl", folder);
    assert_int_equal(recording_save(recording, path, &err), 0);
    assert_int_equal(recording_load(path, &again, &err), 0);
    assert_true(json_equal(recording->entries, again->entries));
    recording_free(again);
    remove_file("saved.jsonl"); /* teardown's rmdir fails if the temporary file were left */
    assert_int_equal(recording_save(recording, "/nonexistent/x.jsonl", &err), -1);
    assert_int_equal(err.code, RL_E_IO);
    recording_free(recording);
}

static void test_failures(void **state)
{
    (void)state;
#define FAILURE(members) LINE("{\"op\":\"failure\"," members "}") END(1)
#define WORK             "\"sizes\":\"course\",\"unit\":\"vector_add\",\"dims\":[16777216,0,0],\"variant\":0,"
    struct recording *recording = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    struct gpu_work work = {.unit = rl_unit_find("vector_add"), .sizes = RL_COURSE, .dims = {16777216, 0, 0}};
    struct recording_key key = recording_key_work(RECORDING_WARM, &work);
    key.launches = 10;
    key.attempt = 1;
    assert_int_equal(
        parse(FAILURE("\"of\":\"warm\"," WORK "\"launches\":10,\"attempt\":1,\"sample\":3," ERROR), &recording, &err),
        0);
    assert_null(recording_find(recording, &key)); /* a failure is no answer */
    assert_int_equal(recording_failed(recording, key, 2, &err), 0);
    assert_int_equal(recording_failed(recording, key, 3, &err), -1);
    assert_int_equal(err.code, RL_E_OUT_OF_MEMORY);
    assert_string_equal(err.message, "none left");
    key.attempt = 0;
    assert_int_equal(recording_failed(recording, key, 3, &err), 0);
    recording_free(recording);
    must_parse(FAILURE("\"of\":\"card_state\",\"sizes\":\"course\",\"at\":\"start\"," ERROR));
    must_parse(FAILURE("\"of\":\"driver_now\",\"sizes\":\"course\",\"sample\":1," ERROR));
    must_parse(FAILURE("\"of\":\"spin\",\"sizes\":\"course\",\"sample\":4294967295," ERROR));
    must_parse(FAILURE("\"of\":\"session\",\"sizes\":\"course\"," ERROR));
    must_parse(FAILURE("\"of\":\"prepare\"," WORK ERROR));
    must_parse(FAILURE("\"of\":\"cold\"," WORK "\"sample\":0," ERROR));
    must_fail(FAILURE("\"of\":\"sharing\",\"sizes\":\"course\"," ERROR), "line 2", "'of'");
    must_fail(FAILURE("\"of\":\"failure\",\"sizes\":\"course\"," ERROR), "line 2", "'of'");
    must_fail(FAILURE("\"sizes\":\"course\"," ERROR), "line 2", "'of'");
    must_fail(FAILURE("\"of\":\"spin\",\"sizes\":\"course\"," ERROR), "line 2", "'sample'");
    must_fail(FAILURE("\"of\":\"session\",\"sizes\":\"course\",\"sample\":0," ERROR), "line 2", "does not use");
    must_fail(FAILURE("\"of\":\"session\",\"sizes\":\"course\""), "line 2", "'error'");
    must_fail(FAILURE("\"of\":\"session\",\"sizes\":\"course\",\"x\":1," ERROR), "line 2", "'x'");
    must_fail(FAILURE("\"of\":\"session\",\"sizes\":\"course\",\"error\":{\"code\":\"nothing\",\"message\":\"m\"}"),
              "line 2", "'code'");
    must_fail(FAILURE("\"of\":\"session\",\"sizes\":\"course\",\"error\":{\"code\":\"io\"}"), "line 2", "'message'");
    must_fail(LINE("{\"op\":\"prepare\"," WORK ERROR "}") END(1), "line 2", "'op'"); /* it answers nothing */
    must_fail(LINE("{\"op\":\"spin\",\"of\":\"spin\",\"sizes\":\"course\",\"sm_hz\":[1]}") END(1), "line 2",
              "does not use");
    must_fail(LINE("{\"op\":\"fault\",\"on\":\"warm\",\"hang\":true}") END(1), "line 2", "'op'");
}

static void test_words_for_gaps(void **state)
{
    (void)state;
    struct recording *recording = NULL;
    struct rl_err err;
    struct gpu_work work = {.unit = rl_unit_find("vector_add"), .sizes = RL_COURSE, .dims = {16777216, 0, 0}};
    struct recording_key key = recording_key_work(RECORDING_WARM, &work);
    key.launches = 10;
    assert_int_equal(parse(SPIN WARM("1e-3") END(2), &recording, &err), 0);
    recording_missing(recording, &key, 1, &err);
    assert_int_equal(err.code, RL_E_REPLAY_MISSING);
    assert_non_null(strstr(err.message, "no sample 1 of vector_add, warm"));
    key.op = RECORDING_COLD;
    recording_missing(recording, &key, 0, &err);
    assert_non_null(strstr(err.message, "no cold samples of vector_add"));
    key.unit = "polynomial256";
    recording_missing(recording, &key, 0, &err);
    assert_non_null(strstr(err.message, "no polynomial256 (course)"));
    assert_string_equal(err.field, "polynomial256");
    key.sizes = RL_SCALED;
    recording_missing(recording, &key, 0, &err);
    assert_non_null(strstr(err.message, "nothing at scaled sizes"));
    assert_string_equal(err.field, "sizes");
    recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_survive), cmocka_unit_test(test_strict),  cmocka_unit_test(test_sessions_survive),
        cmocka_unit_test(test_results_survive), cmocka_unit_test(test_headers), cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_overlay),         cmocka_unit_test(test_save),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_words_for_gaps),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
