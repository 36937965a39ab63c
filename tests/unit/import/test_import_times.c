/* Times of other tools: traces of launches, summaries, nvbench; how launches find each other; shapes and ceilings. */
#include "tests/unit/import/import_fixture.h"

#define TRACE(events)                                                                                                  \
    "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{\"id\": 0, \"name\": \"Test "                                   \
    "GPU\"}],\n\"cuda_runtime_version\": "                                                                             \
    "12080,\n\"traceEvents\": [\n" events "\n]}\n"
#define EVENT(name, ts, dur, grid)                                                                                     \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"ts\": " ts ", \"dur\": " dur                       \
    ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " ts ", \"grid\": [" grid                             \
    ", 1, 1], \"block\": [256, 1, 1]}}"
#define DRAM(id, kernel, grid, value) LONG_ROW(id, kernel, "(" grid ", 1, 1)", "dram__bytes.sum", "byte", value)

static const struct rl_row *row_of(const struct rl_run *run, const char *kernel)
{
    const struct rl_row *row = rl_run_row(run, kernel);
    if (row == NULL)
        fail_msg("no row \"%s\"; the first is \"%s\"", kernel, run->row_count > 0 ? run->rows[0].kernel : "");
    return row;
}

static void a_trace_alone(void **state)
{
    (void)state;
    struct given given = {.timings = TRACE(EVENT("a", "1", "2", "8") ",\n" EVENT("a", "2", "4", "8") ",\n" EVENT(
                              "a", "3", "9.5", "16") ",\n{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"x\"}"),
                          .fields = {.device = NULL}};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 2);
    const struct rl_times *times = &row_of(run, "a @ (8, 1, 1)x(256, 1, 1)")->state[RL_WARM].time_s;
    assert_near(times->median.value, 3e-6, 1e-18);
    assert_near(times->min.value, 2e-6, 1e-18);
    assert_int_equal(times->n, 2);
    assert_int_equal(times->launches, 1);
    assert_near(row_of(run, "a @ (16, 1, 1)x(256, 1, 1)")->state[RL_WARM].time_s.median.value, 9.5e-6, 1e-18);
    assert_string_equal(run->environment.cuda_runtime_version.value, "12.8");
    assert_true(has_note(run, "1 copy and 0 memory sets"));
    import_result_fini(&result);
    given.fields.device = "Other GPU";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "device", "Other GPU|Test GPU");
}

static void bad_traces(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        enum rl_code code;
    } cases[] = {
        {TRACE(""), "0 events and no kernel", RL_E_IMPORT_NOT_TIMINGS},
        {TRACE("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"x\", \"ts\": 1, \"dur\": 1}"), "1 event and no kernel",
         RL_E_IMPORT_NOT_TIMINGS},
        {TRACE(EVENT("a", "1", "-2", "8")), "line 6, \"dur\"|-2", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "\"2\"", "8")), "line 6, \"dur\"", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "2", "0")), "line 6, \"grid\"|[0", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "2", "1.5")), "line 6, \"grid\"", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a\\u0000b", "1", "2", "8")), "line 6: column|NUL", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a\\nb", "1", "2", "8")), "line 6, \"name\"|control", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "NaN", "8")), "line 6: column|NaN is no number", RL_E_IMPORT_FORMAT},
        {TRACE("7"), "line 6, \"traceEvents\"|has 7", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "2", "8") ",\n{\"ph\": \"X\", \"ph\": \"X\"}"), "line 7: column|there twice|\"ph\"",
         RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "2", "8") ",\n" EVENT("a", "1", "2", "8") " x"), "line 7: column|\"x\" stands",
         RL_E_IMPORT_FORMAT},
        {"{\"traceEvents\": [" EVENT("a", "1", "2", "8"), "line 1: column|cut", RL_E_IMPORT_FORMAT},
        {"{\"traceEvents\": [], \"traceEvents\": []}", "\"traceEvents\"|twice", RL_E_IMPORT_FORMAT},
        {"{\"traceEvents\": {}}", "the array of traceEvents", RL_E_IMPORT_FORMAT},
        {TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 1}"), "line 6, \"name\"|missing",
         RL_E_IMPORT_FORMAT},
        {TRACE("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"ts\": 1, \"dur\": 1, \"args\": 5}"),
         "line 6, \"args\"|is 5", RL_E_IMPORT_FORMAT},
        {TRACE(EVENT("a", "1", "2",
                     "8") ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"ts\": 1, \"dur\": 1, "
                          "\"args\": {\"device\": 1}}"),
         "line 7, \"device\"|is 1|one GPU", RL_E_IMPORT_DISAGREES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refuse_timings(cases[i].text, cases[i].code, cases[i].words);
}

