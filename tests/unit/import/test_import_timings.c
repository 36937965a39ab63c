/* Timing lines: what each may hold, what is refused where, and our own program's output. */
#include "gpu/record/derive/quantile.h"
#include "gpu/suites/document.h"
#include "kernels/unit/catalogue.h"
#include "tests/unit/import/import_fixture.h"
#include "tests/unit/record/sample_run.h"

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
        {"{\"kernel\": \"k\", \"ms\": NaN}", "line 1: column 23: NaN is no number"},
        {"{\"kernel\": \"k\", \"ms\": Infinity}", "line 1: column 23: Infinity is no number"},
        {"{\"kernel\": \"k\", \"ms\": 1e999}", "line 1"},
        {"{\"kernel\": \"k\", \"ms\": null}", "\"ms\"|null"},
        {"{\"kernel\": \"k\", \"ms\": \"1.5\"}", "\"ms\"|1.5"},
        {"{\"kernel\": \"k\"}", "\"ms\"|missing"},
        {"{\"ms\": 1}", "\"kernel\"|missing"},
        {"{\"kernel\": \"\", \"ms\": 1}", "\"kernel\""},
        {"{\"kernel\": 7, \"ms\": 1}", "\"kernel\"|is 7"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"ns\": 1}", "\"ns\"|no member"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"ms\": 2}", "line 1: column|there twice|\"ms\""},
        {"{\"kernel\": \"k\", \"ms\": 1, \"flop\": -1}", "\"flop\"|-1"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"flop\": 0.5}", "\"flop\"|0.5"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"grid\": [1, 2]}", "\"grid\"|[1,2]"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"grid\": [1, 2, 3]}", "\"block\"|missing"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"block\": [1, 2, 2048], \"grid\": [1, 1, 1]}", "\"block\"|2048"},
        {"{\"ceiling\": \"roof\", \"byte_per_s\": 1}", "\"ceiling\"|roof"},
        {"{\"ceiling\": \"dram_copy\", \"flop_per_s\": 1}", "\"byte_per_s\"|missing"},
        {"[1]", "line 1|is 1; an object"},
        {"{\"kernel\": \"k\", \"ms\": 1", "line 1: column 24|cut"},
        {"{\"kernel\": \"k\", \"ms\": 0,25}", "line 1: column 25|\"25\" stands behind a comma|0.25"},
        {"{\"kernel\": \"k\", \"ms\": 1,}", "line 1: column 24|nothing stands between this comma and the }"},
        {"{\"kernel\": \"k\", \"ms\" 1}", "line 1: column 22|\"1\" stands where a colon"},
        {"{\"kernel\": \"k\", ms: 1}", "line 1: column 17|\"ms\" stands where a member's name in double quotes"},
        {"{\"kernel\": \"k\" \"ms\": 1}", "line 1: column 16|stands where a comma, or }"},
        {"{\"kernel\": \"k\", \"ms\": 1} 2", "line 1: column 26|\"2\" stands where the line's end"},
        {"{\"kernel\": \"a\\u0000b\", \"ms\": 1}", "line 1: column|NUL character"},
        {"{\"kernel\": \"k\", \"ms\": 1, \"flop\": 99999999999999999999}", "line 1: column|larger than can be read"},
        {"{\"t\": \"telemetry\"}", "\"t\"|telemetry"},
        {"{\"t\": \"sample\", \"unit\": \"vector_add\"}", "samples and no run"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        refuse_timings(lines[i].text, lines[i].text[0] == '[' ? RL_E_IMPORT_FORMAT : RL_E_IMPORT_FORMAT,
                       lines[i].words);
    refuse_timings("kernel,ms\nk,1\n", RL_E_IMPORT_NOT_TIMINGS, "line 1|no JSON");
    refuse_timings("# nothing\n", RL_E_IMPORT_NOT_TIMINGS, "no timing line");
}

