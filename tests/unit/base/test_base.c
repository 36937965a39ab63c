/* Errors, buffers, arena, times, numbers, hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "gpu/base/hash.h"
#include "gpu/base/num.h"
#include "gpu/base/time.h"

/* ---- errors ---- */

static void fail_fills_and_returns_minus_one(void **state)
{
    (void)state;
    struct rl_err err = {0};
    assert_int_equal(rl_fail(&err, RL_E_BAD_FIELD, "sizes", "sizes is \"%s\"", "huge"), -1);
    assert_int_equal(err.code, RL_E_BAD_FIELD);
    assert_string_equal(err.field, "sizes");
    assert_string_equal(err.message, "sizes is \"huge\"");
    assert_int_equal(rl_wrap(&err, "job %d", 7), -1);
    assert_string_equal(err.message, "job 7: sizes is \"huge\"");
    assert_string_equal(err.field, "sizes");
    assert_int_equal(rl_fail(&err, RL_E_IO, NULL, "again: %s", err.message), -1);
    assert_string_equal(err.message, "again: job 7: sizes is \"huge\"");
    assert_string_equal(err.field, "");
    assert_int_equal(rl_fail(NULL, RL_E_IO, NULL, "x"), -1);
    assert_int_equal(rl_wrap(NULL, "x"), -1);
}

static void messages_are_valid_utf8_whatever_they_quote(void **state)
{
    (void)state;
    struct rl_err err = {0};
    rl_fail(&err, RL_E_BAD_FIELD, "a\xFF", "bad \xC3\x28 \xED\xA0\x80 good \xC3\xA9");
    assert_string_equal(err.field, "a?");
    assert_string_equal(err.message, "bad ?( ??? good \xC3\xA9");
    /* Cut inside a character: the whole character goes. */
    char longer[2000];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(longer, 'x', sizeof longer);
        for (size_t i = shift; i + 3 < sizeof longer; i += 3)
            memcpy(longer + i, "\xE2\x82\xAC", 3);
        longer[sizeof longer - 1] = '\0';
        rl_fail(&err, RL_E_BAD_FIELD, longer, "%s", longer);
        assert_true(rl_utf8_valid(err.message, strlen(err.message)));
        assert_null(strchr(err.message, '?'));
        assert_true(strlen(err.message) >= sizeof err.message - 3);
        assert_true(rl_utf8_valid(err.field, strlen(err.field)));
        assert_null(strchr(err.field, '?'));
        rl_wrap(&err, "%s", longer);
        assert_true(rl_utf8_valid(err.message, strlen(err.message)));
    }
}

static void catalogue_is_whole_and_unique(void **state)
{
    (void)state;
    assert_string_equal(rl_code_id(RL_E_NONE), "ok");
    assert_int_equal(rl_code_http(RL_E_NONE), 200);
    assert_int_equal(rl_code_exit(RL_E_NONE), 0);
    assert_int_equal(rl_code_from_id("ok"), RL_E_NONE);
    assert_int_equal(rl_code_from_id("no_such_code"), RL_E_NONE);
    assert_int_equal(rl_code_from_id(NULL), RL_E_NONE);
    for (int code = 1; code < RL_E_COUNT; code++) {
        enum rl_code known = (enum rl_code)code;
        assert_int_equal(rl_code_from_id(rl_code_id(known)), code); /* fails on a repeated id */
        assert_in_range(rl_code_http(known), 400, 599);
        assert_in_range(rl_code_exit(known), 64, 78);
        assert_true(strlen(rl_code_next_action(known)) > 5);
        assert_null(strchr(rl_code_next_action(known), '\n'));
        assert_int_equal(rl_code_is_counters(known), strncmp(rl_code_id(known), "counters_", 9) == 0);
    }
}

static void print_is_one_line(void **state)
{
    (void)state;
    struct rl_err err = {0};
    rl_fail(&err, RL_E_LISTEN, NULL, "port in use\nrm -rf \x1b[0m");
    FILE *capture = tmpfile();
    int before = dup(2);
    fflush(stderr);
    dup2(fileno(capture), 2);
    int exit_code = rl_err_print("rooflined", &err);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    char text[4096];
    rewind(capture);
    size_t len = fread(text, 1, sizeof text - 1, capture);
    fclose(capture);
    text[len] = '\0';
    assert_int_equal(exit_code, 71);
    assert_string_equal(
        text,
        "rooflined: port in use?rm -rf ?[0m (Choose another --listen address or stop the program that uses it.)\n");
}

