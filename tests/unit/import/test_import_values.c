/* What becomes of a counter file's cells: whole counts, rates, times and clocks, instructions by precision, and cells
 * that hold no number. */
#include "gpu/record/derive/derive.h"
#include "tests/unit/import/import_fixture.h"

#define CELL(id, metric, unit, value) LONG_ROW(id, "k", "(5, 1, 1)", metric, unit, value)
#define DRAM(id, value)               CELL(id, "dram__bytes.sum", "byte", value)
#define OP(prefix, op, value)         CELL("0", prefix "__sass_thread_inst_executed_op_" op "_pred_on.sum", "inst", value)
#define SIX(prefix)                                                                                                    \
    OP(prefix, "fadd", "1,048,576")                                                                                    \
    OP(prefix, "fmul", "0")                                                                                            \
    OP(prefix, "ffma", "2,097,152") OP(prefix, "dadd", "3") OP(prefix, "dmul", "4") OP(prefix, "dfma", "5")

static void profiled_times_and_clocks(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *unit, *text;
        double time_s, sm_hz; /* 0: unknown */
    } cells[] = {
        {"gpu__time_duration.sum", "ns", "57,984", 57984e-9, 0},
        {"gpu__time_duration.sum", "nsecond", "57,984", 5.7984e-05, 0},
        {"gpu__time_duration.avg", "usecond", "57.98", 5.798e-05, 0},
        {"gpu__time_duration.sum", "us", "57.98", 5.798e-05, 0},
        {"gpu__time_duration.sum", "msecond", "1.5", 0.0015, 0},
        {"gpu__time_duration.sum", "second", "4.0e-05", 4e-5, 0},
        {"Duration", "nsecond", "10720", 10720e-9, 0},
        {"smsp__cycles_elapsed.avg.per_second", "hz", "1,972,489,466.29", 0, 1972489466.29},
        {"smsp__cycles_elapsed.avg.per_second", "Ghz", "1.97", 0, 1.97e9},
        {"sm__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.10", 0, 1.1e9},
        {"SM Frequency", "cycle/second", "935940016.10", 0, 935940016.1},
        {"SM Frequency", "cycle/usecond", "935.94", 0, 935.94e6},
        {"SM Frequency", "Mhz", "935.94", 0, 935.94e6},
    };
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char ncu[2048];
        snprintf(ncu, sizeof ncu,
                 "%s%s\"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(5, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"%s\",\"%s\",\"%s\"\n",
                 LONG_HEAD, DRAM("0", "5"), cells[i].metric, cells[i].unit, cells[i].text);
        struct given given = {.ncu = ncu};
        struct import_result result;
        const struct rl_row_state *cold = &must_import(&given, &result)->rows[0].state[RL_COLD];
        assert_true(cold->profiled.present);
        assert_int_equal(rl_is_known(cold->profiled.time_s), cells[i].time_s > 0);
        assert_int_equal(rl_is_known(cold->profiled.sm_hz), cells[i].sm_hz > 0);
        if (cells[i].time_s > 0)
            assert_near(cold->profiled.time_s.value, cells[i].time_s, 0);
        else
            assert_near(cold->profiled.sm_hz.value, cells[i].sm_hz, 1e-6);
        import_result_fini(&result);
    }
    /* the mean over the launches; absent where none tells, unknown where one does not */
#define DURATION(id, value) CELL(id, "gpu__time_duration.sum", "ns", value)
    struct given given = {.ncu = LONG_HEAD DRAM("0", "5") DURATION("0", "100") DRAM("1", "5") DURATION("1", "300")};
    struct import_result result;
    assert_near(must_import(&given, &result)->rows[0].state[RL_COLD].profiled.time_s.value, 200e-9, 1e-20);
    import_result_fini(&result);
    given.ncu = LONG_HEAD DRAM("0", "5") DURATION("0", "100") DRAM("1", "5");
    assert_false(must_import(&given, &result)->rows[0].state[RL_COLD].profiled.present);
    import_result_fini(&result);
    /* a time of 0, or of a unit that nobody knows, is missing and named: it refuses nothing */
    given.ncu = LONG_HEAD DRAM("0", "5") DURATION("0", "0");
    assert_false(must_import(&given, &result)->rows[0].state[RL_COLD].profiled.present);
    import_result_fini(&result);
    given.ncu = LONG_HEAD DRAM("0", "5") CELL("0", "gpu__time_duration.sum", "furlong", "7");
    assert_false(must_import(&given, &result)->rows[0].state[RL_COLD].profiled.present);
    import_result_fini(&result);
}