static void spellings(void **state)
{
    (void)state;
    /* as ncu and as the PyTorch profiler print the same kernel (2026-11-30) */
    struct given given = {
        .ncu = LONG_HEAD DRAM("0",
                              "void at::elementwise<128, 2, void at::f<at::Add<float>>(at::Iter &, const T1 "
                              "&)::[lambda(int) (instance 1)]>(int, T3)",
                              "8", "10") DRAM("1",
                                              "void at::elementwise<128, 2, void at::f<at::Mul<float>>(at::Iter &, "
                                              "const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
                                              "8", "20")
            DRAM("2", "void at::<unnamed>::norm<float, 32, 1>(const T1 *)", "8", "30"),
        .timings = TRACE(EVENT(
            "void at::native::elementwise<128, 2, at::native::f<at::native::Mul<float> >(at::Iter&, float "
            "const&)::{lambda(int)#1}>(int, float)",
            "1", "2", "8") ",\n" EVENT("void at::native::elementwise<128, 2, at::native::f<at::native::Add<float> "
                                       ">(at::Iter&, float const&)::{lambda(int)#1}>(int, float)",
                                       "2", "3", "8") ",\n" EVENT("void at::native::(anonymous namespace)::norm<float, "
                                                                  "32u, true>(float const*)",
                                                                  "3", "4", "8"))};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 3);
    static const struct {
        double bytes, time_s;
    } wanted[] = {{10, 3e-6}, {20, 2e-6}, {30, 4e-6}}; /* by name, not by order */
    for (size_t i = 0; i < 3; i++) {
        assert_near(run->rows[i].state[RL_MIXED].bytes.dram.value, wanted[i].bytes, 0);
        assert_near(run->rows[i].state[RL_MIXED].time_s.median.value, wanted[i].time_s, 1e-18);
    }
    assert_false(has_note(run, "by base name"));
    import_result_fini(&result);
}

static void by_order(void **state)
{
    (void)state;
    /* base names alone on one side: the n-th launch is the n-th, in each of two steps */
    struct given given = {
        .ncu = LONG_HEAD DRAM("0", "f<X>", "8", "10") DRAM("1", "f<Y>", "8", "20") DRAM("2", "f<X>", "8", "12"),
        .timings =
            TRACE(EVENT("f", "1", "1", "8") ",\n" EVENT("f", "2", "2", "8") ",\n" EVENT("f", "3", "3", "8") ",\n" EVENT(
                "f", "4", "5", "8") ",\n" EVENT("f", "5", "6", "8") ",\n" EVENT("f", "6", "7", "8"))};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 2);
    assert_near(row_of(run, "f<X>")->state[RL_MIXED].time_s.median.value, 4e-6, 1e-18); /* of 1, 3, 5, 7 */
    assert_near(row_of(run, "f<Y>")->state[RL_MIXED].time_s.median.value, 4e-6, 1e-18); /* of 2, 6 */
    assert_int_equal(row_of(run, "f<X>")->state[RL_MIXED].time_s.n, 4);
    assert_true(has_note(run, "by base name, grid, block and order alone"));
    import_result_fini(&result);
    given.timings = TRACE(EVENT("f", "1", "1", "8") ",\n" EVENT("f", "2", "2", "8"));
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu", "\"f\"|2 launches|3 counted|partial");
}

/* A launch of a trace that does not tell its grid and block. */
#define BARE(name, ts, dur)                                                                                            \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"ts\": " ts ", \"dur\": " dur                       \
    ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " ts "}}"

