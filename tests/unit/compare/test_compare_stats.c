/* Rank tests, shifts, their intervals, spreads, families and the bootstrap against scipy and against going through
 * every case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "gpu/record/derive/quantile.h"
#include "server/compare/stats.h"
#include "tests/data/compare_fixtures.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void assert_near(double seen, double wanted, double relative, double absolute, const char *what)
{
    if (!(fabs(seen - wanted) <= relative * fabs(wanted) + absolute))
        fail_msg("%s: %.17g, not %.17g", what, seen, wanted);
}

static void tails_as_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fixture_tail); i++) {
        assert_near(stats_normal_upper(fixture_normal[i]), fixture_tail[i], 1e-10, 0, "normal tail");
        for (size_t k = 0; k < COUNT(fixture_df); k++) {
            assert_near(stats_student_quantile(fixture_tail[i], fixture_df[k]), fixture_student[k][i], 1e-7, 1e-12,
                        "t");
            assert_near(stats_student_upper(fmax(0, fixture_student[k][i]), fixture_df[k]), fixture_tail[i], 1e-9,
                        1e-14, "t tail");
        }
    }
    assert_true(stats_student_upper(1e300, 5) == 0);
}

static void ranks_as_scipy(void **state)
{
    (void)state;
    struct stats_null null = {.base = 0};
    for (size_t i = 0; i < COUNT(fixtures); i++) {
        struct stats_rank rank;
        stats_null_fill(fixtures[i].base_n, fixtures[i].head_n, &null);
        stats_rank_test(fixtures[i].base, fixtures[i].base_n, fixtures[i].head, fixtures[i].head_n, &null, &rank);
        assert_true(rank.u == fixtures[i].u);
        assert_near(rank.p, fixtures[i].p, 1e-9, 0, fixtures[i].name);
        assert_int_equal(rank.exact, fixtures[i].exact);
        assert_int_equal(rank.ties, fixtures[i].ties);
        /* The other way round the same p, and U counts the other pairs. */
        struct stats_rank other;
        stats_null_fill(fixtures[i].head_n, fixtures[i].base_n, &null);
        stats_rank_test(fixtures[i].head, fixtures[i].head_n, fixtures[i].base, fixtures[i].base_n, &null, &other);
        assert_near(other.p, rank.p, 1e-12, 0, fixtures[i].name);
        assert_true(other.u == (double)(fixtures[i].base_n * fixtures[i].head_n) - rank.u);
    }
}

static void shifts_by_going_through_all(void **state)
{
    (void)state;
    struct stats_null null = {.base = 0};
    for (size_t i = 0; i < COUNT(fixtures); i++) {
        const double *base = fixtures[i].base, *head = fixtures[i].head;
        size_t base_n = fixtures[i].base_n, head_n = fixtures[i].head_n;
        stats_null_fill(base_n, head_n, &null);
        assert_near(stats_shift(base, base_n, head, head_n), fixtures[i].shift, 1e-14, 1e-16, fixtures[i].name);
        for (size_t a = 0; a < COUNT(fixture_alpha); a++) {
            struct stats_interval seen = {-7, -7, -7, -7};
            int rc = stats_shift_interval(base, base_n, head, head_n, &null, fixture_alpha[a], &seen);
            if (fixtures[i].interval[a].level <= 0) {
                assert_int_equal(rc, -1);
                assert_true(seen.shift == -7 && seen.low == -7 && seen.high == -7 && seen.level == -7);
                continue;
            }
            assert_int_equal(rc, 0);
            assert_near(seen.shift, fixtures[i].shift, 1e-14, 1e-16, fixtures[i].name);
            assert_true(seen.low == fixtures[i].interval[a].low);
            assert_true(seen.high == fixtures[i].interval[a].high);
            assert_near(seen.level, fixtures[i].interval[a].level, 1e-9, 0, fixtures[i].name);
        }
    }
}

/* The distribution adds up, is symmetric, and 30 against 30 keeps its whole numbers exact. */
static void null_distribution(void **state)
{
    (void)state;
    static const struct {
        size_t base, head;
        double total;
    } known[] = {{1, 1, 2}, {2, 3, 10}, {6, 6, 924}, {15, 15, 155117520}, {30, 30, 118264581564861424.0}};
    struct stats_null null = {.base = 0};
    for (size_t i = 0; i < COUNT(known); i++) {
        size_t pairs = known[i].base * known[i].head;
        stats_null_fill(known[i].base, known[i].head, &null);
        assert_true(null.total == known[i].total);
        assert_int_equal(null.below[0], 1);
        assert_near(stats_null_lower(&null, 0), 1 / known[i].total, 1e-15, 0, "rarest order");
        assert_true(stats_null_lower(&null, pairs) == 1);
        for (size_t u = 0; u + 1 < pairs; u++)
            assert_near(stats_null_lower(&null, u) + stats_null_lower(&null, pairs - u - 1), 1, 1e-12, 0, "symmetry");
    }
}

static void spreads(void **state)
{
    (void)state;
    double values[COUNT(fixture_spread)];
    memcpy(values, fixture_spread, sizeof values);
    assert_near(stats_scaled_mad(values, COUNT(values)), fixture_mad, 1e-12, 0, "MAD");
    size_t df = 99;
    assert_near(stats_pooled_sd(fixture_spread, fixture_group, COUNT(values), &df), fixture_pooled_sd, 1e-12, 0, "SD");
    assert_int_equal(df, fixture_pooled_df);
    assert_true(stats_pooled_sd(fixture_spread, fixture_group, 1, &df) == 0);
    assert_int_equal(df, 0);
}

