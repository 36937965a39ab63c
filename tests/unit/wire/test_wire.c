/* The protocol's two ends: what is written is read, and nothing else is. */
#include "tests/unit/wire/wire_fixture.h"

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
    struct wire_reader *reader = wire_reader_new(&run_request, on_line, &seen);
    assert_int_equal(wire_reader_feed(reader, out.data, out.len, &err), -1);
    assert_int_equal(err.code, RL_E_STORE_FULL); /* the receiver's own error, unchanged */
    assert_string_equal(err.message, "the receiver is full");
    assert_int_equal(seen.lines, 3);
    wire_reader_free(reader);
    wire_reader_free(NULL);
    rl_buf_free(&out);
}

#define HELLO "{\"t\":\"hello\",\"seq\":1,\"at_ns\":5,\"protocol\":2,\"build\":\"b\",\"backend\":\"null\",\"pid\":1}\n"

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

/* A line of exactly the limit passes, one more byte does not; whitespace makes the length. */
static void lines_have_a_limit(void **state)
{
    (void)state;
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
    struct wire_reader *reader = wire_reader_new(&run_request, on_line, &seen);
    char block[65536];
    memset(block, 'x', sizeof block);
    size_t fed = 0;
    while (wire_reader_feed(reader, block, sizeof block, &err) == 0)
        fed += sizeof block;
    assert_int_equal(fed, PROTOCOL_LINE_MAX);
    wire_reader_free(reader);
}

/* Valid lines for ever stop at the total. */
static void streams_have_a_limit(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct rl_err err = {0};
    struct wire_reader *reader = wire_reader_new(&run_request, on_line, &seen);
    size_t fed = strlen(HELLO);
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
}

static void probes_have_a_limit(void **state)
{
    (void)state;
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
        cmocka_unit_test(lines_have_a_limit),
        cmocka_unit_test(streams_have_a_limit),
        cmocka_unit_test(probes_have_a_limit),
        cmocka_unit_test(writer_leaves_no_half_line),
        cmocka_unit_test(damaged_streams_never_pass_as_more),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
