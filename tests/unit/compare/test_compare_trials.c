/* How often a comparison is wrong. A machine compared with itself: at most 1 row verdict in 200 other than same or
 * ambiguous, at least 80 percent same. A row made 2 percent slower: found in at least 95 percent of trials with 15 runs
 * a side. Everything 10 percent slower: one verdict. First on synthetic draws with seeds, so that a trial is the same
 * everywhere; then on real runs: two days, on each another H200, judged one by one since two cards are not one machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "tests/unit/compare/compare_fixture.h"

/* Relative spreads from process to process, smallest to largest: what single rows of an H200 showed lies between 0.1
 * and 1 percent. The order is spread over kernels and states by a step that has no common divisor with 20. */
static const double mix[LAB_ROWS] = {0.001,  0.001, 0.0012, 0.0014, 0.0016, 0.0018, 0.002,  0.002, 0.0022, 0.0025,
                                     0.0028, 0.003, 0.0033, 0.0036, 0.004,  0.0045, 0.0048, 0.006, 0.008,  0.01};
#define MIX_STEP 7
/* With 15 runs a side a change of 2 percent is found in 95 percent of trials up to this spread: half the interval of
 * 99.77 percent is about 3.05 x 1.023 x sqrt(2/15) = 1.14 spreads, and 2 percent less 1.645 standard errors of 0.374
 * spreads has to stay above it, which allows 1.14 percent for a normal approximation. The order statistics are coarser
 * than that and cold times are read in ticks: 93 to 98 percent were found at a spread of 1.0 percent. */
#define FINDABLE_SPREAD 0.009
/* Likewise for "same" in 80 percent of trials when nothing changed. */
#define SAME_SPREAD 0.0055

static struct lab lab;

struct tally {
    size_t verdicts, same, ambiguous, other, machines, comparisons;
};

static struct compare_result *judge(size_t base_n, size_t head_n, const struct compare_history *history)
{
    struct compare_side base = {.label = "base", .runs = lab.runs, .run_count = base_n};
    struct compare_side head = {.label = "head", .runs = lab.runs + base_n, .run_count = head_n};
    struct compare_result *result = NULL;
    struct rl_err err;
    if (compare_judge(&base, &head, history, &result, &err) != 0)
        fail_msg("%s", err.message);
    return result;
}

static void count(const struct compare_result *result, struct tally *tally)
{
    tally->comparisons++;
    tally->verdicts += result->row_count;
    tally->same += result->time_counts[COMPARE_SAME];
    tally->ambiguous += result->time_counts[COMPARE_AMBIGUOUS];
    tally->machines += result->machine.verdict != COMPARE_NONE;
}

static void show(const char *what, struct tally *tally)
{
    tally->other = tally->verdicts - tally->same - tally->ambiguous;
    print_message(
        "%s: %zu comparisons, %zu row verdicts: %.1f %% same, %.1f %% ambiguous, %zu other (1 in 200 would be "
        "%zu)\n",
        what, tally->comparisons, tally->verdicts, 100.0 * (double)tally->same / (double)tally->verdicts,
        100.0 * (double)tally->ambiguous / (double)tally->verdicts, tally->other, tally->verdicts / 200);
}

static void assert_quiet(const char *what, struct tally *tally)
{
    show(what, tally);
    assert_true(tally->verdicts > 0);
    assert_true(200 * tally->other <= tally->verdicts);
    assert_true(10 * tally->same >= 8 * tally->verdicts);
    assert_int_equal(tally->machines, 0);
}

/* Draws of the mix; each run also has luck of its own that all its rows share, and a share of the draws
 * lies up to 3 percent high, as after a clock's dip. */
