/* What a comparison says of draws that are worth less than usual: nothing of it in silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/compare/compare_judge.h"

/* The flags of one row in runs from … from + count - 1. */
static void flag_row(size_t from, size_t count, size_t row, unsigned flags)
{
    for (size_t i = from; i < from + count; i++)
        lab.draws[i][row].flags |= flags;
}

static const struct compare_note *warning(const struct compare_result *result, const char *field)
{
    for (size_t i = 0; i < result->warning_count; i++)
        if (strcmp(result->warnings[i].field, field) == 0)
            return &result->warnings[i];
    fail_msg("no warning of %s", field);
    return NULL;
}

static void mixed_rows_are_named_and_not_judged(void **state)
{
    (void)state;
    for (size_t i = 15; i < 30; i++)
        for (size_t r = 0; r < LAB_ROWS; r++)
            if (lab.draws[i][r].state == RL_COLD) {
                lab.draws[i][r].state = RL_MIXED;
                lab.draws[i][r].flags = RL_ROW_UNSETTLED; /* of a mixed row only that is said */
            }
    struct compare_result *result = judge();
    assert_int_equal(result->row_count, LAB_ROWS); /* warm, and base's cold */
    assert_int_equal(result->time_counts[COMPARE_MISSING_HEAD], LAB_ROWS / 2);
    assert_int_equal(result->warning_count, 1);
    assert_string_equal(warning(result, "mixed")->base, "0");
    assert_string_equal(warning(result, "mixed")->head, "150");
    assert_string_equal(warning(result, "mixed")->sentence,
                        "150 rows of head's runs are mixed (vector_add mixed, vector_add_stride32 mixed, "
                        "transpose_naive mixed and others): bytes of cold launches beside times of warm ones, which "
                        "are shown and not judged.");
    compare_free(result);
    for (size_t i = 0; i < 30; i++)
        for (size_t r = 0; r < LAB_ROWS; r++)
            lab.draws[i][r].state = RL_MIXED;
    result = judge();
    assert_int_equal(result->row_count, 0);
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    compare_free(result);
}

static void derived_times_are_no_times(void **state)
{
    (void)state;
    flag_row(15, 15, VECTOR_WARM, RL_ROW_TIME_DERIVED);
    lab_scale_time(&lab, 15, 15, VECTOR_WARM, 2);
    for (int named = 0; named < 2; named++) {
        struct compare_result *result = judge_with(15, 15, named, NULL);
        const struct compare_row *row = lab_find(result, VECTOR_WARM);
        assert_int_equal(row->time.verdict, COMPARE_MISSING_HEAD);
        assert_string_equal(row->time.head.why,
                            "its time follows from bytes, a percentage and the ceiling: nobody measured it");
        assert_int_equal(row->bytes.verdict, COMPARE_SAME);
        assert_string_equal(warning(result, "time_derived")->head, "15");
        assert_int_equal(result->outcome, COMPARE_UNDECIDED);
        compare_free(result);
    }
    flag_row(0, 15, VECTOR_WARM, RL_ROW_TIME_DERIVED);
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.verdict, COMPARE_NONE);
    compare_free(result);
}

static void single_launches_are_no_loop(void **state)
{
    (void)state;
    for (size_t i = 15; i < 30; i++)
        lab.draws[i][VECTOR_WARM].dram_bytes.value *= 0.5;
    flag_row(15, 15, VECTOR_WARM, RL_ROW_SINGLE_LAUNCH);
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->bytes.verdict, COMPARE_MISSING_HEAD);
    assert_string_equal(row->bytes.sentence, "DRAM bytes of vector_add warm: head does not have it: they are of single "
                                             "launches, and those of the other side of a loop.");
    assert_int_equal(row->time.verdict, COMPARE_SAME);
    assert_string_equal(warning(result, "single_launch")->base, "0");
    compare_free(result);
    /* Within a side, too: only the loops are taken. */
    for (size_t i = 20; i < 30; i++) {
        lab.draws[i][VECTOR_WARM].flags = 0;
        lab.draws[i][VECTOR_WARM].dram_bytes.value *= 2;
    }
    result = judge();
    row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->bytes.head_n, 10);
    assert_int_equal(row->bytes.base_n, 15);
    assert_int_equal(row->bytes.verdict, COMPARE_SAME);
    compare_free(result);
    /* Single launches against single launches are judged. */
    fill(NULL);
    flag_row(0, 30, VECTOR_WARM, RL_ROW_SINGLE_LAUNCH);
    result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.verdict, COMPARE_SAME);
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.head_n, 15);
    compare_free(result);
}