static void whole_names_without_shapes(void **state)
{
    (void)state;
    /* by shape the counted ones stand as f<2>, f<1>, f<3>, by name as f<1>, f<2>, f<3> */
    struct given given = {
        .ncu = LONG_HEAD DRAM("0", "f<2>", "1", "20") DRAM("1", "f<2>", "1", "20") DRAM("2", "f<2>", "1", "20")
            DRAM("3", "f<1>", "2", "10") DRAM("4", "f<1>", "2", "10") DRAM("5", "f<3>", "3", "30"),
        .timings = TRACE(BARE("f<1>", "1", "1") ",\n" BARE("f<1>", "2", "2") ",\n" BARE("f<1>", "3", "6") ",\n" BARE(
            "f<2>", "4", "4") ",\n" BARE("f<2>", "5", "5") ",\n" BARE("f<2>", "6", "9"))};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 2); /* nothing of f<3> was timed */
    const struct rl_row_state *one = &row_of(run, "f<1>")->state[RL_MIXED],
                              *two = &row_of(run, "f<2>")->state[RL_MIXED];
    assert_int_equal(one->time_s.n, 3);
    assert_near(one->time_s.median.value, 2e-6, 1e-18);
    assert_near(one->bytes.dram.value, 10, 0);
    assert_int_equal(two->time_s.n, 3);
    assert_near(two->time_s.median.value, 5e-6, 1e-18);
    assert_false(has_note(run, "by base name"));
    import_result_fini(&result);
    /* launches with shapes beside those without: by shape f<1> and f<3> stand together, by name f<2> is between them */
    given.ncu = LONG_HEAD DRAM("0", "f<1>", "1", "10") DRAM("1", "f<2>", "2", "20") DRAM("2", "f<3>", "1", "30");
    given.timings = TRACE(BARE("f<2>", "1", "1") ",\n" EVENT("f<3>", "2", "2", "1") ",\n" BARE("f<2>", "3", "3"));
    run = must_import(&given, &result);
    assert_int_equal(run->row_count, 2);
    assert_near(row_of(run, "f<2>")->state[RL_MIXED].time_s.median.value, 2e-6, 1e-18); /* of 1 and 3 */
    assert_near(row_of(run, "f<3>")->state[RL_MIXED].time_s.median.value, 2e-6, 1e-18);
    import_result_fini(&result);
}

static void launches_that_are_not_there(void **state)
{
    (void)state;
    struct given given = {
        .ncu = LONG_HEAD DRAM("0", "f(int)", "8", "10"),
        .timings = TRACE(EVENT("f", "1", "1", "8") ",\n" EVENT("g", "2", "2", "8") ",\n" EVENT("f", "3", "3", "9"))};
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu",
                "2 kernels of the timings|\"g\" (not there)|\"f\" (launched there in other shapes)|--partial");
    given.fields.partial = "true";
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    assert_int_equal(run->outcome, RL_PARTIAL);
    assert_non_null(strstr(run->outcome_reasons.items[0], "\"g\" (not there)"));
    import_result_fini(&result);
    given.timings = "{\"kernel\": \"f\", \"ms\": 1}\n{\"kernel\": \"h\", \"ms\": 1}\n";
    run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    assert_non_null(strstr(run->outcome_reasons.items[0], "\"h\""));
    import_result_fini(&result);
    given.fields.partial = "no";
    must_refuse(&given, RL_E_BAD_FIELD, "partial", "true or false");
}

static void nothing_is_left(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD DRAM("0", "a(int)", "8", "10"),
                          .timings = "{\"kernel\": \"b\", \"ms\": 1}\n{\"kernel\": \"c\", \"ms\": 1}\n",
                          .fields = {.partial = "true"}};
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu", "no kernel of the timings|\"b\", \"c\"|nothing is left");
    given.timings = TRACE(EVENT("b", "1", "1", "8") ",\n" EVENT("a", "2", "2", "9"));
    must_refuse(&given, RL_E_IMPORT_MISSING, "ncu",
                "no kernel of the timings|\"b\" (not there)|\"a\" (launched there in other shapes)|nothing is left");
    given.timings = TRACE(EVENT("b", "1", "1", "8") ",\n" EVENT("a", "2", "2", "8"));
    struct import_result result;
    assert_int_equal(must_import(&given, &result)->row_count, 1);
    import_result_fini(&result);
    given = (struct given){.timings = "{\"ceiling\": \"dram_copy\", \"byte_per_s\": 1e12}\n"};
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 0);
    assert_string_equal(run->suite, "import"); /* ceilings alone are no run of the suite */
    import_result_fini(&result);
}

