/* Rows of one name that are other work, or whose values are of another kind: never a change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/compare/compare_judge.h"

static const struct compare_note *warning(const struct compare_result *result, const char *field)
{
    for (size_t i = 0; i < result->warning_count; i++)
        if (strcmp(result->warnings[i].field, field) == 0)
            return &result->warnings[i];
    return NULL;
}

/* Runs from … from + count - 1 have this row with other work, and their times and bytes with it. */
static void enlarge(size_t from, size_t count, size_t row, double factor)
{
    for (size_t i = from; i < from + count; i++) {
        struct compare_draw *draw = &lab.draws[i][row];
        draw->time_s.value *= factor;
        draw->dram_bytes.value *= factor;
        draw->work.ask_bytes = (int64_t)((double)draw->work.ask_bytes * factor);
    }
}

static void other_asked_bytes_are_no_slowdown(void **state)
{
    (void)state;
    enlarge(15, 15, VECTOR_WARM, 2);
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->time.verdict, COMPARE_NOT_COMPARABLE);
    assert_int_equal(row->bytes.verdict, COMPARE_NOT_COMPARABLE);
    assert_string_equal(compare_verdict_name(row->time.verdict), "not_comparable");
    assert_int_equal(row->notes.not_comparable_count, 1);
    assert_string_equal(row->notes.not_comparable[0].field, "ask_bytes");
    assert_string_equal(row->notes.not_comparable[0].base, "201326592 bytes");
    assert_string_equal(row->notes.not_comparable[0].head, "402653184 bytes");
    assert_non_null(strstr(row->time.sentence,
                           "head). It is other work: a launch asks for 201326592 bytes in base and 402653184 bytes in "
                           "head."));
    assert_non_null(strstr(row->bytes.sentence, "402653184 bytes in head."));
    assert_true(rl_is_known(row->time.base) && rl_is_known(row->time.head)); /* are shown, and not held together */
    assert_false(rl_is_known(row->time.ratio) || rl_is_known(row->time.low) || rl_is_known(row->time.p));
    assert_int_equal(row->cause, COMPARE_CAUSE_NONE);
    assert_int_equal(result->time_counts[COMPARE_NOT_COMPARABLE], 1);
    assert_int_equal(result->bytes_counts[COMPARE_NOT_COMPARABLE], 1);
    assert_int_equal(result->time_counts[COMPARE_SLOWER], 0);
    assert_int_equal(result->regressions, 0);
    assert_int_equal(result->outcome, COMPARE_UNDECIDED); /* head may be slower at it, for all that is known */
    assert_non_null(strstr(result->sentence, "0 missing, 1 not comparable (15 runs against 15)"));
    assert_null(warning(result, "launch_differs"));
    compare_free(result);
    /* what is slower beside it still is */
    lab_scale_time(&lab, 15, 15, POLYNOMIAL_WARM, 1.1);
    result = judge();
    assert_int_equal(result->outcome, COMPARE_REGRESSION);
    assert_int_equal(lab_find(result, POLYNOMIAL_WARM)->time.verdict, COMPARE_SLOWER);
    compare_free(result);
}

static void other_flop_and_dims_likewise(void **state)
{
    (void)state;
    for (size_t i = 0; i < 30; i++) {
        lab.draws[i][VECTOR_WARM].work.flop = i < 15 ? 5000 : 5001;
        lab.draws[i][VECTOR_WARM].work.dims = i < 15 ? "n 16" : "n 32";
        lab.draws[i][VECTOR_COLD].work.dims = i < 15 ? NULL : "n 32"; /* known on one side: no difference */
        lab.draws[i][TILED_WARM].work.flop = 7;
    }
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->time.verdict, COMPARE_NOT_COMPARABLE);
    assert_int_equal(row->notes.not_comparable_count, 2);
    assert_string_equal(row->notes.not_comparable[0].sentence,
                        "It is other work: a launch has 5000 flop in base and 5001 flop in head.");
    assert_string_equal(row->notes.not_comparable[1].sentence,
                        "It is other work: the dims are n 16 in base and n 32 in head.");
    assert_int_equal(lab_find(result, VECTOR_COLD)->time.verdict, COMPARE_SAME);
    assert_int_equal(lab_find(result, TILED_WARM)->time.verdict, COMPARE_SAME);
    assert_non_null(warning(result, "work"));
    assert_string_equal(
        warning(result, "work")->sentence,
        "1 row (vector_add cold) cannot be shown to be the same work: flop, asked bytes or dims are known "
        "on one side only, or none of them on both.");
    compare_free(result);
}

