/* Lines beside the table: a row that something stands before or behind is read or refused with its line, never lost;
 * the profiler's errors are told; files without a table are named. */
#include "gpu/import/text/names.h"
#include "tests/unit/import/import_fixture.h"

#define DRAM(id, kernel, value) LONG_ROW(id, kernel, "(5, 1, 1)", "dram__bytes.sum", "byte", value)
#define RAW(id, kernel, value)  RAW_ROW(id, kernel, "(5, 1, 1)") ",\"" value "\""
#define RAW_BEGIN               RAW_HEAD ",\"dram__bytes.sum\"\n" RAW_UNITS ",\"byte\"\n"

static double sum_of_rows(const char *ncu, size_t rows, const char *note)
{
    struct given given = {.ncu = ncu};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    double sum = 0;
    assert_int_equal(run->row_count, rows);
    for (size_t i = 0; i < rows; i++)
        sum += run->rows[i].state[RL_COLD].bytes.dram.value;
    if (note != NULL && !has_note(run, note))
        fail_msg("no note: %s", note);
    import_result_fini(&result);
    return sum;
}

static void rows_beside_text(void **state)
{
    (void)state;
    static const char two[] = "2 rows of the counter file stand in one line with other text, which was taken off";
    static const char one[] = "1 row of the counter file stands in one line with other text";
    static const struct {
        const char *ncu, *note;
    } files[] = {
        {RAW_BEGIN RAW("0", "a", "1") "\nstep 2 of 3 ... " RAW("1", "b", "10") "\ndone " RAW("2", "c", "100") "\n",
         two},
        {LONG_HEAD DRAM("0", "a", "1") "50%" DRAM("1", "b", "10") "[3/3] " DRAM("2", "c", "100"), two},
        /* words in quotes before it, and other numbers in quotes */
        {RAW_BEGIN RAW("0", "a", "1") "\nsaid \"hi\" and \"7\": " RAW("1", "b", "10") "\n" RAW("2", "c", "100") "\n",
         one},
        /* behind it: text, or the profiler's own line */
        {RAW_BEGIN RAW("0", "a", "1") "progress 50%\n" RAW("1", "b", "10") "==PROF== Disconnected\n" RAW("2", "c",
                                                                                                         "100"),
         two},
        {LONG_HEAD DRAM("0", "a", "1") "==PROF== Disconnected from process 7" DRAM("1", "b", "10")
             DRAM("2", "c", "100"),
         one},
        /* the header, and the units */
        {"running...50%" RAW_BEGIN RAW("0", "a", "1") "\n" RAW("1", "b", "10") "\n" RAW("2", "c", "100") "\n", NULL},
        {"==PROF== Connected" LONG_HEAD DRAM("0", "a", "1") DRAM("1", "b", "10") DRAM("2", "c", "100"), NULL},
        {RAW_HEAD ",\"dram__bytes.sum\"==PROF== Connected\n50% " RAW_UNITS
                  ",\"byte\"\n" RAW("0", "a", "1") "\n" RAW("1", "b", "10") "\n" RAW("2", "c", "100") "\n",
         one},
        /* the profiler's line behind the program's */
        {LONG_HEAD DRAM("0", "a", "1") "progress...==PROF== Connected to process 7\n" DRAM("1", "b", "10")
             DRAM("2", "c", "100"),
         "1 line of the counter file after its header is not the profiler's"},
        /* the same table again, as each rank writes it, and indented */
        {RAW_BEGIN RAW("0", "a", "1") "\n" RAW_BEGIN RAW("1", "b", "10") "\n" RAW("2", "c", "100") "\n", NULL},
        {"  " LONG_HEAD "  " DRAM("0", "a", "1") "\t" DRAM("1", "b", "10") "  " DRAM("2", "c", "100"), NULL},
        {"  ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n  0,a,dram__bytes.sum,byte,1\n"
         "  1,b,dram__bytes.sum,byte,10\n  2,c,dram__bytes.sum,byte,100\n",
         NULL},
        /* lines that are nobody's: JSON of the program, words in quotes */
        {LONG_HEAD DRAM(
             "0", "a",
             "1") "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}\n[\"1\",\"2\",\"3\",\"4\"]\nit's \"done\"\n" DRAM("1", "b",
                                                                                                           "10")
             DRAM("2", "c", "100"),
         "3 lines of the counter file after its header are not the profiler's"},
        /* mpirun --tag-output, of both kinds */
        {"[1,0]<stdout>:==PROF== Connected\n[1,0]<stdout>:" LONG_HEAD
         "[1,0]<stdout>:" DRAM("0", "a", "1") "[1,0]<stderr>:note\n[1,0]<stdout>: " DRAM(
             "1", "b", "10") "[prterun-h-12@1,1]<stdout>: " DRAM("2", "c", "100"),
         "the tag of mpirun"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        double sum = sum_of_rows(files[i].ncu, 3, files[i].note);
        if (sum != 111)
            fail_msg("file %zu: %g", i, sum);
    }
}

static void pieces_of_rows_are_errors(void **state)
{
    (void)state;
    static const char piece[] = "line 3|holds what looks like a piece of a row";
    /* cut in the row's front, in its middle, in a field; a row without its first fields; with a field too few */
    refuse_ncu(LONG_HEAD DRAM("0", "a", "1") "50% \"1\",\"7\",\"app\",\"host\",\"b\"\n" DRAM("2", "c", "1"),
               RL_E_IMPORT_FORMAT, piece);
    refuse_ncu(LONG_HEAD DRAM("0", "a", "1") "0\",\"9.0\",\"s\",\"dram__bytes.sum\",\"byte\",\"10\"\n",
               RL_E_IMPORT_FORMAT, piece);
    refuse_ncu(LONG_HEAD DRAM("0", "a", "1") "step ,\"s\",\"dram__bytes.sum\",\"byte\",\"10\"\n", RL_E_IMPORT_FORMAT,
               piece);
    refuse_ncu(RAW_BEGIN RAW("0", "a", "1") "\nstep 2 " RAW_ROW("1", "b", "(5, 1, 1)") "\n", RL_E_IMPORT_FORMAT,
               "line 4|holds what looks like a piece of a row");
    refuse_ncu(RAW_HEAD ",\"dram__bytes.sum\"\n50% " RAW_UNITS "\n" RAW("0", "a", "1") "\n", RL_E_IMPORT_FORMAT,
               "line 2|holds what looks like a piece of a row");
    /* text in the middle of a quoted field, and a quote in the text behind a row: which is whose cannot be told */
    refuse_ncu(RAW_BEGIN RAW_ROW("0", "a", "(5, 1, 1)") ",\"8,3step 2\"88\n", RL_E_IMPORT_FORMAT, "line 3");
    refuse_ncu(RAW_BEGIN RAW_ROW("0", "a", "(5, 1, 1)") ",\"8,388\"step 2,608\"\n", RL_E_IMPORT_FORMAT, "line 3");
    refuse_ncu(RAW_BEGIN RAW_ROW("0", "a", "(5, 1, 1)") ",\"8,3 step 2 88\"\n", RL_E_IMPORT_FORMAT,
               "line 3|dram__bytes.sum|no number");
    refuse_ncu("ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n50%0,a,dram__bytes.sum,byte,1\n",
               RL_E_IMPORT_FORMAT, "line 2|\"ID\"|50%0");
    /* the number behind the row's last quote is a part of its value */
    refuse_ncu(RAW_BEGIN RAW("0", "a", "2") ",816\n", RL_E_IMPORT_FORMAT, "line 3|13 fields|quotes are lost");
    refuse_ncu(RAW_BEGIN "50% " RAW("0", "a", "2") ",816\n", RL_E_IMPORT_FORMAT, "line 3|piece of a row");
    /* a second row of units that says otherwise */
    refuse_ncu(RAW_BEGIN RAW("0", "a", "1") "\n" RAW_UNITS ",\"Mbyte\"\n", RL_E_IMPORT_FORMAT, "line 4|units");
    refuse_ncu("[1,0]<stdout>:" LONG_HEAD DRAM("0", "a", "1"), RL_E_IMPORT_OTHER_FILE, "line 1|mpirun|--tag-output");
}

static void errors_beside_the_table(void **state)
{
    (void)state;
    struct given given = {
        .ncu = "==PROF== Profiling \"a\": 0%....100%==ERROR== LaunchFailed\n"
               "==ERROR== Failed to profile \"dot(float *, int)\" in process 7\n" LONG_HEAD DRAM(
                   "0", "a", "1") "==ERROR== Failed to profile kernel axpy in process 7\n"
                                  "50%==ERROR== Profiling failed because a resource was unavailable.\n"
                                  "==WARNING== nothing of note\n" DRAM(
                                      "1", "a", "1") "==ERROR== An error occurred while trying to profile.\n"};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_true(has_note(run, "did not profile \"dot(float *, int)\" (line 2 of the counter file): LaunchFailed"));
    assert_true(has_note(run, "did not profile \"axpy\" (line 5 of the counter file)"));
    assert_true(has_note(run, "reports in line 6 of the counter file: Profiling failed because a resource"));
    assert_true(has_note(run, "reports in line 9 of the counter file: An error occurred"));
    assert_false(has_note(run, "nothing of note"));
    import_result_fini(&result);
    char ncu[8192] = LONG_HEAD DRAM("0", "a", "1");
    for (int i = 0; i < 40; i++)
        snprintf(ncu + strlen(ncu), sizeof ncu - strlen(ncu), "==ERROR== Failed to profile \"k%d\"\n", i);
    given.ncu = ncu;
    run = must_import(&given, &result);
    assert_true(has_note(run, "24 more errors of the profiler"));
    import_result_fini(&result);
}

#define PROF "==PROF== Connected to process 7 (/x/app)\n"

static void files_without_a_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum rl_code code;
        const char *words;
    } files[] = {
        {PROF
         "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) "
         "is concurrently collecting profiling data.\n==ERROR== Failed to profile \"k\" in process 7\n"
         "==ERROR== The application returned an error code (9).\n",
         RL_E_IMPORT_NOT_COUNTED, "another profiler has the counters|dcgmi profile --pause|(like DCGM)"},
        {PROF "==ERROR== Cuda driver is not compatible with Nsight Compute.\n", RL_E_IMPORT_NOT_COUNTED,
         "driver is older|update the driver"},
        {PROF "==ERROR== Profiling is not supported on this MIG instance\n", RL_E_IMPORT_NOT_COUNTED, "a MIG slice"},
        {PROF "==ERROR== Profiling is not supported under vGPU\n", RL_E_IMPORT_NOT_COUNTED, "a virtual GPU"},
        {PROF
         "==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer --list-chips option.\n",
         RL_E_IMPORT_NOT_COUNTED, "does not know the GPU"},
        {PROF "==ERROR== Failed to prepare kernel for profiling\n==ERROR== Unknown Error on device 0.\n",
         RL_E_IMPORT_NOT_COUNTED, "could not prepare"},
        {PROF "==ERROR== Failed to find metric regex:^dram__bytez.sum$\n", RL_E_IMPORT_NOT_COUNTED, "--query-metrics"},
        {PROF "==ERROR== LaunchFailed\n==ERROR== Failed to profile \"k\" in process 7\n", RL_E_IMPORT_NOT_COUNTED,
         "a kernel failed under the profiler"},
        {PROF
         "==WARNING== No kernels were profiled.\n==WARNING== Profiling kernels launched by child processes requires "
         "--nvtx-include ranges to match\n",
         RL_E_IMPORT_NO_KERNELS, "--nvtx-include"},
        {PROF "==WARNING== No kernels were profiled.\n", RL_E_IMPORT_NO_KERNELS, "No kernels were profiled"},
        {PROF "==ERROR== Something else.\n", RL_E_IMPORT_OTHER_FILE, "Something else|Mend what it says"},
        {PROF
         "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
         "\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n",
         RL_E_IMPORT_OTHER_FILE, "--print-summary"},
        {"\"Kernel Name\",\"Device\",\"Invocations\",\"Metric Name\",\"Metric "
         "Unit\",\"Minimum\",\"Maximum\",\"Average\"\n",
         RL_E_IMPORT_OTHER_FILE, "--print-summary"},
        {PROF "\"Kernel Name\",\"k\"\n\"#\",\"Source\",\"Live Registers\"\n", RL_E_IMPORT_OTHER_FILE, "source page"},
        {"\"Kernel Name\",\"k\"\n\"Address\",\"Source\"\n\"0x7f\",\"MOV\"\n", RL_E_IMPORT_OTHER_FILE, "source page"},
        {PROF "  k(int) (5, 1, 1)x(256, 1, 1), Context 1\n    Section: Launch Statistics\n", RL_E_IMPORT_OTHER_FILE,
         "--print-details"},
        {DRAM("0", "k", "1") DRAM("1", "k", "1"), RL_E_IMPORT_OTHER_FILE, "no header"},
        {PROF DRAM("0", "k", "1"), RL_E_IMPORT_OTHER_FILE, "no header"},
        {"[1,0]<stdout>:" DRAM("0", "k", "1"), RL_E_IMPORT_OTHER_FILE, "mpirun"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        refuse_ncu(files[i].text, files[i].code, files[i].words);
}

static void base_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"k", "k"},
        {"k(int)", "k"},
        {"k (int)", "k"},
        {"void ns::mul<4, (bool)1>(T1 *, \"s\", {lambda(int)#1})", "mul"},
        {"foo[abi:cxx11]", "foo"},
        {"foo[abi:cxx11](int)", "foo"},
        {"saxpy[v1,cw51cXTLSUwv1s](float, Array<float, 1, C, mutable, aligned>)", "saxpy"},
        {"__main__::saxpy[abi:v1,cw51c](float, Array<float, (int)1, C>)", "saxpy"},
        {"cudapy::__main__::axpy$241(float, Array<float, 1, C>)", "axpy"},
        {"foo(int) [clone .kd]", "foo"},
        {"foo [clone .constprop.0]", "foo"},
        {"foo.constprop.0", "foo"},
        {"foo.part.3.isra.0(int)", "foo"},
        {"foo.kd", "foo"},
        {"fusion.12", "fusion.12"},
        {"void run<main::[lambda(int)->float (instance 1)]>(T1)", "run"},
        {"void run<main::{lambda()#1}>({lambda()#1})", "run"},
        {"main::{lambda(int)#2}::operator()(int) const", "operator()"},
        {"ns::box::operator->(int)", "operator->"},
        {"ns::box::operator<<(int)", "operator<<"},
        {"ns::box::operator>(ns::box const&)", "operator>"},
        {"void k<(a > b), (x < 3)>(int (*)(int), float)", "k"},
        {"void k<&(ns::f(int))>(int)", "k"},
        {"(anonymous namespace)::k(int)", "k"},
        {"void (anonymous namespace)::k<int>((anonymous namespace)::t)", "k"},
        {"<unnamed>::k(int)", "k"},
        {"void at::<unnamed>::vectorized_layer_norm_kernel<float, float>(int)", "vectorized_layer_norm_kernel"},
        {"unnamed>::saxpy_kernel(float, const float *)", "saxpy_kernel"},
        {"std::enable_if<!T7, void>::type kernel<T1, (bool)0>(const T2 *)", "kernel"},
        {"decltype(f(1)) k<int>(int)", "k"},
        {"f(int)::{lambda(float)#1}::g(float) const", "g"},
        {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"},
        {"void gemm<Shape<(int)64, (int)128>, void (*)(int)>::Params::run(T1)", "run"},
        {"(", "("},
        {"k<", "k"},
        {"", ""},
    };
    struct rl_arena *arena = rl_arena_new(65536);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *base = import_base_name(arena, names[i][0]);
        if (strcmp(base, names[i][1]) != 0)
            fail_msg("\"%s\" of \"%s\", not \"%s\"", base, names[i][0], names[i][1]);
    }
    rl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_beside_text),
        cmocka_unit_test(pieces_of_rows_are_errors),
        cmocka_unit_test(errors_beside_the_table),
        cmocka_unit_test(files_without_a_table),
        cmocka_unit_test(base_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