static void each_flag_is_a_warning(void **state)
{
    (void)state;
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {{RL_ROW_THROTTLED, "throttled"},
                 {RL_ROW_CLOCK_MOVED, "clock_moved"},
                 {RL_ROW_NOT_STEADY, "not_steady"},
                 {RL_ROW_UNSETTLED, "unsettled"},
                 {RL_ROW_TIME_DERIVED, "time_derived"},
                 {RL_ROW_SINGLE_LAUNCH, "single_launch"},
                 {RL_ROW_LAUNCHES_DIFFER, "launches_differ"}};
    const size_t count = sizeof flags / sizeof flags[0];
    for (size_t i = 0; i < count; i++) {
        fill(NULL);
        flag_row(3, 2, POLYNOMIAL_WARM, flags[i].flag);
        lab.ceilings[16][0].flags = flags[i].flag;
        struct compare_result *result = judge();
        assert_int_equal(result->warning_count, 1);
        const struct compare_note *note = warning(result, flags[i].name);
        assert_string_equal(note->base, "2");
        assert_string_equal(note->head, "1");
        assert_non_null(strstr(note->sentence, " (polynomial256 warm, dram_copy warm): "));
        compare_free(result);
    }
    fill(NULL); /* all at once, with every other warning that there is */
    for (size_t i = 0; i < 30; i++)
        for (size_t r = 0; r < LAB_ROWS; r++) {
            for (size_t k = 0; k < count; k++)
                lab.draws[i][r].flags |= flags[k].flag;
            lab.draws[i][r].dram_bytes = rl_unknown("no counters");
            if (r == 3)
                lab.draws[i][r].state = RL_MIXED;
        }
    struct compare_result *result = judge_with(15, 15, true, NULL);
    assert_int_equal(result->warning_count, count + 2);
    compare_free(result);
}

static void runs_without_counters(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t r = 0; r < LAB_ROWS; r++)
            lab.draws[i][r].dram_bytes = rl_unknown("the run was timed only");
    struct compare_result *result = judge();
    assert_string_equal(warning(result, "counters")->sentence, "4 of 15 runs of base have no DRAM bytes: bytes are "
                                                               "judged on the others.");
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.base_n, 11);
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.base_n, 15);
    compare_free(result);
    for (size_t i = 15; i < 30; i++)
        for (size_t r = 0; r < LAB_ROWS; r++)
            lab.draws[i][r].dram_bytes = rl_unknown("the run was timed only");
    result = judge();
    assert_non_null(strstr(warning(result, "counters")->sentence, "15 of 15 of head have no DRAM bytes: bytes cannot"));
    assert_string_equal(warning(result, "counters")->base, "4 without");
    assert_int_equal(result->bytes_counts[COMPARE_MISSING_HEAD], LAB_ROWS);
    assert_int_equal(result->outcome, COMPARE_NO_REGRESSION);
    compare_free(result);
}

static void a_driver_that_changed_under_a_run(void **state)
{
    (void)state;
    lab.runs[14].driver_changed = true;
    struct compare_result *result = judge();
    assert_int_equal(result->base.left_out_count, 1);
    assert_string_equal(result->base.left_out[0].why,
                        "it is flagged driver_changed: the driver was replaced while it ran");
    assert_int_equal(result->base.id_count, 14);
    compare_free(result);
    result = judge_with(15, 15, true, NULL);
    assert_int_equal(result->base.id_count, 15);
    assert_string_equal(warning(result, "flags")->sentence,
                        "Run 15 of base would not be taken by a query: it is flagged driver_changed: the driver was "
                        "replaced while it ran.");
    compare_free(result);
}

static void quartiles_tell_how_draws_scatter(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        lab.draws[i][VECTOR_WARM].time_s = rl_known(1e-3 * (double)(1 << i)); /* 1 2 4 8 16 ms */
        lab.draws[i][VECTOR_WARM].dram_bytes = rl_known(100.0 * (double)(i + 1));
        lab.ceilings[i][0].value = rl_known(1e12 / (double)(1 << i));
    }
    struct compare_result *result = judge_with(5, 15, false, NULL);
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_true(fabs(row->time.base_p25.value - 2e-3) < 1e-12 && fabs(row->time.base.value - 4e-3) < 1e-12 &&
                fabs(row->time.base_p75.value - 8e-3) < 1e-12);
    assert_true(row->time.head_p25.value < row->time.head.value && row->time.head.value < row->time.head_p75.value);
    assert_true(row->bytes.base_p25.value == 200 && row->bytes.base.value == 300 && row->bytes.base_p75.value == 400);
    const struct compare_judged *copy = &result->ceilings[0].value;
    assert_string_equal(result->ceilings[0].name, "dram_copy");
    assert_true(fabs(copy->base_p25.value / 1.25e11 - 1) < 1e-9 && fabs(copy->base_p75.value / 5e11 - 1) < 1e-9);
    compare_free(result);
    result = judge_with(1, 1, true, NULL);
    row = lab_find(result, VECTOR_WARM);
    assert_true(row->time.base_p25.value == row->time.base.value && row->time.base_p75.value == row->time.base.value);
    compare_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(mixed_rows_are_named_and_not_judged, fill),
        cmocka_unit_test_setup(derived_times_are_no_times, fill),
        cmocka_unit_test_setup(single_launches_are_no_loop, fill),
        cmocka_unit_test_setup(each_flag_is_a_warning, fill),
        cmocka_unit_test_setup(runs_without_counters, fill),
        cmocka_unit_test_setup(a_driver_that_changed_under_a_run, fill),
        cmocka_unit_test_setup(quartiles_tell_how_draws_scatter, fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
