/* The rules of a comparison: verdicts on times and bytes, causes, and the machine as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/compare/compare_judge.h"

static size_t others(const struct compare_result *result)
{
    return result->time_counts[COMPARE_SLOWER] + result->time_counts[COMPARE_FASTER];
}

static void nothing_changed(void **state)
{
    (void)state;
    struct compare_result *result = judge();
    assert_int_equal(result->outcome, COMPARE_NO_REGRESSION);
    assert_int_equal(result->row_count, LAB_ROWS);
    assert_int_equal(result->ceiling_count, LAB_CEILINGS);
    assert_int_equal(result->time_counts[COMPARE_SAME], LAB_ROWS);
    assert_int_equal(result->regressions + result->improvements + result->warning_count, 0);
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    assert_int_equal(result->base.id_count, 15);
    assert_string_equal(result->base.ids[0], "15"); /* newest first */
    assert_string_equal(result->head.ids[14], "16");
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->time.method, STATS_RANK);
    assert_true(row->time.level.value >= 1 - COMPARE_ALPHA / LAB_ROWS);
    assert_true(row->time.low.value < row->time.ratio.value && row->time.ratio.value < row->time.high.value);
    assert_null(row->cause_sentence);
    compare_free(result);
}

static void one_row_slower(void **state)
{
    (void)state;
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1.02);
    struct compare_result *result = judge();
    assert_int_equal(result->outcome, COMPARE_REGRESSION);
    assert_int_equal(result->regressions, 1);
    assert_string_equal(result->rows[0].kernel, "polynomial256");
    assert_int_equal(result->rows[0].time.verdict, COMPARE_SLOWER);
    assert_int_equal(result->rows[0].cause, COMPARE_CAUSE_NOT_FOUND);
    assert_true(fabs(result->rows[0].time.ratio.value - 1.02) < 0.002);
    assert_true(result->rows[0].time.p_holm.value <= 0.05);
    assert_non_null(strstr(result->rows[0].time.sentence, "Time of polynomial256 warm is slower: 16"));
    assert_non_null(strstr(result->rows[0].cause_sentence, "No cause was found"));
    assert_non_null(strstr(result->sentence, ": 1 of 20 rows is slower, 0 faster, 19 the same, "));
    assert_int_equal(others(result), 1);
    compare_free(result);
    fill(NULL);
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 0.98);
    result = judge();
    assert_int_equal(result->outcome, COMPARE_NO_REGRESSION);
    assert_int_equal(result->improvements, 1);
    assert_int_equal(lab_find(result, POLYNOMIAL_WARM)->time.verdict, COMPARE_FASTER);
    compare_free(result);
}

/* A change that is certain but smaller than 1 percent is neither slower nor, unless all of it is inside, the same. */
static void small_but_certain(void **state)
{
    (void)state;
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1.005);
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, POLYNOMIAL_WARM);
    assert_true(row->time.low.value > 1 && row->time.high.value < 1.01);
    assert_int_equal(row->time.verdict, COMPARE_SAME);
    compare_free(result);
    fill(NULL);
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1.0085);
    result = judge();
    row = lab_find(result, POLYNOMIAL_WARM);
    assert_true(row->time.low.value > 1 && row->time.high.value > 1.01 && row->time.ratio.value < 1.01);
    assert_int_equal(row->time.verdict, COMPARE_AMBIGUOUS);
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    compare_free(result);
}

/* Ties: the interval, which is exact, lies just beyond 1 while the test with its correction for ties does not reject.
 * Both are asked for. */
static void tied_times(void **state)
{
    (void)state;
    static const int base[11] = {2, 0, 5, 1, 3, 1, 2, 1, 5, 5, 5}, head[11] = {6, 6, 4, 4, 6, 4, 4, 6, 6, 6, 6};
    for (size_t i = 0; i < 22; i++)
        lab.draws[i][VECTOR_WARM].time_s.value = 60e-6 * exp(0.02 * (i < 11 ? base[i] : head[i - 11]));
    struct compare_result *result = judge_with(11, 11, false, NULL);
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_true(row->time.low.value > 1 && row->time.ratio.value > 1.05 && row->time.p_holm.value > 0.05);
    assert_int_equal(row->time.verdict, COMPARE_AMBIGUOUS);
    compare_free(result);
}

