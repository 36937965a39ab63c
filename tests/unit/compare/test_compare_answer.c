/* Who is judged in a comparison and who is not, few runs and missing ones, and the answer as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "gpu/record/json_text.h"
#include "tests/unit/compare/compare_judge.h"

/* Changes one identifying field of all head runs (what: 0 … 6), or makes it unknown (10 …). */
static void change_identity(int what, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        struct compare_run *run = &lab.runs[i];
        switch (what) {
        case 0:
            run->device = "GPU-2";
            break;
        case 1:
            run->suite = "other";
            break;
        case 2:
            run->sizes = "scaled";
            break;
        case 3:
            run->method_version = 2;
            break;
        case 4:
            run->ecc.value = false;
            break;
        case 5:
            run->mig.value = "1g.18gb";
            break;
        case 6:
            run->power_limit_w.value = 500;
            break;
        case 14:
            run->ecc.why = "not readable";
            break;
        case 15:
            run->mig.why = "not readable";
            break;
        case 16:
            run->power_limit_w = rl_unknown("not readable");
            break;
        default:
            fail();
        }
    }
}

static void not_comparable(void **state)
{
    (void)state;
    static const char *const names[] = {"device", "suite", "sizes", "method_version", "ecc", "mig", "power_limit_w"};
    for (int what = 0; what < 17; what = what == 6 ? 14 : what + 1) {
        fill(NULL);
        change_identity(what, 15, 15);
        struct compare_result *result = judge();
        assert_int_equal(result->not_comparable_count, 1);
        assert_string_equal(result->not_comparable[0].field, names[what % 10]);
        assert_int_equal(result->row_count, 0);
        assert_int_equal(result->outcome, COMPARE_UNDECIDED);
        compare_free(result);
        if (what < 10)
            continue;
        change_identity(what, 0, 15); /* unknown on both sides: judged, with a warning */
        result = judge();
        assert_int_equal(result->not_comparable_count, 0);
        assert_int_equal(result->warning_count, 1);
        assert_string_equal(result->warnings[0].field, names[what % 10]);
        compare_free(result);
    }
    fill(NULL);
    change_identity(6, 15, 15);
    struct compare_result *result = judge();
    assert_string_equal(result->not_comparable[0].base, "700 W");
    assert_string_equal(result->not_comparable[0].head, "500 W");
    assert_string_equal(result->sentence, "The runs cannot be compared. The power limit is 700 W in base and 500 W in "
                                          "head.");
    compare_free(result);
    fill(NULL);
    change_identity(2, 15, 15);
    result = judge();
    assert_string_equal(result->sentence,
                        "The runs cannot be compared. The sizes are course in base and scaled in head.");
    compare_free(result);
    change_identity(2, 0, 14); /* the newest of base is the model of its others */
    result = judge();
    assert_string_equal(result->base.left_out[0].why,
                        "the sizes are scaled, and course in run 15, the newest judged of this side");
    compare_free(result);
}

static void warnings(void **state)
{
    (void)state;
    for (size_t i = 15; i < 30; i++) {
        lab.runs[i].cuda_runtime_version.value = "13.1";
        lab.runs[i].cubin.value = "ptx";
        lab.runs[i].build = "0.2.0";
        lab.runs[i].driver_version.value = "590.1"; /* the question itself: no warning */
    }
    lab.runs[20].source = RL_REPLAYED;
    struct compare_result *result = judge();
    assert_int_equal(result->not_comparable_count, 0);
    assert_int_equal(result->warning_count, 4);
    assert_string_equal(result->warnings[0].field, "cuda_runtime_version");
    assert_string_equal(result->warnings[0].base, "13.0");
    assert_string_equal(result->warnings[0].head, "13.1");
    assert_string_equal(result->warnings[0].sentence,
                        "The CUDA runtime is 13.0 in base and 13.1 in head: a difference is not the driver's alone.");
    assert_string_equal(result->warnings[1].field, "cubin");
    assert_string_equal(result->warnings[2].field, "build");
    assert_string_equal(result->warnings[3].field, "source");
    assert_string_equal(result->warnings[3].head, "measured, replayed");
    assert_string_equal(result->head.driver, "590.1");
    assert_string_equal(result->head.source, "measured, replayed");
    assert_int_equal(result->time_counts[COMPARE_SAME], LAB_ROWS);
    compare_free(result);
    lab.runs[3].driver_version.value = "570.1";
    result = judge();
    assert_int_equal(result->warning_count, 5);
    assert_string_equal(result->warnings[4].field, "driver_version");
    compare_free(result);
    fill(NULL);
    lab.ids[15][0] = '1';
    lab.ids[15][1] = '\0'; /* the head's first run is base's first */
    result = judge();
    assert_int_equal(result->warning_count, 1);
    assert_string_equal(result->warnings[0].field, "runs");
    assert_string_equal(result->warnings[0].sentence,
                        "1 of the runs stands on both sides and cannot show a difference.");
    compare_free(result);
}

