/* What the engine makes of raw counts: bytes per launch, settled bytes, flop, and when it does not believe them. */
#include "tests/unit/engine/engine_fixture.h"

static void assert_near(double seen, double expected)
{
    if (fabs(seen - expected) > 1e-9 * fabs(expected))
        fail_msg("%.17g is not %.17g", seen, expected);
}

static void test_bytes_per_launch(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run = run_whole(fake, NULL);

    (void)state;
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row *row = &run->rows[i];
        double ask = (double)row->ask_bytes.value;
        const struct rl_bytes *warm = &row->state[RL_WARM].bytes, *cold = &row->state[RL_COLD].bytes;

        /* the model moves exactly the ask, half of it read */
        assert_near(warm->dram_read.value, ask / 2);
        assert_near(warm->dram_write.value, ask / 2);
        assert_near(warm->dram.value, ask);
        assert_near(warm->dram_settled.value, ask);
        assert_near(warm->dram_4n.value, ask);
        assert_near(warm->l1.value, ask);
        assert_near(warm->l2.value, 1.5 * ask);
        assert_near(warm->l2_sm.value, ask);
        assert_near(cold->dram.value, ask);
        assert_near(cold->l2_sm.value, ask);
        assert_near(cold->dram_settled.value, ask); /* launch and flush, less the flush */
        assert_non_null(cold->dram_4n.why);
        assert_near(row->state[RL_COLD].occupancy.value, 0.875);
        assert_true(row->state[RL_WARM].local_bytes.value == 0);
        assert_near(row->flop_counted.value + 1, (double)row->flop.value + 1);
    }
    assert_near(run->counters.self_test.value, 1);
    assert_near(run->counters.floor_dram_bytes.value, 300);
    assert_near(run->counters.flush_dram_bytes.value, FAKE_FLUSH);
    assert_true(fabs(run->counters.flush_spread_bytes.value - 1000) < 1e-3);
    assert_int_equal(run->counters.passes.value, 2);
    assert_near(rl_run_ceiling(run, "dram_copy", RL_WARM)->dram_per_ask.value, 1);
    assert_near(rl_run_ceiling(run, "dram_copy", RL_COLD)->dram_per_ask.value, 1);
    assert_non_null(rl_run_ceiling(run, "dram_read", RL_WARM)->dram.why);
    free_both(fake, run);
}

static void test_settled_under_three_spreads_is_null(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;
    const struct rl_row_state *cold;

    (void)state;
    /* matmul_tiled16 asks for about 68 MB at course sizes, vector_add for 201 MB */
    fake->flush_spread = 50e6;
    run = run_whole(fake, NULL);
    cold = &rl_run_row(run, "matmul_tiled16")->state[RL_COLD];
    assert_non_null(cold->bytes.dram_settled.why);
    assert_non_null(cold->dram_per_ask.why);
    assert_true(rl_is_known(cold->bytes.dram));
    assert_true(rl_strings_has(&cold->flags, "at_floor")); /* known to be next to nothing, not uncounted */
    assert_true(rl_is_known(rl_run_row(run, "vector_add")->state[RL_COLD].bytes.dram_settled));
    free_both(fake, run);
}

static void test_settled_below_the_flush_is_null(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;
    const struct rl_row_state *cold;

    (void)state;
    fake->below_flush = "matmul_naive";
    run = run_whole(fake, NULL);
    cold = &rl_run_row(run, "matmul_naive")->state[RL_COLD];
    assert_non_null(cold->bytes.dram_settled.why);
    assert_true(rl_strings_has(&cold->flags, "at_floor"));
    free_both(fake, run);
}

/* The counted batch is the timed batch. */
static void test_ranges_have_the_timed_launches(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run = run_whole(fake, NULL);
    unsigned more_than_ten = 0;

    (void)state;
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row *row = &run->rows[i];
        char line[96];

        more_than_ten += row->state[RL_WARM].time_s.launches > 10;
        snprintf(line, sizeof line, "count %s warm v0 n %lld\n", row->kernel,
                 (long long)row->state[RL_WARM].time_s.launches);
        assert_non_null(strstr(fake->requests.data, line));
        snprintf(line, sizeof line, "count %s cold v0 n 1\n", row->kernel);
        assert_non_null(strstr(fake->requests.data, line));
    }
    assert_true(more_than_ten > 2);
    assert_non_null(strstr(fake->requests.data, "count dram_copy warm v2 n 10\n"));
    free_both(fake, run);
}

static void test_weights_of_flop(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->half = "stencil_global";
    fake->wide = "vector_add";
    run = run_whole(fake, NULL);
    assert_passed(run, "flop_counted_equals_hand");
    assert_true(rl_run_row(run, "stencil_global")->flop_counted.value ==
                (double)rl_run_row(run, "stencil_global")->flop.value);
    assert_true(rl_run_row(run, "vector_add")->flop_counted.value == (double)rl_run_row(run, "vector_add")->flop.value);
    free_both(fake, run);
}

