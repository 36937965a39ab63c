/* What the engine makes of clocks that move, cards that throttle, and a card that has to warm up first. */
#include "gpu/engine/sample.h"
#include "tests/unit/engine/engine_fixture.h"

static const char *const victim = "transpose_naive";

static double falls_once(const struct fake_backend *fake, const struct gpu_work *work, enum rl_state state,
                         unsigned sample)
{
    (void)fake;
    return strcmp(work->unit->id, victim) == 0 && state == RL_WARM && sample < 5 ? FAKE_SM_HZ * 0.9 : FAKE_SM_HZ;
}

static double falls_for_ever(const struct fake_backend *fake, const struct gpu_work *work, enum rl_state state,
                             unsigned sample)
{
    (void)fake;
    return strcmp(work->unit->id, victim) == 0 && state == RL_WARM ? FAKE_SM_HZ * (1 - 0.004 * sample) : FAKE_SM_HZ;
}

static double unseen(const struct fake_backend *fake, const struct gpu_work *work, enum rl_state state, unsigned sample)
{
    (void)fake;
    (void)work;
    (void)state;
    (void)sample;
    return 0;
}

static void test_clock_retry(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;
    const struct rl_row_state *row;

    (void)state;
    fake->hz = falls_once;
    run = run_whole(fake, NULL);
    row = &rl_run_row(run, victim)->state[RL_WARM];
    assert_int_equal(row->attempts, 2);
    assert_false(rl_strings_has(&row->flags, "clock_moved"));
    assert_non_null(strstr(fake->requests.data, "card transpose_naive warm before 2\n"));
    assert_passed(run, "clock_steady");
    free_both(fake, run);
}

static void test_clock_moves_for_ever(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;
    const struct rl_row_state *row;

    (void)state;
    fake->hz = falls_for_ever;
    run = run_whole(fake, NULL);
    row = &rl_run_row(run, victim)->state[RL_WARM];
    assert_int_equal(row->attempts, 1 + ENGINE_RETRIES_MAX);
    assert_true(rl_strings_has(&row->flags, "clock_moved"));
    assert_true(rl_is_known(row->time_s.median)); /* kept, flagged */
    assert_only_failed(run, "clock_steady", NULL);
    assert_int_equal(run->outcome, RL_OK);
    free_both(fake, run);
}

static void test_clock_unseen(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->hz = unseen;
    run = run_whole(fake, NULL);
    assert_non_null(run->rows[0].state[RL_WARM].sm_hz.why);
    assert_non_null(rl_run_ceiling(run, "fp32_fma", RL_WARM)->nominal.why);
    assert_non_null(rl_run_ceiling(run, "fp32_fma", RL_WARM)->percent_of_nominal.why);
    free_both(fake, run);
}

static void test_clock_change(void **state)
{
    double hz[40], batch[40], noise;

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        hz[i] = 1e9;
        batch[i] = 1.2e-3;
    }
    assert_true(engine_clock_change(hz, batch, 40, &noise) == 0);
    assert_true(noise == 0);
    hz[7] = 2e9; /* one wrong mark is no movement */
    assert_true(engine_clock_change(hz, batch, 40, &noise) == 0);
    assert_true(noise < 0.005); /* nor a reason to overlook one */
    for (size_t i = 30; i < 40; i++)
        hz[i] = 1.02e9;
    assert_true(fabs(engine_clock_change(hz, batch, 40, &noise) - 0.02) < 1e-9);
    assert_true(noise < 0.005);
    for (size_t i = 0; i < 35; i++)
        hz[i] = 0;
    assert_true(engine_clock_change(hz, batch, 40, &noise) == 0); /* five are too few to tell */
}

/* A timer of 1 us grain on launches of 20 us: readings differ by 10 percent, and nothing moved. */
static void test_coarse_timer_is_no_movement(void **state)
{
    double hz[40], batch[40], noise;
    uint32_t random = 1;
    unsigned alarms = 0;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        double change;

        for (size_t i = 0; i < 40; i++) {
            random = random * 1664525u + 1013904223u;
            hz[i] = 1e9 * (1 + 0.1 * ((double)(random >> 8) / 16777216 - 0.5));
            batch[i] = 2e-5;
        }
        change = engine_clock_change(hz, batch, 40, &noise);
        assert_true(noise > 0.01);
        alarms += change > ENGINE_CLOCK_TOLERANCE + noise;
        for (size_t i = 0; i < 20; i++)
            hz[i] *= 0.6;
        change = engine_clock_change(hz, batch, 40, &noise);
        assert_true(change > ENGINE_CLOCK_TOLERANCE + noise); /* a real fall still shows */
    }
    assert_true(alarms <= 6); /* 3 in 100: each costs a retry, two more and the row is flagged */
}

