/* The protocol's two ends: what is written is read, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "catalogue.h"
#include "record/json_text.h"
#include "record/record_json.h"
#include "sample_run.h"
#include "wire.h"

struct seen {
    size_t lines;
    enum wire_kind last;
    int64_t seq;
    int refuse_at; /* the receiver itself fails at this line */
};

static int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct seen *seen = arg;
    seen->lines++;
    seen->last = line->kind;
    assert_int_equal(line->seq, seen->seq + 1);
    assert_int_equal(json_integer_value(json_object_get(line->body, "seq")), line->seq);
    seen->seq = line->seq;
    if (seen->refuse_at == (int)seen->lines)
        return rl_fail(err, RL_E_STORE_FULL, "disk", "the receiver is full");
    return 0;
}

/* ---- making streams ---- */

static struct rl_run *sample;

static json_t *reason(const char *name, const char *why)
{
    return json_pack("{s:s}", name, why);
}

static json_t *device_body(bool probe)
{
    json_t *body = json_pack("{s:o,s:o}", "device", rl_device_to_json(&sample->device), "environment",
                             rl_environment_to_json(&sample->environment));
    if (probe) {
        json_object_set_new(body, "counters", json_pack("{s:s,s:n}", "status", "ok", "why"));
    } else {
        json_object_set_new(body, "counters", json_null());
        json_object_set_new(body, "why", reason("counters", "a run opens its session later"));
    }
    return body;
}

static json_t *body_of(enum wire_kind kind, bool probe)
{
    switch (kind) {
    case WIRE_HELLO:
        return json_pack("{s:i,s:s,s:s,s:i}", "protocol", 1, "build", "0.1.0", "backend", "replay", "pid", 4711);
    case WIRE_DEVICE:
        return device_body(probe);
    case WIRE_PROGRESS:
        return json_pack("{s:s,s:s,s:i,s:i}", "phase", "kernels", "what", "vector_add warm", "done", 3, "total", 40);
    case WIRE_SAMPLE:
        return json_pack("{s:s,s:s,s:i,s:[f,f]}", "unit", rl_units[0]->id, "state", "warm", "launches", 10, "times_s",
                         1e-3, 1.5e-3);
    case WIRE_COUNTER:
        return json_pack("{s:s,s:s,s:{s:f,s:n},s:o}", "unit", rl_units[0]->id, "state", "cold", "values", "dram_read",
                         1e6, "l1", "why", reason("l1", "the chip has none"));
    case WIRE_TELEMETRY:
        return json_pack("{s:o}", "telemetry", rl_telemetry_to_json(&sample->telemetry[0]));
    case WIRE_LOG:
        return json_pack("{s:s}", "text", "opened");
    case WIRE_WARNING:
        return json_pack("{s:s,s:s}", "code", "counters_busy", "message", "another profiler");
    case WIRE_RESULT:
        return json_pack("{s:o}", "run", probe ? json_null() : rl_run_to_json(sample));
    case WIRE_ERROR:
        return json_pack("{s:{s:s,s:s,s:s}}", "error", "code", "no_device", "message", "none", "next_action", "Look.");
    }
    return NULL;
}

static void add(struct wire_writer *writer, enum wire_kind kind, json_t *body, struct rl_buf *out)
{
    assert_non_null(body);
    assert_int_equal(wire_write(writer, kind, body, out), 0);
}

static const enum wire_kind whole_run[] = {WIRE_HELLO,    WIRE_LOG,       WIRE_PROGRESS, WIRE_DEVICE,
                                           WIRE_PROGRESS, WIRE_TELEMETRY, WIRE_SAMPLE,   WIRE_COUNTER,
                                           WIRE_WARNING,  WIRE_LOG,       WIRE_RESULT};
#define WHOLE_COUNT (sizeof whole_run / sizeof whole_run[0])

static void make(const enum wire_kind *kinds, size_t count, bool probe, struct rl_buf *out)
{
    struct wire_writer writer = {0};
    rl_buf_init(out, 8 * PROTOCOL_LINE_MAX);
    for (size_t i = 0; i < count; i++)
        add(&writer, kinds[i], body_of(kinds[i], probe), out);
}