static void test_refused_sessions_are_timed_only(void **state)
{
    static const char *const statuses[] = {"counters_permission", "counters_busy", "counters_unsupported",
                                           "counters_driver"};

    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct fake_backend *fake = fake_new();
        struct rl_run *run;

        fake->count_status = statuses[i];
        run = run_whole(fake, NULL);
        assert_string_equal(run->counters.status, statuses[i]);
        assert_string_equal(run->counters.why.value, "refused by the model");
        assert_string_equal(run->rows[3].state[RL_WARM].bytes.dram.why, "refused by the model");
        assert_string_equal(run->rows[3].state[RL_WARM].bytes.l1.why, "refused by the model");
        assert_string_equal(run->rows[3].state[RL_COLD].occupancy.why, "refused by the model");
        assert_string_equal(run->rows[3].flop_counted.why, "refused by the model");
        assert_string_equal(run->counters.floor_dram_bytes.why, "refused by the model");
        assert_unknown(run, "counters_self_test");
        assert_unknown(run, "every_kernel_has_dram_row");
        assert_unknown(run, "copy_streams_dram");
        assert_unknown(run, "flop_counted_equals_hand");
        assert_unknown(run, "steady");
        assert_int_equal(run->outcome, RL_OK);
        assert_false(run->counter_backed);
        free_both(fake, run);
    }
}

static void count_nameless(void *arg, enum rl_code code, const char *message)
{
    (void)message;
    *(unsigned *)arg += code == RL_E_NONE;
}

/* A session that is off, as a recording may say, is no error: a warning's code has to be one of the catalogue. */
static void test_a_session_that_is_off_warns_of_nothing(void **state)
{
    unsigned nameless = 0;
    const struct engine_events events = {.arg = &nameless, .warning = count_nameless};
    struct engine_request request = whole_request();
    struct fake_backend *fake = fake_new();
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    (void)state;
    fake->count_status = "off";
    assert_int_equal(engine_run(&fake->base, &request, &events, &run, &err), 0);
    assert_string_equal(run->counters.status, "off");
    assert_int_equal(nameless, 0);
    free_both(fake, run);
}

static void test_a_counter_error_is_a_status(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    fake->count_error = RL_E_COUNTERS_FAILED;
    run = run_whole(fake, NULL);
    assert_string_equal(run->counters.status, "counters_failed");
    assert_string_equal(run->counters.why.value, "the session failed");
    free_both(fake, run);
}

static void test_other_errors_end_the_run(void **state)
{
    struct fake_backend *fake = fake_new();
    struct engine_request request = whole_request();
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    (void)state;
    fake->count_error = RL_E_CUDA_FAILED;
    assert_int_equal(engine_run(&fake->base, &request, NULL, &run, &err), -1);
    assert_int_equal(err.code, RL_E_CUDA_FAILED);
    fake->base.ops->close(&fake->base);
}

/* Byte columns null with what was seen, never zero. */
static void assert_unreliable(struct fake_backend *fake, const char *says)
{
    struct rl_run *run = run_whole(fake, NULL);

    assert_string_equal(run->counters.status, "counters_unreliable");
    if (!strstr(run->counters.why.value, says))
        fail_msg("%s lacks %s", run->counters.why.value, says);
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state s = 0; s < RL_STATE_COUNT; s++) {
            const struct rl_bytes *bytes = &run->rows[i].state[s].bytes;

            assert_non_null(strstr(bytes->dram.why, says));
            assert_non_null(bytes->l1.why);
            assert_non_null(bytes->l2.why);
            assert_non_null(bytes->dram_settled.why);
            assert_non_null(run->rows[i].state[s].percent_of_ceiling.why);
        }
    assert_non_null(rl_run_ceiling(run, "dram_copy", RL_WARM)->dram.why);
    assert_failed(run, "counters_self_test");
    assert_false(run->counter_backed);
    assert_int_equal(run->outcome, RL_OK); /* the times are right */
    free_both(fake, run);
}

static void test_unreliable_counters(void **state)
{
    struct fake_backend *fake = fake_new();

    (void)state;
    fake->all_zero = true;
    assert_unreliable(fake, "zero in all");
    fake = fake_new();
    fake->all_absent = true;
    assert_unreliable(fake, "none of 22 ranges has DRAM bytes: dropped");
    fake = fake_new();
    fake->zero_dram = "vector_add";
    assert_unreliable(fake, "zero DRAM bytes on vector_add");
    fake = fake_new();
    fake->copy_warm = 1.5;
    assert_unreliable(fake, "1.5000");
    fake = fake_new();
    fake->absent_dram = "dram_copy";
    assert_unreliable(fake, "could not be made");
}

static void test_small_is_an_answer(void **state)
{
    struct fake_backend *fake = fake_new();
    struct rl_run *run;

    (void)state;
    /* a kernel that is not streaming may move nothing */
    fake->zero_dram = "matmul_naive";
    run = run_whole(fake, NULL);
    assert_string_equal(run->counters.status, "ok");
    assert_true(rl_is_known(rl_run_row(run, "matmul_naive")->state[RL_WARM].bytes.dram));
    assert_true(rl_run_row(run, "matmul_naive")->state[RL_WARM].bytes.dram.value == 0);
    assert_true(run->counter_backed);
    free_both(fake, run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_per_launch),
        cmocka_unit_test(test_settled_under_three_spreads_is_null),
        cmocka_unit_test(test_settled_below_the_flush_is_null),
        cmocka_unit_test(test_ranges_have_the_timed_launches),
        cmocka_unit_test(test_weights_of_flop),
        cmocka_unit_test(test_refused_sessions_are_timed_only),
        cmocka_unit_test(test_a_session_that_is_off_warns_of_nothing),
        cmocka_unit_test(test_a_counter_error_is_a_status),
        cmocka_unit_test(test_other_errors_end_the_run),
        cmocka_unit_test(test_unreliable_counters),
        cmocka_unit_test(test_small_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
