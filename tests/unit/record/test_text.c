/* The table and CSV for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/record/print/text.h"
#include "tests/unit/record/sample_run.h"

static char *table(const struct rl_run *run, enum rl_state state)
{
    struct rl_buf out;
    rl_buf_init(&out, 1 << 20);
    assert_int_equal(rl_table_write(run, state, &out), 0);
    return rl_buf_take(&out);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, text);
}

/* The published table's own lines, but for the last digit of ratios that its rounded megabytes cannot give back. */
static void published_table(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    static const char *const lines[] = {
        "\ncopy ceiling 245.1 GB/s, FMA ceiling 7473.1 GFLOP/s, ridge point 30.49 FLOP/byte\n",
        "\nkernel                   ask MB    L1 MB    L2 MB  DRAM MB DRAM/ask  %ceil\n",
        "\n---------------------- -------- -------- -------- -------- -------- ------\n",
        "\nvector add                201.3    201.3    201.5    219.9   1.0923  116.9\n",
        "\nvector add, stride 32     201.3   1610.6   1610.9   4339.9  21.5565  107.6\n",
        "\ntranspose, naive          134.2    604.0    604.4    360.3   2.6844  111.5\n",
        "\nmatmul, naive            1074.8    537.9     67.3      4.2   0.0039    3.8\n",
        "\nmatmul, tiled 16           68.2     67.8     65.1      3.9   0.0572    5.7\n",
        "\nstencil, global           100.5    121.1     46.9     44.7   0.4449  112.0\n",
        "\npolynomial, 256           134.2    134.2    134.6    170.8   1.2726   60.7\n",
        "device Tesla T4, driver 595.84, CUDA 12.6, 2026-11-29T20:03:35.123Z\ncourse sizes, warm cache, counters ok\n",
        "\n* vector add: above_ceiling, above_roof\n",
    };
    char *text = table(run, RL_WARM);
    assert_int_equal(strncmp(text, "IMPORTED ", 9), 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_has(text, lines[i]);
    free(text);
    rl_run_free(run);
}

/* Names of any length and width keep the columns; one that was cut stands whole below. */
static void columns_hold_long_and_wide_names(void **state)
{
    (void)state;
    static const struct {
        const char *title, *line, *below;
    } cases[] = {
        {"rms_norm_kernel_of_29_columns", "\nrms_norm_kernel_of_29_columns    201.3 ", NULL},
        {"ns::Tile<64, 64, 32, float>::operator()(float const *, int)",
         "\nns::Tile<64, 64, 32\u2026(float const *, int)    201.3 ",
         "\nns::Tile<64, 64, 32\u2026(float const *, int) is ns::Tile<64, 64, 32, float>::operator()(float const *, "
         "int)\n"},
        {"\u884c\u5217\u7a4d", "\n\u884c\u5217\u7a4d                    201.3 ", NULL}, /* three of two columns each */
        {"e\u0301", "\ne\u0301                         201.3 ", NULL}, /* a letter and its accent: one column */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_run *run = sample_run_small();
        run->rows[0].title = cases[i].title;
        char *text = table(run, RL_WARM);
        assert_has(text, cases[i].line);
        if (cases[i].below != NULL)
            assert_has(text, cases[i].below);
        else
            assert_null(strstr(text, " is "));
        free(text);
        rl_run_free(run);
    }
}

static void little_is_not_none(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    struct rl_bytes *bytes = &run->rows[0].state[RL_WARM].bytes;
    bytes->l1 = rl_known(49999);
    bytes->l2 = rl_known(0);
    bytes->dram_read = rl_known(50001);
    bytes->dram_write = rl_known(0);
    rl_derive(run);
    char *text = table(run, RL_WARM);
    assert_has(text, "\nvector add                201.3     <0.1        0      0.1   0.0002   <0.1\n");
    free(text);
    rl_run_free(run);
}

/* What was beside the run is said before what failed because of it. */
static void another_process_comes_first(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    MUST(rl_strings_add(run->arena, &run->flags, "shared") == 0);
    char *text = table(run, RL_WARM);
    assert_has(text, "measured\nSHARED: something else was on the GPU, or could not be kept off it\ndevice ");
    free(text);
    run->outcome = RL_REFUSED;
    MUST(rl_strings_add(run->arena, &run->outcome_reasons, "polynomial_not_shortened failed") == 0);
    text = table(run, RL_WARM);
    assert_has(
        text, "measured\nSHARED: something else was on the GPU, or could not be kept off it: the likely reason of what "
              "follows\nREFUSED, no roofline: polynomial_not_shortened failed\n");
    free(text);
    rl_run_free(run);
}

static void first_line_tells_the_source(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    char *text = table(run, RL_WARM);
    assert_int_equal(strncmp(text, "measured\n", 9), 0);
    free(text);
    run->source = RL_REPLAYED;
    run->recorded_at_ms = 1795000000000;
    run->outcome = RL_REFUSED;
    MUST(rl_strings_add(run->arena, &run->outcome_reasons, "vector_add is wrong") == 0);
    text = table(run, RL_WARM);
    /* No word on which machine replays it, nor when: neither is known here. */
    static const char replayed[] = "REPLAYED from a recording made at 2026-11-18T11:06:40.000Z on NVIDIA H200\n";
    assert_int_equal(strncmp(text, replayed, strlen(replayed)), 0);
    assert_has(text, "REFUSED, no roofline: vector_add is wrong\n");
    free(text);
    rl_run_free(run);
}

static void cold_table_is_of_settled_bytes(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    char *text = table(run, RL_COLD);
    assert_has(text, "cold cache");
    /* 60000 over 4200, not over the warm copy's 4270 */
    assert_has(text, "copy ceiling 4200.0 GB/s, FMA ceiling 60000.0 GFLOP/s, ridge point 14.29 FLOP/byte");
    assert_has(text, "\nvector add                201.3        -        -    201.5   1.0009   75.5\n");
    assert_has(text, "cold: DRAM MB and DRAM/ask are settled bytes");
    assert_has(text, "- not counted in this test (vector add: L1 MB, L2 MB)\n");
    assert_has(text, "* vector add: writeback_unpaid\n");
    assert_has(text, "! check not made: bytes per launch agree: no counters\n");
    free(text);
    rl_run_free(run);
}

static void unknown_cells_have_their_reasons_below(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    run->counters.status = "counters_permission";
    run->checks = rl_arena_array(run->arena, 1, sizeof *run->checks);
    run->check_count = 1;
    run->checks[0] = (struct rl_check){"k", "every element equals", {false, NULL}, "3 of 9 wrong", true};
    for (size_t i = 1; i < 10; i++) {
        struct rl_bytes *bytes = &run->rows[i].state[RL_WARM].bytes;
        bytes->dram = bytes->l1 = bytes->l2 = rl_unknown("counters are refused");
    }
    run->rows[0].state[RL_WARM].bytes.l1 = rl_unknown("counters are refused");
    run->rows[0].title = "vector \x1b[31m\nadd";
    run->ceilings[1].value = rl_unknown("the chain was shortened");
    rl_derive(run);
    char *text = table(run, RL_WARM);
    assert_has(text, "matmul, naive            1074.8        -        -        -        -      -\n");
    assert_has(text, "- counters are refused (vector ?[31m?add: L1 MB; vector add, stride 32: L1 MB, L2 MB, DRAM MB, "
                     "DRAM/ask, %ceil; transpose, naive: L1 MB");
    assert_null(strstr(strstr(text, "- counters are refused") + 1, "- counters are refused")); /* once */
    assert_has(text, "- the chain was shortened (FMA ceiling)\n");
    assert_has(text, "FMA ceiling - GFLOP/s, ridge point - FLOP/byte");
    assert_has(text, "! check failed: every element equals: 3 of 9 wrong\n");
    assert_has(text, "counters counters_permission\n");
    assert_null(strchr(text, '\x1b'));
    struct rl_buf small;
    rl_buf_init(&small, 100);
    assert_int_equal(rl_table_write(run, RL_WARM, &small), -1);
    rl_buf_free(&small);
    free(text);
    rl_run_free(run);
}

static void a_reason_of_every_row_is_told_once(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    for (size_t i = 0; i < 10; i++)
        run->rows[i].state[RL_WARM].bytes.l1 = rl_unknown("no such counter");
    char *text = table(run, RL_WARM);
    assert_has(text, "- no such counter (every row: L1 MB)\n");
    assert_has(text, "matmul, naive            1074.8        -     67.3");
    free(text);
    rl_run_free(run);
}

static void a_table_of_a_state_that_is_not_there_says_which_are(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    char *text = table(run, RL_COLD);
    assert_has(text, "\nno row of this run is cold; it has rows that are warm\n");
    assert_null(strstr(text, "timed only"));
    assert_null(strstr(text, "vector add"));
    free(text);
    run->rows[0].state[RL_MIXED] = run->rows[0].state[RL_WARM];
    run->rows[0].state[RL_WARM].present = false;
    text = table(run, RL_COLD);
    assert_has(text, "\nno row of this run is cold; it has rows that are warm, mixed\n");
    free(text);
    text = table(run, RL_MIXED);
    assert_has(text, "\nmixed: bytes of cold launches beside times of warm ones");
    assert_has(text, "\nvector add");
    free(text);
    rl_run_free(run);
}

static void without_counters_the_table_has_times(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    for (size_t i = 0; i < 10; i++) {
        struct rl_row_state *s = &run->rows[i].state[RL_WARM];
        s->bytes.dram = s->bytes.l1 = s->bytes.l2 = rl_unknown("counters are refused");
    }
    run->rows[0].state[RL_WARM].time_s.median = rl_known(805.306368e-6);
    run->rows[9].state[RL_WARM].time_s.median = rl_unknown("the row was not timed");
    rl_derive(run);
    char *text = table(run, RL_WARM);
    static const char *const lines[] = {
        "\nkernel                   ask MB    time us  ask GB/s   GFLOP/s\n",
        "\n---------------------- -------- ---------- --------- ---------\n",
        "\nvector add                201.3     805.31     250.0      20.8\n",
        "\npolynomial, 256           134.2          -         -         -\n",
        "\ntimed only: ask GB/s is asked bytes over time, not DRAM traffic\n",
        "\n- counters are refused (every row: L1 MB, L2 MB, DRAM MB)\n",
        "\n- the row was not timed (polynomial, 256: time us, ask GB/s, GFLOP/s)\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_has(text, lines[i]);
    assert_null(strstr(text, "DRAM/ask"));
    free(text);
    rl_run_free(run);
}

/* Fields of one CSV line into cells; returns their number. Quotes are undone. */
static size_t split(char *line, char *cells[64])
{
    size_t count = 0;
    char *to = line;
    bool quoted = false;
    cells[count++] = to;
    for (char *c = line; *c != '\0'; c++) {
        if (*c == '"' && quoted && c[1] == '"')
            *to++ = *c++;
        else if (*c == '"')
            quoted = !quoted;
        else if (*c == ',' && !quoted) {
            *to++ = '\0';
            cells[count++] = to;
        } else
            *to++ = *c;
    }
    *to = '\0';
    return count;
}

static const char *column(char *heads[64], char *cells[64], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(heads[i], name) == 0)
            return cells[i];
    fail_msg("no column %s", name);
    return "";
}

static void csv(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    run->rows[0].title = "=cmd,\"x\"";
    run->device.name = "@gpu";
    struct rl_buf out;
    rl_buf_init(&out, 1 << 20);
    assert_int_equal(rl_csv_write(run, &out), 0);
    assert_has(out.data, "\"'=cmd,\"\"x\"\"\"");
    char *lines[3], *cells[64], *heads[64], *at = out.data;
    for (size_t i = 0; i < 3; i++) {
        char *end = strstr(at, "\r\n");
        assert_non_null(end);
        *end = '\0';
        lines[i] = at;
        at = end + 2;
    }
    assert_string_equal(at, "");
    size_t count = split(lines[0], heads);
    assert_int_equal(split(lines[1], cells), count);
    assert_string_equal(column(heads, cells, count, "source"), "measured");
    assert_string_equal(column(heads, cells, count, "suite"), "verify");
    assert_string_equal(column(heads, cells, count, "recorded_at"), "");
    assert_string_equal(column(heads, cells, count, "date"), "2026-11-29T20:03:35.123Z");
    assert_string_equal(column(heads, cells, count, "device_name"), "'@gpu");
    assert_string_equal(column(heads, cells, count, "title"), "'=cmd,\"x\"");
    assert_string_equal(column(heads, cells, count, "state"), "warm");
    assert_string_equal(column(heads, cells, count, "ask_bytes"), "201326592");
    assert_string_equal(column(heads, cells, count, "time_median_s"), "4.71e-05");
    assert_string_equal(column(heads, cells, count, "l2_bytes"), "");
    assert_string_equal(column(heads, cells, count, "dram_bytes"), "201300000.0");
    assert_string_equal(column(heads, cells, count, "bound"), "memory");
    assert_string_equal(column(heads, cells, count, "reasons"), "sw_power_cap");
    assert_int_equal(split(lines[2], cells), count);
    assert_string_equal(column(heads, cells, count, "state"), "cold");
    assert_string_equal(column(heads, cells, count, "dram_settled_bytes"), "201500000.0");
    rl_buf_free(&out);
    rl_buf_init(&out, 500);
    assert_int_equal(rl_csv_write(run, &out), -1);
    rl_buf_free(&out);
    rl_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_table),
        cmocka_unit_test(columns_hold_long_and_wide_names),
        cmocka_unit_test(little_is_not_none),
        cmocka_unit_test(another_process_comes_first),
        cmocka_unit_test(first_line_tells_the_source),
        cmocka_unit_test(cold_table_is_of_settled_bytes),
        cmocka_unit_test(unknown_cells_have_their_reasons_below),
        cmocka_unit_test(a_reason_of_every_row_is_told_once),
        cmocka_unit_test(a_table_of_a_state_that_is_not_there_says_which_are),
        cmocka_unit_test(without_counters_the_table_has_times),
        cmocka_unit_test(csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