static void shapes(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD DRAM("0", "mm", "8", "1000") DRAM("1", "mm", "16", "2000"),
                          .timings = "{\"kernel\":\"mm\",\"ms\":0.01,\"grid\":[8,1,1],\"block\":[256,1,1]}\n"
                                     "{\"kernel\":\"mm\",\"ms\":0.02,\"grid\":[16,1,1],\"block\":[256,1,1]}\n"};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    const struct rl_row_state *small = &row_of(run, "mm @ (8, 1, 1)x(256, 1, 1)")->state[RL_MIXED],
                              *large = &row_of(run, "mm @ (16, 1, 1)x(256, 1, 1)")->state[RL_MIXED];
    assert_near(small->time_s.median.value, 1e-5, 1e-18);
    assert_near(small->bytes.dram.value, 1000, 0);
    assert_near(large->time_s.median.value, 2e-5, 1e-18);
    assert_near(large->bytes.dram.value, 2000, 0);
    import_result_fini(&result);
    given.timings = "{\"kernel\":\"mm\",\"ms\":0.01,\"grid\":[8,1,1],\"block\":[256,1,1]}\n";
    run = must_import(&given, &result);
    row_of(run, "mm"); /* of one shape: its name alone */
    import_result_fini(&result);
    given.timings = "{\"kernel\":\"mm\",\"ms\":0.01}\n";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "timings", "fits 2 kernels|\"grid\" and \"block\"|cuda_gpu_trace");
}

static void ceilings(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD DRAM("0", "vadd", "8", "2200000"),
                          .timings =
                              "{\"kernel\":\"vadd\",\"ms\":0.01}\n{\"ceiling\":\"dram_copy\",\"byte_per_s\":2e11}\n"
                              "{\"ceiling\":\"fp64_fma\",\"flop_per_s\":1e12}\n",
                          .fields = {.times = "cold"}};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    const struct rl_row_state *cold = &run->rows[0].state[RL_COLD];
    assert_near(cold->percent_of_ceiling.value, 110, 1e-9);
    assert_true(rl_strings_has(&cold->flags, "above_ceiling"));
    assert_non_null(rl_run_ceiling(run, "dram_copy", RL_COLD));
    assert_non_null(rl_run_ceiling(run, "fp64_fma", RL_WARM)); /* serves both */
    import_result_fini(&result);
    given.timings = "{\"ceiling\":\"dram_copy\",\"byte_per_s\":2e11,\"state\":\"warm\"}\n{\"ceiling\":\"dram_copy\","
                    "\"byte_per_s\":1e11,\"state\":\"cold\"}\n{\"kernel\":\"vadd\",\"ms\":0.01}\n";
    run = must_import(&given, &result);
    assert_near(run->rows[0].state[RL_COLD].percent_of_ceiling.value, 220, 1e-9);
    import_result_fini(&result);
    given.timings = "{\"ceiling\":\"dram_copy\",\"byte_per_s\":2e11}\n"; /* rows are the counters', and cold */
    run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    assert_non_null(rl_run_ceiling(run, "dram_copy", RL_COLD));
    import_result_fini(&result);
    static const struct {
        const char *text, *words;
        enum rl_code code;
    } bad[] = {
        {"{\"ceiling\":\"dram_copy\",\"byte_per_s\":2e11,\"state\":\"hot\"}", "\"state\"|hot", RL_E_IMPORT_FORMAT},
        {"{\"ceiling\":\"tensor_fp16\",\"flop_per_s\":2e14,\"state\":\"cold\"}", "\"state\"|no cold form",
         RL_E_IMPORT_FORMAT},
        {"{\"ceiling\":\"tensor_fp16\",\"byte_per_s\":2e14}", "\"flop_per_s\"|missing", RL_E_IMPORT_FORMAT},
        {"{\"ceiling\":\"fp128_fma\",\"flop_per_s\":2e14}", "\"ceiling\"|fp128_fma|fp64_fma", RL_E_IMPORT_FORMAT},
        {"{\"kernel\":\"vadd\",\"ms\":1}\n{\"ceiling\":\"dram_copy\",\"byte_per_s\":2e11}\n{\"ceiling\":\"dram_copy\","
         "\"byte_per_s\":3e11,\"state\":\"warm\"}",
         "dram_copy is there twice", RL_E_IMPORT_DISAGREES},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse_timings(bad[i].text, bad[i].code, bad[i].words);
}

#define SUM_HEAD                                                                                                       \
    "Generating SQLite file r.sqlite from r.nsys-rep\n\nTime (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min "     \
    "(ns),Max (ns),StdDev (ns),Name\n"