/* ---- buffers ---- */

static void buffer_keeps_its_maximum(void **state)
{
    (void)state;
    struct rl_buf buf;
    rl_buf_init(&buf, 10);
    assert_int_equal(rl_buf_puts(&buf, "hello"), 0);
    assert_int_equal(rl_buf_printf(&buf, "%d%s", 42, "ab"), 0);
    assert_int_equal(buf.len, 9);
    assert_int_equal(rl_buf_puts(&buf, "xy"), -1);
    assert_true(buf.failed);
    assert_string_equal(buf.data, "hello42ab");
    assert_int_equal(rl_buf_puts(&buf, "x"), -1); /* sticky */
    assert_int_equal(rl_buf_printf(&buf, "%s", ""), -1);
    rl_buf_clear(&buf);
    assert_int_equal(rl_buf_printf(&buf, "%s", "0123456789"), 0);
    assert_int_equal(buf.len, 10);
    rl_buf_free(&buf);
    rl_buf_free(&buf);
    struct rl_buf zeroed = {0};
    rl_buf_clear(&zeroed);
    assert_int_equal(rl_buf_add(&zeroed, "", 0), 0);
    assert_int_equal(rl_buf_add(&zeroed, "a", 1), -1);
    rl_buf_free(&zeroed);
}

static void buffer_grows_and_is_taken(void **state)
{
    (void)state;
    struct rl_buf buf;
    rl_buf_init(&buf, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(rl_buf_add(&buf, &"abcdefghij"[i % 10], 1), 0);
    assert_int_equal(rl_buf_add(&buf, "z", 1), -1);
    char *text = rl_buf_take(&buf);
    assert_int_equal(strlen(text), 100000);
    free(text);
    assert_null(buf.data);
    assert_false(buf.failed);
    text = rl_buf_take(&buf);
    assert_string_equal(text, "");
    free(text);
    rl_buf_init(&buf, SIZE_MAX);
    assert_int_equal(rl_buf_add(&buf, "a", 1), -1); /* a buffer without a maximum is a mistake */
}

static void arena_is_bounded_zeroed_and_aligned(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(20000);
    size_t total = 0;
    for (size_t size = 0; size < 100; size++) {
        unsigned char *data = rl_arena_alloc(arena, size);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(data[i], 0);
        if (size > 0)
            memset(data, 0xFF, size);
        total += size;
    }
    assert_non_null(rl_arena_alloc(arena, 6000));
    assert_null(rl_arena_alloc(arena, 20000));
    assert_null(rl_arena_alloc(arena, SIZE_MAX));
    assert_null(rl_arena_array(arena, SIZE_MAX / 2, 3));
    assert_null(rl_arena_strdup(arena, NULL));
    assert_string_equal(rl_arena_strdup(arena, "text"), "text");
    assert_string_equal(rl_arena_printf(arena, "%s %d", "n", 5), "n 5");
    for (int i = 0; i < 30000; i++)
        total += rl_arena_alloc(arena, 1) != NULL ? 16 : 0;
    assert_true(total <= 20000);
    assert_null(rl_arena_printf(arena, "%05000d", 1));
    rl_arena_free(arena);
    rl_arena_free(NULL);
}

/* ---- times ---- */

static const struct {
    const char *text;
    int64_t ms;
    const char *back; /* NULL: as text */
} good_times[] = {
    {"1970-01-01T00:00:00.000Z", 0, NULL},
    {"2026-11-29T20:03:35.123Z", 1795982615123, NULL}, /* date -u -d … +%s%3N, GNU coreutils */
    {"0001-01-01T00:00:00.000Z", -62135596800000, NULL},
    {"9999-12-31T23:59:59.999Z", 253402300799999, NULL},
    {"2024-02-29T12:00:00.000Z", 1709208000000, NULL},
    {"1969-12-31T23:59:59.999Z", -1, NULL},
    {"2000-02-29", 951782400000, "2000-02-29T00:00:00.000Z"},
    {"1900-03-01T00:00:00Z", -2203891200000, "1900-03-01T00:00:00.000Z"},
    {"2026-11-29T20:03:35Z", 1795982615000, "2026-11-29T20:03:35.000Z"},
    {"2026-11-29t20:03:35.1z", 1795982615100, "2026-11-29T20:03:35.100Z"},
    {"2026-11-29T20:03:35.123999999Z", 1795982615123, "2026-11-29T20:03:35.123Z"},
    {"2026-11-29T21:33:35.123+01:30", 1795982615123, "2026-11-29T20:03:35.123Z"},
    {"2026-11-29T20:03:35.123-00:00", 1795982615123, "2026-11-29T20:03:35.123Z"},
    {"2026-11-29T09:03:35.123-11:00", 1795982615123, "2026-11-29T20:03:35.123Z"},
};

static void times_there_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_times / sizeof good_times[0]; i++) {
        int64_t ms = 0;
        char text[RL_TIME_TEXT];
        assert_int_equal(rl_time_parse(good_times[i].text, &ms), 0);
        assert_int_equal(ms, good_times[i].ms);
        rl_time_format(ms, text);
        assert_string_equal(text, good_times[i].back != NULL ? good_times[i].back : good_times[i].text);
    }
    for (int64_t day = -719162; day <= 2932896; day += 97) { /* every kind of year and month */
        char text[RL_TIME_TEXT];
        int64_t ms = 0;
        rl_time_format(day * 86400000 + 86399999, text);
        assert_int_equal(rl_time_parse(text, &ms), 0);
        assert_int_equal(ms, day * 86400000 + 86399999);
        assert_int_equal(rl_time_day(ms), day);
    }
    char text[RL_TIME_TEXT];
    rl_time_format(INT64_MAX, text);
    assert_string_equal(text, "time out of range");
    rl_time_format(INT64_MIN, text);
    assert_string_equal(text, "time out of range");
    assert_int_equal(rl_time_day(-1), -1);
    assert_int_equal(rl_time_day(86399999), 0);
}