struct verdict {
    int feed, end;
    struct rl_err feed_err, end_err;
    struct seen seen;
};

static struct verdict judge(bool probe, const char *data, size_t len, size_t piece)
{
    struct verdict v = {0};
    struct wire_reader *reader = wire_reader_new(probe, on_line, &v.seen);
    for (size_t at = 0; v.feed == 0 && at < len; at += piece)
        v.feed = wire_reader_feed(reader, data + at, len - at < piece ? len - at : piece, &v.feed_err);
    if (v.feed < 0) { /* broken once, broken for good */
        assert_int_equal(wire_reader_feed(reader, "\n", 1, NULL), -1);
    }
    v.end = wire_reader_end(reader, &v.end_err);
    wire_reader_free(reader);
    return v;
}

static struct verdict judge_text(bool probe, const char *text)
{
    return judge(probe, text, strlen(text), SIZE_MAX / 2);
}

static void expect_broken(struct verdict v, const char *part)
{
    assert_int_equal(v.feed, -1);
    assert_int_equal(v.feed_err.code, RL_E_MEASURE_PROTOCOL);
    assert_int_equal(v.end, -1);
    assert_int_equal(v.end_err.code, RL_E_MEASURE_CRASHED);
    if (strstr(v.feed_err.message, part) == NULL)
        fail_msg("no \"%s\" in \"%s\"", part, v.feed_err.message);
}

/* ---- tests ---- */

static void whole_runs_pass_in_any_pieces(void **state)
{
    (void)state;
    struct rl_buf out;
    make(whole_run, WHOLE_COUNT, false, &out);
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1000, 65536, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct verdict v = judge(false, out.data, out.len, pieces[i]);
        if (v.feed < 0)
            fail_msg("%s", v.feed_err.message);
        assert_int_equal(v.end, 0);
        assert_int_equal(v.seen.lines, WHOLE_COUNT);
        assert_int_equal(v.seen.last, WIRE_RESULT);
    }
    rl_buf_free(&out);
}

static void probes_pass(void **state)
{
    (void)state;
    static const enum wire_kind two[] = {WIRE_HELLO, WIRE_DEVICE, WIRE_LOG, WIRE_DEVICE, WIRE_WARNING, WIRE_RESULT};
    static const enum wire_kind none[] = {WIRE_HELLO, WIRE_RESULT};
    static const enum wire_kind error[] = {WIRE_HELLO, WIRE_ERROR};
    struct rl_buf out;
    make(two, 6, true, &out);
    struct verdict v = judge_text(true, out.data);
    assert_int_equal(v.feed, 0);
    assert_int_equal(v.end, 0);
    rl_buf_free(&out);
    make(none, 2, true, &out);
    v = judge_text(true, out.data);
    assert_int_equal(v.end, 0);
    expect_broken(judge_text(false, out.data), "where none may come");
    rl_buf_free(&out);
    for (int probe = 0; probe < 2; probe++) {
        make(error, 2, probe, &out);
        v = judge_text(probe, out.data);
        assert_int_equal(v.feed, 0);
        assert_int_equal(v.end, 0);
        assert_int_equal(v.seen.last, WIRE_ERROR);
        rl_buf_free(&out);
    }
}

