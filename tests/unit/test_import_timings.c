/* Timing lines: what each may hold, what is refused where, and our own program's output. */
#include "import_fixture.h"
#include "kernels/catalogue.h"
#include "sample_run.h"

static void plain_lines(void **state)
{
    (void)state;
    struct given given = {.timings = "\xEF\xBB\xBF{\"kernel\": \"vector_add\", \"ms\": 0.25}\r\n\n"
                                     "# a remark\n==PROF== a banner\n"
                                     "{\"kernel\": \"vector_add\", \"ms\": 0.25}\n"
                                     "{\"ceiling\": \"dram_copy\", \"byte_per_s\": 1e12}\n"
                                     "{\"ceiling\": \"fp32_fma\", \"flop_per_s\": 20000000000000}\n",
                          .fields = {.sizes = "course", .driver = "580.1", .cuda = "13.0"}};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    const struct rl_row *row = &run->rows[0];
    assert_string_equal(run->suite, "verify");
    assert_string_equal(run->sizes, "course");
    assert_int_equal(run->outcome, RL_OK);
    assert_false(run->counter_backed);
    assert_string_equal(run->counters.status, "off");
    assert_string_equal(row->title, "vector add");
    assert_int_equal(row->ask_bytes.value, 201326592);
    assert_int_equal(row->flop.value, 16777216);
    assert_near(row->state[RL_WARM].time_s.median.value, 0.25e-3, 1e-18);
    assert_non_null(row->state[RL_WARM].time_s.p25.why);
    assert_non_null(row->state[RL_WARM].bytes.dram.why);
    assert_non_null(row->launch.dims_why);
    assert_false(row->state[RL_COLD].present || row->state[RL_MIXED].present);
    assert_near(run->ridge_flop_per_byte.value, 20, 1e-12);
    assert_near(row->state[RL_WARM].flop_per_s.value, 16777216 / 0.25e-3, 1);
    assert_string_equal(run->environment.driver_version.value, "580.1");
    assert_string_equal(run->environment.cuda_runtime_version.value, "13.0");
    assert_int_equal(run->import.files[0].bytes, (int64_t)strlen(given.timings));
    import_result_fini(&result);
    given.fields.times = "cold";
    given.fields.sizes = NULL;
    run = must_import(&given, &result);
    assert_true(run->rows[0].state[RL_COLD].present);
    assert_string_equal(run->sizes, "other");
    assert_non_null(run->rows[0].ask_bytes.why); /* of unknown sizes: no made-up ask */
    import_result_fini(&result);
    given.timings = "{\"kernel\": \"my \\\"k\\\" \\u00e9\", \"ms\": 1, \"flop\": 9007199254740993, \"ask_bytes\": 0}";
    run = must_import(&given, &result);
    assert_string_equal(run->suite, "import");
    assert_string_equal(run->rows[0].kernel, "my \"k\" \xC3\xA9");
    assert_int_equal(run->rows[0].flop.value, 9007199254740993);
    import_result_fini(&result);
}

