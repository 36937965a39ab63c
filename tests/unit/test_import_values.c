/* What becomes of a counter file's cells: whole counts, rates, times and clocks, instructions by precision, and cells
 * that hold no number. */
#include "import_fixture.h"
#include "import_internal.h"

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
    assert_false(row->flop_by_precision.present);
    assert_string_equal(row->flop_by_precision.tensor.why,
                        "the counter file has the tensor operations of some types only");
    import_result_fini(&result);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiled_times_and_clocks),
        cmocka_unit_test(instructions_by_precision),
        cmocka_unit_test(tensor_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