static void instructions_by_precision(void **state)
{
    (void)state;
    static const char *const files[] = {LONG_HEAD DRAM("0", "5") SIX("smsp"), LONG_HEAD DRAM("0", "5") SIX("sm")};
    struct given given = {0};
    struct import_result result;
    for (size_t i = 0; i < 2; i++) {
        given.ncu = files[i];
        const struct rl_row *row = &must_import(&given, &result)->rows[0];
        assert_near(row->flop_counted.value, 5242880 + 17, 0);
        assert_true(row->flop_by_precision.present);
        assert_near(row->flop_by_precision.fp32.value, 5242880, 0);
        assert_near(row->flop_by_precision.fp64.value, 17, 0);
        assert_string_equal(row->flop_by_precision.fp16.why,
                            "the counter file has not all three FP16 instruction counts");
        assert_string_equal(row->flop_by_precision.tensor.why, "the counter file does not count tensor operations");
        import_result_fini(&result);
    }
    /* a packed half instruction is two operations a thread, its fused form four; they are not in flop_counted */
    given.ncu = LONG_HEAD DRAM("0", "5") SIX("smsp") OP("smsp", "hadd", "10") OP("smsp", "hmul", "100")
        OP("smsp", "hfma", "1,000") OP("smsp", "ffma2", "7");
    const struct rl_row *row = &must_import(&given, &result)->rows[0];
    assert_near(row->flop_by_precision.fp16.value, 4220, 0);
    assert_near(row->flop_by_precision.fp32.value, 5242880 + 28, 0);
    assert_near(row->flop_counted.value, 5242880 + 28 + 17, 0);
    import_result_fini(&result);
    given.ncu = LONG_HEAD DRAM("0", "5") OP("smsp", "fadd", "1");
    row = &must_import(&given, &result)->rows[0];
    assert_false(row->flop_by_precision.present);
    assert_non_null(row->flop_counted.why);
    import_result_fini(&result);
}

#define TENSOR(type, value) CELL("0", "sm__ops_path_tensor_src_" type ".sum", "", value)

/* PyTorch's copies and fills: constants loaded by HFMA2 and no arithmetic. Their DRAM roof holds all the same. */
static void constants_have_a_roof(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD DRAM("0", "1,000,000") DURATION("0", "1250") OP("smsp", "dadd", "0")
                              OP("smsp", "dmul", "0") OP("smsp", "dfma", "0") OP("smsp", "fadd", "0")
                                  OP("smsp", "fmul", "0") OP("smsp", "ffma", "0") OP("smsp", "hadd", "0")
                                      OP("smsp", "hmul", "0") OP("smsp", "hfma", "1,280") TENSOR("fp16", "0")
                                          TENSOR("bf16_dst_fp32", "0") TENSOR("tf32_dst_fp32", "0") TENSOR("fp64", "0"),
                          .timings = "{\"ceiling\": \"dram_copy\", \"byte_per_s\": 1e12}\n{\"ceiling\": \"fp32_fma\", "
                                     "\"flop_per_s\": 1e13}\n"};
    struct import_result result;
    const struct rl_row *row = &must_import(&given, &result)->rows[0];
    const struct rl_row_state *cold = &row->state[RL_COLD];
    assert_int_equal(row->flop_by_precision.fp16.code, RL_WHY_HALF_CONSTANTS);
    assert_false(rl_is_known(cold->flop_per_s));
    assert_near(cold->percent_of_roof.value, 80, 1e-9);
    assert_string_equal(cold->bound.value, "memory");
    assert_non_null(strstr(cold->explained.roof.value, "below the ridge even if all of them are work."));
    import_result_fini(&result);
}