static void order_is_kept(void **state)
{
    (void)state;
    static const struct {
        enum wire_kind kinds[4];
        size_t count;
        bool probe;
    } cases[] = {
        {{WIRE_LOG}, 1, false},
        {{WIRE_ERROR}, 1, false},
        {{WIRE_HELLO, WIRE_HELLO}, 2, false},
        {{WIRE_HELLO, WIRE_SAMPLE}, 2, false},
        {{WIRE_HELLO, WIRE_COUNTER}, 2, false},
        {{WIRE_HELLO, WIRE_TELEMETRY}, 2, false},
        {{WIRE_HELLO, WIRE_RESULT}, 2, false},
        {{WIRE_HELLO, WIRE_DEVICE, WIRE_DEVICE}, 3, false},
        {{WIRE_HELLO, WIRE_DEVICE, WIRE_SAMPLE}, 3, true},
        {{WIRE_HELLO, WIRE_PROGRESS}, 2, true},
        {{WIRE_HELLO, WIRE_DEVICE, WIRE_TELEMETRY}, 3, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_buf out;
        make(cases[i].kinds, cases[i].count, cases[i].probe, &out);
        struct verdict v = judge_text(cases[i].probe, out.data);
        expect_broken(v, "where none may come");
        assert_int_equal(v.seen.lines, cases[i].count - 1);
        rl_buf_free(&out);
    }
    static const enum wire_kind after[][3] = {{WIRE_HELLO, WIRE_ERROR, WIRE_LOG}, {WIRE_HELLO, WIRE_ERROR, WIRE_ERROR}};
    for (size_t i = 0; i < 2; i++) {
        struct rl_buf out;
        make(after[i], 3, false, &out);
        expect_broken(judge_text(false, out.data), "after the last line");
        rl_buf_free(&out);
    }
    struct rl_buf out;
    enum wire_kind two_results[WHOLE_COUNT + 1];
    memcpy(two_results, whole_run, sizeof whole_run);
    two_results[WHOLE_COUNT] = WIRE_RESULT;
    make(two_results, WHOLE_COUNT + 1, false, &out);
    expect_broken(judge_text(false, out.data), "after the last line");
    rl_buf_free(&out);
    /* A result of the other kind of request. */
    struct wire_writer writer = {0};
    rl_buf_init(&out, PROTOCOL_LINE_MAX);
    add(&writer, WIRE_HELLO, body_of(WIRE_HELLO, true), &out);
    add(&writer, WIRE_RESULT, body_of(WIRE_RESULT, false), &out);
    expect_broken(judge_text(true, out.data), "null after a probe");
    rl_buf_free(&out);
}

static void ends_are_told_apart(void **state)
{
    (void)state;
    struct rl_buf out;
    make(whole_run, WHOLE_COUNT, false, &out);
    /* Cut at every hundredth byte: never a success, always a crash and not a broken protocol. */
    for (size_t len = 0; len < out.len; len += 101) {
        struct verdict v = judge(false, out.data, len, SIZE_MAX / 2);
        assert_int_equal(v.feed, 0);
        assert_int_equal(v.end, -1);
        assert_int_equal(v.end_err.code, RL_E_MEASURE_CRASHED);
    }
    struct verdict v = judge(false, out.data, out.len - 1, SIZE_MAX / 2); /* all but the last '\n' */
    assert_int_equal(v.end, -1);
    assert_non_null(strstr(v.end_err.message, "in the middle of line 11"));
    rl_buf_free(&out);
}

static void receivers_can_stop(void **state)
{
    (void)state;
    struct rl_buf out;
    make(whole_run, WHOLE_COUNT, false, &out);
    struct seen seen = {.refuse_at = 3};
    struct rl_err err = {0};
    struct wire_reader *reader = wire_reader_new(false, on_line, &seen);
    assert_int_equal(wire_reader_feed(reader, out.data, out.len, &err), -1);
    assert_int_equal(err.code, RL_E_STORE_FULL); /* the receiver's own error, unchanged */
    assert_string_equal(err.message, "the receiver is full");
    assert_int_equal(seen.lines, 3);
    wire_reader_free(reader);
    wire_reader_free(NULL);
    rl_buf_free(&out);
}

#define HELLO "{\"t\":\"hello\",\"seq\":1,\"at_ns\":5,\"protocol\":1,\"build\":\"b\",\"backend\":\"null\",\"pid\":1}\n"

static void garbage_is_refused(void **state)
{
    (void)state;
    static const char *const garbage[] = {
        "\n",
        "\n\n",
        "hello\n",
        "[]\n",
        "null\n",
        "1\n",
        "\"x\"\n",
        "{}\n",
        "{\"t\":\"hello\"}\n",
        "\xFF\xFE\n",
        "{\"t\":\"hello\",\n",
        HELLO HELLO,
        HELLO "{}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"a\"} x\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"a\"}{}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"a\",\"text\":\"b\"}\n",
        HELLO "{\"t\":\"log\",\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"\xC3\x28\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"\\u0000\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":3,\"at_ns\":6,\"text\":\"gap\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":1,\"at_ns\":6,\"text\":\"again\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":\"2\",\"at_ns\":6,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2.0,\"at_ns\":6,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"at_ns\":6,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":4,\"text\":\"earlier\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":null,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"cat\",\"seq\":2,\"at_ns\":6,\"text\":\"a\"}\n",
        HELLO "{\"t\":7,\"seq\":2,\"at_ns\":6,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":7}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":\"a\",\"more\":1}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":NaN}\n",
        HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":99999999999999999999,\"text\":\"a\"}\n",
        HELLO "{\"t\":\"log\",\"seq\":-2,\"at_ns\":6,\"text\":\"a\"}\n",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        struct verdict v = judge_text(false, garbage[i]);
        if (v.feed == 0)
            fail_msg("passed: %s", garbage[i]);
        expect_broken(v, "protocol line ");
        expect_broken(judge(false, garbage[i], strlen(garbage[i]), 1), "protocol line ");
    }
    /* NUL bytes in the stream. */
    expect_broken(judge(false, "\0\0\0\n", 4, 4), "is no JSON");
    assert_int_equal(judge_text(false, HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":5,\"text\":\"a\"}\r\n").feed, 0);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    static const size_t depths[] = {10, 2000, 2047, 2048, 5000, 500000};
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        struct rl_buf out;
        rl_buf_init(&out, 2 * PROTOCOL_LINE_MAX);
        rl_buf_puts(&out, HELLO "{\"t\":\"log\",\"seq\":2,\"at_ns\":6,\"text\":");
        for (size_t k = 0; k < depths[i]; k++)
            rl_buf_add(&out, "[", 1);
        for (size_t k = 0; k < depths[i]; k++)
            rl_buf_add(&out, "]", 1);
        rl_buf_puts(&out, "}\n");
        expect_broken(judge_text(false, out.data), "protocol line 2");
        rl_buf_free(&out);
    }
}