static void work_that_nobody_knows_is_judged_with_a_warning(void **state)
{
    (void)state;
    for (size_t i = 0; i < 30; i++)
        lab.draws[i][VECTOR_WARM].work = (struct store_work){-1, -1, NULL};
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.verdict, COMPARE_SAME);
    assert_non_null(strstr(warning(result, "work")->sentence, "1 row (vector_add warm) cannot be shown"));
    compare_free(result);
    fill(NULL);
    result = judge();
    assert_null(warning(result, "work"));
    compare_free(result);
}

static void a_side_is_of_its_newest_runs_work(void **state)
{
    (void)state;
    enlarge(15, 6, VECTOR_WARM, 2); /* the six oldest of head: an earlier size */
    for (int named = 0; named < 2; named++) {
        struct compare_result *result = judge_with(15, 15, named, NULL);
        const struct compare_row *row = lab_find(result, VECTOR_WARM);
        assert_int_equal(row->time.verdict, COMPARE_SAME);
        assert_int_equal(row->time.head_n, 9);
        assert_int_equal(row->bytes.head_n, 9);
        assert_int_equal(row->notes.left_out_count, 1);
        assert_true(row->notes.left_out[0].head);
        assert_string_equal(row->notes.left_out[0].of, "row");
        assert_int_equal(row->notes.left_out[0].draws, 6);
        assert_string_equal(
            row->notes.left_out[0].reason,
            "a launch asks for 402653184 bytes in run 21 and 201326592 bytes in run 30, the newest of this "
            "side with the row");
        assert_non_null(strstr(row->time.sentence, " Left out: 6 draws of head; a launch asks for 402653184 bytes"));
        assert_int_equal(lab_find(result, VECTOR_COLD)->time.head_n, 15);
        compare_free(result);
    }
    /* newest first: the side is of the larger work, and nothing of it is mixed */
    fill(NULL);
    enlarge(28, 2, VECTOR_WARM, 2);
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.verdict, COMPARE_NOT_COMPARABLE);
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.head_n, 2);
    assert_int_equal(lab_find(result, VECTOR_WARM)->notes.left_out[0].draws, 13);
    compare_free(result);
}

static void ceilings_are_held_by_their_work(void **state)
{
    (void)state;
    for (size_t i = 15; i < 30; i++) {
        lab.ceilings[i][0].work.ask_bytes *= 4; /* dram_copy warm: 8 GiB against 2 */
        lab.ceilings[i][0].value.value *= 0.9;
        lab.ceilings[i][3].launch.shape = "grid 65536, block 1024"; /* dram_read: another shape of the same work */
    }
    struct compare_result *result = judge();
    size_t apart = 0;
    for (size_t c = 0; c < result->ceiling_count; c++) {
        const struct compare_ceiling *ceiling = &result->ceilings[c];
        bool copy = strcmp(ceiling->name, "dram_copy") == 0 && ceiling->state == RL_WARM;
        apart += ceiling->value.verdict == COMPARE_NOT_COMPARABLE;
        assert_int_equal(ceiling->value.verdict, copy ? COMPARE_NOT_COMPARABLE : COMPARE_SAME);
        if (copy)
            assert_non_null(strstr(ceiling->value.sentence,
                                   "a launch asks for 2147483648 bytes in base and 8589934592 bytes in head."));
    }
    assert_int_equal(apart, 1);
    assert_int_equal(result->regressions, 0);
    assert_int_equal(result->outcome, COMPARE_NO_REGRESSION);
    assert_non_null(strstr(warning(result, "launch_differs")->sentence, "1 row (dram_read warm) was not launched"));
    assert_string_equal(warning(result, "launch_differs")->base, "grid 131072, block 512");
    compare_free(result);
}

/* Neither rows nor ceilings that are not comparable speak of the machine. */
static void what_is_not_comparable_is_not_of_the_machine(void **state)
{
    (void)state;
    lab_scale_time(&lab, 15, 15, LAB_ROWS, 1.1);
    lab_scale_ceilings(&lab, 15, 15, 1 / 1.1);
    for (size_t r = 0; r < 8; r++)
        enlarge(15, 15, r, 0.3); /* eight of twenty, far from the others */
    struct compare_result *result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_SLOWER);
    assert_int_equal(result->machine.rows, LAB_ROWS - 8);
    compare_free(result);
    for (size_t i = 15; i < 30; i++)
        lab.ceilings[i][0].work.ask_bytes = 1; /* dram_copy warm: the cold one still speaks */
    result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_SLOWER);
    for (size_t i = 15; i < 30; i++)
        lab.ceilings[i][0].work.ask_bytes = lab.ceilings[i][2].work.ask_bytes = 1; /* dram_copy, both */
    compare_free(result);
    result = judge();
    assert_int_equal(result->machine.verdict, COMPARE_NONE);
    compare_free(result);
}

