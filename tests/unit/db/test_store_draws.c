/* The draws of comparisons: which runs, what is known of them, and which are left out. */
#include "tests/unit/db/store_spec.h"

#include <math.h>

#include "db/history/observations.h"
#include "db/runs/retention.h"

static void draws_are_the_newest_eligible_runs(void **state)
{
    struct fixture *f = *state;
    struct store_side side = {.device = DEVICE_A, .sizes = "course", .driver = "1", .limit = 3};
    struct store_observations draws;

    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1"});                     /* 1 */
    store_run(f, (struct spec){.date_ms = DAY0 + 1, .driver = "1", .timed_only = true}); /* 2 */
    store_run(f, (struct spec){.date_ms = DAY0 + 3, .driver = "1", .cuda = "12.6"});     /* 3 */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1", .timed_only = true}); /* 4 */
    store_run(f, (struct spec){.date_ms = DAY0 + 9, .driver = "1", .flag = "throttled"});
    store_run(f, (struct spec){.date_ms = DAY0 + 9, .driver = "1", .outcome = RL_REFUSED});
    store_run(f, (struct spec){.date_ms = DAY0 + 9, .driver = "2"}); /* 7 */
    store_run(f, (struct spec){.date_ms = DAY0 + 9, .driver = "1", .source = RL_REPLAYED});
    store_run(f, (struct spec){.date_ms = DAY0 + 9, .driver = "1", .device = DEVICE_B});
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 3);
    assert_int_equal(draws.draws[0].run_id, 4);
    assert_int_equal(draws.draws[1].run_id, 1);
    assert_int_equal(draws.draws[2].run_id, 3);
    assert_string_equal(draws.draws[2].cuda, "12.6");
    store_observations_fini(&draws);
    side.cuda = "13.0";
    side.before_ms = DAY0 + 5;
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 1);
    assert_int_equal(draws.draws[0].run_id, 2);
    store_observations_fini(&draws);
    side = (struct store_side){.device = DEVICE_A, .sizes = "course", .limit = 100}; /* any driver: history's spread */
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 5);
    assert_int_equal(draws.draws[0].run_id, 7);
    store_observations_fini(&draws);
    side.sizes = "scaled";
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 0);
    store_observations_fini(&draws);
    side.sizes = "course";
    store_run(f, (struct spec){.date_ms = DAY0, .method = 2}); /* older, and of a newer method */
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 1);
    assert_int_equal(draws.draws[0].method_version, 2);
    store_observations_fini(&draws);
    side.method_version = 1;
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 5);
    store_observations_fini(&draws);
}

static void expect_left_out(struct fixture *f, const struct store_side *side, const int64_t *ids, size_t count)
{
    struct store_observations draws;

    OK(f, store_history_observations(f->store, side, &draws, &f->err));
    assert_int_equal(draws.left_out_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(draws.left_out[i].run_id, ids[i]);
        assert_true(!draws.left_out[i].eligible || draws.left_out[i].method_version != 1);
        assert_string_equal(draws.left_out[i].device, DEVICE_A);
        assert_int_equal(draws.left_out[i].row_count, 0);
    }
    store_observations_fini(&draws);
}