static void limits_are_kept(void **state)
{
    (void)state;
    /* A line of exactly the limit passes, one more byte does not; whitespace makes the length. */
    for (size_t over = 0; over < 2; over++) {
        char *line = malloc(PROTOCOL_LINE_MAX + 2);
        size_t hello = strlen(HELLO) - 1;
        memset(line, ' ', PROTOCOL_LINE_MAX + 1);
        memcpy(line, HELLO, hello);
        line[PROTOCOL_LINE_MAX + over] = '\n';
        static const size_t pieces[] = {SIZE_MAX / 2, 4096};
        for (size_t i = 0; i < 2; i++) {
            struct verdict v = judge(false, line, PROTOCOL_LINE_MAX + over + 1, pieces[i]);
            if (over)
                expect_broken(v, "longer than 1048576 bytes");
            else
                assert_int_equal(v.feed, 0);
        }
        free(line);
    }
    /* Endless garbage without a line's end stops at the limit. */
    struct seen seen = {0};
    struct rl_err err = {0};
    struct wire_reader *reader = wire_reader_new(false, on_line, &seen);
    char block[65536];
    memset(block, 'x', sizeof block);
    size_t fed = 0;
    while (wire_reader_feed(reader, block, sizeof block, &err) == 0)
        fed += sizeof block;
    assert_int_equal(fed, PROTOCOL_LINE_MAX);
    wire_reader_free(reader);
    /* Valid lines for ever stop at the total. */
    reader = wire_reader_new(false, on_line, &seen);
    seen = (struct seen){0};
    fed = strlen(HELLO);
    assert_int_equal(wire_reader_feed(reader, HELLO, fed, &err), 0);
    char *log = malloc(PROTOCOL_LINE_MAX);
    for (int64_t seq = 2;; seq++) {
        memset(log, ' ', PROTOCOL_LINE_MAX);
        int len =
            snprintf(log, PROTOCOL_LINE_MAX, "{\"t\":\"log\",\"seq\":%lld,\"at_ns\":6,\"text\":\"a\"}", (long long)seq);
        log[len] = ' ';
        log[PROTOCOL_LINE_MAX - 1] = '\n';
        if (wire_reader_feed(reader, log, PROTOCOL_LINE_MAX, &err) < 0)
            break;
        fed += PROTOCOL_LINE_MAX;
    }
    free(log);
    assert_true(fed <= PROTOCOL_TOTAL_MAX && fed > PROTOCOL_TOTAL_MAX - PROTOCOL_LINE_MAX);
    assert_non_null(strstr(err.message, "longer than 67108864 bytes"));
    wire_reader_free(reader);
    /* Devices of a probe. */
    struct rl_buf out;
    enum wire_kind kinds[PROTOCOL_DEVICES_MAX + 3] = {WIRE_HELLO};
    for (size_t i = 1; i <= PROTOCOL_DEVICES_MAX + 1; i++)
        kinds[i] = WIRE_DEVICE;
    kinds[PROTOCOL_DEVICES_MAX + 2] = WIRE_RESULT;
    make(kinds, PROTOCOL_DEVICES_MAX + 1, true, &out);
    assert_int_equal(judge_text(true, out.data).feed, 0);
    rl_buf_free(&out);
    make(kinds, PROTOCOL_DEVICES_MAX + 3, true, &out);
    expect_broken(judge_text(true, out.data), "where none may come");
    rl_buf_free(&out);
}

