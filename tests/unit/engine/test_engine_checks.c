/* Each of the run's checks, made to fail by breaking what it checks, and nothing else failing with it. */
#include "tests/unit/engine/engine_fixture.h"

static struct fake_backend *fake;

static int open_fake(void **state)
{
    (void)state;
    fake = fake_new();
    return 0;
}

static int close_fake(void **state)
{
    (void)state;
    fake->base.ops->close(&fake->base);
    return 0;
}

/* Runs and expects the named checks, and no others, to have failed. */
static struct rl_run *expect_failed(const char *first, const char *second)
{
    struct rl_run *run = run_whole(fake, NULL);

    assert_failed(run, first);
    if (second)
        assert_failed(run, second);
    assert_only_failed(run, first, second);
    return run;
}

static void test_nothing_fails_unbroken(void **state)
{
    struct rl_run *run = run_whole(fake, NULL);

    (void)state;
    for (size_t i = 0; i < run->check_count; i++) {
        assert_passed(run, run->checks[i].name);
        assert_true(run->checks[i].title[0] != 0 && run->checks[i].detail[0] != 0);
    }
    rl_run_free(run);
}

static void test_each_kernel_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < rl_kernel_count; i++) {
        struct rl_run *run;
        char name[64];
        bool polynomial = strcmp(rl_units[i]->id, "polynomial256") == 0;

        snprintf(name, sizeof name, "result_%s", rl_units[i]->id);
        fake->wrong_result = rl_units[i]->id;
        run = expect_failed(name, polynomial ? "polynomial_not_shortened" : NULL);
        assert_int_equal(run->outcome, RL_REFUSED);
        snprintf(name, sizeof name, "result_%s failed", rl_units[i]->id);
        assert_true(rl_strings_has(&run->outcome_reasons, name));
        /* kept as evidence */
        assert_true(rl_is_known(run->rows[i].state[RL_WARM].time_s.median));
        rl_run_free(run);
    }
}

static void test_result_that_compared_nothing(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->compares_nothing = "transpose_tiled";
    run = expect_failed("result_transpose_tiled", NULL);
    assert_int_equal(run->outcome, RL_REFUSED);
    rl_run_free(run);
}

/* Either sign of a wrong result is enough. */
static void test_half_wrong_results(void **state)
{
    (void)state;
    fake->wrong_result = "transpose_tiled";
    fake->only_says_wrong = true;
    rl_run_free(expect_failed("result_transpose_tiled", NULL));
    fake->only_says_wrong = false;
    fake->only_counts_wrong = true;
    rl_run_free(expect_failed("result_transpose_tiled", NULL));
}

/* A backend's words hold the figures: they are not said a second time, unless the two may differ. */
static void test_result_is_told_once(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->result_words = "1000000 elements on the device, bit for bit";
    run = run_whole(fake, NULL);
    assert_string_equal(check_of(run, "result_vector_add")->detail,
                        "0 wrong: 1000000 elements on the device, bit for bit");
    rl_run_free(run);
    fake->result_words = "3 of 1000000 elements wrong";
    fake->wrong_result = "vector_add";
    run = expect_failed("result_vector_add", NULL);
    assert_string_equal(check_of(run, "result_vector_add")->detail, "3 of 1000000 elements wrong");
    rl_run_free(run);
    fake->only_says_wrong = true;
    run = expect_failed("result_vector_add", NULL);
    assert_non_null(strstr(check_of(run, "result_vector_add")->detail, "0 wrong of 1000000 compared"));
    rl_run_free(run);
}

static void test_copy_bit_for_bit(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->wrong_result = "dram_copy";
    run = expect_failed("copy_bit_for_bit", NULL);
    assert_int_equal(run->outcome, RL_REFUSED);
    assert_non_null(rl_run_ceiling(run, "dram_copy", RL_WARM)->value.why);
    assert_non_null(rl_run_ceiling(run, "dram_copy", RL_COLD)->value.why);
    rl_run_free(run);
}