static void bad_times_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026",
        "2026-11",
        "2026-11-29T",
        "2026-11-29T20:03Z",
        "2026-11-29T20:03:35",
        "2026-11-29 20:03:35Z",
        "2026-02-31",
        "2025-02-29",
        "1900-02-29T00:00:00Z",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-1-1",
        "0000-01-01",
        "2026-11-29T24:00:00Z",
        "2026-11-29T23:60:00Z",
        "2026-11-29T23:59:60Z",
        "2026-11-29T20:03:35.Z",
        "2026-11-29T20:03:35.1234567890Z",
        "2026-11-29T20:03:35,1Z",
        "2026-11-29T20:03:35Z ",
        " 2026-11-29",
        "2026-11-29Z",
        "2026-11-29T20:03:35+1:00",
        "2026-11-29T20:03:35+24:00",
        "2026-11-29T20:03:35+01:60",
        "2026-11-29T20:03:35+0100",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "+2026-11-29",
        "20261129",
        "2026-11-29T20:03:35ZZ",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms = 77;
        assert_int_equal(rl_time_parse(bad[i], &ms), -1);
        assert_int_equal(ms, 77);
    }
}

static void clocks_run(void **state)
{
    (void)state;
    int64_t a = rl_monotonic_ns(), b = rl_monotonic_ns();
    assert_true(b >= a);
    assert_true(rl_now_ms() > 1700000000000);
}

/* ---- numbers ---- */

static void a_clock_that_is_set_is_seen(void **state)
{
    (void)state;
    bool stepped = true;
    struct rl_moment from = rl_moment_now();
    int64_t ms = rl_moment_since(&from, &stepped);
    assert_false(stepped);
    assert_in_range(ms - from.ms, 0, 60000);
    static const int64_t steps[] = {-86400000, -600, 600, 86400000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct rl_moment other = {from.ms - steps[i], from.boot_ns}; /* the clock has been set by so much since */
        ms = rl_moment_since(&other, &stepped);
        assert_true(stepped);
        assert_in_range(ms - other.ms, 0, 60000);
    }
}