static void fill_mix(size_t runs, double high_share, uint64_t seed)
{
    double spread[LAB_ROWS];
    for (size_t r = 0; r < LAB_ROWS; r++)
        spread[r] = mix[r * MIX_STEP % LAB_ROWS];
    lab_fill(&lab, runs, spread, seed);
    seed ^= 0x5bd1e995;
    for (size_t i = 0; i < runs; i++) {
        double luck = exp(0.001 * lab_normal(&seed));
        for (size_t r = 0; r < LAB_ROWS; r++) {
            double high = lab_uniform(&seed) < high_share ? 1 + 0.03 * lab_uniform(&seed) : 1;
            lab_scale_time(&lab, i, 1, r, luck * high);
        }
    }
}

static void same_machine(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{15, 15}, {30, 30}, {12, 30}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct tally tally = {0};
        for (uint64_t seed = 1; seed <= 150; seed++) {
            fill_mix(sizes[s][0] + sizes[s][1], 0.02, seed * 7919);
            struct compare_result *result = judge(sizes[s][0], sizes[s][1], NULL);
            count(result, &tally);
            compare_free(result);
        }
        char what[64];
        snprintf(what, sizeof what, "same machine, %zu against %zu", sizes[s][0], sizes[s][1]);
        assert_quiet(what, &tally);
    }
}

/* One run against 29 with the history of those 30: mostly ambiguous, but it must not cry wolf. No spread can tell a
 * single draw that lies high by chance from a change (the answer warns of that), so such draws are one in 200 here. */
static void single_run(void **state)
{
    (void)state;
    static struct compare_past past[30 * LAB_ROWS];
    struct tally tally = {0};
    size_t found = 0, trials = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        fill_mix(30, 0.005, seed * 104729);
        for (size_t i = 0; i < 30; i++)
            for (size_t r = 0; r < LAB_ROWS; r++)
                past[i * LAB_ROWS + r] = (struct compare_past){.name = lab.draws[i][r].kernel,
                                                               .state = lab.draws[i][r].state,
                                                               .group = 1,
                                                               .time_s = lab.draws[i][r].time_s,
                                                               .dram_bytes = lab.draws[i][r].dram_bytes};
        struct compare_history history = {past, 30 * LAB_ROWS};
        struct compare_result *result = judge(29, 1, &history);
        count(result, &tally);
        compare_free(result);
        lab_scale_time(&lab, 29, 1, seed % LAB_ROWS, 1.10);
        result = judge(29, 1, &history);
        found += lab_find(result, seed % LAB_ROWS)->time.verdict == COMPARE_SLOWER;
        trials++;
        compare_free(result);
    }
    show("one run against 29, spread from history", &tally);
    print_message("  10 percent in one row: found in %zu of %zu\n", found, trials);
    assert_true(200 * tally.other <= tally.verdicts);
    assert_true(100 * found >= 95 * trials);
}

static void two_percent(void **state)
{
    (void)state;
    static const double spreads[] = {0.001, 0.003, 0.005, SAME_SPREAD, FINDABLE_SPREAD, 0.010, 0.0125};
    for (size_t s = 0; s < sizeof spreads / sizeof spreads[0]; s++) {
        double spread[LAB_ROWS];
        size_t found = 0, trials = 0;
        struct tally tally = {0};
        lab_spreads(spread, spreads[s]);
        for (uint64_t seed = 1; seed <= 200; seed++) {
            size_t row = seed % LAB_ROWS;
            lab_fill(&lab, 30, spread, seed * 15485863 + s);
            lab_scale_time(&lab, 15, 15, row, 1.02);
            struct compare_result *result = judge(15, 15, NULL);
            found += lab_find(result, row)->time.verdict == COMPARE_SLOWER;
            trials++;
            count(result, &tally);
            compare_free(result);
        }
        print_message(
            "spread %.2f %%: 2 percent in one row found in %.1f %% of %zu trials; %.1f %% of the others same\n",
            100 * spreads[s], 100.0 * (double)found / (double)trials, trials,
            100.0 * (double)tally.same / (double)(tally.verdicts - trials));
        if (spreads[s] <= FINDABLE_SPREAD)
            assert_true(100 * found >= 95 * trials);
        if (spreads[s] <= SAME_SPREAD)
            assert_true(10 * tally.same >= 8 * (tally.verdicts - trials));
    }
}

