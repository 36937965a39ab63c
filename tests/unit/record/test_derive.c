/* Rates, bounds, advice and flags: known answers from the published T4 table and METHOD's H200 figures, and each rule
 * at both sides of its threshold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"
#include "tests/unit/record/sample_run.h"

#define assert_near(seen, wanted, tolerance)                                                                           \
    do {                                                                                                               \
        double seen_ = (seen), wanted_ = (wanted);                                                                     \
        if (!(fabs(seen_ - wanted_) <= (tolerance)))                                                                   \
            fail_msg("%s is %.17g, not %.17g", #seen, seen_, wanted_);                                                 \
    } while (0)
#define assert_known(real, wanted, tolerance)                                                                          \
    do {                                                                                                               \
        struct rl_real real_ = (real);                                                                                 \
        if (real_.why != NULL)                                                                                         \
            fail_msg("%s is unknown: %s", #real, real_.why);                                                           \
        assert_near(real_.value, wanted, tolerance);                                                                   \
    } while (0)
#define assert_unknown(real, reason)                                                                                   \
    do {                                                                                                               \
        assert_non_null((real).why);                                                                                   \
        assert_string_equal((real).why, reason);                                                                       \
    } while (0)

static void t4_table(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    assert_known(run->ridge_flop_per_byte, 30.49, 1e-9);
    assert_true(run->counter_backed);
    for (size_t i = 0; i < 10; i++) {
        const struct rl_row_state *s = &run->rows[i].state[RL_WARM];
        /* The printed megabytes have one decimal, so the ratio is only as good as half of the last digit. */
        assert_known(s->dram_per_ask, t4_rows[i].per_ask, 0.05e6 / (double)t4_rows[i].ask + 0.00005);
        assert_known(s->percent_of_ceiling, t4_rows[i].percent, 1e-9);
        assert_known(s->dram_byte_per_s, t4_rows[i].percent * 2.451e9, 1);
        assert_int_equal(rl_strings_has(&s->flags, "above_ceiling"), t4_rows[i].percent > 100);
        assert_int_equal(rl_strings_has(&s->flags, "cache_resident"), t4_rows[i].per_ask < 0.5);
        assert_false(rl_strings_has(&s->flags, "at_floor"));
        assert_int_equal(rl_strings_has(&s->flags, "above_roof"), t4_rows[i].percent > 115);
        if (t4_rows[i].percent > 115) { /* the mix of reads and writes is not told: the wider limit */
            assert_unknown(s->advice_code,
                           "counts, time or roof must be wrong: DRAM traffic stands at 117 percent of its roof");
            continue;
        }
        const char *wanted = t4_rows[i].per_ask > 1.25  ? "fix_access"
                             : t4_rows[i].percent >= 80 ? "change_algorithm"
                                                        : "fix_kernel";
        assert_string_equal(s->advice_code.value, wanted);
        assert_non_null(s->advice.value);
    }
    rl_run_free(run);
}

static void t4_rows_under_the_roof(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    struct rl_row_state *add = &rl_run_row(run, "vector_add")->state[RL_WARM];
    assert_known(add->intensity.ask, 1.0 / 12, 1e-12);
    assert_known(add->intensity.dram, 16777216 / 219.9e6, 1e-12);
    assert_known(add->percent_of_roof, 116.9, 1e-9); /* of memory: flop rate over intensity x roof is the byte rate */
    assert_string_equal(add->bound.value, "memory");
    /* "about 64 FLOP per byte, right of the measured ridge" */
    struct rl_row_state *matmul = &rl_run_row(run, "matmul_naive")->state[RL_WARM];
    assert_known(matmul->intensity.dram, 64, 0.5);
    assert_true(matmul->intensity.dram.value > run->ridge_flop_per_byte.value);
    assert_known(matmul->attainable_flop_per_s, 30.49 * 245.1e9, 1);
    assert_string_equal(matmul->bound.value, "latency"); /* 3.8 percent of memory, 8 of compute */
    struct rl_row_state *polynomial = &rl_run_row(run, "polynomial256")->state[RL_WARM];
    assert_known(polynomial->intensity.dram, 8606711808 / 170.8e6, 1e-6);
    assert_string_equal(polynomial->bound.value, "compute");
    assert_known(polynomial->percent_of_roof, 100.3, 0.1);
    struct rl_row_state *transpose = &rl_run_row(run, "transpose_naive")->state[RL_WARM];
    assert_known(transpose->flop_per_s, 0, 0);
    assert_unknown(transpose->intensity.dram, "the kernel does no floating-point work");
    assert_unknown(transpose->attainable_flop_per_s, "the kernel does no floating-point work");
    assert_known(transpose->percent_of_roof, 111.5, 1e-9);
    assert_string_equal(transpose->bound.value, "memory");
    struct rl_row_state *reduction = &rl_run_row(run, "block_reduction")->state[RL_WARM];
    assert_string_equal(reduction->bound.value, "memory"); /* 65.5 percent: above 60, below 80 */
    rl_run_free(run);
}

