/* Quantiles and the median's standard error against numpy and scipy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/record/derive/quantile.h"
#include "tests/data/quantile_fixtures.h"

static void assert_close(double seen, double wanted, const char *what)
{
    if (!(fabs(seen - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%s: %.17g, not %.17g", what, seen, wanted);
}

static void same_as_numpy_and_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fixtures / sizeof fixtures[0]; i++) {
        size_t n = fixtures[i].n;
        double *sorted = malloc(n * sizeof *sorted);
        memcpy(sorted, fixtures[i].values, n * sizeof *sorted);
        rl_sort_doubles(sorted, n);
        for (size_t k = 1; k < n; k++)
            assert_true(sorted[k - 1] <= sorted[k]);
        for (size_t q = 0; q < sizeof fixture_q / sizeof fixture_q[0]; q++)
            assert_close(rl_quantile_sorted(sorted, n, fixture_q[q]), fixtures[i].quantile[q], fixtures[i].name);
        if (fixtures[i].std_error >= 0)
            assert_close(rl_median_std_error(sorted, n), fixtures[i].std_error, fixtures[i].name);
        assert_close(rl_scaled_mad_sorted(sorted, n), fixtures[i].scaled_mad, fixtures[i].name);
        struct rl_band band = rl_band_sorted(sorted, n);
        assert_true(band.median == rl_quantile_sorted(sorted, n, 0.5));
        assert_close(band.high - band.median, 3 * fixtures[i].scaled_mad, fixtures[i].name);
        assert_close(band.median - band.low, 3 * fixtures[i].scaled_mad, fixtures[i].name);
        free(sorted);
    }
}

static void times(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fixtures / sizeof fixtures[0]; i++) {
        struct rl_times times = {.launches = 7, .stop = {"std_error", NULL}};
        assert_int_equal(rl_times_from_samples(fixtures[i].values, fixtures[i].n, &times), 0);
        assert_close(times.min.value, fixtures[i].quantile[0], "min");
        assert_close(times.p25.value, fixtures[i].quantile[2], "p25");
        assert_close(times.median.value, fixtures[i].quantile[3], "median");
        assert_close(times.p75.value, fixtures[i].quantile[4], "p75");
        assert_int_equal(times.n, fixtures[i].n);
        assert_int_equal(times.launches, 7);
        assert_string_equal(times.stop.value, "std_error");
        if (fixtures[i].n < 5)
            assert_string_equal(times.std_error.why, "fewer than 5 samples");
        else
            assert_null(times.std_error.why);
    }
}

static void small_samples(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6};
    for (size_t n = 1; n < 5; n++)
        assert_true(isnan(rl_median_std_error(values, n)));
    /* k comes out below 1: the whole range over 2 z. */
    assert_close(rl_median_std_error(values, 5), 4 / (2 * 2.5758293035489004), "five");
    assert_close(rl_median_std_error(values, 6), 5 / (2 * 2.5758293035489004), "six");
}

static void bad_samples_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    struct rl_times times = {.n = 77};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const double samples[] = {1, bad[i], 2};
        assert_int_equal(rl_times_from_samples(samples, 3, &times), -1);
    }
    assert_int_equal(rl_times_from_samples(fixture_one, 0, &times), -1);
    assert_int_equal(times.n, 77);
}

static void differences_are_found_one_by_one(void **state)
{
    (void)state;
    const double samples[] = {3e-6, 1e-6, 2e-6, 5e-6, 4e-6};
    struct rl_times good = {.launches = 7};
    struct rl_times_difference found = {"?", 0, 0};
    assert_int_equal(rl_times_from_samples(samples, 5, &good), 0);
    assert_int_equal(rl_times_check(&good, samples, 5, 7, &found), 0);
    assert_null(found.member);
    assert_int_equal(rl_times_check(&good, samples, 4, 7, &found), 0);
    assert_string_equal(found.member, "n");
    assert_true(found.said == 5 && found.made == 4);
    assert_int_equal(rl_times_check(&good, samples, 5, 8, &found), 0);
    assert_string_equal(found.member, "launches");
    assert_true(found.said == 7 && found.made == 8);
    static const char *const names[] = {"median", "p25", "p75", "min", "std_error"};
    for (int i = 0; i < 5; i++) {
        struct rl_times bad = good;
        struct rl_real *members[] = {&bad.median, &bad.p25, &bad.p75, &bad.min, &bad.std_error};
        double value = members[i]->value;
        members[i]->value = value * (1 + 1e-10);
        assert_int_equal(rl_times_check(&bad, samples, 5, 7, &found), 0);
        assert_null(found.member);
        members[i]->value = value * (1 + 1e-8);
        assert_int_equal(rl_times_check(&bad, samples, 5, 7, &found), 0);
        assert_string_equal(found.member, names[i]);
        assert_close(found.made, value, names[i]);
        *members[i] = rl_unknown("not said");
        assert_int_equal(rl_times_check(&bad, samples, 5, 7, &found), 0);
        assert_string_equal(found.member, names[i]);
        assert_true(isnan(found.said));
    }
    assert_int_equal(rl_times_check(&good, samples, 0, 7, &found), -1);
    struct rl_times few = {.launches = 7};
    assert_int_equal(rl_times_from_samples(samples, 4, &few), 0);
    assert_int_equal(rl_times_check(&few, samples, 4, 7, &found), 0);
    assert_null(found.member);
    few.std_error = rl_known(1e-7); /* of four samples there is none */
    assert_int_equal(rl_times_check(&few, samples, 4, 7, &found), 0);
    assert_string_equal(found.member, "std_error");
    assert_true(found.said == 1e-7 && isnan(found.made));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_numpy_and_scipy), cmocka_unit_test(times),
                                       cmocka_unit_test(small_samples), cmocka_unit_test(bad_samples_are_refused),
                                       cmocka_unit_test(differences_are_found_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