static void eligible(void **state)
{
    (void)state;
    lab.runs[0].outcome = RL_REFUSED;
    lab.runs[1].outcome = RL_PARTIAL;
    lab.runs[2].shared = true;
    lab.runs[3].throttled = true;
    change_identity(6, 4, 1); /* one that ran under another power limit than the newest */
    struct compare_result *result = judge_with(15, 15, false, NULL);
    assert_int_equal(result->base.id_count, 10);
    assert_int_equal(result->base.left_out_count, 5);
    assert_string_equal(result->base.left_out[0].id, "5");
    assert_string_equal(result->base.left_out[0].why, "the power limit is 500 W, and 700 W in run 15, the newest "
                                                      "judged of this side");
    assert_string_equal(result->base.left_out[1].id, "4");
    assert_int_equal(lab_find(result, 0)->time.base_n, 10);
    compare_free(result);
    /* The same runs by name are judged as they are, with warnings; but for the refused one. */
    change_identity(6, 4, 1);
    lab.runs[4].power_limit_w.value = 700;
    lab.runs[0].outcome = RL_OK;
    result = judge_with(15, 15, true, NULL);
    assert_int_equal(result->base.id_count, 15);
    assert_int_equal(result->not_comparable_count, 0);
    assert_int_equal(result->warning_count, 3);
    compare_free(result);
    lab.runs[0].outcome = RL_REFUSED;
    result = judge_with(15, 15, true, NULL);
    assert_int_equal(result->not_comparable_count, 1);
    assert_string_equal(result->not_comparable[0].field, "outcome");
    compare_free(result);
    /* Named runs that differ among themselves are not quietly dropped. */
    fill(NULL);
    change_identity(4, 4, 1);
    result = judge_with(15, 15, true, NULL);
    assert_int_equal(result->not_comparable_count, 1);
    assert_string_equal(result->not_comparable[0].base, "on, off");
    compare_free(result);
}

static void newest_thirty(void **state)
{
    (void)state;
    double spread[LAB_ROWS];
    lab_spreads(spread, 0.002);
    lab_fill(&lab, 60, spread, 3);
    lab.runs[0].date_ms = lab.runs[1].date_ms; /* of one time: the larger id is newer */
    struct compare_result *result = judge_with(38, 6, false, NULL);
    assert_int_equal(result->base.id_count, COMPARE_RUNS_MAX);
    assert_int_equal(result->base.older, 8);
    assert_string_equal(result->base.ids[0], "38");
    assert_string_equal(result->base.ids[29], "9");
    compare_free(result);
    result = judge_with(2, 6, false, NULL);
    assert_string_equal(result->base.ids[0], "2");
    compare_free(result);
    result = judge_with(0, 6, false, NULL);
    assert_int_equal(result->not_comparable_count, 1);
    assert_string_equal(result->not_comparable[0].field, "base");
    compare_free(result);
}

/* A run of another method comes without rows: it is named, and neither judged nor the one that others are held
 * against, though it is the newest. */
