/* Roofs: of a row's own precisions and mix, lent, and what stands above them. Answers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "gpu/suites/document.h"
#include "tests/unit/record/sample_run.h"

#define assert_known(real, wanted, tolerance)                                                                          \
    do {                                                                                                               \
        struct rl_real real_ = (real);                                                                                 \
        if (real_.why != NULL)                                                                                         \
            fail_msg("%s is unknown: %s", #real, real_.why);                                                           \
        if (!(fabs(real_.value - (wanted)) <= (tolerance)))                                                            \
            fail_msg("%s is %.17g, not %.17g", #real, real_.value, (double)(wanted));                                  \
    } while (0)
#define assert_unknown(real, reason)                                                                                   \
    do {                                                                                                               \
        assert_non_null((real).why);                                                                                   \
        assert_string_equal((real).why, reason);                                                                       \
    } while (0)

/* An import of one warm kernel of its own: 8 ms, 12 MB read and 4 MB written, as many asked. */
static struct rl_run *own_kernel(void)
{
    struct rl_run *run = rl_run_new();
    sample_head(run);
    run->source = RL_IMPORTED;
    run->suite = "import";
    run->ceilings = rl_arena_array(run->arena, 8, sizeof *run->ceilings);
    run->ceiling_count = 2;
    sample_ceiling(&run->ceilings[0], "dram_copy", RL_WARM, "byte_per_s", 1e12);
    sample_ceiling(&run->ceilings[1], "fp32_fma", RL_WARM, "flop_per_s", 10e12);
    struct rl_row *row = sample_rows(run, 1);
    row->kernel = row->title = "own";
    row->ask_bytes = sample_count(16000000);
    sample_state(row, RL_WARM, 8e-3, 12e6, 4e6);
    return run;
}

static void add_ceiling(struct rl_run *run, const char *name, enum rl_state state, double value)
{
    sample_ceiling(&run->ceilings[run->ceiling_count++], name, state,
                   strncmp(name, "dram_", 5) == 0 || strstr(name, "_read") != NULL ? "byte_per_s" : "flop_per_s",
                   value);
}

static void counted(struct rl_run *run, double fp64, double fp32)
{
    run->rows[0].flop_by_precision = (struct rl_flop_by_precision){
        true, rl_known(fp64), rl_known(fp32), rl_unknown("not counted"), rl_unknown("not counted")};
}

static bool row_has(const struct rl_run *run, const char *flag)
{
    return rl_strings_has(&run->rows[0].flags, flag);
}

static void fp64_work_is_not_held_under_fp32(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    static const char why[] = "there is no fp64_fma ceiling for its FP64 work";
    run->rows[0].flop = sample_count(2000000000);
    counted(run, 2e9, 0);
    rl_derive(run);
    assert_known(s->flop_per_s, 250e9, 1);
    assert_unknown(s->attainable_flop_per_s, why);
    assert_unknown(s->percent_of_roof, why);
    assert_unknown(s->bound, why);
    assert_unknown(s->advice, why);
    assert_unknown(s->advice_code, why);
    assert_false(row_has(run, "fp32_assumed"));
    add_ceiling(run, "fp64_fma", RL_WARM, 500e9);
    rl_derive(run);
    assert_known(s->attainable_flop_per_s, 500e9, 0); /* intensity 125 times 1 TB/s is 125 Tflop/s */
    assert_known(s->percent_of_roof, 50, 1e-9);
    assert_string_equal(s->bound.value, "latency");
    assert_string_equal(s->advice_code.value, "fix_kernel");
    assert_true(s->levels.present);
    assert_known(s->levels.compute_flop_per_s, 500e9, 0);
    assert_known(s->levels.compute_percent, 50, 1e-9);
    assert_known(s->levels.dram_percent, 0.2, 1e-9); /* 16 MB in 8 ms are 2 GB/s */
    assert_unknown(s->levels.l2_byte_per_s, "no L2 roof");
    rl_run_free(run);
}