/* Code that nobody has seen do its work gives no ceiling, though it was timed. */
static void test_unproven_ceiling(void **state)
{
    static const char *const units[] = {"dram_copy", "fp32_fma", "dram_read"};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof units / sizeof units[0]; i++) {
        const char *unit = units[i / 2];
        const struct rl_ceiling *ceiling;
        struct rl_run *run;

        fake->fails_in_check = i % 2 == 0 ? unit : NULL;
        fake->compares_nothing = i % 2 == 0 ? NULL : unit;
        run = run_whole(fake, NULL);
        ceiling = rl_run_ceiling(run, unit, RL_WARM);
        assert_non_null(ceiling->value.why);
        assert_non_null(strstr(ceiling->value.why, i % 2 == 0 ? "could not be checked" : "is wrong"));
        assert_non_null(ceiling->percent_of_nominal.why);
        assert_true(rl_is_known(ceiling->time_s.median));
        assert_int_equal(run->outcome, i % 2 == 0 ? RL_PARTIAL : RL_REFUSED);
        rl_run_free(run);
    }
}

static void test_fma_host_recurrence(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->wrong_result = "fp32_fma";
    run = expect_failed("fma_host_recurrence", NULL);
    assert_int_equal(run->outcome, RL_REFUSED);
    assert_non_null(rl_run_ceiling(run, "fp32_fma", RL_WARM)->value.why);
    assert_non_null(run->ridge_flop_per_byte.why);
    rl_run_free(run);
}

static void test_fma_scaling(void **state)
{
    static const double ratios[] = {1.0, 1.89, 2.11, 1.91, 2.09};

    (void)state;
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        bool good = i >= 3;
        struct rl_run *run;

        fake->scaling = ratios[i];
        run = run_whole(fake, NULL);
        assert_only_failed(run, good ? "" : "fma_scaling", NULL);
        assert_int_equal(rl_is_known(rl_run_ceiling(run, "fp32_fma", RL_WARM)->value), good);
        assert_int_equal(run->outcome, good ? RL_OK : RL_PARTIAL);
        rl_run_free(run);
    }
}

static void test_copy_reaches_memcpy(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->scaled_unit = "dram_memcpy";
    fake->time_factor = 0.9; /* the model's memcpy is 1.05 of the copy's time */
    run = expect_failed("copy_reaches_memcpy", NULL);
    assert_int_equal(run->outcome, RL_OK);
    rl_run_free(run);
}

static void test_polynomial_too_fast(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->scaled_unit = "polynomial256";
    fake->time_factor = 0.5; /* half of the loop */
    run = expect_failed("polynomial_not_shortened", NULL);
    assert_int_equal(run->outcome, RL_REFUSED);
    rl_run_free(run);
}

static void test_polynomial_too_few_flop(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->flop_off = "polynomial256";
    run = expect_failed("polynomial_not_shortened", "flop_counted_equals_hand");
    rl_run_free(run);
}

static void test_every_kernel_has_dram_row(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->absent_dram = "stencil_tiled";
    run = expect_failed("every_kernel_has_dram_row", NULL);
    assert_unknown(run, "steady");
    assert_int_equal(run->outcome, RL_PARTIAL);
    assert_non_null(strstr(check_of(run, "every_kernel_has_dram_row")->detail, "stencil_tiled"));
    assert_false(run->counter_backed);
    rl_run_free(run);
}

static void test_counters_self_test(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->copy_warm = 0.98;
    run = expect_failed("counters_self_test", "copy_streams_dram");
    assert_string_equal(run->counters.status, "counters_unreliable");
    assert_unknown(run, "every_kernel_has_dram_row");
    rl_run_free(run);
    fake->copy_warm = 1.009;
    run = run_whole(fake, NULL);
    assert_passed(run, "counters_self_test");
    rl_run_free(run);
}