#define GPU_HEAD                                                                                                       \
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes "           \
    "(MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"

/* A launch of 2 and one of 4 microseconds, a copy between them. */
#define TRACE_HEAD(unit)                                                                                               \
    "Start" unit ",Duration" unit ",CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem,DymSMem,Bytes,Throughput,"    \
    "SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
#define TRACE_ROW(start, time)  start "," time ",1,8,1,1,256,1,1,32,0,0,,,,,Test GPU (0),1,7,f(int)\n"
#define TRACE_COPY(start, time) start "," time ",2,,,,,,,,,,0.1,5,Pageable,Device,Test GPU (0),1,7,[CUDA memcpy HtoD]\n"

static void nsys_units(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TRACE_HEAD(" (ns)") TRACE_ROW("100", "2000") TRACE_COPY("3000", "50") TRACE_ROW("90000", "4000"),
        TRACE_HEAD(" (us)") TRACE_ROW("0.100", "2.000") TRACE_COPY("3.000", "0.050") TRACE_ROW("90.000", "4.000"),
        TRACE_HEAD(" (\xCE\xBCs)") TRACE_ROW("0.100", "2.000") TRACE_ROW("90.000", "4.000"),
        TRACE_HEAD(" (ms)") TRACE_ROW("0.000100", "0.002") TRACE_COPY("0.003", "0.00005") TRACE_ROW("0.09", "0.004"),
        TRACE_HEAD(" (s)") TRACE_ROW("0.0000001", "0.000002") TRACE_ROW("0.00009", "0.000004"),
        TRACE_HEAD("") TRACE_ROW("100", "2000") TRACE_COPY("3000", "50") TRACE_ROW("90000", "4000"), /* nanoseconds */
        "Processing [r.sqlite] with [gputrace.py]...\n\n" TRACE_HEAD(" (us)") TRACE_ROW("0.1", "2")
            TRACE_ROW("90", "4"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct given given = {.timings = texts[i], .ncu = LONG_HEAD DRAM("0", "f(int)", "8", "10")};
        struct import_result result;
        const struct rl_run *run = must_import(&given, &result);
        assert_int_equal(run->row_count, 1);
        assert_near(run->rows[0].state[RL_MIXED].time_s.median.value, 3e-6, 1e-18);
        assert_near(run->rows[0].state[RL_MIXED].time_s.min.value, 2e-6, 1e-18);
        assert_int_equal(run->rows[0].state[RL_MIXED].time_s.n, 2);
        import_result_fini(&result);
    }
    refuse_timings(TRACE_HEAD(" (h)") TRACE_ROW("1", "2"), RL_E_IMPORT_FORMAT, "line 2, \"Duration\"|ns, us, ms or s");
    /* tables without kernels, of other units too: the report to send is said */
    refuse_timings("Time (%),Total Time (us),Num Calls,Avg (us),Med (us),Name\n1,2,3,4,5,cudaLaunchKernel\n",
                   RL_E_IMPORT_NOT_TIMINGS, "table of nsys stats|cuda_gpu_trace");
    refuse_timings("Start (ms),Duration (ms),Name,Result,CorrID\n1,2,cudaLaunchKernel,0,3\n", RL_E_IMPORT_NOT_TIMINGS,
                   "table of nsys stats|cuda_gpu_trace");
    refuse_timings("Time(%),Total Time,Calls,Average,Name\n1,2,3,4,cudaLaunchKernel\n", RL_E_IMPORT_NOT_TIMINGS,
                   "table of nsys stats|cuda_gpu_trace");
    refuse_timings("name,seconds\nDuration,1\n", RL_E_IMPORT_NOT_TIMINGS, "line 1|is no JSON"); /* no table of nsys */
}

static void nsys(void **state)
{
    (void)state;
    struct given given = {.timings = SUM_HEAD "60.0,3000,3,1000.0,900.0,800,1300,10.0,\"void f<(int)4>(float *)\"\n"};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    const struct rl_times *times = &row_of(run, "void f<(int)4>(float *)")->state[RL_WARM].time_s;
    assert_near(times->median.value, 900e-9, 1e-18);
    assert_near(times->min.value, 800e-9, 1e-18);
    assert_int_equal(times->n, 3);
    assert_false(rl_is_known(times->p25));
    import_result_fini(&result);
    given.timings = GPU_HEAD "100,2000,1,8,1,1,256,1,1,32,0,0,,,,,Test GPU (0),1,7,f(int)\n"
                             "3000,50,2,,,,,,,,,,0.1,5,Pageable,Device,Test GPU (0),1,7,[CUDA memcpy Host-to-Device]\n"
                             "90000,4000,3,8,1,1,256,1,1,32,0,0,,,,,Test GPU (0),1,7,f(int)\n";
    given.ncu = LONG_HEAD DRAM("0", "f(int)", "8", "10");
    run = must_import(&given, &result);
    assert_near(run->rows[0].state[RL_MIXED].time_s.median.value, 3e-6, 1e-18);
    assert_true(has_note(run, "1 copy and"));
    assert_string_equal(run->device.name, "Test GPU");
    import_result_fini(&result);
    static const struct {
        const char *text, *words;
        enum rl_code code;
    } bad[] = {
        {SUM_HEAD "60.0,3000,3,1000.0,-900.0,800,1300,10.0,f\n", "line 4, \"Med\"|-900", RL_E_IMPORT_FORMAT},
        {SUM_HEAD "60.0,3000,3,1000.0,900.0,950,1300,10.0,f\n", "line 4, \"Med\"|not below the least",
         RL_E_IMPORT_FORMAT},
        {SUM_HEAD "60.0,3000,0,1000.0,900.0,800,1300,10.0,f\n", "line 4, \"Instances\"|0", RL_E_IMPORT_FORMAT},
        {SUM_HEAD "60.0,3000,3,1000.0\n", "line 4|has 4 fields", RL_E_IMPORT_FORMAT},
        {SUM_HEAD "60.0,3000,3,1.0,9.0,8,13,1.0,f\n60.0,3000,3,1.0,9.0,8,13,1.0,f\n", "line 5, \"Name\"|twice",
         RL_E_IMPORT_DISAGREES},
        {SUM_HEAD, "has no kernel", RL_E_IMPORT_NOT_TIMINGS},
        {"Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,cudaLaunchKernel\n", "cuda_gpu_trace",
         RL_E_IMPORT_NOT_TIMINGS},
        {GPU_HEAD "100,x,1,8,1,1,256,1,1,32,0,0,,,,,G (0),1,7,f\n", "line 2, \"Duration\"|\"x\"", RL_E_IMPORT_FORMAT},
        {GPU_HEAD "100,5,1,8,1,1,2048,1,1,32,0,0,,,,,G (0),1,7,f\n", "line 2, \"BlkX\"|2048", RL_E_IMPORT_FORMAT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuse_timings(bad[i].text, bad[i].code, bad[i].words);
}

#define SUM_ROW(name, median) "60.0,3000,3,1000.0," median ",0.8,1300,10.0," name "\n"
#define SUM_ONLY              "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
#define API_SUM               "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"

/* An empty line ends no file: what follows it is read, left out with a note, or refused with its line. */
static void nsys_tables(void **state)
{
    (void)state;
    static const char *const both[] = {
        SUM_ONLY SUM_ROW("a", "1") "\n" SUM_ONLY SUM_ROW("b", "2"),
        SUM_ONLY SUM_ROW("a", "1") "\n\nProcessing [r.sqlite] with [x.py]...\n" SUM_ONLY SUM_ROW("b", "2"),
        SUM_ONLY SUM_ROW("a", "1") "\n" SUM_ROW("b", "2"),
        SUM_ONLY SUM_ROW("a", "1") SUM_ONLY SUM_ROW("b", "2"),
        /* its unit is its own */
        SUM_ONLY SUM_ROW("a", "1") "\nTime (%),Instances,Med (us),Name\n10,4,0.002,b\n",
        SUM_ONLY SUM_ROW("a", "1") "\n" API_SUM SUM_ROW("cudaMalloc", "5") "\n" SUM_ROW(
            "cudaFree", "5") "\n" SUM_ONLY SUM_ROW("b", "2"),
    };
    struct import_result result;
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        struct given given = {.timings = both[i]};
        const struct rl_run *run = must_import(&given, &result);
        assert_int_equal(run->row_count, 2);
        assert_near(row_of(run, "a")->state[RL_WARM].time_s.median.value, 1e-9, 1e-18);
        assert_near(row_of(run, "b")->state[RL_WARM].time_s.median.value, 2e-9, 1e-18);
        assert_int_equal(
            has_note(run, "tables of nsys without times of each kernel are left out, the first from line 4 on"),
            i == 5);
        import_result_fini(&result);
    }
    struct given given = {.timings = TRACE_HEAD(" (ns)") TRACE_ROW("100", "2000") "\n" TRACE_HEAD(" (us)")
                              TRACE_ROW("90", "4"),
                          .ncu = LONG_HEAD DRAM("0", "f(int)", "8", "10")};
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->rows[0].state[RL_MIXED].time_s.n, 2);
    import_result_fini(&result);
    refuse_timings(SUM_ONLY SUM_ROW("a", "1") "\n" SUM_ONLY SUM_ROW("a", "2"), RL_E_IMPORT_DISAGREES,
                   "line 5, \"Name\"|twice");
    refuse_timings(
        SUM_ONLY SUM_ROW("a", "1") "\nTime (%),Instances,Med (ns),GridXYZ,BlockXYZ,Name\n10,4,2,1 1 1,1 1 1,a\n",
        RL_E_IMPORT_DISAGREES, "line 5, \"Name\"|twice");
    refuse_timings(SUM_ONLY SUM_ROW("a", "1") "\n60.0,3000\n", RL_E_IMPORT_FORMAT, "line 4|has 2 fields");
    refuse_timings(SUM_ONLY SUM_ROW("a", "1") "\n60.0\n", RL_E_IMPORT_FORMAT, "line 4|has 1 fields");
    refuse_timings(SUM_ONLY SUM_ROW("a", "1") "\n" TRACE_HEAD(" (ns)") TRACE_ROW("100", "2000"), RL_E_IMPORT_FORMAT,
                   "line 4|a table of launches behind one of sums");
    /* a last row without a line end is whole where quotes end it */
    given = (struct given){.timings = SUM_ONLY "60.0,3000,3,1000.0,900.0,800,1300,10.0,\"f\""};
    (void)must_import(&given, &result);
    import_result_fini(&result);
    refuse_timings(SUM_ONLY SUM_ROW("a", "1") "60.0,3000,3,1000.0,900.0,800,1300,10.0,gem", RL_E_IMPORT_FORMAT,
                   "line 3|no line end|may be cut");
    refuse_timings(SUM_ONLY SUM_ROW("a", "1") "\n60.0,3000,3,1000.0,900.0,800,1300,10.0,gem", RL_E_IMPORT_FORMAT,
                   "line 4|no line end|may be cut");
}

#define BENCH(states)                                                                                                  \
    "{\"devices\": [{\"id\": 0, \"name\": \"Test GPU\"}], \"benchmarks\": [{\"name\": \"axpy\", \"states\": [" states  \
    "]}]}"
#define SUMMARY(tag, value) "{\"tag\": \"" tag "\", \"data\": [{\"name\": \"value\", \"value\": " value "}]}"

static void nvbench(void **state)
{
    (void)state;
    struct given given = {
        .timings =
            BENCH("{\"device\": 0, \"axis_values\": [{\"name\": \"N\", \"value\": \"1024\"}], \"summaries\": [" SUMMARY(
                "nv/cold/time/gpu/mean",
                "\"1e-05\"") ", " SUMMARY("nv/cold/sample_size",
                                          "\"50\"") ", " SUMMARY("nv/batch/time/gpu/mean",
                                                                 "\"8e-06\"") "]}, {\"is_skipped\": true}")};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 1);
    const struct rl_row *row = row_of(run, "axpy [N=1024]");
    assert_near(row->state[RL_COLD].time_s.median.value, 1e-5, 1e-18);
    assert_int_equal(row->state[RL_COLD].time_s.n, 50);
    assert_near(row->state[RL_WARM].time_s.median.value, 8e-6, 1e-18);
    assert_true(has_note(run, "means"));
    import_result_fini(&result);
    refuse_timings(BENCH(""), RL_E_IMPORT_NOT_TIMINGS, "nvbench's JSON|none of its states has a time");
    refuse_timings(BENCH("{\"summaries\": [" SUMMARY("nv/cold/time/gpu/mean", "\"-1\"") "]}"), RL_E_IMPORT_FORMAT,
                   "\"nv/cold/time/gpu/mean\"|-1 s");
    refuse_timings(BENCH("{\"summaries\": [" SUMMARY("nv/cold/time/gpu/mean", "\"x\"") "]}"), RL_E_IMPORT_FORMAT,
                   "\"nv/cold/time/gpu/mean\"|\"x\"");
    refuse_timings(BENCH("{\"device\": 0}"), RL_E_IMPORT_FORMAT, "\"summaries\"|missing");
    refuse_timings("{\"benchmarks\": 5}", RL_E_IMPORT_FORMAT, "\"benchmarks\"|is 5");
}