static void mixed_precisions_share_the_time(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    add_ceiling(run, "fp64_fma", RL_COLD, 1e12); /* no cold form: serves */
    run->rows[0].flop = sample_count(4000000000);
    counted(run, 1e9, 3e9);
    rl_derive(run);
    /* 1e9 at 1e12 take 1 ms, 3e9 at 10e12 take 0.3 ms: 4e9 in 1.3 ms */
    assert_known(s->attainable_flop_per_s, 4e9 / 1.3e-3, 1);
    assert_known(s->percent_of_roof, 100 * 1.3 / 8, 1e-9);
    /* FP32 alone is that ceiling, to the last bit. */
    counted(run, 0, 4e9);
    rl_derive(run);
    assert_true(s->attainable_flop_per_s.value == 10e12);
    rl_run_free(run);
}

static void tensor_work_stands_apart(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    struct rl_flop_by_precision *by = &run->rows[0].flop_by_precision;
    run->rows[0].flop = sample_count(600000000000);
    *by = (struct rl_flop_by_precision){true, rl_known(0), rl_known(1e9), rl_known(0), rl_known(599e9)};
    rl_derive(run);
    /* 75 Tflop/s are 750 percent of the FMA ceiling, which is none of it */
    assert_unknown(s->percent_of_roof, "there is no tensor ceiling for its tensor work");
    assert_unknown(s->advice, "there is no tensor ceiling for its tensor work");
    assert_false(rl_strings_has(&s->flags, "above_roof"));
    add_ceiling(run, "tensor_bf16", RL_WARM, 100e12);
    rl_derive(run);
    /* 599e9 at 100e12 are 5.99 ms, 1e9 at 10e12 0.1 ms: 6.09 of 8 */
    assert_known(s->percent_of_roof, 100 * 6.09 / 8, 1e-9);
    assert_string_equal(s->bound.value, "compute");
    add_ceiling(run, "tensor_fp8", RL_WARM, 200e12);
    rl_derive(run);
    assert_unknown(s->percent_of_roof, "there are several tensor ceilings, and the counters do not tell which "
                                       "precision its tensor work is of");
    /* Given as flop and not counted: the precision of the work is not known. */
    *by = (struct rl_flop_by_precision){true, rl_known(0), rl_known(1e9), rl_unknown("not counted"),
                                        rl_unknown("not counted")};
    rl_derive(run);
    assert_unknown(s->percent_of_roof, "more flop are given than were counted, and not every precision was counted: "
                                       "that of the rest is not known");
    assert_true(row_has(run, "flop_disagrees"));
    rl_run_free(run);
}