static void t4_verified_again(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_t4();
    run->ceilings[0].value = rl_known(247.7e9);
    run->ceilings[1].value = rl_known(7489.8e9);
    rl_derive(run);
    assert_known(run->ridge_flop_per_byte, 30.24, 0.005);
    rl_run_free(run);
}

static char *as_text(const struct rl_run *run)
{
    struct rl_buf out;
    rl_buf_init(&out, 1 << 20);
    json_t *json = rl_run_to_json(run);
    assert_int_equal(rl_json_write(json, &out), 0);
    json_decref(json);
    return rl_buf_take(&out);
}

static void twice_is_once(void **state)
{
    (void)state;
    struct rl_run *runs[] = {sample_run_small(), sample_run_t4()};
    for (size_t i = 0; i < 2; i++) {
        char *once = as_text(runs[i]);
        rl_derive(runs[i]);
        char *twice = as_text(runs[i]);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
        rl_run_free(runs[i]);
    }
}

static void small_run(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    assert_known(run->ceilings[0].value, 2135000000 / 0.0005, 1); /* work over time, not the figure given */
    assert_known(run->ceilings[0].percent_of_nominal, 4270 / 48.0, 1e-9);
    assert_unknown(run->ceilings[0].dram_per_ask, "not measured in this test");
    assert_unknown(run->ceilings[2].dram_per_ask, "a compute ceiling asks for no bytes");
    struct rl_row_state *warm = &run->rows[0].state[RL_WARM], *cold = &run->rows[0].state[RL_COLD];
    assert_known(warm->bytes.dram, 201.3e6, 1e-3);
    assert_known(warm->bytes.dram_settled, 201.3e6, 1e-3);
    assert_true(rl_strings_has(&warm->flags, "clock_moved"));
    assert_false(rl_strings_has(&warm->flags, "writeback_unpaid"));
    assert_known(cold->dram_per_ask, 201.5e6 / 201326592, 1e-12); /* settled */
    assert_known(cold->dram_byte_per_s, 174.3e6 / 55e-6, 10);     /* what moved during the launch */
    assert_known(cold->percent_of_ceiling, 174.3e6 / 55e-6 / 4200e9 * 100, 1e-9);
    assert_known(cold->intensity.dram, 16777216 / 201.5e6, 1e-12);
    assert_true(rl_strings_has(&cold->flags, "writeback_unpaid"));
    assert_unknown(cold->bytes.dram_4n, "a single launch is counted when cold");
    rl_run_free(run);
}

/* A run of one warm row: 1000 flop and 1 MB asked, in 1 us. */
static struct rl_run *one_row(double read, double write)
{
    struct rl_run *run = rl_run_new();
    sample_head(run);
    run->ceilings = rl_arena_array(run->arena, 8, sizeof *run->ceilings);
    run->ceiling_count = 2;
    sample_ceiling(&run->ceilings[0], "dram_copy", RL_WARM, "byte_per_s", 4270e9);
    sample_ceiling(&run->ceilings[1], "fp32_fma", RL_WARM, "flop_per_s", 60e12);
    struct rl_row *row = sample_rows(run, 1);
    row->kernel = row->title = "k";
    row->flop = sample_count(1000);
    row->ask_bytes = sample_count(1000000);
    sample_state(row, RL_WARM, 1e-6, read, write);
    rl_derive(run);
    return run;
}