static void arrays(void **state)
{
    (void)state;
    struct given given = {
        .timings = "[\n  {\"kernel\": \"a\", \"ms\": 1},\n  {\n    \"kernel\": \"b\",\n    \"ms\": 2\n  }\n]\n"};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 2);
    assert_near(run->rows[1].state[RL_WARM].time_s.median.value, 2e-3, 1e-18);
    import_result_fini(&result);
    given.timings = "{\n  \"kernel\": \"a\",\n  \"ms\": 1\n}\n{\"kernel\": \"b\", \"ms\": 2}\n"; /* printed nicely */
    run = must_import(&given, &result);
    assert_int_equal(run->row_count, 2);
    import_result_fini(&result);
    refuse_timings("[{\"kernel\": \"a\", \"ms\": 1},\n{\"kernel\": \"b\", \"ms\": -2}]", RL_E_IMPORT_FORMAT,
                   "line 2, \"ms\"");
    refuse_timings("[]", RL_E_IMPORT_NOT_TIMINGS, "no timing line");
    /* nothing behind the array is dropped */
    static const char *const behind[] = {"[{\"kernel\": \"b\", \"ms\": 2}]", "junk", "]",
                                         "{\"kernel\": \"b\", \"ms\": 2}",   ",",    "[{\"kernel\": \"b\", \"m"};
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        char text[160];
        snprintf(text, sizeof text, "[{\"kernel\": \"a\", \"ms\": 1}]\n\n%s\n", behind[i]);
        refuse_timings(text, RL_E_IMPORT_FORMAT, "line 3|the file's end");
        snprintf(text, sizeof text, "[] %s", behind[i]);
        refuse_timings(text, RL_E_IMPORT_FORMAT, "line 1|the file's end");
    }
}