static void another_method(void **state)
{
    (void)state;
    fill(NULL);
    change_identity(3, 7, 1);
    lab.runs[7].date_ms = lab.runs[6].date_ms + 1;
    struct compare_side base = {.label = "driver:1", .runs = lab.runs, .run_count = 8, .unread = 1};
    struct compare_side head = {.label = "driver:2", .runs = &lab.runs[8], .run_count = 8};
    struct compare_result *result;
    assert_false(compare_wants_history(&head, &head));
    assert_true(compare_wants_history(&base, &head)); /* seven are left */
    assert_int_equal(compare_judge(&base, &head, NULL, &result, NULL), 0);
    assert_int_equal(result->not_comparable_count, 0);
    assert_int_equal(result->base.id_count, 7);
    assert_int_equal(result->base.left_out_count, 1);
    assert_string_equal(result->base.left_out[0].id, lab.runs[7].id);
    assert_non_null(strstr(result->base.left_out[0].why, "the version of the method is 2, and 1 in run 7, "));
    assert_int_equal(lab_find(result, 0)->time.base_n, 7);
    compare_free(result);
}

static void few_runs(void **state)
{
    (void)state;
    double spread[LAB_ROWS];
    lab_spreads(spread, 0.0006);
    lab_fill(&lab, 40, spread, 8);
    struct compare_side one = {.label = "run:1", .named = true, .runs = lab.runs, .run_count = 1};
    struct compare_side many = {.label = "x", .runs = lab.runs, .run_count = 8};
    assert_true(compare_wants_history(&one, &many));
    assert_false(compare_wants_history(&many, &many));
    struct compare_result *result = judge_with(1, 1, true, NULL);
    assert_int_equal(result->time_counts[COMPARE_AMBIGUOUS], LAB_ROWS);
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    assert_int_equal(result->warning_count, 2);
    assert_string_equal(result->warnings[1].sentence,
                        "Head has 1 of the 6 runs that a rank test needs: a run that is off "
                        "by chance cannot be told from a change.");
    assert_non_null(strstr(result->rows[0].time.sentence, "history, which has 0 runs"));
    assert_true(rl_is_known(result->rows[0].time.ratio) && !rl_is_known(result->rows[0].time.low));
    compare_free(result);
    struct compare_history history = history_of(9);
    result = judge_with(1, 1, true, &history);
    assert_int_equal(result->time_counts[COMPARE_AMBIGUOUS], LAB_ROWS);
    compare_free(result);
    history = history_of(1);
    result = judge_with(1, 1, true, &history); /* one of a thing is said as one */
    assert_non_null(strstr(result->rows[0].time.sentence, "with 1 run against 1 (the"));
    assert_non_null(strstr(result->rows[0].time.sentence, "history, which has 1 run with"));
    assert_non_null(strstr(result->sentence, " missing (1 run against 1)."));
    compare_free(result);
    history = history_of(10);
    result = judge_with(1, 1, true, &history);
    assert_non_null(strstr(result->rows[0].time.sentence, "(medians of 1 and 1 run), "));
    assert_int_equal(result->rows[0].time.method, STATS_SPREAD);
    assert_int_equal(result->time_counts[COMPARE_SAME], LAB_ROWS);
    assert_non_null(strstr(result->rows[0].time.sentence, "by a spread from history of 0.0"));
    compare_free(result);
    history = history_of(30);
    lab_scale_time(&lab, 30, 1, LAB_ROWS, 1.05);
    lab_scale_ceilings(&lab, 30, 1, 1 / 1.05);
    lab_scale_time(&lab, 30, 1, POLYNOMIAL_WARM, 1.05);
    result = judge_with(30, 1, true, &history); /* one run of a new driver against thirty of the old */
    assert_int_equal(result->machine.verdict, COMPARE_SLOWER);
    assert_int_equal(result->regressions, 2);
    assert_string_equal(result->rows[0].kernel, "polynomial256");
    assert_int_equal(result->ceilings[0].value.method, STATS_SPREAD);
    compare_free(result);
    history = history_of(12); /* five runs are too few for the rank test, six a side suffice for 20 rows */
    result = judge_with(5, 6, false, &history);
    assert_int_equal(result->rows[0].time.method, STATS_SPREAD);
    compare_free(result);
    result = judge_with(6, 6, false, &history);
    assert_int_equal(result->rows[0].time.method, STATS_RANK);
    compare_free(result);
}