/* Draws of one a side whose t is that of a wanted p: the family's adjusted p is Holm's. */
static void holm_as_by_hand(void **state)
{
    (void)state;
    enum { N = COUNT(fixture_family_p), DF = 30 };
    double zero = 0, head[N];
    struct stats_item items[N + 1];
    for (size_t i = 0; i < N; i++) {
        head[i] = (i % 2 ? -1 : 1) * stats_student_quantile(fixture_family_p[i] / 2, DF) * M_SQRT2 * 0.01;
        items[i] = (struct stats_item){&zero, &head[i], 1, 1, .spread = 0.01, .spread_df = DF};
    }
    items[N] = (struct stats_item){&zero, &head[0], 1, 1, .spread_df = 0}; /* cannot be judged: not of the family */
    stats_family(items, N + 1, 0.05, 6);
    assert_int_equal(items[N].method, STATS_NONE);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(items[i].method, STATS_SPREAD);
        assert_near(items[i].p, fixture_family_p[i], 1e-9, 0, "p");
        assert_near(items[i].p_holm, fixture_family_holm[i], 1e-8, 0, "Holm");
        /* The interval excludes no change exactly when Holm rejects. */
        assert_int_equal(items[i].low > 0 || items[i].high < 0, fixture_family_holm[i] <= 0.05);
    }
    /* Two are rejected of eight: at 0.05 / 8 and 0.05 / 7; the rest stand at 0.05 / 6. */
    assert_near(items[2].level, 1 - 0.05 / 8, 1e-12, 0, "first level");
    assert_near(items[0].level, 1 - 0.05 / 7, 1e-12, 0, "second level");
    assert_near(items[1].level, 1 - 0.05 / 6, 1e-12, 0, "level of the others");
}

static void family_chooses_its_method(void **state)
{
    (void)state;
    double base[6] = {1, 2, 3, 4, 5, 6}, head[6] = {11, 12, 13, 14, 15, 16};
    struct stats_item items[24];
    for (size_t i = 0; i < 24; i++)
        items[i] = (struct stats_item){base, head, 6, 6, .spread_df = 0};
    stats_family(items, 20, 0.05,
                 6); /* 2 / 924 is below 0.05 / 20: six a side carry twenty rows, and no more than 23 */
    assert_int_equal(items[0].method, STATS_RANK);
    assert_true(items[0].low == 5 && items[0].high == 15);
    assert_near(items[0].level, 1 - 2.0 / 924, 1e-12, 0, "level");
    assert_near(items[0].p, 2.0 / 924, 1e-12, 0, "p");
    stats_family(items, 24, 0.05, 6);
    assert_int_equal(items[0].method, STATS_NONE);
    items[0].spread = 0.5;
    items[0].spread_df = 12;
    stats_family(items, 24, 0.05, 6);
    assert_int_equal(items[0].method, STATS_SPREAD);
    assert_int_equal(items[1].method, STATS_NONE);
    /* Five on one side: no rank test, whatever the level. */
    items[0] = (struct stats_item){base, head, 5, 6, .spread_df = 0};
    stats_family(items, 1, 0.05, 6);
    assert_int_equal(items[0].method, STATS_NONE);
    assert_true(items[0].shift == 10.5);
    /* A spread of nothing is still a spread. */
    items[0] = (struct stats_item){base, base, 1, 1, .spread = 0, .spread_df = 20};
    items[1] = (struct stats_item){base, head, 1, 1, .spread = 0, .spread_df = 20};
    stats_family(items, 2, 0.05, 6);
    assert_true(items[0].p == 1 && items[0].low == 0 && items[0].high == 0);
    assert_true(items[1].p == 0 && items[1].low == 10 && items[1].high == 10);
    stats_family(items, 0, 0.05, 6);
}

struct sides {
    const double *base, *head;
};

static double median_of(const double *values, const size_t *chosen, size_t n)
{
    double drawn[STATS_SIDE_MAX];
    for (size_t i = 0; i < n; i++)
        drawn[i] = values[chosen[i]];
    rl_sort_doubles(drawn, n);
    return rl_quantile_sorted(drawn, n, 0.5);
}

static double median_difference(const void *arg, const size_t *base, const size_t *head)
{
    const struct sides *sides = arg;
    return median_of(sides->head, head, 15) - median_of(sides->base, base, 15);
}

static void bootstrap_as_written_again(void **state)
{
    (void)state;
    struct sides sides = {base_fifteen, head_fifteen};
    double low, high;
    stats_bootstrap(15, 15, median_difference, &sides, 0.95, 42, &low, &high);
    assert_near(low, fixture_bootstrap[0], 1e-12, 1e-16, "low");
    assert_near(high, fixture_bootstrap[1], 1e-12, 1e-16, "high");
    double width = fixture_bootstrap_scipy[1] - fixture_bootstrap_scipy[0];
    assert_near(low, fixture_bootstrap_scipy[0], 0, 0.1 * width, "low beside scipy's own draws");
    assert_near(high, fixture_bootstrap_scipy[1], 0, 0.1 * width, "high beside scipy's own draws");
    uint64_t seed = 42;
    for (size_t i = 0; i < COUNT(fixture_random); i++)
        assert_true(stats_random(&seed) == fixture_random[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_as_scipy),
        cmocka_unit_test(ranks_as_scipy),
        cmocka_unit_test(shifts_by_going_through_all),
        cmocka_unit_test(null_distribution),
        cmocka_unit_test(spreads),
        cmocka_unit_test(holm_as_by_hand),
        cmocka_unit_test(family_chooses_its_method),
        cmocka_unit_test(bootstrap_as_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