static void whole_machine(void **state)
{
    (void)state;
    for (int faster = 0; faster < 2; faster++) {
        fill(NULL);
        double factor = faster ? 1 / 1.1 : 1.1;
        lab_scale_time(&lab, 15, 15, LAB_ROWS, factor);
        lab_scale_ceilings(&lab, 15, 15, 1 / factor);
        struct compare_result *result = judge();
        assert_int_equal(result->machine.verdict, faster ? COMPARE_FASTER : COMPARE_SLOWER);
        assert_true(fabs(result->machine.ratio.value / factor - 1) < 0.003);
        assert_int_equal(result->machine.rows_together, LAB_ROWS);
        assert_int_equal(faster ? result->improvements : result->regressions, 1);
        assert_int_equal(faster ? result->regressions : result->improvements, 0);
        for (size_t i = 0; i < result->row_count; i++) {
            assert_int_equal(result->rows[i].cause, COMPARE_CAUSE_MACHINE);
            assert_int_equal(result->rows[i].time.verdict, result->machine.verdict);
            assert_non_null(strstr(result->rows[i].cause_sentence, "moved with the machine"));
        }
        compare_free(result);
    }
    /* One row on top of the machine's change keeps a verdict of its own, and comes first. */
    fill(NULL);
    lab_scale_time(&lab, 15, 15, LAB_ROWS, 1.1);
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1.1);
    lab_scale_ceilings(&lab, 15, 15, 1 / 1.1);
    struct compare_result *result = judge();
    assert_int_equal(result->regressions, 2);
    assert_string_equal(result->rows[0].kernel, "polynomial256");
    assert_int_equal(result->rows[0].cause, COMPARE_CAUSE_NOT_FOUND);
    compare_free(result);
}

static void not_the_machine(void **state)
{
    (void)state;
    lab_scale_time(&lab, 15, 15, LAB_ROWS, 1.1); /* rows without ceilings */
    struct compare_result *result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    assert_int_equal(result->regressions, LAB_ROWS);
    compare_free(result);
    fill(NULL);
    lab_scale_ceilings(&lab, 15, 15, 1 / 1.1); /* ceilings without rows: the roof's three are named */
    result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    assert_int_equal(result->time_counts[COMPARE_SAME], LAB_ROWS);
    assert_int_equal(result->regressions, 3);
    assert_int_equal(result->ceilings[0].value.verdict, COMPARE_SLOWER);
    assert_non_null(strstr(result->ceilings[0].value.sentence, "Ceiling dram_copy warm is lower: 38"));
    assert_true(result->ceilings[0].value.ratio.value < 0.92);
    compare_free(result);
    fill(NULL);
    lab_scale_time(&lab, 15, 15, LAB_ROWS, 1.1); /* one of the two ceilings is not there */
    lab_scale_ceilings(&lab, 15, 15, 1 / 1.1);
    for (size_t i = 0; i < 30; i++)
        lab.ceilings[i][1].name = "fp64_fma";
    result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    compare_free(result);
    double
        spread[LAB_ROWS]; /* rows that scatter so much that none is surely slower: they do not speak against it only */
    lab_spreads(spread, 0.02);
    lab_fill(&lab, 30, spread, 12);
    lab_scale_time(&lab, 15, 15, LAB_ROWS, 1.02);
    lab_scale_ceilings(&lab, 15, 15, 1 / 1.02);
    result = judge();
    assert_true(result->time_counts[COMPARE_SLOWER] < LAB_ROWS / 2);
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    compare_free(result);
    fill(NULL);
    for (size_t r = 0; r < 12; r++) /* not enough of the rows */
        lab_scale_time(&lab, 15, 15, r, 1.1);
    lab_scale_ceilings(&lab, 15, 15, 1 / 1.1);
    result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    compare_free(result);
}

static void scale_bytes(size_t row, double factor)
{
    for (size_t i = 15; i < 30; i++)
        lab.draws[i][row].dram_bytes.value *= factor;
}

static void bytes_without_time(void **state)
{
    (void)state;
    scale_bytes(VECTOR_WARM, 1.015);
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->time.verdict, COMPARE_SAME);
    assert_int_equal(row->bytes.verdict, COMPARE_MORE);
    assert_int_equal(row->cause, COMPARE_CAUSE_NONE);
    assert_true(fabs(row->bytes.ratio.value - 1.015) < 1e-4);
    assert_int_equal(result->bytes_counts[COMPARE_MORE], 1);
    assert_int_equal(result->outcome,
                     COMPARE_NO_REGRESSION); /* of time; the sentence and the counts tell of the bytes */
    assert_ptr_equal(row, &result->rows[0]);
    assert_non_null(strstr(result->sentence, "DRAM bytes: more in 1 row, "));
    compare_free(result);
    fill(NULL);
    scale_bytes(VECTOR_WARM, 0.985);
    result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.verdict, COMPARE_FEWER);
    compare_free(result);
    fill(NULL);
    scale_bytes(VECTOR_WARM, 1.009); /* below 1 percent */
    result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.verdict, COMPARE_SAME);
    compare_free(result);
}