static void whole_machine(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        fill_mix(30, 0.02, seed * 32452843);
        lab_scale_time(&lab, 15, 15, LAB_ROWS, 1.1);
        lab_scale_ceilings(&lab, 15, 15, 1 / 1.1);
        struct compare_result *result = judge(15, 15, NULL);
        assert_int_equal(result->machine.verdict, COMPARE_SLOWER);
        assert_int_equal(result->regressions, 1);
        compare_free(result);
    }
}

static void bytes_only(void **state)
{
    (void)state;
    static const size_t streaming[] = {0, 2, 4, 6, 12, 18}; /* warm, beyond the L2 */
    size_t raised = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        fill_mix(30, 0.02, seed * 49979687);
        size_t row = streaming[seed % 6];
        for (size_t i = 15; i < 30; i++)
            lab.draws[i][row].dram_bytes.value *= 1.015;
        struct compare_result *result = judge(15, 15, NULL);
        assert_int_equal(lab_find(result, row)->bytes.verdict, COMPARE_MORE);
        assert_int_not_equal(lab_find(result, row)->time.verdict, COMPARE_SLOWER);
        raised += result->bytes_counts[COMPARE_MORE] + result->bytes_counts[COMPARE_FEWER] - 1;
        compare_free(result);
    }
    print_message("bytes: %zu of %d other rows raised\n", raised, 60 * (LAB_ROWS - 1));
    assert_true(200 * raised <= 60 * (LAB_ROWS - 1));
}

/* ---- real runs ---- */

static struct rl_real real_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? rl_known(json_number_value(value)) : rl_unknown("the file has none");
}

static enum rl_state state_of(const json_t *object)
{
    const char *state = json_string_value(json_object_get(object, "state"));
    assert_non_null(state);
    return strcmp(state, "warm") == 0 ? RL_WARM : RL_COLD;
}

#define REAL_CEILINGS 24
static struct compare_ceiling_draw real_ceilings[LAB_RUNS][REAL_CEILINGS];
static struct compare_run real_runs[LAB_RUNS];
static struct compare_draw real_draws[LAB_RUNS][LAB_ROWS];

static void read_rows(const json_t *rows, size_t run)
{
    size_t index, known = 0;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        const char *kernel = json_string_value(json_object_get(row, "kernel"));
        assert_non_null(kernel);
        for (size_t r = 0; r < LAB_ROWS; r++) {
            if (strcmp(lab_rows[r].kernel, kernel) != 0 || lab_rows[r].state != state_of(row))
                continue;
            assert_true(known < LAB_ROWS);
            real_draws[run][known++] = (struct compare_draw){.kernel = lab_rows[r].kernel,
                                                             .state = lab_rows[r].state,
                                                             .time_s = real_of(row, "time_s"),
                                                             .sm_hz = real_of(row, "sm_hz"),
                                                             .memory_hz = rl_unknown("the file has none"),
                                                             .dram_bytes = real_of(row, "dram"),
                                                             .dram_floor = rl_unknown("the file has none"),
                                                             .ask_bytes = rl_known(lab_rows[r].ask_bytes),
                                                             .bound = lab_rows[r].bound};
        }
    }
    real_runs[run].draws = real_draws[run];
    real_runs[run].draw_count = known;
}

static const char *date_of(const json_t *item)
{
    const char *date = json_string_value(json_object_get(item, "date"));
    if (date == NULL)
        fail_msg("a run has no date");
    return date;
}