static void tensor_operations(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD DRAM("0", "5") TENSOR("fp16", "4,096") TENSOR("bf16_dst_fp32", "100")
                              TENSOR("tf32_dst_fp32", "0") TENSOR("fp64", "8") TENSOR("fp8_sparsity_off", "1,000")
                                  TENSOR("int8", "77")};
    struct import_result result;
    const struct rl_row *row = &must_import(&given, &result)->rows[0];
    assert_near(row->flop_by_precision.tensor.value, 5204, 0);
    import_result_fini(&result);
    given.ncu = LONG_HEAD DRAM("0", "5") TENSOR("fp16", "4,096");
    row = &must_import(&given, &result)->rows[0];
    assert_near(row->flop_by_precision.tensor.value, 4096, 0);
    import_result_fini(&result);
    /* none of one type says nothing of the others */
    given.ncu = LONG_HEAD DRAM("0", "5") TENSOR("fp16", "0");
    row = &must_import(&given, &result)->rows[0];
    assert_false(row->flop_by_precision.present);
    assert_string_equal(row->flop_by_precision.tensor.why,
                        "the counter file has the tensor operations of some types only, which are none");
    import_result_fini(&result);
    given.ncu = LONG_HEAD DRAM("0", "5") TENSOR("fp16", "0")
        CELL("0", "sm__inst_executed_pipe_tensor_op_gmma.sum", "inst", "9");
    row = &must_import(&given, &result)->rows[0];
    assert_true(row->flop_by_precision.present);
    assert_string_equal(row->flop_by_precision.tensor.why,
                        "tensor instructions were executed and their operations were not counted");
    import_result_fini(&result);
    /* a constant a thread is no arithmetic: 1280 threads */
    static const struct {
        const char *hadd, *hfma;
        double fp16; /* -1: unknown */
    } halves[] = {{"0", "0", 0}, {"0", "1,280", -1}, {"0", "20,480", -1}, {"0", "20,481", 81924}, {"1", "1,280", 5122}};
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        char ncu[4096];
        snprintf(ncu, sizeof ncu, "%s%s", LONG_HEAD DRAM("0", "5") OP("smsp", "hmul", "0"), "");
        for (int n = 0; n < 2; n++)
            snprintf(ncu + strlen(ncu), sizeof ncu - strlen(ncu),
                     "\"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(5, 1, "
                     "1)\",\"0\",\"9.0\",\"s\",\"smsp__sass_thread_inst_executed_op_%s_pred_on.sum\",\"inst\",\"%s\"\n",
                     n == 0 ? "hadd" : "hfma", n == 0 ? halves[i].hadd : halves[i].hfma);
        given.ncu = ncu;
        row = &must_import(&given, &result)->rows[0];
        if (halves[i].fp16 >= 0)
            assert_near(row->flop_by_precision.fp16.value, halves[i].fp16, 0);
        assert_int_equal(rl_is_known(row->flop_by_precision.fp16), halves[i].fp16 >= 0);
        import_result_fini(&result);
    }
    static const struct {
        const char *metric, *unit, *value;
        bool seen;
    } signs[] = {{"sm__inst_executed_pipe_tensor.sum", "inst", "5", true},
                 {"sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active", "%", "0.07", true},
                 {"sm__pipe_tensor_op_hmma_cycles_active.avg", "cycle", "12.5", true},
                 {"sm__inst_executed_pipe_tensor.sum", "inst", "0", false},
                 {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%", "0.00", false},
                 {"sm__inst_executed_pipe_tensor.sum.peak_sustained", "inst/cycle", "4", false},
                 {"sm__inst_executed_pipe_tensor_op_imma.sum", "inst", "5", false}};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        char ncu[2048];
        snprintf(ncu, sizeof ncu,
                 "%s%s\"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(5, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"%s\",\"%s\",\"%s\"\n",
                 LONG_HEAD, DRAM("0", "5"), signs[i].metric, signs[i].unit, signs[i].value);
        given.ncu = ncu;
        row = &must_import(&given, &result)->rows[0];
        if (row->flop_by_precision.present != signs[i].seen)
            fail_msg("%s %s", signs[i].metric, signs[i].value);
        if (signs[i].seen)
            assert_string_equal(row->flop_by_precision.tensor.why,
                                "tensor instructions were executed and their operations were not counted");
        import_result_fini(&result);
    }
}

