/* Comparisons of large imports: as many rows as two runs can have, long names, and each row's own history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/base/num.h"
#include "server/compare/internal.h"
#include "tests/unit/compare/compare_judge.h"

#define ROWS       1024 /* of a run: 512 kernels, warm and cold */
#define LONG_NAMES 100
#define LONG_BYTES 7001
#define PAST_RUNS  12

static struct compare_draw draws[4][ROWS];
static char names[2 * ROWS][16], long_names[LONG_NAMES][LONG_BYTES + 1];

static void set_rows(size_t run, const char *name(size_t), size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        draws[run][i] = lab.draws[run][0];
        draws[run][i].kernel = name((first + i) / 2);
        draws[run][i].state = i % 2 ? RL_COLD : RL_WARM;
    }
    lab.runs[run].draws = draws[run];
    lab.runs[run].draw_count = count;
}

static const char *short_name(size_t kernel)
{
    snprintf(names[kernel], sizeof names[kernel], "kernel%zu", kernel);
    return names[kernel];
}

static const char *long_name(size_t kernel)
{
    char *name = long_names[kernel];
    size_t at = (size_t)snprintf(name, 16, "name%04zu", kernel);
    for (; at < LONG_BYTES - 9; at += 2)
        memcpy(name + at, "é", 2);
    snprintf(name + LONG_BYTES - 9, 10, "end%06zu", kernel % 1000000);
    return name;
}

static void two_runs_of_any_kernels(void **state)
{
    (void)state;
    set_rows(0, short_name, 0, ROWS);
    set_rows(1, short_name, ROWS, ROWS);
    struct compare_result *result = judge_with(1, 1, true, NULL);
    assert_int_equal(result->row_count, 2 * ROWS);
    assert_int_equal(result->time_counts[COMPARE_MISSING_HEAD], ROWS);
    assert_int_equal(result->time_counts[COMPARE_MISSING_BASE], ROWS);
    json_t *answer = compare_to_json(result);
    assert_int_equal(json_array_size(json_object_get(answer, "rows")), 2 * ROWS);
    json_decref(answer);
    compare_free(result);
}

/* Row k scatters by k + 1 hundredths of a percent, and is found among the draws of all others. */
static void each_row_has_its_own_history(void **state)
{
    (void)state;
    static struct compare_past past[PAST_RUNS * ROWS];
    struct compare_history history = {past, PAST_RUNS * ROWS};
    set_rows(0, short_name, 0, ROWS);
    set_rows(1, short_name, 0, ROWS);
    for (size_t i = 0; i < PAST_RUNS * ROWS; i++) {
        size_t row = i % ROWS, run = i / ROWS;
        double step = 1e-4 * (double)(row + 1) * (run % 2 ? 1 : -1);
        past[i] = (struct compare_past){.name = draws[0][row].kernel,
                                        .state = draws[0][row].state,
                                        .group = 1,
                                        .time_s = rl_known(1e-3 * exp(step)),
                                        .dram_bytes = rl_unknown("timed only")};
    }
    struct compare_result *result = judge_with(1, 1, true, &history);
    assert_int_equal(result->row_count, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const struct compare_row *row = &result->rows[i];
        int64_t kernel;
        assert_int_equal(rl_parse_i64(row->kernel + strlen("kernel"), 0, ROWS, &kernel), 0);
        size_t number = 2 * (size_t)kernel + (row->state == RL_COLD);
        double spread = 1e-4 * (double)(number + 1) * sqrt(PAST_RUNS / (PAST_RUNS - 1.0));
        assert_int_equal(row->time.method, STATS_SPREAD);
        assert_true(fabs(row->time.spread.value / spread - 1) < 1e-9);
        assert_int_equal(row->bytes.method, STATS_NONE);
    }
    compare_free(result);
}

static void long_names_are_shortened_in_sentences_alone(void **state)
{
    (void)state;
    for (size_t run = 0; run < 4; run++)
        set_rows(run, long_name, 0, 2 * LONG_NAMES);
    draws[0][0].flags = RL_ROW_CLOCK_MOVED;
    struct compare_result *result = judge_with(2, 2, true, NULL);
    assert_int_equal(result->row_count, 2 * LONG_NAMES);
    for (size_t i = 0; i < result->row_count; i++) {
        const struct compare_row *row = &result->rows[i];
        assert_int_equal(strlen(row->kernel), LONG_BYTES);
        assert_non_null(strstr(row->time.sentence, "Time of name"));
        assert_non_null(strstr(row->time.sentence, "…"));
        assert_non_null(strstr(row->time.sentence, row->kernel + LONG_BYTES - 9));
        assert_in_range(strlen(row->time.sentence), 160, 600);
        assert_in_range(strlen(row->bytes.sentence), 160, 600);
    }
    assert_string_equal(result->warnings[result->warning_count - 1].field, "clock_moved");
    assert_in_range(strlen(result->warnings[result->warning_count - 1].sentence), 160, 600);
    json_t *answer = compare_to_json(result); /* NULL when a sentence is no UTF-8 */
    assert_non_null(answer);
    json_decref(answer);
    compare_free(result);
}

static void names_are_shortened_between_characters(void **state)
{
    (void)state;
    char name[400], text[COMPARE_NAME_SHOWN];
    for (size_t length = COMPARE_NAME_SHOWN - 3; length < 300; length++)
        for (size_t ascii = 0; ascii < 4; ascii++) {
            size_t at = ascii;
            memset(name, 'a', ascii);
            for (; at + 3 <= length; at += 3)
                memcpy(name + at, "…", 3);
            name[at] = '\0';
            const char *shown = compare_short_name(name, text);
            json_t *checked = json_string(shown);
            assert_non_null(checked);
            assert_true(strlen(shown) < COMPARE_NAME_SHOWN);
            assert_true((strlen(name) < COMPARE_NAME_SHOWN) == (shown == name));
            json_decref(checked);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(two_runs_of_any_kernels, fill),
        cmocka_unit_test_setup(each_row_has_its_own_history, fill),
        cmocka_unit_test_setup(long_names_are_shortened_in_sentences_alone, fill),
        cmocka_unit_test(names_are_shortened_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