/* A few kilobytes more or less where a gigabyte is asked are nothing, however many times more they are. */
static void bytes_next_to_nothing(void **state)
{
    (void)state;
    scale_bytes(MATMUL_WARM, 5);
    scale_bytes(TILED_WARM, 20);
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, MATMUL_WARM)->bytes.verdict, COMPARE_SAME);
    assert_int_equal(lab_find(result, TILED_WARM)->bytes.verdict, COMPARE_SAME);
    compare_free(result);
    /* From none at all, and to much. */
    for (size_t i = 0; i < 30; i++)
        lab.draws[i][MATMUL_WARM].dram_bytes.value = 0;
    result = judge();
    const struct compare_row *row = lab_find(result, MATMUL_WARM);
    assert_int_equal(row->bytes.verdict, COMPARE_SAME);
    assert_non_null(row->bytes.ratio.why);
    compare_free(result);
    for (size_t i = 15; i < 30; i++)
        lab.draws[i][MATMUL_WARM].dram_bytes.value = 50e6;
    result = judge();
    assert_int_equal(lab_find(result, MATMUL_WARM)->bytes.verdict, COMPARE_MORE);
    compare_free(result);
    /* A row whose bytes scatter by 20 percent: 30 percent more is within three of its MADs. */
    uint64_t seed = 5;
    for (size_t i = 0; i < 30; i++)
        lab.draws[i][VECTOR_COLD].dram_bytes.value =
            (i < 15 ? 100e6 : 130e6) * (1 + 0.2 * (2 * lab_uniform(&seed) - 1));
    result = judge();
    row = lab_find(result, VECTOR_COLD);
    assert_true(row->bytes.floor_bytes.value > 30e6 && row->bytes.p_holm.value < 0.05);
    assert_int_equal(row->bytes.verdict, COMPARE_AMBIGUOUS);
    compare_free(result);
}

static void bytes_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 30; i++) {
        if (i >= 15)
            lab.draws[i][0].dram_bytes = rl_unknown("counters were off");
        else
            lab.draws[i][2].dram_bytes = rl_unknown("counters were off");
        lab.draws[i][4].dram_bytes = rl_unknown("counters were off");
    }
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, 0)->bytes.verdict, COMPARE_MISSING_HEAD);
    assert_int_equal(lab_find(result, 2)->bytes.verdict, COMPARE_MISSING_BASE);
    assert_int_equal(lab_find(result, 4)->bytes.verdict, COMPARE_NONE);
    assert_string_equal(lab_find(result, 0)->bytes.sentence,
                        "DRAM bytes of vector_add warm: head does not have it: counters were off.");
    assert_int_equal(result->time_counts[COMPARE_SAME], LAB_ROWS); /* times are judged all the same */
    compare_free(result);
}

static void scale_clock(size_t row, bool memory, double factor)
{
    for (size_t i = 15; i < 30; i++) {
        struct rl_real *clock = memory ? &lab.draws[i][row].memory_hz : &lab.draws[i][row].sm_hz;
        clock->value *= factor;
    }
}

static void causes(void **state)
{
    (void)state;
    /* The SM clock fell by 5 percent: a compute-bound row says so, a memory-bound one may not blame it. */
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1 / 0.95);
    scale_clock(POLYNOMIAL_WARM, false, 0.95);
    lab_scale_time(&lab, 15, 15, VECTOR_COLD, 1 / 0.95);
    scale_clock(VECTOR_COLD, false, 0.95);
    /* The memory clock, the other way round. */
    lab_scale_time(&lab, 15, 15, VECTOR_WARM, 1 / 0.95);
    scale_clock(VECTOR_WARM, true, 0.95);
    /* A tenth more bytes on a streaming row; and by chance on one that lives in the cache. */
    lab_scale_time(&lab, 15, 15, 2, 1.1);
    scale_bytes(2, 1.1);
    lab_scale_time(&lab, 15, 15, 17, 1.1);
    scale_bytes(17, 1.1); /* stencil_tiled cold: 43 percent of its ask */
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, POLYNOMIAL_WARM);
    assert_int_equal(row->cause, COMPARE_CAUSE_CLOCK);
    assert_true(fabs(row->explained.value - 1) < 0.15 && row->explained_low.value > 0.5);
    assert_true(fabs(row->sm_hz_ratio.value - 0.95) < 0.001 && fabs(row->cycles_ratio.value - 1) < 0.005);
    assert_non_null(strstr(row->cause_sentence, "The SM clock changed by −"));
    assert_int_equal(lab_find(result, VECTOR_COLD)->cause, COMPARE_CAUSE_NOT_FOUND);
    assert_int_equal(lab_find(result, VECTOR_WARM)->cause, COMPARE_CAUSE_MEMORY_CLOCK);
    assert_int_equal(lab_find(result, 2)->cause, COMPARE_CAUSE_BYTES);
    assert_int_equal(lab_find(result, 17)->bytes.verdict, COMPARE_MORE);
    assert_int_equal(lab_find(result, 17)->cause, COMPARE_CAUSE_NOT_FOUND);
    compare_free(result);
}