static void runs_that_are_no_draws_are_named(void **state)
{
    struct fixture *f = *state;
    struct store_side side = {
        .device = DEVICE_A, .sizes = "course", .driver = "1", .limit = 2, .left_out_limit = STORE_OBSERVATIONS_MAX};

    store_run(f, (struct spec){.date_ms = DAY0 + 1, .driver = "1", .flag = "shared"});                     /* 1 */
    store_run(f, (struct spec){.date_ms = DAY0 + 2, .driver = "1"});                                       /* 2 */
    store_run(f, (struct spec){.date_ms = DAY0 + 3, .driver = "1", .flag = "driver_changed"});             /* 3 */
    store_run(f, (struct spec){.date_ms = DAY0 + 4, .driver = "1"});                                       /* 4 */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1", .outcome = RL_REFUSED});                /* 5 */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1", .outcome = RL_PARTIAL, .method = 2});   /* 6 */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "2", .flag = "shared"});                     /* another */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1", .flag = "shared", .device = DEVICE_B}); /* side's */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .driver = "1", .flag = "shared", .source = RL_REPLAYED}); /* runs */
    expect_left_out(f, &side, (int64_t[]){6, 5, 3}, 3); /* 1 is older than the oldest draw */
    side.limit = 3;                                     /* there is room for more: so it would have been one */
    expect_left_out(f, &side, (int64_t[]){6, 5, 3, 1}, 4);
    side.left_out_limit = 2;
    expect_left_out(f, &side, (int64_t[]){6, 5}, 2);
    side.before_ms = DAY0 + 5;
    expect_left_out(f, &side, (int64_t[]){3, 1}, 2);
    side.left_out_limit = 0;
    expect_left_out(f, &side, NULL, 0);
    side.left_out_limit = STORE_OBSERVATIONS_MAX + 1;
    struct store_observations draws;
    FAILS(f, RL_E_BAD_FIELD, store_history_observations(f->store, &side, &draws, &f->err));
}

static void eligible_runs_of_another_method_are_named(void **state)
{
    struct fixture *f = *state;
    struct store_side side = {.device = DEVICE_A,
                              .sizes = "course",
                              .limit = 2,
                              .left_out_limit = STORE_OBSERVATIONS_MAX,
                              .method_version = 1};

    store_run(f, (struct spec){.date_ms = DAY0 + 1, .method = 3});                /* 1: older than the oldest draw */
    store_run(f, (struct spec){.date_ms = DAY0 + 2});                             /* 2 */
    store_run(f, (struct spec){.date_ms = DAY0 + 3, .method = 2});                /* 3 */
    store_run(f, (struct spec){.date_ms = DAY0 + 4});                             /* 4 */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .method = 2, .driver = "2"}); /* 5 */
    store_run(f, (struct spec){.date_ms = DAY0 + 6, .flag = "shared"});           /* 6 */
    store_run(f, (struct spec){.date_ms = DAY0 + 7, .method = 4});                /* 7 */
    expect_left_out(f, &side, (int64_t[]){7, 6, 5, 3}, 4);
    side.left_out_limit = 3;
    expect_left_out(f, &side, (int64_t[]){7, 6, 5}, 3);
    side.left_out_limit = STORE_OBSERVATIONS_MAX;
    side.limit = 3;
    expect_left_out(f, &side, (int64_t[]){7, 6, 5, 3, 1}, 5);
}

static void a_draw_has_the_flags_of_an_import(void **state)
{
    static const char *const flags[] = {"unsettled", "single_launch", "launches_differ", "time_derived"};
    struct fixture *f = *state;
    struct store_side side = {.runs = (int64_t[]){1}, .run_count = 1};
    struct rl_run *run = sample_run_small();
    struct rl_row_state *cold = &run->rows[0].state[RL_COLD];
    struct store_observations draws;
    int found = 0;

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rl_strings_add(run->arena, &cold->flags, flags[i]), 0);
    run->device.id = DEVICE_A;
    run->source = RL_IMPORTED;
    add_run(f, run);
    rl_run_free(run);
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    for (size_t i = 0; i < draws.draws[0].row_count; i++) {
        const struct store_observation_row *row = &draws.draws[0].rows[i];
        bool flagged = !row->ceiling && row->state == RL_COLD;

        found += flagged;
        assert_int_equal(row->flags & ~127u, flagged ? RL_ROW_UNSETTLED | RL_ROW_SINGLE_LAUNCH |
                                                           RL_ROW_LAUNCHES_DIFFER | RL_ROW_TIME_DERIVED
                                                     : 0);
    }
    assert_int_equal(found, 1);
    store_observations_fini(&draws);
    OK(f, store_run_retire(f->store, 1, "test", T0, &f->err)); /* takes them with it */
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row_import"), 0);
}