static void another_launch_of_equal_work_is_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < 30; i++) {
        lab.draws[i][VECTOR_WARM].launch =
            (struct compare_launch){.grid = "4 x 1 x 1", .block = i < 15 ? "256 x 1 x 1" : "512 x 1 x 1"};
        lab.draws[i][VECTOR_COLD].launch =
            (struct compare_launch){.function = i == 3 ? "f<1>" : "f<2>"}; /* within base */
        lab.draws[i][TILED_WARM].launch = (struct compare_launch){.grid = i < 15 ? NULL : "1 x 1 x 1"}; /* not known */
    }
    lab_scale_time(&lab, 15, 15, VECTOR_WARM, 1.1);
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.verdict, COMPARE_SLOWER);
    assert_int_equal(lab_find(result, VECTOR_COLD)->time.verdict, COMPARE_SAME);
    assert_string_equal(
        warning(result, "launch_differs")->sentence,
        "2 rows (vector_add warm, vector_add cold) were not launched in the same way in all runs; their "
        "work is the same, and so they are judged.");
    assert_string_equal(warning(result, "launch_differs")->base, "grid 4 x 1 x 1, block 256 x 1 x 1");
    assert_string_equal(warning(result, "launch_differs")->head, "grid 4 x 1 x 1, block 512 x 1 x 1");
    compare_free(result);
}

/* ---- values of another kind ---- */

static void flag(size_t from, size_t count, size_t row, unsigned flags)
{
    for (size_t i = from; i < from + count; i++)
        lab.draws[i][row].flags |= flags;
}

static void profiler_times_are_never_held_against_events(void **state)
{
    (void)state;
    lab_scale_time(&lab, 15, 15, VECTOR_WARM, 1.3);
    flag(15, 15, VECTOR_WARM, RL_ROW_PROFILER_TIME);
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->time.verdict, COMPARE_NOT_COMPARABLE);
    assert_int_equal(row->bytes.verdict, COMPARE_SAME); /* they are no times */
    assert_string_equal(row->notes.not_comparable[0].field, "profiler_time");
    assert_string_equal(row->notes.not_comparable[0].sentence,
                        "Base has times of events and head a profiler's durations.");
    assert_non_null(strstr(row->time.sentence, "Base has times of events and head a profiler's durations."));
    assert_null(strstr(row->bytes.sentence, "profiler"));
    assert_string_equal(warning(result, "profiler_time")->head, "15");
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    compare_free(result);
    /* a row that has both loses the profiler's */
    flag(0, 4, VECTOR_WARM, RL_ROW_PROFILER_TIME);
    for (size_t i = 20; i < 30; i++) {
        lab.draws[i][VECTOR_WARM].flags = 0;
        lab.draws[i][VECTOR_WARM].time_s.value /= 1.3;
    }
    result = judge();
    row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->time.verdict, COMPARE_SAME);
    assert_int_equal(row->time.base_n, 11);
    assert_int_equal(row->time.head_n, 10);
    assert_int_equal(row->bytes.head_n, 15);
    assert_int_equal(row->notes.left_out_count, 2);
    assert_string_equal(row->notes.left_out[1].of, "time");
    assert_int_equal(row->notes.left_out[1].draws, 5);
    assert_non_null(strstr(row->time.sentence,
                           " Left out: 5 draws of head; its time is a profiler's duration, which is not "
                           "held against times of events."));
    assert_null(strstr(row->bytes.sentence, "Left out"));
    compare_free(result);
    /* profiler's against profiler's are judged, under the warning */
    fill(NULL);
    lab_scale_time(&lab, 15, 15, VECTOR_WARM, 1.3);
    flag(0, 30, VECTOR_WARM, RL_ROW_PROFILER_TIME);
    result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.verdict, COMPARE_SLOWER);
    assert_string_equal(warning(result, "profiler_time")->base, "15");
    compare_free(result);
}

static void derived_bytes_are_never_held_against_counted_ones(void **state)
{
    (void)state;
    for (size_t i = 15; i < 30; i++)
        lab.draws[i][VECTOR_WARM].dram_bytes.value *= 1.1;
    flag(15, 15, VECTOR_WARM, RL_ROW_BYTES_DERIVED);
    struct compare_result *result = judge();
    const struct compare_row *row = lab_find(result, VECTOR_WARM);
    assert_int_equal(row->bytes.verdict, COMPARE_NOT_COMPARABLE);
    assert_int_equal(row->time.verdict, COMPARE_SAME);
    assert_non_null(
        strstr(row->bytes.sentence, "Base has counted bytes and head bytes that are a rate times a duration."));
    assert_non_null(warning(result, "bytes_derived"));
    assert_int_equal(result->outcome, COMPARE_NO_REGRESSION); /* it is times that make one */
    compare_free(result);
    flag(0, 15, VECTOR_WARM, RL_ROW_BYTES_DERIVED);
    result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.verdict, COMPARE_MORE);
    compare_free(result);
    for (size_t i = 20; i < 30; i++)
        lab.draws[i][VECTOR_WARM].flags = 0;
    result = judge();
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.head_n, 10);
    assert_int_equal(lab_find(result, VECTOR_WARM)->bytes.verdict, COMPARE_NOT_COMPARABLE);
    compare_free(result);
}

