/* What ends a run with an error and no document, over the fake backend. */
#include "tests/unit/engine/engine_fixture.h"

static void assert_ends_run(struct fake_backend *fake, enum rl_code code, const char *says)
{
    struct engine_request request = whole_request();
    struct rl_run *run = (struct rl_run *)&request; /* must stay untouched */
    struct rl_err err = {0};

    assert_int_equal(engine_run(&fake->base, &request, NULL, &run, &err), -1);
    assert_int_equal(err.code, code);
    if (!strstr(err.message, says))
        fail_msg("%s lacks %s", err.message, says);
    assert_ptr_equal(run, &request);
    assert_int_equal(engine_run(&fake->base, &request, NULL, &run, NULL), -1);
    fake->base.ops->close(&fake->base);
}

static void test_errors_that_end_the_run(void **state)
{
    static const enum rl_code codes[] = {RL_E_CUDA_FAILED, RL_E_REPLAY_MISSING, RL_E_CANCELLED, RL_E_DEVICE_GONE};
    static const char *const units[] = {"dram_copy", "fp32_fma", "stencil_tiled"};

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        for (size_t j = 0; j < sizeof units / sizeof units[0]; j++) {
            struct fake_backend *fake = fake_new();

            fake->fails_in_warm = units[j];
            fake->warm_error = codes[i];
            assert_ends_run(fake, codes[i], units[j]);
            fake = fake_new();
            fake->fails_in_prepare = units[j];
            fake->prepare_error = codes[i];
            assert_ends_run(fake, codes[i], units[j]);
        }
}

static void test_impossible_times_end_the_run(void **state)
{
    static const double times[] = {0, -1, NAN, INFINITY};

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct fake_backend *fake = fake_new();

        fake->bad_time_unit = "stencil_global";
        fake->bad_time = times[i];
        assert_ends_run(fake, RL_E_INTERNAL, "is no time");
    }
    struct fake_backend *fake = fake_new();
    fake->other_launches = "stencil_global";
    assert_ends_run(fake, RL_E_INTERNAL, "where 10 were asked");
}

static void test_bad_requests(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    (void)state;
    request.state[RL_WARM] = request.state[RL_COLD] = false;
    assert_int_equal(engine_run(&fake->base, &request, NULL, &run, &err), -1);
    assert_string_equal(err.field, "cache");
    request = whole_request();
    memset(request.kernel, 0, sizeof request.kernel);
    assert_int_equal(engine_run(&fake->base, &request, NULL, &run, &err), -1);
    assert_string_equal(err.field, "kernels");
    assert_null(run);
    fake->base.ops->close(&fake->base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_that_end_the_run),
        cmocka_unit_test(test_impossible_times_end_the_run),
        cmocka_unit_test(test_bad_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