static void read_run(const json_t *item, size_t run)
{
    size_t at, known = 0;
    json_t *ceiling;
    real_runs[run] = lab.runs[0];
    real_runs[run].id = json_string_value(json_object_get(item, "id"));
    assert_non_null(real_runs[run].id);
    assert_int_equal(rl_time_parse(date_of(item), &real_runs[run].date_ms), 0);
    read_rows(json_object_get(item, "rows"), run);
    json_array_foreach(json_object_get(item, "ceilings"), at, ceiling)
    {
        assert_true(known < REAL_CEILINGS);
        real_ceilings[run][known++] =
            (struct compare_ceiling_draw){.name = json_string_value(json_object_get(ceiling, "name")),
                                          .state = state_of(ceiling),
                                          .value = real_of(ceiling, "value")};
    }
    real_runs[run].ceilings = real_ceilings[run];
    real_runs[run].ceiling_count = known;
}

/* Reads the newest LAB_RUNS runs of the document, oldest first; it has to stay, for its strings. */
static size_t read_runs(const json_t *document)
{
    const json_t *sorted[1024];
    size_t index, count = 0;
    json_t *item;
    fill_mix(1, 0, 1); /* the identity of all */
    json_array_foreach(document, index, item)
    {
        assert_true(count < sizeof sorted / sizeof sorted[0]);
        size_t at = count++;
        for (; at > 0 && strcmp(date_of(sorted[at - 1]), date_of(item)) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = item;
    }
    size_t from = count > LAB_RUNS ? count - LAB_RUNS : 0;
    for (size_t i = from; i < count; i++)
        read_run(sorted[i], i - from);
    return count - from;
}

enum split { SPLIT_RANDOM, SPLIT_CONTIGUOUS, SPLIT_ALTERNATING };

/* Copies the real runs into the laboratory in the order of the split: base first. Draws may be changed there. */
static void arrange(size_t runs, enum split split, uint64_t seed)
{
    size_t order[LAB_RUNS];
    for (size_t i = 0; i < runs; i++)
        order[i] = split != SPLIT_ALTERNATING ? i : i < (runs + 1) / 2 ? 2 * i : 2 * (i - (runs + 1) / 2) + 1;
    for (size_t i = runs - 1; split == SPLIT_RANDOM && i > 0; i--) {
        size_t with = (size_t)(stats_random(&seed) % (i + 1)), swap = order[i];
        order[i] = order[with];
        order[with] = swap;
    }
    for (size_t i = 0; i < runs; i++) {
        lab.runs[i] = real_runs[order[i]];
        memcpy(lab.draws[i], real_draws[order[i]], sizeof lab.draws[i]);
        lab.runs[i].draws = lab.draws[i];
    }
}

static void real_same_machine(size_t runs)
{
    size_t half = runs / 2;
    struct tally all = {0}, tally = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        arrange(runs, SPLIT_RANDOM, seed * 7919);
        struct compare_result *result = judge(half, runs - half, NULL);
        count(result, &tally);
        count(result, &all);
        compare_free(result);
    }
    show("real runs, random halves", &tally);
    for (enum split split = SPLIT_CONTIGUOUS; split <= SPLIT_ALTERNATING; split++) {
        arrange(runs, split, 0);
        struct compare_result *result = judge(split == SPLIT_ALTERNATING ? (runs + 1) / 2 : half,
                                              split == SPLIT_ALTERNATING ? runs / 2 : runs - half, NULL);
        tally = (struct tally){0};
        count(result, &tally);
        count(result, &all);
        show(split == SPLIT_CONTIGUOUS ? "real runs, first half against second" : "real runs, every other one", &tally);
        for (size_t i = 0; i < result->row_count; i++)
            if (result->rows[i].time.verdict != COMPARE_SAME)
                print_message("  %s\n", result->rows[i].time.sentence);
        compare_free(result);
    }
    /* Splits share runs: what is independent is one pair of halves. Nothing seen in n verdicts leaves 1 - 0.05^(1/n).
     */
    print_message("%zu runs are one independent comparison of %zu rows: none other seen in it would put the rate below "
                  "%.1f %% with 95 %% confidence, rows taken as independent\n",
                  runs, all.verdicts / all.comparisons,
                  100 * (1 - pow(0.05, (double)all.comparisons / (double)all.verdicts)));
    assert_quiet("real runs, all splits", &all);
}