/* Replaces member `name` of a line of `kind` (text NULL: removes it) and expects the reader to refuse the line and name
 * it. */
static void expect_member_refused(enum wire_kind kind, bool probe, const char *name, const char *text, const char *part)
{
    struct wire_writer writer = {0};
    struct rl_buf out;
    json_t *body = body_of(kind, probe);
    rl_buf_init(&out, 4 * PROTOCOL_LINE_MAX);
    if (kind != WIRE_HELLO)
        add(&writer, WIRE_HELLO, body_of(WIRE_HELLO, probe), &out);
    if (kind != WIRE_HELLO && kind != WIRE_DEVICE)
        add(&writer, WIRE_DEVICE, body_of(WIRE_DEVICE, probe), &out);
    if (text == NULL)
        json_object_del(body, name);
    else
        json_object_set_new(body, name, json_loads(text, JSON_DECODE_ANY, NULL));
    add(&writer, kind, body, &out);
    struct verdict v = judge_text(probe, out.data);
    if (v.feed == 0)
        fail_msg("%s with %s = %s passed", wire_kind_name(kind), name, text != NULL ? text : "nothing");
    expect_broken(v, part);
    rl_buf_free(&out);
}

static void members_are_checked(void **state)
{
    (void)state;
    static const struct {
        enum wire_kind kind;
        bool probe;
        const char *name, *text, *part;
    } cases[] = {
        {WIRE_HELLO, false, "protocol", "2", "speaks version 1"},
        {WIRE_HELLO, false, "protocol", "\"1\"", "\"protocol\""},
        {WIRE_HELLO, false, "backend", "\"abacus\"", "\"backend\""},
        {WIRE_HELLO, false, "pid", "0", "\"pid\""},
        {WIRE_HELLO, false, "pid", "2147483648", "\"pid\""},
        {WIRE_HELLO, false, "build", "null", "\"build\""},
        {WIRE_DEVICE, false, "device", "{}", "id is missing"},
        {WIRE_DEVICE, false, "environment", "[]", "\"environment\""},
        {WIRE_DEVICE, false, "why", NULL, "why for counters"},
        {WIRE_DEVICE, false, "why", "{\"other\":\"x\"}", "why for counters"},
        {WIRE_DEVICE, false, "counters", "{\"status\":\"ok\",\"why\":null}", "why for counters"},
        {WIRE_DEVICE, true, "counters", "{\"status\":\"ok\",\"why\":\"x\"}", "\"counters\""},
        {WIRE_DEVICE, true, "counters", "{\"status\":\"counters_busy\",\"why\":null}", "\"counters\""},
        {WIRE_DEVICE, true, "counters", "{\"status\":\"nonsense\",\"why\":\"x\"}", "\"counters\""},
        {WIRE_DEVICE, true, "counters", "{\"status\":\"ok\",\"why\":null,\"x\":1}", "\"counters\""},
        {WIRE_DEVICE, true, "counters", "7", "\"counters\""},
        {WIRE_DEVICE, true, "counters", "{\"status\":7,\"why\":\"x\"}", "\"counters\""},
        {WIRE_PROGRESS, false, "phase", "\"lunch\"", "\"phase\""},
        {WIRE_PROGRESS, false, "done", "41", "done above total"},
        {WIRE_PROGRESS, false, "done", "-1", "\"done\""},
        {WIRE_PROGRESS, false, "total", "1000001", "\"total\""},
        {WIRE_SAMPLE, false, "unit", "\"no_such_kernel\"", "\"unit\""},
        {WIRE_SAMPLE, false, "unit", "[]", "\"unit\""},
        {WIRE_SAMPLE, false, "state", "\"tepid\"", "\"state\""},
        {WIRE_SAMPLE, false, "launches", "0", "\"launches\""},
        {WIRE_SAMPLE, false, "times_s", "[]", "\"times_s\""},
        {WIRE_SAMPLE, false, "times_s", "[0]", "\"times_s\""},
        {WIRE_SAMPLE, false, "times_s", "[-1.0]", "\"times_s\""},
        {WIRE_SAMPLE, false, "times_s", "[1e7]", "\"times_s\""},
        {WIRE_SAMPLE, false, "times_s", "[null]", "\"times_s\""},
        {WIRE_SAMPLE, false, "times_s", "{\"0\":1}", "\"times_s\""},
        {WIRE_COUNTER, false, "values", "{\"dram_read\":-1,\"l1\":null}", "\"values\""},
        {WIRE_COUNTER, false, "values", "{\"dram_read\":\"1\",\"l1\":null}", "\"values\""},
        {WIRE_COUNTER, false, "values", "{\"dram_read\":1,\"l1\":1}", "not null"},
        {WIRE_COUNTER, false, "values", "{\"dram_read\":null,\"l1\":null}", "without a reason"},
        {WIRE_COUNTER, false, "why", "null", "without a reason"},
        {WIRE_COUNTER, false, "why", "{\"l1\":7}", "\"why\""},
        {WIRE_TELEMETRY, false, "telemetry", "{}", "at is missing"},
        {WIRE_WARNING, false, "code", "\"no_such_code\"", "\"code\""},
        {WIRE_WARNING, false, "code", "\"ok\"", "\"code\""},
        {WIRE_RESULT, false, "run", "{}", "suite is missing"},
        {WIRE_RESULT, false, "run", "7", "\"run\""},
        {WIRE_ERROR, false, "error", "{\"code\":\"no_such_code\",\"message\":\"m\",\"next_action\":\"n\"}",
         "\"error\""},
        {WIRE_ERROR, false, "error", "{\"code\":\"io\",\"message\":\"m\"}", "\"error\""},
        {WIRE_ERROR, false, "error", "{\"code\":\"io\",\"message\":\"m\",\"next_action\":\"n\",\"x\":1}", "\"error\""},
        {WIRE_ERROR, false, "error", "{\"code\":\"io\",\"message\":\"m\",\"next_action\":\"n\",\"field\":7}",
         "\"error\""},
        {WIRE_ERROR, false, "error", "null", "\"error\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_member_refused(cases[i].kind, cases[i].probe, cases[i].name, cases[i].text, cases[i].part);
    /* Each member of each kind missing, or of a wrong type, or one too many. */
    for (int kind = WIRE_HELLO; kind <= WIRE_ERROR; kind++) {
        json_t *body = body_of((enum wire_kind)kind, false);
        const char *name;
        json_t *value;
        expect_member_refused((enum wire_kind)kind, false, "no_such_member", "1", "not known");
        json_object_foreach(body, name, value)
        {
            expect_member_refused((enum wire_kind)kind, false, name, NULL, "");
            expect_member_refused((enum wire_kind)kind, false, name, "[[1]]", "");
        }
        json_decref(body);
    }
    char text[5000];
    memset(text, 'x', sizeof text);
    text[0] = text[PROTOCOL_LOG_MAX + 2] = '"';
    text[PROTOCOL_LOG_MAX + 3] = '\0';
    expect_member_refused(WIRE_LOG, false, "text", text, "4097 bytes where 4096");
    struct rl_buf many;
    rl_buf_init(&many, 10000);
    for (size_t i = 0; i <= PROTOCOL_SAMPLES_MAX; i++)
        rl_buf_puts(&many, i == 0 ? "[1" : ",1");
    rl_buf_puts(&many, "]");
    expect_member_refused(WIRE_SAMPLE, false, "times_s", many.data, "\"times_s\"");
    rl_buf_free(&many);
}

static void the_run_inside_is_checked(void **state)
{
    (void)state;
    json_t *run = rl_run_to_json(sample);
    json_t *row = json_array_get(json_object_get(run, "kernels"), 0);
    json_object_set_new(json_object_get(json_object_get(row, "warm"), "time_s"), "median", json_real(-1));
    struct rl_buf text;
    rl_buf_init(&text, 1 << 20);
    assert_int_equal(rl_json_write(run, &text), 0);
    json_decref(run);
    expect_member_refused(WIRE_RESULT, false, "run", text.data, "kernels[0].warm.time_s.median is -1.0");
    rl_buf_free(&text);
}

static void writer_leaves_no_half_line(void **state)
{
    (void)state;
    struct wire_writer writer = {0};
    struct rl_buf out;
    rl_buf_init(&out, 300);
    add(&writer, WIRE_HELLO, body_of(WIRE_HELLO, false), &out);
    size_t len = out.len;
    assert_int_equal(wire_write(&writer, WIRE_RESULT, body_of(WIRE_RESULT, false), &out), -1);
    assert_int_equal(out.len, len);
    assert_int_equal(writer.seq, 1);
    assert_int_equal(wire_write(&writer, WIRE_LOG, NULL, &out), -1);
    assert_int_equal(wire_write(&writer, WIRE_LOG, json_array(), &out), -1);
    rl_buf_free(&out);
    rl_buf_init(&out, 4 * PROTOCOL_LINE_MAX);
    char *text = calloc(1, PROTOCOL_LINE_MAX + 1);
    memset(text, 'x', PROTOCOL_LINE_MAX);
    assert_int_equal(wire_write(&writer, WIRE_LOG, json_pack("{s:s}", "text", text), &out), -1);
    assert_int_equal(out.len, 0);
    add(&writer, WIRE_LOG, json_pack("{s:s}", "text", "short"), &out);
    assert_int_equal(writer.seq, 2);
    free(text);
    rl_buf_free(&out);
}

/* A cheap stand-in for the fuzzer that runs everywhere: bytes of a good stream changed at seeded places. */
static void damaged_streams_never_pass_as_more(void **state)
{
    (void)state;
    struct rl_buf out;
    make(whole_run, WHOLE_COUNT, false, &out);
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < 300; round++) {
        char *copy = malloc(out.len);
        memcpy(copy, out.data, out.len);
        for (int i = 0; i < 3; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            copy[random % out.len] = (char)(random >> 40);
        }
        struct verdict v = judge(false, copy, out.len, 1 + random % 5000);
        assert_true(v.seen.lines <= WHOLE_COUNT);
        if (v.feed < 0) {
            assert_int_equal(v.feed_err.code, RL_E_MEASURE_PROTOCOL);
        }
        free(copy);
    }
    rl_buf_free(&out);
}

static int set_up(void **state)
{
    (void)state;
    sample = sample_run_small();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rl_run_free(sample);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_runs_pass_in_any_pieces),
        cmocka_unit_test(probes_pass),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(receivers_can_stop),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(members_are_checked),
        cmocka_unit_test(the_run_inside_is_checked),
        cmocka_unit_test(writer_leaves_no_half_line),

        cmocka_unit_test(damaged_streams_never_pass_as_more),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