static void ceilings(void **state)
{
    (void)state;
    struct rl_run *run = one_row(1e6, 1e6);
    /* A ceiling that was withheld stays so, whatever was timed. */
    run->ceilings[1].value = rl_unknown("twice the work took 1.3 times the time");
    run->ceilings[1].work = sample_count(1000);
    run->ceilings[1].time_s = sample_times(1e-6);
    rl_derive(run);
    assert_unknown(run->ceilings[1].value, "twice the work took 1.3 times the time");
    assert_unknown(run->ridge_flop_per_byte, "twice the work took 1.3 times the time");
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    assert_unknown(s->attainable_flop_per_s, "twice the work took 1.3 times the time");
    assert_unknown(s->bound, "twice the work took 1.3 times the time");
    assert_known(s->percent_of_ceiling, 2e12 / 4270e9 * 100, 1e-9);
    run->ceiling_count = 0;
    rl_derive(run);
    assert_unknown(run->ridge_flop_per_byte, "the run has no fp32_fma ceiling");
    assert_unknown(s->percent_of_ceiling, "the run has no warm dram_copy ceiling");
    assert_string_equal(s->advice_code.value, "fix_access"); /* 2 bytes per byte asked need no ceiling */
    run->rows[0].ask_bytes = sample_count(4000000);
    rl_derive(run);
    assert_unknown(s->advice_code, "the run has no warm dram_copy ceiling");
    rl_run_free(run);
}

static double roof(struct rl_run *run)
{
    const struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    rl_derive(run);
    return s->attainable_flop_per_s.value / s->intensity.dram.value;
}