static const struct rl_row_state *cold_of(const char *ncu, struct import_result *result)
{
    struct given given = {.ncu = ncu};
    return &must_import(&given, result)->rows[0].state[RL_COLD];
}

static void rates_times_durations(void **state)
{
    (void)state;
#define RATE(metric, unit, value) CELL("0", metric ".sum.per_second", unit, value)
#define NS(value)                 CELL("0", "gpu__time_duration.sum", "ns", value)
    struct import_result result;
    const struct rl_row_state *cold =
        cold_of(LONG_HEAD RATE("dram__bytes", "byte/s", "3,268,353,200,883.00") NS("57,984"), &result);
    assert_near(cold->bytes.dram.value, 189512192, 0);
    assert_true(rl_strings_has(&cold->flags, "bytes_derived"));
    assert_true(has_note(result.run, "DRAM bytes are a rate (dram__bytes.sum.per_second) times the duration"));
    import_result_fini(&result);
    cold = cold_of(LONG_HEAD NS("1,000") RATE("dram__bytes_read", "Gbyte/second", "2.5")
                       RATE("dram__bytes_write", "Mbyte/s", "500") RATE("l1tex__t_bytes", "byte/second", "7,000,000"),
                   &result);
    assert_near(cold->bytes.dram.value, 3000, 0);
    assert_near(cold->bytes.dram_read.value, 2500, 0);
    assert_near(cold->bytes.l1.value, 7, 0);
    assert_non_null(cold->bytes.l2.why);
    import_result_fini(&result);
    /* a count beats rates, also of its parts, and is no derived one */
    cold = cold_of(LONG_HEAD NS("1,000") DRAM("0", "5") RATE("dram__bytes_read", "byte/s", "3,000,000")
                       RATE("dram__bytes_write", "byte/s", "1,000,000"),
                   &result);
    assert_near(cold->bytes.dram.value, 5, 0);
    assert_non_null(cold->bytes.dram_read.why);
    assert_false(rl_strings_has(&cold->flags, "bytes_derived"));
    import_result_fini(&result);
    refuse_ncu(LONG_HEAD RATE("dram__bytes", "byte/s", "3"), RL_E_IMPORT_MISSING, "no count|gpu__time_duration.sum");
    refuse_ncu(LONG_HEAD NS("n/a") RATE("dram__bytes", "byte/s", "3"), RL_E_IMPORT_MISSING, "gpu__time_duration.sum");
    refuse_ncu(LONG_HEAD NS("900,000,000,000,000,000") RATE("dram__bytes", "byte/s", "3,000,000,000,000"),
               RL_E_IMPORT_FORMAT, "line 3|more than any can count");
    /* instructions from their rate: 2 a cycle of each kind */
#define PER_CYCLE(op)                                                                                                  \
    CELL("0", "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum.per_cycle_elapsed", "inst/cycle", "2.00")
#define ALL_SIX                                                                                                        \
    PER_CYCLE("fadd") PER_CYCLE("fmul") PER_CYCLE("ffma") PER_CYCLE("dadd") PER_CYCLE("dmul") PER_CYCLE("dfma")
    static const char *const cycles[] = {
        LONG_HEAD DRAM("0", "5") ALL_SIX CELL("0", "sm__cycles_elapsed.avg", "cycle", "1,000.50"),
        LONG_HEAD DRAM("0", "5") ALL_SIX CELL("0", "smsp__cycles_elapsed.avg", "cycle", "1,000.50"),
        LONG_HEAD DRAM("0", "5") ALL_SIX NS("1,000") CELL("0", "smsp__cycles_elapsed.avg.per_second", "Ghz", "1.0005")};
    for (size_t i = 0; i < 3; i++) {
        cold_of(cycles[i], &result);
        assert_near(result.run->rows[0].flop_counted.value, 8 * 2001, 0);
        assert_true(has_note(result.run, "good to about 1 percent"));
        import_result_fini(&result);
    }
}