static void given_and_counted_flop(void **state)
{
    (void)state;
    static const struct {
        int64_t given;
        double counted;
        bool flagged;
    } cases[] = {{60000000000, 0, true},
                 {1000000, 1000999, false},
                 {1000000, 1001002, true},
                 {1000000, 998998, true},
                 {0, 0, false},
                 {0, 5, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_run *run = own_kernel();
        struct rl_row_state *s = &run->rows[0].state[RL_WARM];
        run->rows[0].flop = sample_count(cases[i].given);
        run->rows[0].flop_counted = rl_known(cases[i].counted);
        rl_derive(run);
        assert_int_equal(row_has(run, "flop_disagrees"), cases[i].flagged);
        assert_int_equal(s->explained.present && s->explained.flop.why == NULL, cases[i].flagged);
        assert_known(s->flop_per_s, (double)cases[i].given / 8e-3, 1); /* the given ones are used */
        run->source = RL_MEASURED;                                     /* has a check for it */
        rl_derive(run);
        assert_false(row_has(run, "flop_disagrees"));
        rl_run_free(run);
    }
    struct rl_run *run = own_kernel();
    run->rows[0].flop = sample_count(60000000000);
    run->rows[0].flop_counted = rl_known(0);
    rl_derive(run);
    assert_string_equal(run->rows[0].state[RL_WARM].explained.flop.value,
                        "60000000000 flop were given and 0 were counted: one of them is wrong, or the count leaves out "
                        "a precision. Rates and intensities use the given ones.");
    rl_run_free(run);
}

static void counted_flop_where_none_are_given(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    run->rows[0].flop_counted = rl_known(5242880);
    s->time_s.median = rl_known(60e-6);
    rl_derive(run);
    assert_known(s->flop_per_s, 5242880 / 60e-6, 1);
    assert_known(s->intensity.dram, 5242880 / 16e6, 1e-12);
    assert_known(s->intensity.ask, 5242880 / 16e6, 1e-12);
    assert_true(row_has(run, "flop_from_counters"));
    assert_true(row_has(run, "fp32_assumed"));
    assert_string_equal(s->explained.flop.value,
                        "No flop were given: rates and intensities use the 5242880 that were counted.");
    assert_non_null(run->rows[0].flop.why); /* what was given stays unknown */
    counted(run, 0, 5242880);
    rl_derive(run);
    assert_false(row_has(run, "fp32_assumed"));
    /* No FP32 and FP64 flop are not no flop. */
    counted(run, 0, 0);
    run->rows[0].flop_counted = rl_known(0);
    rl_derive(run);
    assert_unknown(s->flop_per_s, "no flop were given, and none were counted in the precisions that were looked at");
    run->rows[0].flop_by_precision.fp16 = run->rows[0].flop_by_precision.tensor = rl_known(0);
    rl_derive(run);
    assert_known(s->flop_per_s, 0, 0);
    assert_true(row_has(run, "flop_from_counters"));
    /* A measured run has hand counts; none of its numbers is taken from a counter. */
    run->source = RL_MEASURED;
    rl_derive(run);
    assert_false(row_has(run, "flop_from_counters"));
    assert_non_null(s->flop_per_s.why);
    rl_run_free(run);
}

/* Work that is at most the constants of each thread: its DRAM percentage does not depend on how much of it there is. */
static void constants_alone(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row *row = &run->rows[0];
    struct rl_row_state *s = &row->state[RL_WARM];
    /* 16 MB in 20 us: 0.8 TB/s of 1. At most 64 flop a thread: 16 flop in 4 bytes are above the ridge of 10. */
    sample_state(row, RL_WARM, 20e-6, 12e6, 4e6);
    row->flop = (struct rl_count){0, "not given"};
    row->flop_by_precision = (struct rl_flop_by_precision){true, rl_known(0), rl_known(0),
                                                           rl_unknown_by(RL_WHY_HALF_CONSTANTS), rl_known(0)};
    row->launch.dims_why = NULL;
    memcpy(row->launch.grid, (int64_t[3]){2000, 1, 1}, sizeof row->launch.grid);
    memcpy(row->launch.block, (int64_t[3]){500, 2, 1},
           sizeof row->launch.block); /* 2e6 threads: 1.28e8 flop, 8 a byte */
    rl_derive(run);
    assert_known(s->percent_of_roof, 80, 1e-9);
    assert_string_equal(s->bound.value, "memory");
    assert_string_equal(s->advice_code.value, "change_algorithm");
    assert_non_null(strstr(s->explained.roof.value, "memory roof"));
    assert_non_null(s->flop_per_s.why);
    assert_non_null(s->attainable_flop_per_s.why);
    assert_false(row_has(run, "flop_from_counters"));
    sample_state(row, RL_WARM, 200e-6, 12e6, 4e6);
    rl_derive(run);
    assert_known(s->percent_of_roof, 8, 1e-9);
    assert_string_equal(s->bound.value, "latency");
    /* 2.6e6 threads: 10.4 flop a byte may be at the compute roof */
    row->launch.grid[0] = 2600;
    rl_derive(run);
    assert_non_null(s->percent_of_roof.why);
    assert_non_null(s->bound.why);
    assert_false(s->explained.present);
    /* a roof of its own precision says more than FP32's */
    add_ceiling(run, "fp16_fma", RL_WARM, 20e12);
    rl_derive(run);
    assert_known(s->percent_of_roof, 8, 1e-9);
    /* not without the number of threads, nor beside work that was not counted or of another precision */
    row->launch.dims_why = "not said";
    rl_derive(run);
    assert_non_null(s->percent_of_roof.why);
    row->launch.dims_why = NULL;
    row->flop_by_precision.tensor = rl_unknown("not counted");
    rl_derive(run);
    assert_non_null(s->percent_of_roof.why);
    row->flop_by_precision.tensor = rl_known(0);
    row->flop_by_precision.fp16 = rl_unknown("not counted");
    rl_derive(run);
    assert_non_null(s->percent_of_roof.why);
    rl_run_free(run);
}

/* HFMA2 that loads constants is no work where the given flop are the rest of those counted. */
static void constants_in_half_precision(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    run->rows[0].flop = sample_count(1000000000);
    run->rows[0].flop_by_precision =
        (struct rl_flop_by_precision){true, rl_known(0), rl_known(1e9), rl_known(4e9), rl_known(0)};
    rl_derive(run);
    assert_known(s->attainable_flop_per_s, 10e12, 0);
    assert_false(row_has(run, "flop_disagrees"));
    run->rows[0].flop = sample_count(5000000000); /* it is work */
    rl_derive(run);
    assert_unknown(s->attainable_flop_per_s, "there is no fp16_fma ceiling for its FP16 work");
    /* Less than a hundredth needs no ceiling of its own. */
    run->rows[0].flop = (struct rl_count){0, "not given"};
    run->rows[0].flop_by_precision.fp16 = rl_known(9e6);
    rl_derive(run);
    assert_known(s->attainable_flop_per_s, 10e12, 0);
    run->rows[0].flop_by_precision.fp16 = rl_known(11e6);
    rl_derive(run);
    assert_unknown(s->attainable_flop_per_s, "there is no fp16_fma ceiling for its FP16 work");
    rl_run_free(run);
}

static void above_a_roof(void **state)
{
    (void)state;
    static const struct {
        double percent, reads; /* of the copy's roof; share of the bytes */
        bool above, said;
    } cases[] = {{104.9, 0.5, false, false}, {105.1, 0.5, true, true},   {114.9, 0.75, false, true},
                 {115.1, 0.75, true, true},  {114.9, 0.25, false, true}, {115.1, 0.25, true, true},
                 {105.1, 0.74, true, true},  {104.9, 1, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_run *run = own_kernel();
        struct rl_row_state *s = &run->rows[0].state[RL_WARM];
        double bytes = cases[i].percent / 100 * 1e12 * 8e-3;
        run->rows[0].flop = sample_count(1000000);
        run->rows[0].ask_bytes = sample_count((int64_t)bytes);
        s->bytes.dram_read = rl_known(bytes * cases[i].reads);
        s->bytes.dram_write = rl_known(bytes * (1 - cases[i].reads));
        counted(run, 0, 1e6);
        for (int twice = 0; twice < 2; twice++) {
            rl_derive(run);
            assert_int_equal(rl_strings_has(&s->flags, "above_roof"), cases[i].above);
            assert_int_equal(s->explained.present && s->explained.roof.why == NULL, cases[i].said);
            assert_int_equal(s->advice.why != NULL, cases[i].above);
            assert_known(s->percent_of_roof, cases[i].percent, 1e-6); /* kept */
        }
        if (!cases[i].above && cases[i].said) {
            assert_non_null(strstr(s->explained.roof.value, cases[i].reads > 0.5 ? "a read roof was not measured"
                                                                                 : "a write roof was not measured"));
            /* With the roof of its own mix the narrow limit holds. */
            add_ceiling(run, cases[i].reads > 0.5 ? "dram_read" : "dram_write", RL_WARM, 1e12);
            rl_derive(run);
            assert_true(rl_strings_has(&s->flags, "above_roof"));
        }
        rl_run_free(run);
    }
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    run->rows[0].flop = sample_count(84800000000); /* 10.6 Tflop/s of 10 */
    rl_derive(run);
    assert_true(rl_strings_has(&s->flags, "above_roof"));
    assert_string_equal(s->advice.why,
                        "counts, time or roof must be wrong: the flop rate stands at 106 percent of its roof");
    run->rows[0].flop = sample_count(83200000000); /* 10.4 */
    rl_derive(run);
    assert_false(rl_strings_has(&s->flags, "above_roof"));
    rl_run_free(run);
}

static void timed_only_kernels(void **state)
{
    (void)state;
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    run->rows[0].flop = sample_count(40000000000);
    s->bytes.dram_read = s->bytes.dram_write = s->bytes.dram = rl_unknown("no counter file was imported");
    rl_derive(run);
    assert_known(s->percent_of_roof, 50, 1e-9); /* 5 of 10 Tflop/s */
    assert_unknown(s->attainable_flop_per_s, "no counter file was imported");
    assert_unknown(s->bound, "no counter file was imported");
    assert_unknown(s->advice, "no counter file was imported");
    assert_non_null(strstr(s->explained.roof.value, "of the compute roof alone"));
    assert_non_null(strstr(s->explained.roof.value, "taken as FP32"));
    run->source = RL_MEASURED;
    rl_derive(run);
    assert_unknown(s->percent_of_roof, "no counter file was imported");
    rl_run_free(run);
}

static void lend(struct rl_run *run, const struct rl_lent_ceiling *ceilings, size_t count)
{
    run->lent = (struct rl_lent){.present = true,
                                 .run = "12",
                                 .date_ms = 1764500000000,
                                 .driver = sample_text("580.159.04"),
                                 .device_by = "uuid",
                                 .sentence = "a test's",
                                 .ceilings = rl_arena_array(run->arena, count, sizeof *ceilings),
                                 .ceiling_count = count};
    memcpy(run->lent.ceilings, ceilings, count * sizeof *ceilings);
}

static void lent_roofs(void **state)
{
    (void)state;
    const struct rl_lent_ceiling ceilings[] = {{"dram_copy", RL_WARM, rl_known(2e12), "byte_per_s"},
                                               {"dram_read", RL_WARM, rl_known(3e12), "byte_per_s"},
                                               {"fp32_fma", RL_WARM, rl_known(20e12), "flop_per_s"},
                                               {"l2_read", RL_WARM, rl_known(4e12), "byte_per_s"}};
    struct rl_run *run = own_kernel();
    struct rl_row_state *s = &run->rows[0].state[RL_WARM];
    run->rows[0].flop = sample_count(16000000);
    lend(run, ceilings, 4);
    s->bytes.l2_sm = rl_known(32e6);
    s->bytes.dram_read = rl_known(16e6);
    s->bytes.dram_write = rl_known(0);
    rl_derive(run);
    /* Its own copy and FMA hold; the lent read roof is of another kind's family and is not mixed in. */
    assert_known(s->attainable_flop_per_s, 1e12, 1);
    assert_known(s->levels.dram_byte_per_s, 1e12, 0);
    assert_known(s->levels.l2_percent, 0.1, 1e-9);
    run->ceiling_count = 0;
    rl_derive(run);
    assert_known(s->attainable_flop_per_s, 3e12, 1); /* all reads: 1 flop a byte at 3 TB/s */
    assert_known(s->percent_of_ceiling, 0.1, 1e-9);  /* 2 GB/s of 2 TB/s */
    assert_string_equal(s->bound.value, "latency");
    assert_string_equal(s->advice_code.value, "fix_kernel");
    assert_unknown(run->ridge_flop_per_byte, "the run has no fp32_fma ceiling"); /* the run's own */
    /* The cold state has no lent copy; the compute roof serves it. */
    struct rl_row_state *cold = sample_state(&run->rows[0], RL_COLD, 8e-3, 16e6, 0);
    rl_derive(run);
    assert_unknown(cold->percent_of_ceiling, "the run has no cold dram_copy ceiling");
    assert_known(cold->levels.compute_flop_per_s, 20e12, 0);
    /* A run that was measured is judged by what it measured. */
    run->source = RL_MEASURED;
    run->suite = "verify";
    rl_derive(run);
    assert_unknown(s->percent_of_ceiling, "the run has no warm dram_copy ceiling");
    assert_unknown(s->bound, "the run has no warm dram_copy ceiling");
    assert_unknown(s->advice, "the run has no warm dram_copy ceiling");
    assert_known(s->levels.dram_byte_per_s, 3e12, 1);
    assert_known(s->levels.compute_percent, 0.01, 1e-9);
    json_t *document = rl_run_to_json(run);
    struct rl_run *back = NULL;
    struct rl_err err = {0};
    if (rl_run_from_json(document, &back, &err) != 0)
        fail_msg("%s", err.message);
    assert_string_equal(back->lent.run, "12");
    assert_int_equal(back->lent.ceiling_count, 4);
    json_decref(document);
    rl_run_free(back);
    rl_run_free(run);
}

/* DRAM/ask above 1, by what the counters tell of it. */
static void causes_of_dram_per_ask(void **state)
{
    (void)state;
    static const struct {
        double l1, l2_sm, read, write, settled; /* MB; 0: not known. 100 are asked. Cold. */
        const char *cause, *words;
    } cases[] = {
        {800, 800, 700, 110, 810, "half_used_sectors", "L1 moves 8.00 bytes for each byte asked"},
        {100, 100, 250, 50, 300, "re_reads", "DRAM moves 3.00 bytes for each byte between SMs and L2"},
        {100, 100, 50, 250, 300, "write_back", "DRAM moves 3.00 bytes for each byte between SMs and L2"},
        {100, 100, 60, 20, 150, "write_back", "1.88 times the bytes that moved while it ran"},
        {100, 100, 80, 21, 101, NULL, NULL},      /* within the counters' own noise */
        {0, 0, 250, 50, 300, NULL, NULL},         /* DRAM's bytes alone tell nothing */
        {600, 200, 80, 40, 120, NULL, NULL},      /* the L1 serves what threads ask again: sectors are not told apart */
        {130, 130, 150, 50, 200, "re_reads", ""}, /* 1.3 x 1.54 */
        {300, 300, 160, 140, 300, "half_used_sectors", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_run *run = own_kernel();
        run->source = RL_MEASURED;
        run->rows[0].ask_bytes = sample_count(100000000);
        struct rl_row_state *s = sample_state(&run->rows[0], RL_COLD, 8e-3, cases[i].read * 1e6, cases[i].write * 1e6);
        s->bytes.dram_settled = rl_known(cases[i].settled * 1e6);
        if (cases[i].l1 > 0)
            s->bytes.l1 = rl_known(cases[i].l1 * 1e6);
        if (cases[i].l2_sm > 0)
            s->bytes.l2_sm = rl_known(cases[i].l2_sm * 1e6);
        rl_derive(run);
        const struct rl_explained *explained = &s->explained;
        if (cases[i].cause == NULL) {
            assert_true(!explained->present || explained->dram_cause.why != NULL);
        } else {
            assert_true(explained->present);
            assert_string_equal(explained->dram_cause.value, cases[i].cause);
            assert_non_null(strstr(explained->dram_per_ask.value, cases[i].words));
        }
        rl_run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp64_work_is_not_held_under_fp32),
        cmocka_unit_test(mixed_precisions_share_the_time),
        cmocka_unit_test(tensor_work_stands_apart),
        cmocka_unit_test(given_and_counted_flop),
        cmocka_unit_test(counted_flop_where_none_are_given),
        cmocka_unit_test(constants_in_half_precision),
        cmocka_unit_test(constants_alone),
        cmocka_unit_test(above_a_roof),
        cmocka_unit_test(timed_only_kernels),
        cmocka_unit_test(lent_roofs),
        cmocka_unit_test(causes_of_dram_per_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