static const char *slowed_after(const char *at)
{
    return strcmp(at, "vector_add warm after") == 0 ? "SwThermalSlowdown" : NULL;
}

static const char *capped_always(const char *at)
{
    (void)at;
    return "SwPowerCap";
}

static const char *idle_always(const char *at)
{
    (void)at;
    return "GpuIdle";
}

static void test_throttle_retry(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->reason = slowed_after; /* at the first attempt alone */
    run = run_whole(fake, NULL);
    assert_int_equal(rl_run_row(run, "vector_add")->state[RL_WARM].attempts, 2);
    assert_int_equal(rl_run_row(run, "vector_add")->state[RL_WARM].flags.count, 0);
    assert_passed(run, "not_throttled");
    free_both(fake, run);
}

static void test_throttle_that_stays(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->reason = capped_always;
    run = run_whole(fake, NULL);
    /* it stood before the row as well: another attempt would meet it again */
    assert_int_equal(rl_run_row(run, "vector_add")->state[RL_WARM].attempts, 1);
    assert_true(rl_strings_has(&rl_run_row(run, "vector_add")->state[RL_WARM].flags, "throttled"));
    assert_true(rl_strings_has(&rl_run_row(run, "vector_add")->state[RL_WARM].reasons, "SwPowerCap"));
    assert_true(rl_strings_has(&run->flags, "throttled"));
    assert_only_failed(run, "not_throttled", NULL);
    free_both(fake, run);
}

static const char *hot_start_capped_later(const char *at)
{
    return strcmp(at, "start") == 0 ? "SwThermalSlowdown" : strstr(at, "stencil_tiled") ? "SwPowerCap" : NULL;
}

/* The check names the reason of the row that it names, not one that was seen elsewhere. */
static void test_throttle_names_its_reason(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->reason = hot_start_capped_later;
    run = run_whole(fake, NULL);
    assert_failed(run, "not_throttled");
    assert_non_null(strstr(check_of(run, "not_throttled")->detail, "first stencil_tiled by SwPowerCap"));
    free_both(fake, run);
}

static void test_idle_is_no_throttle(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->reason = idle_always;
    run = run_whole(fake, NULL);
    assert_passed(run, "not_throttled");
    assert_true(rl_strings_has(&run->rows[0].state[RL_WARM].reasons, "GpuIdle"));
    free_both(fake, run);
}

static double rising(unsigned step)
{
    return step < 6 ? 1e9 + 1e8 * step : 1.755e9;
}

static double restless(unsigned step)
{
    return step % 2 ? 1.7e9 : 1.8e9;
}

static double silent(unsigned step)
{
    (void)step;
    return 0;
}

static void test_spin(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->spin_hz = rising;
    run = run_whole(fake, NULL);
    assert_non_null(strstr(fake->requests.data, "spin 8\n")); /* 6, 7 and 8 agree */
    assert_null(strstr(fake->requests.data, "spin 9\n"));
    assert_passed(run, "clock_steady");
    free_both(fake, run);

    fake = fake_new();
    fake->spin_hz = silent;
    run = run_whole(fake, NULL);
    assert_non_null(strstr(fake->requests.data, "spin 24\n"));
    assert_unknown(run, "clock_steady");
    free_both(fake, run);

    fake = fake_new();
    fake->spin_hz = restless;
    run = run_whole(fake, NULL);
    assert_non_null(strstr(fake->requests.data, "spin 24\n"));
    assert_null(strstr(fake->requests.data, "spin 25\n"));
    assert_only_failed(run, "clock_steady", NULL);
    free_both(fake, run);
}

/* ---- errors ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_retry),
        cmocka_unit_test(test_clock_moves_for_ever),
        cmocka_unit_test(test_clock_unseen),
        cmocka_unit_test(test_clock_change),
        cmocka_unit_test(test_coarse_timer_is_no_movement),
        cmocka_unit_test(test_throttle_retry),
        cmocka_unit_test(test_throttle_that_stays),
        cmocka_unit_test(test_throttle_names_its_reason),
        cmocka_unit_test(test_idle_is_no_throttle),
        cmocka_unit_test(test_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