static void memory_roof_of_the_own_mix(void **state)
{
    (void)state;
    struct rl_run *run = one_row(3e6, 1e6);
    assert_near(roof(run), 4270e9, 1); /* no envelope: the copy's */
    run->ceiling_count = 5;
    sample_ceiling(&run->ceilings[2], "dram_read", RL_WARM, "byte_per_s", 4571e9);
    sample_ceiling(&run->ceilings[3], "dram_write", RL_WARM, "byte_per_s", 4651e9);
    sample_ceiling(&run->ceilings[4], "dram_triad", RL_WARM, "byte_per_s", 4381e9);
    struct rl_bytes *bytes = &run->rows[0].state[RL_WARM].bytes;
    static const struct {
        double read, write, roof;
    } cases[] = {
        {4e6, 0, 4571e9},
        {0, 4e6, 4651e9},
        {2e6, 2e6, 4270e9},
        {4e6, 2e6, 4381e9},
        {3e6, 1e6, 1 / (0.75 / 4381e9 + 0.25 / 4571e9)},
        {1e6, 3e6, 1 / (0.5 / 4651e9 + 0.5 / 4270e9)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes->dram_read = rl_known(cases[i].read);
        bytes->dram_write = rl_known(cases[i].write);
        assert_near(roof(run), cases[i].roof, 1e3);
    }
    /* Only the read ceiling beside the copy: a writing row has no measured mix beyond the copy's. */
    run->ceiling_count = 3;
    assert_near(roof(run), 4270e9, 1e3);
    /* Of another state: no envelope at all. */
    run->ceilings[2].state = RL_COLD;
    bytes->dram_read = rl_known(4e6);
    bytes->dram_write = rl_known(0);
    assert_near(roof(run), 4270e9, 1e3);
    rl_run_free(run);
}

static void bounds_and_advice(void **state)
{
    (void)state;
    struct rl_run *run = one_row(0, 0);
    struct rl_row *row = &run->rows[0];
    struct rl_row_state *s = &row->state[RL_WARM];
    static const struct {
        double memory, compute; /* percent of the roofs */
        double per_ask;
        const char *bound, *advice, *names;
    } cases[] = {
        {59.9, 10, 1, "latency", "fix_kernel", "DRAM"},       {60.1, 10, 1, "memory", "fix_kernel", "DRAM"},
        {79.9, 10, 1, "memory", "fix_kernel", "DRAM"},        {80.1, 10, 1, "memory", "change_algorithm", "DRAM"},
        {10, 60.1, 1, "compute", "fix_kernel", "compute"},    {10, 80.1, 1, "compute", "change_algorithm", "compute"},
        {90, 10, 1.26, "memory", "fix_access", "1.26"},       {90, 10, 1.2499, "memory", "change_algorithm", "DRAM"},
        {10, 20, 1.2499, "latency", "fix_kernel", "compute"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double bytes = cases[i].memory / 100 * 4270e9 * 1e-3;
        s->time_s.median = rl_known(1e-3);
        s->bytes.dram_read = rl_known(bytes / 2);
        s->bytes.dram_write = rl_known(bytes / 2);
        row->ask_bytes = sample_count((int64_t)(bytes / cases[i].per_ask));
        row->flop = sample_count((int64_t)(cases[i].compute / 100 * 60e12 * 1e-3));
        rl_derive(run);
        assert_string_equal(s->bound.value, cases[i].bound);
        assert_string_equal(s->advice_code.value, cases[i].advice);
        assert_non_null(strstr(s->advice.value, cases[i].names));
    }
    /* A roof of L2 makes its level count. */
    run->ceiling_count = 3;
    sample_ceiling(&run->ceilings[2], "l2_read", RL_WARM, "byte_per_s", 10e12);
    s->bytes.l2_sm = rl_known(9.5e9);
    rl_derive(run);
    assert_string_equal(s->advice_code.value, "change_algorithm");
    assert_non_null(strstr(s->advice.value, "L2 runs at 95 percent"));
    s->bytes.l2 = rl_known(1);
    s->bytes.l1 = rl_known(5e9);
    rl_derive(run);
    assert_known(s->intensity.l2, 12e9 / 9.5e9, 1e-9); /* of the bytes between SMs and L2 */
    assert_known(s->intensity.l1, 12e9 / 5e9, 1e-9);
    rl_run_free(run);
}

/* A transpose whose half-used sectors stay in the L2: DRAM sees no waste, L1 does. */
static void waste_that_the_l2_absorbs(void **state)
{
    (void)state;
    struct rl_run *run = one_row(0.5e6, 0.5e6); /* far below every roof: else "give each SM more work" */
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    static const struct {
        double l1;
        const char *advice, *names;
    } cases[] = {{1.3e6, "fix_kernel", "DRAM"},
                 {2e6, "fix_kernel", "DRAM"},
                 {2.01e6, "fix_access", "L1 moves 2.01 bytes"},
                 {4.5e6, "fix_access", "L1 moves 4.50 bytes"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s->time_s.median = rl_known(1e-3);
        s->bytes.l1 = rl_known(cases[i].l1);
        rl_derive(run);
        assert_string_equal(s->bound.value, "latency");
        assert_string_equal(s->advice_code.value, cases[i].advice);
        assert_non_null(strstr(s->advice.value, cases[i].names));
        assert_int_equal(strstr(s->advice.value, "each SM") == NULL, strcmp(cases[i].advice, "fix_access") == 0);
    }
    s->bytes.dram_read = rl_known(1e6); /* waste in DRAM is told first */
    rl_derive(run);
    assert_non_null(strstr(s->advice.value, "DRAM moves 1.50 bytes"));
    rl_run_free(run);
}

static void floor_of_the_counter(void **state)
{
    (void)state;
    /* Floor 100 B, ten launches in a range: below 50 B per launch is at the floor. */
    struct rl_run *run = one_row(49, 0);
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    run->rows[0].ask_bytes = sample_count(100000); /* 10 B are a ten-thousandth of it: a lower floor */
    rl_derive(run);
    assert_true(rl_strings_has(&s->flags, "at_floor"));
    assert_true(rl_strings_has(&s->flags, "cache_resident"));
    assert_unknown(s->intensity.dram, "the DRAM bytes are at the counter's floor");
    assert_known(s->dram_per_ask, 49e-5, 1e-12);
    /* 1000 flop over at least 50 B is right of the ridge of 14: the FMA ceiling binds whatever the bytes are. */
    assert_known(s->attainable_flop_per_s, 60e12, 0);
    assert_string_equal(s->bound.value, "latency");
    run->rows[0].flop = sample_count(100); /* 2 flop/B at least: cannot be told */
    rl_derive(run);
    assert_unknown(s->attainable_flop_per_s, "the DRAM bytes are at the counter's floor");
    s->bytes.dram_read = rl_known(50);
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "at_floor"));
    assert_known(s->intensity.dram, 2, 1e-12);
    run->counters.floor_dram_bytes = rl_unknown("no empty range");
    s->bytes.dram_read = rl_known(0);
    rl_derive(run);
    assert_true(rl_strings_has(&s->flags, "at_floor"));
    rl_run_free(run);
}

/* A warm matmul that the L2 holds: its few bytes are other processes' as much as its own. */
static void next_to_nothing_when_warm(void **state)
{
    (void)state;
    /* 1 MB asked: 100 B are a ten-thousandth of it; the counter's floor is 50 B per launch. */
    struct rl_run *run = one_row(99, 0);
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    static const char why[] = "the DRAM bytes are below 0.0001 of the asked bytes, and others in each run";
    assert_true(rl_strings_has(&s->flags, "at_floor"));
    assert_unknown(s->intensity.dram, why);
    assert_known(s->bytes.dram, 99, 0);
    assert_known(s->dram_per_ask, 99e-6, 1e-12);
    /* 1000 flop over at least 100 B are 10 flop/B, left of the ridge of 14: cannot be told. 2000 are right of it. */
    assert_unknown(s->attainable_flop_per_s, why);
    run->rows[0].flop = sample_count(2000);
    rl_derive(run);
    assert_known(s->attainable_flop_per_s, 60e12, 0);
    s->bytes.dram_read = rl_known(49);
    rl_derive(run);
    assert_unknown(s->intensity.dram, "the DRAM bytes are at the counter's floor");
    s->bytes.dram_read = rl_known(100);
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "at_floor"));
    assert_known(s->intensity.dram, 20, 1e-12);
    run->rows[0].ask_bytes = (struct rl_count){0, "not counted by hand"};
    s->bytes.dram_read = rl_known(99);
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "at_floor"));
    /* A cold launch reads what it uses at least once: its few bytes are its own. */
    run->rows[0].ask_bytes = sample_count(100000000);
    s = sample_state(&run->rows[0], RL_COLD, 1e-6, 9000, 0);
    run->counters.flush_spread_bytes = rl_known(10);
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "at_floor"));
    rl_run_free(run);
}