/* The same line twice is one; whatever else it says of the same kernel would be lost. */
static void lines_of_one_name(void **state)
{
    (void)state;
#define LINE(more) "{\"kernel\": \"k\", \"ms\": 0.1" more "}\n"
#define SHAPE(x)   ", \"grid\": [" x ", 1, 1], \"block\": [32, 1, 1]"
    static const struct {
        const char *first, *second, *words;
    } cases[] = {
        {LINE(""), "{\"kernel\": \"k\", \"ms\": 2}", "t.jsonl, line 3, \"ms\"|is 2 for \"k\"|line 1 has 0.1"},
        {LINE(", \"ask_bytes\": 100"), LINE(", \"ask_bytes\": 200"), "line 3, \"ask_bytes\"|is 200|line 1 has 100"},
        {LINE(", \"ask_bytes\": 100"), LINE(""), "line 3, \"ask_bytes\"|is missing|line 1 has 100"},
        {LINE(""), LINE(", \"ask_bytes\": 100"), "line 3, \"ask_bytes\"|is 100|line 1 has none"},
        {LINE(", \"flop\": 9007199254740992"), LINE(", \"flop\": 9007199254740993"), "line 3, \"flop\"|740993|740992"},
        {LINE(", \"function\": \"f\""), LINE(", \"function\": \"g\""), "line 3, \"function\"|\"g\"|\"f\""},
        {LINE(SHAPE("1")), "{\"kernel\": \"k\", \"ms\": 2" SHAPE("1") "}", "line 3, \"ms\"|is 2|line 1 has 0.1"},
        {LINE(""), LINE(SHAPE("2")), "line 3, \"grid\"|[2,1,1]|line 1 has none"},
        {LINE(SHAPE("1")), LINE(""), "line 3, \"grid\"|is missing|[1,1,1]"},
        {"{\"ceiling\": \"dram_copy\", \"byte_per_s\": 1e12}\n", "{\"ceiling\": \"dram_copy\", \"byte_per_s\": 2e12}",
         "line 3, \"byte_per_s\"|is 2|dram_copy|line 1 has 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s# between\n%s", cases[i].first, cases[i].second);
        refuse_timings(text, RL_E_IMPORT_DISAGREES, cases[i].words);
    }
    struct given given = {
        .timings = LINE(", \"flop\": 5" SHAPE("3")) "{\"flop\": 5.0, \"ms\": 1e-1, \"kernel\": \"k\"" SHAPE(
            "3") "}\n{\"ceiling\": \"dram_copy\", \"byte_per_s\": 1e12}\n{\"ceiling\": \"dram_copy\", "
                 "\"byte_per_s\": 1000000000000}\n"};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    assert_int_equal(run->ceiling_count, 1);
    import_result_fini(&result);
    refuse_timings("{\"ceiling\": \"dram_copy\", \"byte_per_s\": 1e12, \"flop_per_s\": 1e12}", RL_E_IMPORT_FORMAT,
                   "line 1, \"flop_per_s\"|no member of the ceiling dram_copy; byte_per_s");
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
        {{.device = "T4\xC2\x9B"
                    "31m"},
         "device",
         "T4?31m|control"},
        {{.device = "T4\xE2\x80\xA9"}, "device", "T4?|control"},
        {{.device = " \xC2\xA0\xE2\x80\x8B"}, "device", "blanks alone"},
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
    assert_string_equal(err.field, "device"); /* all at once, the first of them */
    assert_non_null(strstr(err.message, "device and date are not said"));
    assert_non_null(strstr(err.message, "driver and cuda are not said either"));
    bare.fields.date = "2026-01-01";
    bare.fields.cuda = "13.0";
    assert_int_equal(import_make(&bare, &result, &err), -1);
    assert_string_equal(err.field, "device");
    assert_null(strstr(err.message, "date"));
    assert_null(strstr(err.message, "cuda"));
    bare.fields = (struct import_fields){.device = "T4"};
    assert_int_equal(import_make(&bare, &result, &err), -1);
    assert_string_equal(err.field, "date");
    bare.fields = (struct import_fields){.date = NULL};
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

#define SAMPLES 7
static const double spread[SAMPLES] = {1, 0.9, 1.1, 1.02, 0.95, 1.3, 0.99};

static void fill_samples(double times[SAMPLES], double around)
{
    for (int i = 0; i < SAMPLES; i++)
        times[i] = around * spread[i];
}

/* A run of which the warm times of its first row are those of the samples of own_output. */
static struct rl_run *own_run(void)
{
    struct rl_run *run = sample_run_small();
    struct rl_times *times = &run->rows[0].state[RL_WARM].time_s;
    double values[SAMPLES];
    fill_samples(values, 47.1e-6);
    MUST(rl_times_from_samples(values, SAMPLES, times) == 0);
    MUST(rl_time_parse("2026-11-29T11:00:00Z", &run->finished_at_ms) == 0);
    run->started_at_ms = run->finished_at_ms;
    return run;
}

static void sample_line(struct rl_buf *out, const struct rl_run *run, int64_t launches, const double *times,
                        size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        MUST(json_array_append_new(array, json_real(times[i])) == 0);
    line_of(out, json_pack("{s:s, s:s, s:s, s:s, s:I, s:o}", "t", "sample", "sizes", run->sizes, "unit",
                           run->rows[0].kernel, "state", "warm", "launches", (json_int_t)launches, "times_s", array));
}

static void run_line(struct rl_buf *out, const struct rl_run *run)
{
    line_of(out, json_pack("{s:s, s:o}", "t", "run", "run", rl_run_to_json(run)));
}

static struct rl_buf own_output(const struct rl_run *run)
{
    struct rl_buf out;
    double values[SAMPLES];
    fill_samples(values, 47.1e-6);
    rl_buf_init(&out, 1 << 20);
    sample_line(&out, run, 10, values, SAMPLES);
    run_line(&out, run);
    return out;
}

static struct given own_given(const struct rl_buf *out, const struct rl_run *run)
{
    return (struct given){.timings = out->data, .fields = {.device = run->device.id, .date = "2026-11-29"}};
}

static void our_own_output(void **state)
{
    (void)state;
    struct rl_run *measured = own_run();
    int64_t finished = measured->finished_at_ms;
    struct rl_buf out = own_output(measured);
    struct given given = own_given(&out, measured);
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
    rl_buf_puts(&out, "{\"kernel\": \"k\", \"ms\": 1}\n");
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "mixes");
    rl_buf_free(&out);
    measured->finished_at_ms += 2 * 3600 * 1000; /* the future */
    out = own_output(measured);
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "future");
    rl_buf_free(&out);
    measured->finished_at_ms = finished;
    measured->rows[0].state[RL_WARM].bytes.dram = rl_known(5e-324);
    out = own_output(measured);
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings",
                "t.jsonl, line 2|kernels[0].warm.bytes.dram|0, or at least 1e-09");
    rl_buf_free(&out);
    measured->rows[0].state[RL_WARM].bytes.dram = rl_known(1e6);
    measured->rows[0].state[RL_WARM].occupancy = rl_known(7);
    out = own_output(measured);
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "t.jsonl, line 2|kernels[0].warm.occupancy");
    rl_buf_free(&out);
    rl_run_free(measured);
}