static void integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0}, {"7", 7}, {"-7", -7}, {"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "01",
                                      "-0",
                                      "-01",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999",
                                      "1\n",
                                      "\xD9\xA1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 1;
        assert_int_equal(rl_parse_i64(good[i].text, INT64_MIN, INT64_MAX, &value), 0);
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = 77;
        assert_int_equal(rl_parse_i64(bad[i], INT64_MIN, INT64_MAX, &value), -1);
        assert_int_equal(value, 77);
    }
    int64_t value = 77;
    assert_int_equal(rl_parse_i64("5", 6, 10, &value), -1);
    assert_int_equal(rl_parse_i64("11", 6, 10, &value), -1);
    assert_int_equal(value, 77);
    assert_int_equal(rl_parse_i64("10", 6, 10, &value), 0);
}

static void reals_in(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "-",   "+1",  " 1",    "1 ",  "01",    "1.",     ".5",   "1e",    "1e+",
                                      "inf", "nan", "NaN", "0x1p3", "1,5", "1e400", "-1e400", "1..2", "1e5.5", "--1"};
    double value = 77;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(rl_parse_real(bad[i], &value), -1);
        assert_true(value == 77);
    }
    assert_int_equal(rl_parse_real("-12.5e-1", &value), 0);
    assert_true(value == -1.25);
    assert_int_equal(rl_parse_real("0.1", &value), 0);
    assert_true(value == 0.1);
    assert_int_equal(rl_parse_real("1e-400", &value), 0);
    assert_true(value == 0);
}

static void reals_out(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } shortest[] = {{0.1, "0.1"},
                    {4, "4.0"},
                    {-0.0, "-0.0"},
                    {1e20, "1e+20"},
                    {1.23e15, "1230000000000000.0"},
                    {-9007199254740994, "-9007199254740994.0"},
                    {1e17, "100000000000000000.0"},
                    {1.0 / 3, "0.3333333333333333"},
                    {0.1 + 0.2, "0.30000000000000004"},
                    {5e-324, "4.94065645841247e-324"},
                    {1.7976931348623157e308, "1.7976931348623157e+308"},
                    {219.9e6, "219900000.0"}};
    char text[RL_REAL_TEXT];
    for (size_t i = 0; i < sizeof shortest / sizeof shortest[0]; i++) {
        assert_int_equal(rl_format_real(text, sizeof text, shortest[i].value), strlen(shortest[i].text));
        assert_string_equal(text, shortest[i].text);
    }
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            assert_int_equal(rl_format_real(text, sizeof text, value), -1);
            continue;
        }
        assert_true(rl_format_real(text, sizeof text, value) > 0);
        assert_int_equal(rl_parse_real(text, &back), 0);
        assert_memory_equal(&back, &value, sizeof value);
    }
    assert_int_equal(rl_format_real(text, sizeof text, NAN), -1);
    assert_int_equal(rl_format_real(text, 10, 1.0), -1);
    assert_int_equal(rl_format_fixed(text, sizeof text, 1.0922, 4), 6);
    assert_string_equal(text, "1.0922");
    assert_int_equal(rl_format_fixed(text, sizeof text, -0.001, 2), 4);
    assert_string_equal(text, "0.00");
    assert_int_equal(rl_format_fixed(text, sizeof text, -0.01, 2), 5);
    assert_string_equal(text, "-0.01");
    assert_int_equal(rl_format_fixed(text, 4, 1.25, 2), -1);
    assert_int_equal(rl_format_fixed(text, sizeof text, INFINITY, 2), -1);
}

static void numbers_ignore_the_locale(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", "es_ES.UTF-8", "nl_NL.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof comma / sizeof comma[0] && !found; i++)
        found = setlocale(LC_ALL, comma[i]) != NULL;
    if (!found)
        skip(); /* no locale with a decimal comma on this machine */
    char text[RL_REAL_TEXT];
    double value = 0;
    assert_int_equal(rl_format_real(text, sizeof text, 1.5), 3);
    assert_string_equal(text, "1.5");
    assert_int_equal(rl_format_fixed(text, sizeof text, 1.5, 1), 3);
    assert_string_equal(text, "1.5");
    assert_int_equal(rl_parse_real("1.5", &value), 0);
    assert_true(value == 1.5);
    setlocale(LC_ALL, "C");
}