static void settled_under_three_spreads(void **state)
{
    (void)state;
    struct rl_run *run = one_row(1e6, 0);
    struct rl_row_state *s = sample_state(&run->rows[0], RL_COLD, 1e-6, 1000, 0);
    run->ceiling_count = 3;
    sample_ceiling(&run->ceilings[2], "dram_copy", RL_COLD, "byte_per_s", 4200e9);
    s->bytes.dram_settled = rl_known(3071);
    for (int twice = 0; twice < 2; twice++) {
        rl_derive(run);
        assert_unknown(s->bytes.dram_settled, "the settled bytes are below three spreads of the flush alone");
        assert_unknown(s->dram_per_ask, "the settled bytes are below three spreads of the flush alone");
        assert_true(rl_strings_has(&s->flags, "at_floor"));
        assert_true(rl_strings_has(&s->flags, "cache_resident"));
        assert_string_equal(s->advice_code.value, "fix_kernel");
        assert_true(run->counter_backed);
    }
    s->bytes.dram_settled = rl_known(3073);
    rl_derive(run);
    assert_known(s->dram_per_ask, 3073e-6, 1e-12);
    rl_run_free(run);
}

static void write_back_left_unpaid(void **state)
{
    (void)state;
    struct rl_run *run = one_row(1e6, 0);
    struct rl_row_state *s = sample_state(&run->rows[0], RL_COLD, 1e-6, 1e6, 0);
    s->bytes.dram_settled = rl_known(1.0199e6);
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "writeback_unpaid"));
    s->bytes.dram_settled = rl_known(1.0201e6);
    rl_derive(run);
    assert_true(rl_strings_has(&s->flags, "writeback_unpaid"));
    s->bytes.dram_settled = rl_known(1e6);
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "writeback_unpaid")); /* a rule's flag goes when the rule no longer holds */
    rl_run_free(run);
}