/* Samples that are not those of the document, each by what tells it. */
static void samples_of_another_document(void **state)
{
    (void)state;
    struct rl_run *measured = own_run();
    struct rl_times *times = &measured->rows[0].state[RL_WARM].time_s;
    struct rl_buf out;
    struct given given;
    const struct rl_times good = *times;
    const struct {
        struct rl_times said;
        const char *words;
    } cases[] = {
        {{good.median, good.p25, good.p75, good.min, good.std_error, 8, 10, good.stop},
         "\"times_s\"|give n 7|line 2 says 8"},
        {{good.median, good.p25, good.p75, good.min, good.std_error, 7, 11, good.stop},
         "\"launches\"|give launches 10|line 2 says 11"},
        {{rl_known(47.2e-6), good.p25, good.p75, good.min, good.std_error, 7, 10, good.stop}, "median|says 4.72e-05"},
        {{good.median, rl_known(good.p25.value * 1.01), good.p75, good.min, good.std_error, 7, 10, good.stop}, "p25"},
        {{good.median, good.p25, rl_known(good.p75.value * 1.01), good.min, good.std_error, 7, 10, good.stop}, "p75"},
        {{good.median, good.p25, good.p75, rl_known(good.min.value * 0.99), good.std_error, 7, 10, good.stop},
         "give min"},
        {{good.median, good.p25, good.p75, rl_unknown("not said"), good.std_error, 7, 10, good.stop}, "min|says null"},
        {{good.median, good.p25, good.p75, good.min, rl_known(good.std_error.value * 0.5), 7, 10, good.stop},
         "give std_error"},
        {{good.median, good.p25, good.p75, good.min, rl_unknown("not said"), 7, 10, good.stop}, "std_error|says null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        *times = cases[i].said;
        out = own_output(measured);
        given = own_given(&out, measured);
        must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "t.jsonl, line 1, |vector_add warm");
        must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", cases[i].words);
        rl_buf_free(&out);
    }
    *times = good;
    double values[SAMPLES] = {0};
    fill_samples(values, 47.1e-6);
    rl_buf_init(&out, 1 << 20);
    run_line(&out, measured); /* in whichever order they come */
    rl_buf_puts(&out, "# a remark\n");
    sample_line(&out, measured, 10, values, SAMPLES);
    sample_line(&out, measured, 10, values, SAMPLES);
    given = own_given(&out, measured);
    struct import_result result;
    must_import(&given, &result);
    assert_int_equal(result.sample_count, 1);
    import_result_fini(&result);
    double first = values[0];
    values[0] = values[1], values[1] = first; /* the same statistics */
    sample_line(&out, measured, 10, values, SAMPLES);
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "t.jsonl, line 5, \"times_s\"|vector_add warm|line 3");
    rl_buf_free(&out);
    rl_run_free(measured);
}

