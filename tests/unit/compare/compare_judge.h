/* Shared by the tests of the comparison's rules: one laboratory, and its first runs judged against those that follow.
 */
#ifndef TESTS_UNIT_COMPARE_COMPARE_JUDGE_H
#define TESTS_UNIT_COMPARE_COMPARE_JUDGE_H

#include "tests/unit/compare/compare_fixture.h"

enum { VECTOR_WARM = 0, VECTOR_COLD = 1, MATMUL_WARM = 8, TILED_WARM = 10, POLYNOMIAL_WARM = 18 };

static struct lab lab;

static inline struct compare_result *judge_with(size_t base_n, size_t head_n, bool named,
                                                const struct compare_history *history)
{
    struct compare_side base = {.label = "driver:1", .named = named, .runs = lab.runs, .run_count = base_n};
    struct compare_side head = {.label = "driver:2", .named = named, .runs = lab.runs + base_n, .run_count = head_n};
    struct compare_result *result = NULL;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(compare_judge(&base, &head, history, &result, &err), 0);
    assert_non_null(result->sentence);
    return result;
}

static inline struct compare_result *judge(void)
{
    return judge_with(15, 15, false, NULL);
}

/* 15 runs a side with a spread of 0.2 percent. */
static inline int fill(void **state)
{
    (void)state;
    double spread[LAB_ROWS];
    lab_spreads(spread, 0.002);
    lab_fill(&lab, 40, spread, 11);
    return 0;
}

/* The first `draws` runs of the laboratory as history, all of one group. */
static inline struct compare_history history_of(size_t draws)
{
    static struct compare_past past[LAB_RUNS * (LAB_ROWS + LAB_CEILINGS)];
    size_t n = 0;
    for (size_t i = 0; i < draws; i++) {
        for (size_t r = 0; r < LAB_ROWS; r++)
            past[n++] = (struct compare_past){.name = lab.draws[i][r].kernel,
                                              .state = lab.draws[i][r].state,
                                              .group = 1,
                                              .time_s = lab.draws[i][r].time_s,
                                              .dram_bytes = lab.draws[i][r].dram_bytes,
                                              .flags = lab.draws[i][r].flags,
                                              .work = &lab.draws[i][r].work};
        for (size_t c = 0; c < LAB_CEILINGS; c++)
            past[n++] = (struct compare_past){.name = lab.ceilings[i][c].name,
                                              .state = lab.ceilings[i][c].state,
                                              .group = 1,
                                              .time_s = rl_known(1 / lab.ceilings[i][c].value.value),
                                              .dram_bytes = rl_unknown("a ceiling"),
                                              .work = &lab.ceilings[i][c].work};
    }
    return (struct compare_history){past, n};
}

#endif