static void counts_are_whole(void **state)
{
    (void)state;
    static const struct {
        const char *unit, *text;
        double bytes;
    } cells[] = {{"Mbyte", "32.66", 32660000},
                 {"Mbyte", "33.19", 33190000},
                 {"Gbyte", "0.805306", 805306000},
                 {"Kbyte", "0.0005", 1},
                 {"Kbyte", "0.0014", 1},
                 {"Kbyte", "1.0005", 1001},
                 {"Tbyte", "1.1", 1100000000000},
                 {"byte", "9,007,199,254,740,993", 9007199254740992},
                 {"Mbyte", "1.5e1", 15000000},
                 {"byte", "1,000.00", 1000},
                 {"Mbyte", "536.878848", 536878848},
                 {"byte", "999,999,999,999,999,999", 1e18}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char ncu[2048];
        snprintf(ncu, sizeof ncu,
                 "%s\"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(5, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"dram__bytes.sum\",\"%s\",\"%s\"\n",
                 LONG_HEAD, cells[i].unit, cells[i].text);
        assert_near(dram_of(ncu), cells[i].bytes, 0);
    }
    /* summed whole, rounded once: each of these loses one as a double, their sum does not */
    assert_near(dram_of(LONG_HEAD DRAM("0", "9,007,199,254,740,993") DRAM("1", "9,007,199,254,740,995")),
                9007199254740994, 0);
    struct import_result result;
    cold_of(LONG_HEAD DRAM("0", "9,007,199,254,740,993"), &result);
    assert_true(has_note(result.run,
                         "dram__bytes.sum of the launch that begins in line 2 is 9007199254740993; a record's "
                         "numbers have 53 bits, and keep 9007199254740992"));
    import_result_fini(&result);
#define MBYTE(value) CELL("0", "dram__bytes.sum", "Mbyte", value)
    cold_of(LONG_HEAD MBYTE("32.66"), &result);
    assert_true(has_note(result.run, "\"32.66\" Mbyte in line 2, to 4 digits, +-5000 (0.0153 percent)"));
    assert_false(has_note(result.run, "--print-units base"));
    import_result_fini(&result);
    cold_of(LONG_HEAD MBYTE("1.1"), &result);
    assert_true(has_note(result.run, "+-50000 (4.5455 percent); export with --print-units base for exact counts"));
    import_result_fini(&result);
    cold_of(LONG_HEAD MBYTE("536.878848"), &result); /* to the byte */
    assert_false(has_note(result.run, "rounded"));
    import_result_fini(&result);
}

static void cells_without_a_number(void **state)
{
    (void)state;
    static const char *const odd[] = {"n/a",  "N/A",   "nan", "NaN",  "(nan)",   "-nan(ind)", "-nan",    "inf",
                                      "-inf", "(inf)", "",    "#N/A", "no data", "1.#QNAN",   "-1.#IND", "Infinity"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        char ncu[4096], said[128];
        snprintf(ncu, sizeof ncu,
                 "%s\"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(5, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"lts__t_sector_hit_rate.pct\",\"%%\",\"%s\"\n",
                 LONG_HEAD DRAM("0", "5"), odd[i]);
        struct import_result result;
        cold_of(ncu, &result);
        assert_int_equal(result.run->rows[0].import.percent_count, 0);
        snprintf(said, sizeof said, "missing in the counter file: lts__t_sector_hit_rate.pct is \"%s\" in line 3",
                 odd[i]);
        if (!has_note(result.run, said))
            fail_msg("no note: %s", said);
        import_result_fini(&result);
    }
    /* one of two launches: the other's stands, with the note */
#define HIT(id, value) CELL(id, "lts__t_sector_hit_rate.pct", "%", value)
    struct import_result result;
    cold_of(LONG_HEAD DRAM("0", "5") HIT("0", "40") DRAM("1", "5") HIT("1", "nan"), &result);
    assert_near(result.run->rows[0].import.percents[0].percent.value, 40, 0);
    import_result_fini(&result);
    refuse_ncu(LONG_HEAD DRAM("0", "n/a") DRAM("1", "nan"), RL_E_IMPORT_NOT_COUNTED,
               "line 2|dram__bytes.sum of \"k\" is \"n/a\": the profiler could not count");
    refuse_ncu(LONG_HEAD DRAM("0", "5") HIT("0", "5 apples"), RL_E_IMPORT_FORMAT, "line 3|no number");
    /* a metric that nothing uses is no matter */
    cold_of(LONG_HEAD DRAM("0", "5") CELL("0", "x__y.sum", "", "n/a"), &result);
    assert_false(has_note(result.run, "missing in"));
    import_result_fini(&result);
    /* the total before the units' values */
    assert_near(dram_of(LONG_HEAD DRAM("0", "8,000 (1,000; 7,000)")), 8000, 0);
    refuse_ncu(LONG_HEAD DRAM("0", "(1,000; 7,000)"), RL_E_IMPORT_FORMAT, "line 2|no number");
}