static void missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 30; i++) {
        if (i < 15)
            lab.runs[i].draws = &lab.draws[i][1]; /* base lacks vector_add warm */
        lab.runs[i].draw_count = LAB_ROWS - 1;    /* head lacks polynomial256 cold */
    }
    lab.draws[20][5].time_s = rl_unknown("the launch failed");
    for (size_t i = 15; i < 30; i++)
        lab.draws[i][7].time_s = rl_unknown("the launch failed");
    struct compare_result *result = judge();
    assert_int_equal(result->row_count, LAB_ROWS);
    assert_int_equal(lab_find(result, 0)->time.verdict, COMPARE_MISSING_BASE);
    assert_int_equal(lab_find(result, 19)->time.verdict, COMPARE_MISSING_HEAD);
    assert_int_equal(lab_find(result, 5)->time.head_n, 14);
    assert_int_equal(lab_find(result, 7)->time.verdict, COMPARE_MISSING_HEAD);
    assert_string_equal(lab_find(result, 7)->time.sentence,
                        "Time of transpose_tiled cold: head does not have it: the launch failed.");
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    assert_int_equal(result->rows[0].time.verdict, COMPARE_MISSING_HEAD);
    compare_free(result);
}

static void no_rows(void **state)
{
    (void)state;
    for (size_t i = 15; i < 30; i++)
        lab.runs[i].draw_count = 0;
    struct compare_result *result = judge();
    assert_int_equal(result->outcome, COMPARE_UNDECIDED);
    assert_string_equal(result->sentence, "Nothing to judge: head (15 runs) has no rows in the warm or cold state.");
    compare_free(result);
    for (size_t i = 0; i < 15; i++)
        for (size_t r = 0; r < LAB_ROWS; r++)
            lab.draws[i][r].state = RL_MIXED;
    result = judge();
    assert_int_equal(result->row_count, 0);
    assert_string_equal(result->sentence, "Nothing to judge: neither base (15 runs) nor head (15 runs) has rows in the "
                                          "warm or cold state.");
    compare_free(result);
}

static void throttled_rows(void **state)
{
    (void)state;
    for (size_t i = 15; i < 20; i++) {
        lab.draws[i][0].flags = RL_ROW_THROTTLED;
        lab.draws[i][0].time_s.value *= 3;
    }
    struct compare_result *result = judge();
    assert_int_equal(lab_find(result, 0)->time.head_n, 10);
    assert_int_equal(lab_find(result, 0)->time.verdict, COMPARE_SAME);
    compare_free(result);
    result = judge_with(15, 15, true, NULL); /* named: as it is */
    assert_int_equal(lab_find(result, 0)->time.head_n, 15);
    compare_free(result);
}

static void too_many_rows(void **state)
{
    (void)state;
    static char names[COMPARE_ROWS_MAX + 1][8];
    static struct compare_draw draws[COMPARE_ROWS_MAX + 1];
    for (size_t i = 0; i <= COMPARE_ROWS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "k%zu", i);
        draws[i] = lab.draws[0][0];
        draws[i].kernel = names[i];
    }
    lab.runs[0].draws = draws;
    lab.runs[0].draw_count = COMPARE_ROWS_MAX + 1;
    struct compare_side base = {.label = "b", .named = true, .runs = lab.runs, .run_count = 1};
    struct compare_side head = {.label = "h", .named = true, .runs = lab.runs + 1, .run_count = 1};
    struct compare_result *result = NULL;
    struct rl_err err;
    assert_int_equal(compare_judge(&base, &head, NULL, &result, &err), -1);
    assert_int_equal(err.code, RL_E_TOO_LARGE);
    assert_null(result);
    lab.runs[0].draw_count = COMPARE_ROWS_MAX - LAB_ROWS;
    assert_int_equal(compare_judge(&base, &head, NULL, &result, &err), 0);
    assert_int_equal(result->row_count, COMPARE_ROWS_MAX);
    compare_free(result);
}

/* Every null has its reason in the object beside it, every sentence ends like one. */
static void check_nulls(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;
    if (json_is_array(value))
        json_array_foreach(value, index, member) check_nulls(member);
    if (!json_is_object(value))
        return;
    json_t *why = json_object_get(value, "why");
    json_object_foreach((json_t *)value, key, member)
    {
        if (strcmp(key, "why") == 0)
            continue;
        check_nulls(member);
        if (json_is_null(member) && json_string_length(json_object_get(why, key)) == 0)
            fail_msg("%s is null without a reason", key);
        if (!json_is_null(member) && json_object_get(why, key) != NULL)
            fail_msg("%s is known and has a reason not to be", key);
        const char *text = json_string_value(member);
        if (strstr(key, "sentence") != NULL && text != NULL && text[strlen(text) - 1] != '.')
            fail_msg("%s: %s", key, text);
    }
}