static void bad_times(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } lines[] = {
        {"{\"kernel\": \"a\", \"ms\": 1}\n{\"kernel\": \"k\", \"ms\": 0}", "t.jsonl, line 2, \"ms\"|is 0"},
        {"{\"kernel\": \"k\", \"ms\": -1}", "line 1, \"ms\"|is -1"},
        {"{\"kernel\": \"k\", \"ms\": 1e-9}", "\"ms\"|1"},
        {"{\"kernel\": \"k\", \"ms\": NaN}", "line 1|NaN"},
        {"{\"kernel\": \"k\", \"ms\": Infinity}", "line 1|no JSON object"},
        {"{\"kernel\": \"k\", \"ms\": 1e999}", "line 1"},
        {"{\"kernel\": \"k\", \"ms\": null}", "\"ms\"|null"},
        {"{\"kernel\": \"k\", \"ms\": \"1.5\"}", "\"ms\"|1.5"},
        {"{\"kernel\": \"k\"}", "\"ms\"|missing"},
        {"{\"ms\": 1}", "\"kernel\"|missing"},
        {"{\"kernel\": \"\", \"ms\": 1}", "\"kernel\""},
        {"{\"kernel\": 7, \"ms\": 1}", "\"kernel\"|is 7"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"ns\": 1}", "\"ns\"|no member"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"ms\": 2}", "line 1|duplicate"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"flop\": -1}", "\"flop\"|-1"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"flop\": 0.5}", "\"flop\"|0.5"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"grid\": [1, 2]}", "\"grid\"|[1,2]"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"grid\": [1, 2, 3]}", "\"block\"|missing"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"block\": [1, 2, 2048], \"grid\": [1, 1, 1]}", "\"block\"|2048"},
        {"{\"ceiling\": \"roof\", \"byte_per_s\": 1}", "\"ceiling\"|roof"},
        {"{\"ceiling\": \"dram_copy\", \"flop_per_s\": 1}", "\"byte_per_s\"|missing"},
        {"[1]", "line 1|no object"},
        {"{\"kernel\": \"k\", \"ms\": 1", "line 1"},
        {"{\"t\": \"telemetry\"}", "\"t\"|telemetry"},
        {"{\"t\": \"sample\", \"unit\": \"vector_add\"}", "samples and no run"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        refuse_timings(lines[i].text, lines[i].text[0] == '[' ? RL_E_IMPORT_FORMAT : RL_E_IMPORT_FORMAT,
                       lines[i].words);
    refuse_timings("{\"kernel\": \"k\", \"ms\": 1}\n{\"kernel\": \"k\", \"ms\": 2}", RL_E_IMPORT_DISAGREES,
                   "line 2, \"ms\"|is 2|earlier line has 1");
    refuse_timings("kernel,ms\nk,1\n", RL_E_IMPORT_OTHER_FILE, "line 1|no JSON");
    refuse_timings("# nothing\n", RL_E_IMPORT_OTHER_FILE, "no timing line");
}

static void bad_fields(void **state)
{
    (void)state;
    static const struct {
        struct import_fields fields;
        const char *field, *words;
    } cases[] = {
        {{.date = "2027-01-01"}, "date", "2027-01-01|future"},
        {{.date = "2026-11-29T12:00:01Z"}, "date", "future"},
        {{.date = "2006-12-31"}, "date", "before"},
        {{.date = "2026-02-30"}, "date", "2026-02-30"},
        {{.date = "2026-Apr-09 15:38:19"}, "date", "2026-09-01"},
        {{.driver = "595.84 "}, "driver", "580.159.04"},
        {{.driver = "."}, "driver", ""},
        {{.cuda = "V12.6"}, "cuda", "13.0"},
        {{.device = "!!"}, "device", "letters"},
        {{.device = "\xff"}, "device", "name"},
        {{.sizes = "huge"}, "sizes", "huge|course"},
        {{.cache = "all"}, "cache", "cold"},
        {{.times = "hot"}, "times", "warm"},
        {{.sizes = "scaled"}, "sizes", "L2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given given = {.timings = "{\"kernel\": \"vector_add\", \"ms\": 1}", .fields = cases[i].fields};
        must_refuse(&given, RL_E_BAD_FIELD, cases[i].field, cases[i].words);
    }
    struct import_request nothing = {0};
    struct import_result result;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(import_make(&nothing, &result, &err), -1);
    struct import_file file = {IMPORT_TIMINGS, "t", "{\"kernel\": \"k\", \"ms\": 1}", 24};
    struct import_request bare = {.files = &file, .file_count = 1, .now_ms = 1795000000000};
    assert_int_equal(import_make(&bare, &result, &err), -1);
    assert_string_equal(err.field, "date");
    bare.fields.date = "2026-01-01";
    assert_int_equal(import_make(&bare, &result, &err), -1);
    assert_string_equal(err.field, "device");
    bare.by_hand = true; /* shown, not stored */
    bare.fields.date = NULL;
    assert_int_equal(import_make(&bare, &result, &err), 0);
    assert_true(has_note(result.run, "today's"));
    import_result_fini(&result);
    struct given work = {.timings = "{\"kernel\": \"vector_add\", \"ms\": 1, \"ask_bytes\": 5}",
                         .fields = {.sizes = "course"}};
    must_refuse(&work, RL_E_IMPORT_DISAGREES, "timings", "ask_bytes 5|201326592");
}

static void devices(void **state)
{
    (void)state;
    static const struct {
        const char *given, *id;
        bool uuid;
    } cases[] = {{"Tesla T4", "tesla-t4", false},
                 {"  NVIDIA  GeForce RTX\xE2\x84\xA2 5070 ", "nvidia-geforce-rtxxe2x84xa2-5070", false},
                 {"GPU-dc7cf5c3-b118-cb28-a970-818bcc4f67c4", "GPU-dc7cf5c3-b118-cb28-a970-818bcc4f67c4", true},
                 {"GPU-less", "gpu-less", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given given = {.timings = "{\"kernel\": \"k\", \"ms\": 1}", .fields = {.device = cases[i].given}};
        struct import_result result;
        const struct rl_device *device = &must_import(&given, &result)->device;
        assert_string_equal(device->id, cases[i].id);
        assert_string_equal(device->name, cases[i].given);
        assert_int_equal(device->uuid.why == NULL, cases[i].uuid);
        import_result_fini(&result);
    }
}

/* ---- our own output ---- */

static void line_of(struct rl_buf *out, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    assert_non_null(text);
    rl_buf_puts(out, text);
    rl_buf_puts(out, "\n");
    free(text);
    json_decref(line);
}

static struct rl_buf own_output(struct rl_run *run, double scale)
{
    struct rl_buf out;
    rl_buf_init(&out, 1 << 20);
    double median = run->rows[0].state[RL_WARM].time_s.median.value * scale;
    line_of(&out, json_pack("{s:s, s:s, s:s, s:s, s:i, s:[f,f,f]}", "t", "sample", "sizes", run->sizes, "unit",
                            run->rows[0].kernel, "state", "warm", "launches", 10, "times_s", median, median * 0.9,
                            median * 1.1));
    line_of(&out, json_pack("{s:s, s:o}", "t", "run", "run", rl_run_to_json(run)));
    return out;
}

static void our_own_output(void **state)
{
    (void)state;
    struct rl_run *measured = sample_run_small();
    measured->rows[0].state[RL_WARM].time_s.n = 3;
    int64_t finished = 0;
    MUST(rl_time_parse("2026-11-29T11:00:00Z", &finished) == 0);
    measured->started_at_ms = measured->finished_at_ms = finished;
    struct rl_buf out = own_output(measured, 1);
    struct given given = {.timings = out.data, .fields = {.device = measured->device.id, .date = "2026-11-29"}};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_string_equal(run->device.id, measured->device.id);
    assert_null(run->device.uuid.why);
    assert_int_equal(run->finished_at_ms, finished);
    assert_int_equal(result.sample_count, 1);
    assert_string_equal(result.samples[0].unit, measured->rows[0].kernel);
    assert_int_equal(result.samples[0].launches, 10);
    import_result_fini(&result);
    given.fields.date = "2026-11-28";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "date", "2026-11-28|2026-11-29T11");
    given.fields = (struct import_fields){.device = "Tesla T4", .date = "2026-11-29"};
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "device", "Tesla T4");
    given.fields = (struct import_fields){.device = measured->device.id, .date = "2026-11-29", .sizes = "scaled"};
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "no run of the sizes");
    rl_buf_free(&out);
    out = own_output(measured, 1.01); /* samples that are not the run's */
    given = (struct given){.timings = out.data, .fields = {.device = measured->device.id, .date = "2026-11-29"}};
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "median");
    rl_buf_puts(&out, "{\"kernel\": \"k\", \"ms\": 1}\n");
    given.timings = out.data;
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "mixes");
    rl_buf_free(&out);
    measured->finished_at_ms += 2 * 3600 * 1000; /* the future */
    out = own_output(measured, 1);
    given = (struct given){.timings = out.data, .fields = {.device = measured->device.id, .date = "2026-11-29"}};
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "future");
    rl_buf_free(&out);
    measured->finished_at_ms = finished;
    measured->rows[0].state[RL_WARM].occupancy = rl_known(7);
    out = own_output(measured, 1);
    given.timings = out.data;
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "t.jsonl, line 2|kernels[0].warm.occupancy");
    rl_buf_free(&out);
    rl_run_free(measured);
}

/* Figures that are each within their bounds, and what follows from them is not: found by fuzzing, 2026-11-29. */
static void impossible_together(void **state)
{
    (void)state;
    struct given given = {.timings = "{\"kernel\": \"k\", \"ms\": 5, \"flop\": 71e14}\n",
                          .ncu = "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,dram__bytes.sum,byte,5\n"};
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "t.jsonl: its figures|intensity");
    given.timings = "{\"kernel\": \"k\", \"ms\": 5, \"flop\": 71e4}\n";
    struct import_result result;
    must_import(&given, &result);
    import_result_fini(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines), cmocka_unit_test(bad_times),      cmocka_unit_test(bad_fields),
        cmocka_unit_test(devices),     cmocka_unit_test(our_own_output), cmocka_unit_test(impossible_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
