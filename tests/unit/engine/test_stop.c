/* The stopping rule on series whose end is known by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* needs the ones above */

#include "gpu/engine/stop.h"

static struct stop_rule rule;

/* Feeds series(i) until the rule stops; returns why, and the number of samples it took. */
static enum stop_reason feed(double (*series)(size_t i), double wall_limit_s, double wall_per_sample_s,
                             size_t *ret_count)
{
    enum stop_reason reason = STOP_GO_ON;

    stop_init(&rule, wall_limit_s);
    for (size_t i = 0; i < 2 * STOP_MAX_SAMPLES && reason == STOP_GO_ON; i++)
        reason = stop_add(&rule, series(i), wall_per_sample_s * (double)(i + 1));
    *ret_count = rule.count;
    return reason;
}

static double constant(size_t i)
{
    (void)i;
    return 2e-3;
}
static double two_levels(size_t i)
{
    return i % 2 ? 1.1e-3 : 1.0e-3;
}
static double tight_levels(size_t i)
{
    return i % 2 ? 1.0005e-3 : 1.0e-3;
}
static double drifting(size_t i)
{
    return 1e-3 * (1 + 0.004 * (double)i);
}
static double scattered(size_t i)
{
    return 1e-3 * (1 + 0.2 * fabs(sin(12.9898 * (double)(i + 1))));
}
/* nine samples that alternate between two levels, then quiet */
static double rough_start(size_t i)
{
    return i < 9 && i % 2 ? 2e-3 : 1e-3 + 1e-7 * (double)(i % 3);
}

static void test_constant_stops_at_the_tenth(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(constant, 1e9, 0, &count), STOP_ON_STD_ERROR);
    assert_int_equal(count, STOP_MIN_SAMPLES);
}

static void test_two_levels_stop_on_stable_noise(void **state)
{
    size_t count;

    (void)state;
    /* the median of two levels 10 percent apart is uncertain by percents for ever; the noise is 5 percent from the
     * start */
    assert_int_equal(feed(two_levels, 1e9, 0, &count), STOP_ON_NOISE_STABLE);
    assert_int_equal(count, STOP_NOISE_WINDOW + STOP_MIN_SAMPLES - 1);
    assert_true(fabs(rule.noise[count - 1] - 0.05 / 1.05) < 1e-3);
}

static void test_tight_levels_stop_on_std_error(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(tight_levels, 1e9, 0, &count), STOP_ON_STD_ERROR);
    assert_int_equal(count, STOP_MIN_SAMPLES);
}

static void test_drift_never_settles(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(drifting, 1e9, 0, &count), STOP_ON_MAX_SAMPLES);
    assert_int_equal(count, STOP_MAX_SAMPLES);
}

static void test_scatter_ends(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(scattered, 1e9, 0, &count), STOP_ON_NOISE_STABLE);
    assert_true(count >= STOP_NOISE_WINDOW + STOP_MIN_SAMPLES - 1 && count < STOP_MAX_SAMPLES);
}

static void test_rough_start_needs_more_than_ten(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(rough_start, 1e9, 0, &count), STOP_ON_STD_ERROR);
    assert_true(count > STOP_MIN_SAMPLES && count < 40);
}

static void test_wall_time(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(two_levels, 0.25, 0.02, &count), STOP_ON_WALL_TIME);
    assert_int_equal(count, 13); /* 13 x 0.02 is the first sum that reaches 0.25 */
}

static void test_wall_time_leaves_quartiles(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(two_levels, 0.25, 10, &count), STOP_ON_WALL_TIME);
    assert_int_equal(count, STOP_LEAST_SAMPLES);
}

static void test_certainty_goes_before_time(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(feed(constant, 0.25, 0.025, &count), STOP_ON_STD_ERROR);
    assert_int_equal(count, 10);
}

static void test_full_rule_takes_no_more(void **state)
{
    size_t count;

    (void)state;
    feed(drifting, 1e9, 0, &count);
    assert_int_equal(stop_add(&rule, 1, 0), STOP_ON_MAX_SAMPLES);
    assert_int_equal(rule.count, STOP_MAX_SAMPLES);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(stop_reason_name(STOP_ON_STD_ERROR), "std_error");
    assert_string_equal(stop_reason_name(STOP_ON_NOISE_STABLE), "noise_stable");
    assert_string_equal(stop_reason_name(STOP_ON_WALL_TIME), "wall_time");
    assert_string_equal(stop_reason_name(STOP_ON_MAX_SAMPLES), "max_samples");
    assert_string_equal(stop_reason_name(STOP_GO_ON), "go_on");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant_stops_at_the_tenth),
        cmocka_unit_test(test_two_levels_stop_on_stable_noise),
        cmocka_unit_test(test_tight_levels_stop_on_std_error),
        cmocka_unit_test(test_drift_never_settles),
        cmocka_unit_test(test_scatter_ends),
        cmocka_unit_test(test_rough_start_needs_more_than_ten),
        cmocka_unit_test(test_wall_time),
        cmocka_unit_test(test_wall_time_leaves_quartiles),
        cmocka_unit_test(test_certainty_goes_before_time),
        cmocka_unit_test(test_full_rule_takes_no_more),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