static void cause_is_not_claimed(void **state)
{
    (void)state;
    /* The clock explains 8 of 10 percent: the rest is a change by itself, not gone in cycles. */
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1.10);
    scale_clock(POLYNOMIAL_WARM, false, 1 / 1.08);
    /* It explains 0.6 of 1.5 percent: less than half, though the rest is below 1 percent. */
    lab_scale_time(&lab, 15, 15, 16, 1.015);
    scale_clock(16, false, 1 / 1.006);
    /* Nearly all, of a row with no known bound; and of one with no known clock. */
    lab_scale_time(&lab, 15, 15, 12, 1.05);
    scale_clock(12, false, 1 / 1.05);
    lab_scale_time(&lab, 15, 15, 14, 1.05);
    for (size_t i = 0; i < 30; i++) {
        lab.draws[i][12].bound = NULL;
        lab.draws[i][14].sm_hz = rl_unknown("not read");
    }
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, POLYNOMIAL_WARM)->cause, COMPARE_CAUSE_NOT_FOUND);
    assert_int_equal(lab_find(result, 16)->time.verdict, COMPARE_SLOWER);
    assert_int_equal(lab_find(result, 16)->cause, COMPARE_CAUSE_NOT_FOUND);
    assert_int_equal(lab_find(result, 12)->cause, COMPARE_CAUSE_NOT_FOUND);
    assert_non_null(strstr(lab_find(result, 12)->cause_sentence, "what bounds the row is not known"));
    assert_int_equal(lab_find(result, 14)->cause, COMPARE_CAUSE_NOT_FOUND);
    assert_non_null(strstr(lab_find(result, 14)->cause_sentence, "the SM clock is not known"));
    assert_non_null(lab_find(result, 14)->sm_hz_ratio.why);
    compare_free(result);
}

/* Of single runs there is no bootstrap: the share itself decides. */
static void cause_of_single_runs(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        double spread[LAB_ROWS];
        lab_spreads(spread, 0.0001);
        lab_fill(&lab, 31, spread, 8);
        struct compare_history history = history_of(30);
        lab_scale_time(&lab, 30, 1, POLYNOMIAL_WARM, 1.015);
        lab.draws[30][POLYNOMIAL_WARM].sm_hz.value = lab.draws[0][POLYNOMIAL_WARM].sm_hz.value / (half ? 1.006 : 1.015);
        struct compare_result *result = judge_with(30, 1, true, &history);
        const struct compare_row *row = lab_find(result, POLYNOMIAL_WARM);
        assert_int_equal(row->time.verdict, COMPARE_SLOWER);
        assert_int_equal(row->cause, half ? COMPARE_CAUSE_NOT_FOUND : COMPARE_CAUSE_CLOCK);
        assert_non_null(row->explained_low.why);
        compare_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_changed, fill),      cmocka_unit_test_setup(one_row_slower, fill),
        cmocka_unit_test_setup(small_but_certain, fill),    cmocka_unit_test_setup(tied_times, fill),
        cmocka_unit_test_setup(whole_machine, fill),        cmocka_unit_test_setup(not_the_machine, fill),
        cmocka_unit_test_setup(bytes_without_time, fill),   cmocka_unit_test_setup(bytes_next_to_nothing, fill),
        cmocka_unit_test_setup(bytes_missing, fill),        cmocka_unit_test_setup(causes, fill),
        cmocka_unit_test_setup(cause_is_not_claimed, fill), cmocka_unit_test(cause_of_single_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