static char *text_of(const struct compare_result *result)
{
    json_t *answer = compare_to_json(result);
    assert_non_null(answer);
    check_nulls(answer);
    struct rl_buf text;
    rl_buf_init(&text, 4 << 20);
    assert_int_equal(rl_json_write(answer, &text), 0);
    json_decref(answer);
    return rl_buf_take(&text);
}

static void as_json(void **state)
{
    (void)state;
    lab_scale_time(&lab, 15, 15, 2, 1.03);
    lab.draws[16][4].dram_bytes = rl_unknown("lost");
    struct compare_result *result = judge();
    json_t *answer = compare_to_json(result);
    assert_string_equal(json_string_value(json_object_get(answer, "outcome")), "slower");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(answer, "time_verdicts"), "slower")), 1);
    json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "kernel")), "vector_add_stride32");
    assert_string_equal(json_string_value(json_object_get(row, "state")), "warm");
    assert_string_equal(json_string_value(json_object_get(row, "time_verdict")), "slower");
    assert_string_equal(json_string_value(json_object_get(row, "bytes_verdict")), "same");
    assert_string_equal(json_string_value(json_object_get(row, "cause")), "none_found");
    json_t *runs = json_object_get(json_object_get(answer, "base"), "runs");
    assert_int_equal(json_array_size(runs), 15);
    assert_string_equal(json_string_value(json_array_get(runs, 0)), "15");
    json_decref(answer);
    char *text = text_of(result);
    compare_free(result);
    /* Another order of the same runs, the same bytes. */
    for (size_t i = 0; i < 7; i++) {
        struct compare_run swap = lab.runs[i];
        lab.runs[i] = lab.runs[14 - i];
        lab.runs[14 - i] = swap;
    }
    result = judge();
    char *again = text_of(result);
    assert_string_equal(text, again);
    compare_free(result);
    free(text);
    free(again);
}

/* Answers of every shape keep the rule of nulls: nothing known, not comparable, few runs. */
static void nulls_have_reasons(void **state)
{
    (void)state;
    change_identity(4, 15, 15);
    struct compare_result *result = judge();
    free(text_of(result));
    compare_free(result);
    fill(NULL);
    result = judge_with(2, 3, false, NULL);
    free(text_of(result));
    compare_free(result);
    struct compare_history history = history_of(20);
    result = judge_with(2, 3, false, &history);
    free(text_of(result));
    compare_free(result);
    result = judge_with(0, 0, false, NULL);
    free(text_of(result));
    compare_free(result);
    for (size_t i = 0; i < 30; i++)
        for (size_t r = 0; r < LAB_ROWS; r++) {
            struct compare_draw *draw = &lab.draws[i][r];
            if ((i + r) % 3 == 0 || r < 3)
                draw->time_s = rl_unknown("no time");
            draw->dram_bytes = draw->ask_bytes = draw->sm_hz = draw->memory_hz = rl_unknown("nothing is known");
            draw->bound = NULL;
        }
    lab_scale_time(&lab, 15, 15, 9, 1.2);
    result = judge();
    assert_int_equal(lab_find(result, 0)->time.verdict, COMPARE_NONE);
    free(text_of(result));
    compare_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(not_comparable, fill), cmocka_unit_test_setup(warnings, fill),
        cmocka_unit_test_setup(eligible, fill),       cmocka_unit_test_setup(newest_thirty, fill),
        cmocka_unit_test_setup(another_method, fill), cmocka_unit_test_setup(few_runs, fill),
        cmocka_unit_test_setup(missing, fill),        cmocka_unit_test_setup(no_rows, fill),
        cmocka_unit_test_setup(throttled_rows, fill), cmocka_unit_test_setup(too_many_rows, fill),
        cmocka_unit_test_setup(as_json, fill),        cmocka_unit_test_setup(nulls_have_reasons, fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