static void checked_arithmetic(void **state)
{
    (void)state;
    uint64_t value = 77;
    assert_true(rl_mul_u64(1ull << 32, (1ull << 32) - 1, &value));
    assert_int_equal(value, 0xFFFFFFFF00000000u);
    value = 77;
    assert_false(rl_mul_u64(1ull << 32, 1ull << 32, &value));
    assert_false(rl_add_u64(UINT64_MAX, 1, &value));
    assert_int_equal(value, 77);
    assert_true(rl_add_u64(UINT64_MAX, 0, &value));
}

static void utf8(void **state)
{
    (void)state;
    static const char *const good[] = {
        "", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC3",
                                      "\xE2\x82",
                                      "\xE0\x80\x80",
                                      "\xED\xA0\x80",
                                      "\xF0\x80\x80\x80",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xF0\x9F\x98",
                                      "a\xE2\x28\xA1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(rl_utf8_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(rl_utf8_valid(bad[i], strlen(bad[i])));
    assert_false(rl_utf8_valid("a\0b", 3));
    for (size_t i = 1; i < sizeof good / sizeof good[0]; i++)
        assert_true(rl_utf8_is_line(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(rl_utf8_is_line(bad[i]));
}

static void lines_of_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned code;
    } controls[] = {{"\t", 9},
                    {"\x1F", 0x1F},
                    {"\x7F", 0x7F},
                    {"\xC2\x80", 0x80},
                    {"\xC2\x9F", 0x9F},
                    {"\xE2\x80\xA8", 0x2028},
                    {"\xE2\x80\xA9", 0x2029},
                    {"", 0},
                    {" ", 0},
                    {"~", 0},
                    {"\xC2\xA0", 0},
                    {"\xE2\x80\xA7", 0},
                    {"\xE2\x80\xAA", 0},
                    {"\xF0\x9F\x98\x80", 0}};
    static const char *const seen[] = {"k", " k ", "void k<float>(int)", "\xC2\xA0k", "\xC3\xA9", "\xE6\xB8\xAC", "?"};
    static const char *const unseen[] = {"",
                                         " ",
                                         "\xC2\xA0",
                                         "\xC2\xAD",
                                         "\xE3\x80\x80",
                                         "\xE2\x80\x8B",
                                         "\xEF\xBB\xBF",
                                         " \xE1\xA0\x8E ",
                                         "\xF3\xA0\x84\x80"};
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        char line[16];
        assert_int_equal(rl_utf8_control(controls[i].text, strlen(controls[i].text)), controls[i].code);
        bool of_lines = controls[i].code == '\t' || controls[i].code > 0x2000;
        assert_int_equal(rl_utf8_control_of_lines(controls[i].text, strlen(controls[i].text)),
                         of_lines ? 0 : controls[i].code);
        snprintf(line, sizeof line, "k%s", controls[i].text);
        assert_int_equal(rl_utf8_is_line(line), controls[i].code == 0);
    }
    char *end = malloc(2); /* nothing behind the text is read: ASan sees it */
    assert_non_null(end);
    memcpy(end, "k\xC2", 2);
    assert_int_equal(rl_utf8_control(end, 1), 0);
    assert_int_equal(rl_utf8_control(end + 1, 1), 0);
    free(end);
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
        assert_true(rl_utf8_is_line(seen[i]));
    for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++)
        assert_false(rl_utf8_is_line(unseen[i]));
}

static void sha256(void **state)
{
    (void)state;
    char hex[65];
    rl_sha256_hex("abc", 3, hex); /* FIPS 180-2, appendix B.1 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    rl_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_fills_and_returns_minus_one),
        cmocka_unit_test(messages_are_valid_utf8_whatever_they_quote),
        cmocka_unit_test(catalogue_is_whole_and_unique),
        cmocka_unit_test(print_is_one_line),
        cmocka_unit_test(buffer_keeps_its_maximum),
        cmocka_unit_test(buffer_grows_and_is_taken),
        cmocka_unit_test(arena_is_bounded_zeroed_and_aligned),
        cmocka_unit_test(times_there_and_back),
        cmocka_unit_test(bad_times_are_refused),
        cmocka_unit_test(clocks_run),
        cmocka_unit_test(a_clock_that_is_set_is_seen),
        cmocka_unit_test(integers),
        cmocka_unit_test(reals_in),
        cmocka_unit_test(reals_out),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(checked_arithmetic),
        cmocka_unit_test(utf8),
        cmocka_unit_test(lines_of_text),
        cmocka_unit_test(sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