/* ---- history, and what was left out ---- */

static void history_of_other_work_says_nothing_of_the_spread(void **state)
{
    (void)state;
    struct compare_history history = history_of(20);
    struct compare_side base = {.label = "b", .named = true, .runs = lab.runs + 20, .run_count = 2};
    struct compare_side head = {.label = "h", .named = true, .runs = lab.runs + 22, .run_count = 2};
    struct compare_result *result;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(compare_judge(&base, &head, &history, &result, &err), 0);
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.method, STATS_SPREAD);
    compare_free(result);
    enlarge(0, 12, VECTOR_WARM, 2); /* eight are left, and ten are needed */
    history = history_of(20);
    assert_int_equal(compare_judge(&base, &head, &history, &result, &err), 0);
    assert_int_equal(lab_find(result, VECTOR_WARM)->time.method, STATS_NONE);
    assert_non_null(strstr(lab_find(result, VECTOR_WARM)->time.sentence, "which has 8 runs with it"));
    assert_int_equal(lab_find(result, VECTOR_COLD)->time.method, STATS_SPREAD);
    compare_free(result);
    fill(NULL);
    flag(0, 12, VECTOR_COLD, RL_ROW_PROFILER_TIME);
    history = history_of(20);
    assert_int_equal(compare_judge(&base, &head, &history, &result, &err), 0);
    assert_int_equal(lab_find(result, VECTOR_COLD)->time.method, STATS_NONE);
    compare_free(result);
}

static void a_comparison_of_nothing_comparable_says_so(void **state)
{
    (void)state;
    for (size_t r = 0; r < LAB_ROWS; r++)
        enlarge(15, 15, r, 2);
    struct compare_result *result = judge();
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    assert_int_equal(result->not_comparable_count, 0);
    assert_non_null(strstr(result->sentence,
                           "Whether head is slower cannot be told: no row is comparable (15 runs against "
                           "15). Time of "));
    compare_free(result);
}

static void a_side_without_runs_says_what_there_is(void **state)
{
    (void)state;
    static const struct compare_excluded excluded[] = {
        {8, false, "suite, sizes", "suite=import&sizes=other",
         "8 runs are of suite import, of sizes other: ask with suite=import&sizes=other"}};
    for (size_t i = 0; i < 3; i++)
        lab.runs[i].shared = true;
    lab.runs[3].outcome = RL_PARTIAL;
    struct compare_side base = {.label = "driver:1,cuda:13.0",
                                .runs = lab.runs,
                                .run_count = 4,
                                .unread = 4,
                                .excluded = excluded,
                                .excluded_count = 1};
    struct compare_side head = {.label = "driver:2", .runs = lab.runs + 4, .run_count = 10};
    struct compare_result *result;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(compare_judge(&base, &head, NULL, &result, &err), 0);
    assert_string_equal(
        result->not_comparable[0].sentence,
        "No run of driver 1, CUDA 13.0 counts: 1 run was left out, its outcome is partial: rows or ceilings "
        "are missing; 3 runs were left out, it is flagged shared: another process used the GPU; 8 runs are "
        "of suite import, of sizes other: ask with suite=import&sizes=other.");
    assert_int_equal(result->base.excluded_count, 1);
    json_t *json = compare_to_json(result);
    const json_t *item = json_array_get(json_object_get(json_object_get(json, "base"), "excluded"), 0);
    assert_int_equal(json_integer_value(json_object_get(item, "runs")), 8);
    assert_string_equal(json_string_value(json_object_get(item, "ask")), "suite=import&sizes=other");
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "head"), "excluded")), 0);
    json_decref(json);
    compare_free(result);
}

#define TEST(name) cmocka_unit_test_setup(name, fill)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(other_asked_bytes_are_no_slowdown),
        TEST(other_flop_and_dims_likewise),
        TEST(work_that_nobody_knows_is_judged_with_a_warning),
        TEST(a_side_is_of_its_newest_runs_work),
        TEST(ceilings_are_held_by_their_work),
        TEST(what_is_not_comparable_is_not_of_the_machine),
        TEST(another_launch_of_equal_work_is_judged),
        TEST(profiler_times_are_never_held_against_events),
        TEST(derived_bytes_are_never_held_against_counted_ones),
        TEST(history_of_other_work_says_nothing_of_the_spread),
        TEST(a_comparison_of_nothing_comparable_says_so),
        TEST(a_side_without_runs_says_what_there_is),
    };
    return cmocka_run_group_tests_name("compare: work", tests, NULL, NULL);
}