static void test_copy_streams_dram(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->copy_cold = 0.97;
    run = expect_failed("copy_streams_dram", NULL);
    assert_string_equal(run->counters.status, "ok");
    rl_run_free(run);
    fake->copy_cold = 1;
    fake->copy_warm_four = 1.02;
    run = expect_failed("copy_streams_dram", NULL);
    rl_run_free(run);
}

static void test_flop_counted(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->flop_off = "stencil_global";
    run = expect_failed("flop_counted_equals_hand", NULL);
    assert_non_null(strstr(check_of(run, "flop_counted_equals_hand")->detail, "stencil_global"));
    rl_run_free(run);
    fake->flop_off = "transpose_naive"; /* no flop by hand, eight counted */
    run = expect_failed("flop_counted_equals_hand", NULL);
    rl_run_free(run);
}

static void test_flop_not_counted(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->no_flop = "matmul_naive";
    run = run_whole(fake, NULL);
    assert_unknown(run, "flop_counted_equals_hand"); /* absent is not equal */
    assert_only_failed(run, "", NULL);
    rl_run_free(run);
    fake->flop_off = "stencil_global";
    rl_run_free(expect_failed("flop_counted_equals_hand", NULL)); /* what is wrong is wrong, whatever else is absent */
}

static void test_driver_unchanged(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->driver_at_end = "590.10";
    run = expect_failed("driver_unchanged", NULL);
    assert_true(rl_strings_has(&run->flags, "driver_changed"));
    rl_run_free(run);
    fake->driver_at_end = NULL;
    run = run_whole(fake, NULL);
    assert_unknown(run, "driver_unchanged");
    rl_run_free(run);
}

static void test_steady(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->unsteady = "vector_add";
    run = expect_failed("steady", NULL);
    assert_true(rl_strings_has(&rl_run_row(run, "vector_add")->state[RL_WARM].flags, "not_steady"));
    rl_run_free(run);
}

static int64_t one_more(const char *at)
{
    return strcmp(at, "block_reduction cold after") == 0;
}

static void test_not_shared(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->others = one_more;
    run = expect_failed("not_shared", NULL);
    assert_true(rl_strings_has(&run->flags, "shared"));
    assert_non_null(strstr(check_of(run, "not_shared")->detail, "block_reduction cold after"));
    rl_run_free(run);
}

static void test_blind(void **state)
{
    struct rl_run *run;

    (void)state;
    fake->blind = true;
    run = run_whole(fake, NULL);
    assert_unknown(run, "not_shared");
    assert_unknown(run, "not_throttled");
    assert_passed(run, "clock_steady"); /* by the marks on the SM, without NVML */
    assert_non_null(rl_run_ceiling(run, "dram_copy", RL_WARM)->nominal.why);
    assert_int_equal(run->outcome, RL_OK);
    rl_run_free(run);
}

#define CHECK_TEST(function) cmocka_unit_test_setup_teardown(function, open_fake, close_fake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(test_nothing_fails_unbroken),
        CHECK_TEST(test_each_kernel_result),
        CHECK_TEST(test_result_that_compared_nothing),
        CHECK_TEST(test_half_wrong_results),
        CHECK_TEST(test_result_is_told_once),
        CHECK_TEST(test_copy_bit_for_bit),
        CHECK_TEST(test_unproven_ceiling),
        CHECK_TEST(test_fma_host_recurrence),
        CHECK_TEST(test_fma_scaling),
        CHECK_TEST(test_copy_reaches_memcpy),
        CHECK_TEST(test_polynomial_too_fast),
        CHECK_TEST(test_polynomial_too_few_flop),
        CHECK_TEST(test_every_kernel_has_dram_row),
        CHECK_TEST(test_counters_self_test),
        CHECK_TEST(test_copy_streams_dram),
        CHECK_TEST(test_flop_counted),
        CHECK_TEST(test_flop_not_counted),
        CHECK_TEST(test_driver_unchanged),
        CHECK_TEST(test_steady),
        CHECK_TEST(test_not_shared),
        CHECK_TEST(test_blind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