static void steadiness(void **state)
{
    (void)state;
    struct rl_run *run = one_row(1e6, 0);
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    /* Floor 100 B and ten launches: 50 B per launch. A ten-thousandth of the ask is 10 B, or 200 B in the last two. */
    static const struct {
        double n, four_n;
        int64_t ask;
        bool flagged;
    } cases[] = {{1e6, 1.0099e6, 100000, false}, {1e6, 1.0102e6, 100000, true}, {1.0102e6, 1e6, 100000, true},
                 {1000, 1049, 100000, false},    {1000, 1051, 100000, true},    {1000, 1199, 2000000, false},
                 {1000, 1201, 2000000, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run->rows[0].ask_bytes = sample_count(cases[i].ask);
        s->bytes.dram_read = rl_known(cases[i].n);
        s->bytes.dram_4n = rl_known(cases[i].four_n);
        rl_derive(run);
        assert_int_equal(rl_strings_has(&s->flags, "not_steady"), cases[i].flagged);
    }
    assert_near(rl_unsteadiness(run, &run->rows[0]), 201.0 / 1201, 1e-12);
    s->bytes.dram_4n = rl_unknown("not counted");
    assert_true(isnan(rl_unsteadiness(run, &run->rows[0])));
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "not_steady"));
    rl_run_free(run);
}

static void without_counters(void **state)
{
    (void)state;
    struct rl_run *run = one_row(1e6, 0);
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    s->bytes.dram_read = s->bytes.dram_write = s->bytes.dram = rl_unknown("counters are refused");
    rl_derive(run);
    assert_false(run->counter_backed);
    assert_known(s->flop_per_s, 1e9, 1e-3);
    assert_known(s->intensity.ask, 1e-3, 1e-15);
    const struct rl_real unknown[] = {s->bytes.dram_settled, s->dram_per_ask,       s->intensity.dram,
                                      s->dram_byte_per_s,    s->percent_of_ceiling, s->attainable_flop_per_s,
                                      s->percent_of_roof};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_unknown(unknown[i], "counters are refused");
    assert_unknown(s->bound, "counters are refused");
    assert_unknown(s->advice, "counters are refused");
    assert_unknown(s->advice_code, "counters are refused");
    assert_int_equal(s->flags.count, 0);
    s->time_s.median = rl_unknown("the row was not timed");
    rl_derive(run);
    assert_unknown(s->flop_per_s, "the row was not timed");
    rl_run_free(run);
    run = rl_run_new();
    sample_head(run);
    rl_derive(run);
    assert_false(run->counter_backed);
    rl_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t4_table),
        cmocka_unit_test(t4_rows_under_the_roof),
        cmocka_unit_test(t4_verified_again),
        cmocka_unit_test(twice_is_once),
        cmocka_unit_test(small_run),
        cmocka_unit_test(ceilings),
        cmocka_unit_test(memory_roof_of_the_own_mix),
        cmocka_unit_test(bounds_and_advice),
        cmocka_unit_test(waste_that_the_l2_absorbs),
        cmocka_unit_test(floor_of_the_counter),
        cmocka_unit_test(next_to_nothing_when_warm),
        cmocka_unit_test(settled_under_three_spreads),
        cmocka_unit_test(write_back_left_unpaid),
        cmocka_unit_test(steadiness),
        cmocka_unit_test(without_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