static void zeros_that_cannot_be(void **state)
{
    (void)state;
#define ZERO(kernel)       LONG_ROW("0", kernel, "(5, 1, 1)", "dram__bytes.sum", "byte", "0")
#define L2_BYTES(k, value) LONG_ROW("0", k, "(5, 1, 1)", "lts__t_bytes.sum", "byte", value)
#define L2_SIZE(k, value)  LONG_ROW("0", k, "(5, 1, 1)", "device__attribute_l2_cache_size", "", value)
    static const struct {
        const char *ncu, *timings, *sizes;
        bool failed;
    } files[] = {
        {LONG_HEAD ZERO("vector_add"), "{\"kernel\": \"vector_add\", \"ms\": 1}", "course", true},
        {LONG_HEAD ZERO("vector_add"), "{\"kernel\": \"vector_add\", \"ms\": 1}", NULL,
         false}, /* asks for nobody knows */
        {LONG_HEAD ZERO("matmul_naive"), "{\"kernel\": \"matmul_naive\", \"ms\": 1}", "course",
         false}, /* 3 MB, often */
        {LONG_HEAD ZERO("k"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 134217729}", NULL, true},
        {LONG_HEAD ZERO("k"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 134217728}", NULL, false},
        {LONG_HEAD ZERO("k") L2_SIZE("k", "4,194,304"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 5000000}", NULL,
         true},
        {LONG_HEAD ZERO("k") L2_SIZE("k", "4,194,304"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 4000000}", NULL,
         false},
        /* nothing moved at all */
        {LONG_HEAD ZERO("k") L2_BYTES("k", "0"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 4}", NULL, true},
        {LONG_HEAD ZERO("k") L2_BYTES("k", "64"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 4}", NULL, false},
        {LONG_HEAD ZERO("k") L2_BYTES("k", "0"), "{\"kernel\": \"k\", \"ms\": 1, \"ask_bytes\": 0}", NULL, false},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct given given = {
            .ncu = files[i].ncu, .timings = files[i].timings, .fields = {.sizes = files[i].sizes, .cache = "warm"}};
        struct import_result result;
        const struct rl_run *run = must_import(&given, &result);
        const struct rl_row_state *warm = &run->rows[0].state[RL_WARM];
        if (rl_is_known(warm->bytes.dram) == files[i].failed)
            fail_msg("file %zu", i);
        assert_string_equal(run->counters.status, files[i].failed ? "counters_unreliable" : "ok");
        assert_int_equal(run->counter_backed, !files[i].failed);
        if (files[i].failed) {
            assert_null(warm->advice.value);
            assert_string_equal(warm->bytes.dram.why, run->counters.why.value);
            assert_true(has_note(run, "its counts are taken for failed"));
        }
        import_result_fini(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiled_times_and_clocks), cmocka_unit_test(instructions_by_precision),
        cmocka_unit_test(tensor_operations),         cmocka_unit_test(constants_have_a_roof),
        cmocka_unit_test(rates_times_durations),     cmocka_unit_test(counts_are_whole),
        cmocka_unit_test(cells_without_a_number),    cmocka_unit_test(zeros_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