static void draws_equal_sorting(void **state)
{
    struct fixture *f = *state;
    int64_t dates[120];
    uint32_t seed = 11;
    struct store_observations draws;

    for (int i = 0; i < 120; i++) {
        dates[i] = DAY0 + random_next(&seed) % 50 * 60000;
        store_run(f, (struct spec){.date_ms = dates[i],
                                   .driver = random_next(&seed) % 2 ? "1" : "2",
                                   .timed_only = random_next(&seed) % 2});
    }
    for (int limit = 1; limit <= 100; limit += 11) {
        struct store_side side = {.device = DEVICE_A, .sizes = "course", .limit = limit};

        OK(f, store_history_observations(f->store, &side, &draws, &f->err));
        assert_int_equal(draws.count, limit);
        for (int i = 0; i < limit; i++) {
            int newer = 0;
            int64_t id = draws.draws[i].run_id;

            for (int k = 0; k < 120; k++)
                newer += dates[k] > dates[id - 1] || (dates[k] == dates[id - 1] && k + 1 > id);
            assert_int_equal(newer, i);
        }
        store_observations_fini(&draws);
    }
}

static void draws_of_some_kernels_with_all_ceilings(void **state)
{
    struct fixture *f = *state;
    const char *const kernels[] = {"void sum<float, 4>(int)"}, *unknown[] = {"vector_add", "vector_sub"};
    struct store_side side = {.runs = (int64_t[]){1, 2}, .run_count = 2, .kernels = kernels, .kernel_count = 1};
    struct rl_run *run = sample_run_small();
    struct rl_row first = run->rows[0];
    struct store_observations draws;

    sample_rows(run, 2);
    run->rows[0] = run->rows[1] = first;
    run->rows[1].kernel = kernels[0];
    run->device.id = DEVICE_A;
    run->source = RL_IMPORTED;
    assert_int_equal(rl_strings_add(run->arena, &run->rows[0].state[RL_COLD].flags, "unsettled"), 0);
    assert_int_equal(rl_strings_add(run->arena, &run->rows[1].state[RL_COLD].flags, "single_launch"), 0);
    add_run(f, run);
    rl_run_free(run);
    store_run(f, (struct spec){.date_ms = DAY0}); /* without that kernel */
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.draws[0].row_count, 5);
    assert_int_equal(draws.draws[1].row_count, 3);
    assert_int_equal(draws.row_count, 8);
    for (size_t i = 0; i < 5; i++) {
        const struct store_observation_row *row = &draws.draws[0].rows[i];
        bool cold = !row->ceiling && row->state == RL_COLD;

        assert_true(row->ceiling || strcmp(row->unit, kernels[0]) == 0);
        assert_int_equal(row->flags & (RL_ROW_UNSETTLED | RL_ROW_SINGLE_LAUNCH), cold ? RL_ROW_SINGLE_LAUNCH : 0);
    }
    store_observations_fini(&draws);
    side.kernels = unknown;
    side.kernel_count = 2;
    FAILS(f, RL_E_NOT_FOUND, store_history_observations(f->store, &side, &draws, &f->err));
    assert_non_null(strstr(f->err.message, "vector_sub"));
    side.kernel_count = STORE_OBSERVATION_KERNELS_MAX + 1;
    FAILS(f, RL_E_BAD_FIELD, store_history_observations(f->store, &side, &draws, &f->err));
}

/* A run of store_run has five rows. */
static void no_more_rows_than_asked_for(void **state)
{
    struct fixture *f = *state;
    struct store_side side = {.device = DEVICE_A, .sizes = "course", .limit = 3, .rows_max = 15};
    struct store_observations draws;

    for (int i = 0; i < 4; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + i});
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 3);
    assert_int_equal(draws.row_count, 15);
    store_observations_fini(&draws);
    side.rows_max = 14;
    FAILS(f, RL_E_TOO_LARGE, store_history_observations(f->store, &side, &draws, &f->err));
    side.fewer_runs = true;
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 2);
    assert_int_equal(draws.row_count, 10);
    assert_int_equal(draws.draws[0].run_id, 4);
    store_observations_fini(&draws);
    side.rows_max = 4;
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 0);
    store_observations_fini(&draws);
}