static double spread_of(size_t runs, size_t row)
{
    double values[LAB_RUNS];
    int64_t group[LAB_RUNS] = {0};
    size_t n = 0, df;
    for (size_t i = 0; i < runs; i++)
        for (size_t r = 0; r < real_runs[i].draw_count; r++)
            if (real_draws[i][r].kernel == lab_rows[row].kernel && real_draws[i][r].state == lab_rows[row].state &&
                rl_is_known(real_draws[i][r].time_s))
                values[n++] = log(real_draws[i][r].time_s.value);
    return n < 2 ? 1 : stats_pooled_sd(values, group, n, &df);
}

static void real_two_percent(size_t runs)
{
    size_t side = runs / 2 < 15 ? runs / 2 : 15;
    for (size_t row = 0; row < LAB_ROWS; row++) {
        size_t found = 0, trials = 0;
        for (uint64_t seed = 1; seed <= 40; seed++) {
            arrange(runs, SPLIT_RANDOM, seed * 104729 + row);
            for (size_t i = side; i < 2 * side; i++)
                for (size_t r = 0; r < lab.runs[i].draw_count; r++)
                    if (lab.draws[i][r].kernel == lab_rows[row].kernel && lab.draws[i][r].state == lab_rows[row].state)
                        lab.draws[i][r].time_s.value *= 1.02;
            struct compare_result *result = judge(side, side, NULL);
            const struct compare_row *seen = lab_find(result, row);
            found += seen != NULL && seen->time.verdict == COMPARE_SLOWER;
            trials++;
            compare_free(result);
        }
        double spread = spread_of(runs, row);
        print_message("%s %s: spread %.3f %%, 2 percent found in %zu of %zu%s\n", lab_rows[row].kernel,
                      rl_state_name(lab_rows[row].state), 100 * spread, found, trials,
                      spread > FINDABLE_SPREAD ? ": its spread forbids more" : "");
        if (spread <= FINDABLE_SPREAD && side == 15)
            assert_true(100 * found >= 95 * trials);
    }
}

static void real_whole_machine(size_t runs)
{
    size_t half = runs / 2;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        arrange(runs, SPLIT_RANDOM, seed * 15485863);
        for (size_t i = half; i < runs; i++) {
            for (size_t r = 0; r < lab.runs[i].draw_count; r++)
                lab.draws[i][r].time_s.value *= 1.1;
            static struct compare_ceiling_draw slower[LAB_RUNS][REAL_CEILINGS];
            for (size_t c = 0; c < lab.runs[i].ceiling_count; c++) {
                slower[i][c] = lab.runs[i].ceilings[c];
                slower[i][c].value.value /= 1.1;
            }
            lab.runs[i].ceilings = slower[i];
        }
        struct compare_result *result = judge(half, runs - half, NULL);
        assert_int_equal(result->machine.verdict, COMPARE_SLOWER);
        assert_int_equal(result->regressions, 1);
        compare_free(result);
    }
}

/* state: the file's name in tests/data. */
static void real(void **state)
{
    json_error_t error;
    const char *path = *state;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_array(document))
        fail_msg("%s: %s", path, document == NULL ? error.text : "not a list of runs");
    size_t runs = read_runs(document);
    assert_true(runs >= 30);
    real_same_machine(runs);
    real_two_percent(runs);
    real_whole_machine(runs);
    json_decref(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_machine),
        cmocka_unit_test(single_run),
        cmocka_unit_test(two_percent),
        cmocka_unit_test(whole_machine),
        cmocka_unit_test(bytes_only),
        cmocka_unit_test_prestate(real, (void *)DATA "/h200_runs_2026-11-29.json"),
        cmocka_unit_test_prestate(real, (void *)DATA "/h200_runs_2026-11-30.json"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