/* Sample lines that are none are told with their line, wherever they stand. */
static void bad_sample_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
#define SAMPLE(rest) "{\"t\": \"sample\", \"sizes\": \"course\", " rest "}\n"
        {SAMPLE("\"unit\": \"none\", \"state\": \"warm\", \"launches\": 1, \"times_s\": [1]"),
         "line 3|no line of samples"},
        {SAMPLE("\"unit\": \"vector_add\", \"state\": \"hot\", \"launches\": 1, \"times_s\": [1]"),
         "line 3|no line of samples"},
        {SAMPLE("\"unit\": \"vector_add\", \"state\": \"warm\", \"launches\": 0, \"times_s\": [1]"),
         "line 3|no line of samples"},
        {SAMPLE("\"unit\": \"vector_add\", \"state\": \"warm\", \"launches\": 1, \"times_s\": []"),
         "line 3|no line of samples"},
        {SAMPLE("\"unit\": \"vector_add\", \"state\": \"warm\", \"launches\": 1, \"times_s\": [1, -2]"),
         "line 3, \"times_s\"|has -2"},
        {"{\"t\": \"sample\", \"unit\": \"vector_add\"}\n", "line 3, \"sizes\"|missing"},
    };
    struct rl_run *measured = own_run();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_buf out = own_output(measured);
        rl_buf_puts(&out, cases[i].line);
        struct given given = own_given(&out, measured);
        must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "t.jsonl, ");
        must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", cases[i].words);
        rl_buf_free(&out);
    }
    rl_run_free(measured);
}

/* What a document says of itself has to hold together: the daemon would take it for a fault of the importer. */
static void documents_that_contradict_themselves(void **state)
{
    (void)state;
    struct rl_run *measured = own_run();
    const char *id = measured->device.id;
    measured->device.id = "GPU-another";
    struct rl_buf out = own_output(measured);
    struct given given = {.timings = out.data, .fields = {.device = "GPU-another", .date = "2026-11-29"}};
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "t.jsonl, line 2, \"device.id\"|GPU-another|uuid");
    rl_buf_free(&out);
    measured->device.uuid = (struct rl_text){NULL, "not asked"};
    out = own_output(measured);
    given.timings = out.data;
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "line 2, \"device.id\"|GPU-another|without a uuid");
    rl_buf_free(&out);
    measured->device.id = id;
    measured->device.uuid = (struct rl_text){id, NULL};
    const char *name = measured->device.name;
    static const char *const names[] = {"",
                                        " ",
                                        "H200\t",
                                        "H200\x7F",
                                        "H200\xC2\x9B"
                                        "31m",
                                        "H200\xE2\x80\xA8",
                                        "\xC2\xA0"};
    given.fields.device = id;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        measured->device.name = names[i];
        out = own_output(measured);
        given.timings = out.data;
        must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "line 2, \"device.name\"|control");
        rl_buf_free(&out);
    }
    measured->device.name = name;
    measured->device.uuid = (struct rl_text){id, NULL};
    measured->checks[0].passed = (struct rl_flag3){false, NULL};
    out = own_output(measured);
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "line 2, \"outcome\"|\"ok\"|vector_add has failed");
    rl_buf_free(&out);
    measured->outcome = RL_REFUSED;
    MUST(rl_strings_add(measured->arena, &measured->outcome_reasons, "a check failed") == 0);
    out = own_output(measured);
    given = own_given(&out, measured);
    struct import_result result;
    must_import(&given, &result);
    import_result_fini(&result);
    rl_buf_free(&out);
    rl_run_free(measured);
}

/* A replay would count as another draw of the day on which it was replayed; an import as one of another's. */
static void only_what_was_measured(void **state)
{
    (void)state;
    struct rl_run *measured = own_run();
    measured->source = RL_REPLAYED;
    measured->recorded_at_ms = measured->started_at_ms - 86400000;
    struct rl_buf out = own_output(measured);
    struct given given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_OTHER_FILE, "timings",
                "t.jsonl, line 2, \"source\"|\"replayed\"|import the recording");
    given.ncu = LONG_HEAD LONG_ROW("0", "vector_add", "(65536, 1, 1)", "dram__bytes.sum", "byte", "5");
    must_refuse(&given, RL_E_IMPORT_OTHER_FILE, "timings", "\"replayed\"");
    rl_buf_free(&out);
    measured->source = RL_IMPORTED;
    measured->recorded_at_ms = 0;
    out = own_output(measured);
    given = own_given(&out, measured);
    must_refuse(&given, RL_E_IMPORT_FORMAT, "timings", "line 2, \"source\"|\"imported\"");
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
        cmocka_unit_test(plain_lines),
        cmocka_unit_test(bad_times),
        cmocka_unit_test(lines_of_one_name),
        cmocka_unit_test(bad_fields),
        cmocka_unit_test(devices),
        cmocka_unit_test(our_own_output),
        cmocka_unit_test(samples_of_another_document),
        cmocka_unit_test(bad_sample_lines),
        cmocka_unit_test(documents_that_contradict_themselves),
        cmocka_unit_test(only_what_was_measured),
        cmocka_unit_test(impossible_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