static void a_draw_says_what_is_known(void **state)
{
    struct fixture *f = *state;
    int64_t ids[] = {2, 1};
    struct store_side side = {.runs = ids, .run_count = 2};
    struct store_observations draws;
    const struct store_observation *draw;
    int found = 0;

    store_run(f, (struct spec){.date_ms = DAY0});
    store_run(f, (struct spec){.date_ms = DAY0, .flag = "shared", .outcome = RL_PARTIAL});
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 2);
    draw = &draws.draws[0];
    assert_int_equal(draw->run_id, 2);
    assert_false(draw->eligible);
    assert_int_equal(draw->flags, RL_RUN_SHARED);
    assert_string_equal(draw->outcome, "partial");
    draw = &draws.draws[1];
    assert_true(draw->eligible);
    assert_string_equal(draw->device, DEVICE_A);
    assert_int_equal(draw->ecc, 1);
    assert_null(draw->mig);
    assert_true(draw->power_limit_w == 700);
    assert_true(draw->floor_dram_bytes == 100);
    assert_string_equal(draw->build, "0.1.0+test");
    assert_int_equal(draw->row_count, 5);
    for (size_t i = 0; i < draw->row_count; i++) {
        const struct store_observation_row *row = &draw->rows[i];

        if (strcmp(row->unit, "vector_add") == 0 && row->state == RL_COLD) {
            assert_false(row->ceiling);
            assert_int_equal(row->launches, 1);
            assert_true(row->time_s == 55e-6 && row->dram_bytes == 174.3e6 && row->settled_bytes == 201.5e6);
            assert_int_equal(row->ask_bytes, 201326592);
            assert_int_equal(row->flags, RL_ROW_WRITEBACK_UNPAID);
            assert_true(isnan(row->sm_hz) && isnan(row->value));
            assert_non_null(row->bound);
            found |= 1;
        }
        if (strcmp(row->unit, "fp32_fma") == 0) {
            assert_true(row->ceiling && row->value == 60e12 && isnan(row->time_s) && row->ask_bytes == -1);
            assert_null(row->bound);
            found |= 2;
        }
    }
    assert_int_equal(found, 3);
    store_observations_fini(&draws);
    ids[1] = 2;
    FAILS(f, RL_E_BAD_FIELD, store_history_observations(f->store, &side, &draws, &f->err));
    ids[1] = 77;
    FAILS(f, RL_E_RUN_NOT_FOUND, store_history_observations(f->store, &side, &draws, &f->err));
    assert_non_null(strstr(f->err.message, "77"));
    side.run_count = 0;
    FAILS(f, RL_E_BAD_FIELD, store_history_observations(f->store, &side, &draws, &f->err));
    side = (struct store_side){.device = DEVICE_A, .sizes = "course", .limit = STORE_OBSERVATIONS_MAX + 1};
    FAILS(f, RL_E_BAD_FIELD, store_history_observations(f->store, &side, &draws, &f->err));
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(draws_are_the_newest_eligible_runs),
        WITH_STORE(draws_equal_sorting),
        WITH_STORE(runs_that_are_no_draws_are_named),
        WITH_STORE(eligible_runs_of_another_method_are_named),
        WITH_STORE(a_draw_says_what_is_known),
        WITH_STORE(a_draw_has_the_flags_of_an_import),
        WITH_STORE(draws_of_some_kernels_with_all_ceilings),
        WITH_STORE(no_more_rows_than_asked_for),
    };

    return cmocka_run_group_tests_name("store: draws", tests, NULL, NULL);
}