static void profiler_times(void **state)
{
    (void)state;
    struct given given = {.ncu = LONG_HEAD DRAM("0", "f", "8", "1000")
                              LONG_ROW("0", "f", "(8, 1, 1)", "gpu__time_duration.sum", "nsecond", "2,000")
                                  DRAM("1", "f", "8", "1000")
                                      LONG_ROW("1", "f", "(8, 1, 1)", "gpu__time_duration.sum", "nsecond", "4,000")};
    struct import_result result;
    const struct rl_run *run = must_import(&given, &result);
    const struct rl_row_state *cold = &run->rows[0].state[RL_COLD];
    assert_int_equal(run->outcome, RL_OK); /* nothing is missing */
    assert_near(cold->time_s.median.value, 3e-6, 1e-15);
    assert_int_equal(cold->time_s.n, 2);
    assert_int_equal(cold->time_s.launches, 1);
    assert_near(cold->dram_byte_per_s.value, 1000 / 3e-6, 1);
    assert_true(rl_strings_has(&cold->flags, "profiler_time"));
    assert_false(rl_strings_has(&cold->flags, "time_disagrees"));
    assert_true(has_note(run, "does not tell their SM clock"));
    import_result_fini(&result);
    given.fields.times = "cold";
    given.timings = "{\"kernel\": \"f\", \"ms\": 0.0033}\n"; /* 10 percent more: not over */
    run = must_import(&given, &result);
    assert_false(rl_strings_has(&run->rows[0].state[RL_COLD].flags, "profiler_time"));
    assert_false(rl_strings_has(&run->rows[0].state[RL_COLD].flags, "time_disagrees"));
    assert_near(run->rows[0].state[RL_COLD].profiled.time_s.value, 3e-6, 1e-15);
    import_result_fini(&result);
    given.timings = "{\"kernel\": \"f\", \"ms\": 0.0034}\n";
    run = must_import(&given, &result);
    assert_true(rl_strings_has(&run->rows[0].state[RL_COLD].flags, "time_disagrees"));
    assert_true(has_note(run, "1 kernel has a given time more than 10 percent"));
    import_result_fini(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_alone),
        cmocka_unit_test(bad_traces),
        cmocka_unit_test(spellings),
        cmocka_unit_test(by_order),
        cmocka_unit_test(shapes),
        cmocka_unit_test(launches_that_are_not_there),
        cmocka_unit_test(ceilings),
        cmocka_unit_test(nsys),
        cmocka_unit_test(nsys_tables),
        cmocka_unit_test(nvbench),
        cmocka_unit_test(arrays),
        cmocka_unit_test(profiler_times),
        cmocka_unit_test(whole_names_without_shapes),
        cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(nsys_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
