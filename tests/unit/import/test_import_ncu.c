/* Counter files: both shapes, what stands around them, units, launches, and what is refused where. */
#include "gpu/import/common/rows.h"
#include "gpu/import/ncu/metric.h"
#include "gpu/import/text/names.h"
#include "tests/unit/import/import_fixture.h"

#define DRAM(id, kernel, value) LONG_ROW(id, kernel, "(5, 1, 1)", "dram__bytes.sum", "byte", value)

static void output_around_the_table(void **state)
{
    (void)state;
    assert_near(
        dram_of("==PROF== Connected to process 7 (C:\\x\\app.exe)\nsome, \"output\" of it\n{\"kernel\": 1}\n" LONG_HEAD
                    DRAM("0", "k", "5") "==PROF== in the middle\n" LONG_HEAD "ID is a word of the program\n"
                                        "\n" LONG_ROW("0", "k", "(5, 1, 1)", "x__y.sum", "",
                                                      "3") "done.\n"
                                                           "==PROF== Disconnected\n"),
        5, 0);
    struct given given = {.ncu = LONG_HEAD DRAM("0", "k", "5") "target script complete\n"};
    struct import_result result;
    assert_true(has_note(must_import(&given, &result),
                         "1 line of the counter file after its header is not the profiler's and was passed over"));
    import_result_fini(&result);
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") RAW_HEAD ",\"dram__bytes.sum\"\n", RL_E_IMPORT_FORMAT,
               "line 3|second table|line 1");
    refuse_ncu(LONG_HEAD, RL_E_IMPORT_NO_KERNELS, "line 1|no launch");
    /* a field with a line break is one record, and lines are still counted right */
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "Bottleneck", "", "two\nlines") DRAM("1", "", "5"),
               RL_E_IMPORT_FORMAT, "line 4|\"Kernel Name\"|empty");
    /* but no name that an address could not ask for is kept */
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") DRAM("1", "k\n2", "5"), RL_E_IMPORT_FORMAT,
               "line 3|\"Kernel Name\"|k?2|control character");
    refuse_ncu(LONG_HEAD DRAM("0", "k\t2", "5"), RL_E_IMPORT_FORMAT, "line 2|\"Kernel Name\"|k?2|control character");
    refuse_ncu(LONG_HEAD DRAM("0", "k\x7f", "5"), RL_E_IMPORT_FORMAT, "line 2|\"Kernel Name\"|k?|control character");
    refuse_ncu(LONG_HEAD DRAM("0",
                              "k\xC2\x9B"
                              "31m",
                              "5"),
               RL_E_IMPORT_FORMAT, "line 2|\"Kernel Name\"|k?31m|control character");
    refuse_ncu(LONG_HEAD DRAM("0", "k\xE2\x80\xA8", "5"), RL_E_IMPORT_FORMAT, "line 2|\"Kernel Name\"|k?|control");
    refuse_ncu(LONG_HEAD DRAM("0", " \xC2\xA0", "5"), RL_E_IMPORT_FORMAT, "line 2|\"Kernel Name\"|blanks alone");
}

static void raw_page(void **state)
{
    (void)state;
    struct given given = {
        .ncu = RAW_HEAD
        ",\"device__attribute_display_name\",\"device__attribute_l2_cache_size\",\"dram__bytes_read.sum\","
        "\"dram__bytes_write.sum\",\"launch__registers_per_thread\",\"launch__shared_mem_per_block_static\","
        "\"launch__shared_mem_per_block_dynamic\",\"lts__t_sectors_srcunit_tex.sum\"\n" RAW_UNITS
        ",\"\",\"\",\"Mbyte\",\"Kbyte\",\"register/thread\",\"byte/block\",\"Kbyte/block\",\"sector\"\n" RAW_ROW(
            "0", "vadd(float *, int)",
            "(65536, 1, 1)") ",\"NVIDIA H200\",\"62,914,560\",\"134.25\",\"1,000.5\",\"16\",\"0\",\"1.5\",\"1,000\"\n",
        .fields = {.device = "NVIDIA H200"}};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    const struct rl_row *row = &run->rows[0];
    assert_string_equal(row->kernel, "vadd(float *, int)");
    assert_string_equal(run->suite, "import");
    assert_string_equal(run->sizes, "other");
    assert_int_equal(run->outcome, RL_PARTIAL); /* no times */
    assert_near(row->state[RL_COLD].bytes.dram.value, 134.25e6 + 1000.5e3, 1e-6);
    assert_near(row->state[RL_COLD].bytes.l2_sm.value, 32000, 0);
    assert_int_equal(row->launch.grid[0], 65536);
    assert_int_equal(row->launch.registers.value, 16);
    assert_int_equal(row->launch.shared_bytes, 1500);
    assert_null(row->launch.shared_why);
    assert_int_equal(run->device.l2_bytes.value, 62914560);
    assert_string_equal(run->device.id, "nvidia-h200");
    assert_non_null(run->device.uuid.why);
    assert_int_equal(run->device.compute_major.value, 9);
    assert_true(run->counter_backed);
    import_result_fini(&result);
    given.fields.device = "Tesla T4";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "device", "Tesla T4|NVIDIA H200");
    refuse_ncu(RAW_HEAD ",\"dram__bytes.sum\"\n" RAW_ROW("0", "k", "(5, 1, 1)") ",\"7\"\n", RL_E_IMPORT_FORMAT,
               "line 2|units");
    refuse_ncu(RAW_HEAD ",\"dram__bytes.sum\"\n" RAW_UNITS ",\"byte\"\n" RAW_ROW("0", "k", "(5, 1, 1)") "\n",
               RL_E_IMPORT_FORMAT, "line 3|11 fields|12");
    refuse_ncu(RAW_HEAD "\n" RAW_UNITS "\n" RAW_ROW("0", "k", "(5, 1, 1)") "\n", RL_E_IMPORT_OTHER_FILE, "--page raw");
    refuse_ncu(RAW_HEAD ",\"a__b.sum\",\"a__b.sum\"\n", RL_E_IMPORT_FORMAT, "\"a__b.sum\"|twice");
    refuse_ncu(RAW_HEAD ",\"gpu__time_duration.sum\"\n" RAW_UNITS ",\"ns\"\n" RAW_ROW("0", "k", "(5, 1, 1)") ",\"7\"\n",
               RL_E_IMPORT_MISSING, "no DRAM row|gpu__time_duration.sum");
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum.per_second", "byte/second", "5"),
               RL_E_IMPORT_MISSING, "dram__bytes.sum.per_second|no count");
}

static void device_names(void **state)
{
    (void)state;
    char ncu[2048], name[200];
    for (int kind = 0; kind < 3; kind++) {
        struct given given = {.ncu = ncu};
        memset(name, 'd', sizeof name - 1);
        name[kind == 0 ? 128 : kind == 1 ? 129 : 5] = '\0';
        name[2] = kind == 2 ? '\n' : 'd';
        given.fields.device = kind == 0 ? name : NULL;
        snprintf(ncu, sizeof ncu,
                 "%s,\"device__attribute_display_name\",\"dram__bytes.sum\"\n%s,\"\",\"byte\"\n%s,\"%s\",\"5\"\n",
                 RAW_HEAD, RAW_UNITS, RAW_ROW("0", "k", "(5, 1, 1)"), name);
        struct import_result result;
        if (kind > 0) {
            must_refuse(&given, RL_E_IMPORT_FORMAT, "ncu", "the device is");
            continue;
        }
        assert_string_equal(must_import(&given, &result)->device.name, name);
        import_result_fini(&result);
    }
}

/* Of several names for one thing in one launch, the table's first counts, whatever their order. */
static void preferred_names(void **state)
{
    (void)state;
    static const char *const files[] = {
        LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_read.sum", "byte", "100")
            LONG_ROW("0", "k", "(5, 1, 1)", "fbpa__dram_read_bytes.sum", "byte", "101")
                LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_write.sum", "byte", "1"),
        LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "fbpa__dram_read_bytes.sum", "byte", "101")
            LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_read.sum", "byte", "100")
                LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_write.sum", "byte", "1"),
    };
    for (size_t i = 0; i < 2; i++)
        assert_near(dram_of(files[i]), 101, 0);
}

static void units(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double scale;
    } good[] = {{"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}, {"Tbyte", 1e12}, {"Kbyte/block", 1e3}};
    double scale;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(import_unit_scale(IMPORT_BYTES, good[i].unit, &scale), 0);
        assert_near(scale, good[i].scale, 0);
    }
    assert_int_equal(import_unit_scale(IMPORT_COUNTS, "Minst", &scale), 0);
    assert_near(scale, 1e6, 0);
    static const char *const bad[] = {"furlong", "", "Kibyte", "MB", "K", "mbyte", "bit"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(import_unit_scale(IMPORT_BYTES, bad[i], &scale), -1);
    assert_int_equal(import_unit_scale(IMPORT_PERCENT, "", &scale), -1);
    /* a unit of its own in each row */
    assert_near(dram_of(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_read.sum", "Mbyte", "500")
                            LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_write.sum", "Gbyte", "1.5")),
                2e9, 0);
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "furlong", "500"), RL_E_IMPORT_FORMAT,
               "c.csv, line 2|dram__bytes.sum|furlong|Mbyte");
    /* beyond 32 and 53 bits */
    assert_near(dram_of(LONG_HEAD DRAM("0", "k", "3,611,549,214")), 3611549214.0, 0);
    assert_near(dram_of(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "Tbyte", "900000")), 9e17, 0);
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "Tbyte", "9000000"), RL_E_IMPORT_FORMAT,
               "line 2|more than");
    refuse_ncu(LONG_HEAD DRAM("0", "k", "-5"), RL_E_IMPORT_FORMAT, "line 2|negative");
    /* one launch has whole bytes; a prefix rounds them */
    assert_near(dram_of(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "Kbyte", "0.03")), 30, 1e-12);
    assert_near(dram_of(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "Mbyte", "0.000001")), 1, 1e-12);
    assert_near(dram_of(LONG_HEAD DRAM("0", "k", "1,000.00")), 1000, 0);
    assert_near(dram_of(LONG_HEAD DRAM("0", "k", "0")), 0, 0);
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5e-324"), RL_E_IMPORT_FORMAT, "line 2|\"5e-324\" byte|whole ones");
    refuse_ncu(LONG_HEAD DRAM("0", "k", "1000.5"), RL_E_IMPORT_FORMAT, "line 2|\"1000.5\" byte|whole ones");
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes.sum", "Kbyte", "0.0001"), RL_E_IMPORT_FORMAT,
               "line 2|\"0.0001\" Kbyte|whole ones");
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__sectors_read.sum", "sector", "0.5"), RL_E_IMPORT_FORMAT,
               "line 2|\"0.5\" sector|whole ones");
    refuse_ncu(LONG_HEAD DRAM("0", "k", "12 apples"), RL_E_IMPORT_FORMAT, "line 2|12 apples|no number");
}

static void renamed_counters_are_summed_and_said(void **state)
{
    (void)state;
    static const struct {
        const char *read, *write, *unit;
        double factor;
    } pairs[] = {{"dram__bytes_read.sum", "dram__bytes_write.sum", "byte", 1},
                 {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum", "byte", 1},
                 {"fbpa__dram_read_bytes.sum", "fbpa__dram_write_bytes.sum", "byte", 1},
                 {"dram__sectors_read.sum", "dram__sectors_write.sum", "sector", 32}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char ncu[2048], said[128];
        snprintf(ncu, sizeof ncu,
                 "%s\"0\",\"7\",\"a\",\"h\",\"k\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"%s\",\"%s\",\"100\"\n"
                 "\"0\",\"7\",\"a\",\"h\",\"k\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"%s\",\"%s\",\"23\"\n",
                 LONG_HEAD, pairs[i].read, pairs[i].unit, pairs[i].write, pairs[i].unit);
        struct given given = {.ncu = ncu};
        struct import_result result;
        struct rl_run *run = must_import(&given, &result);
        assert_near(run->rows[0].state[RL_COLD].bytes.dram.value, 123 * pairs[i].factor, 0);
        assert_near(run->rows[0].state[RL_COLD].bytes.dram_read.value, 100 * pairs[i].factor, 0);
        snprintf(said, sizeof said, "%s + %s", pairs[i].read, pairs[i].write);
        assert_true(has_note(run, said));
        assert_string_equal(run->counters.status, "ok");
        assert_string_equal(run->counters.metrics[0].metric, pairs[i].read);
        import_result_fini(&result);
    }
    /* half of the pair is not the whole: missing is not zero */
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_read.sum", "byte", "100"), RL_E_IMPORT_MISSING,
               "read only|dram__bytes_write.sum|missing is not zero");
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_read.sum", "byte", "100")
                   LONG_ROW("0", "k", "(5, 1, 1)", "dram__bytes_write.sum", "byte", "n/a"),
               RL_E_IMPORT_NOT_COUNTED, "line 3|dram__bytes_write.sum of \"k\" is \"n/a\"|could not count");
    /* an honest zero is one */
    assert_near(dram_of(LONG_HEAD DRAM("0", "k", "0")), 0, 0);
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") LONG_ROW("1", "other", "(5, 1, 1)", "x__y.sum", "", "1"),
               RL_E_IMPORT_MISSING, "\"other\" (line 3)");
}

static void launches(void **state)
{
    (void)state;
    /* two of one shape, one of another, one of another name; the last name's first 64 bytes equal another's */
#define LONG64 "k0123456789012345678901234567890123456789012345678901234567890123456789"
    struct given given = {.ncu = LONG_HEAD DRAM("0", "k(int)", "100") DRAM("1", "k(int)", "110")
                              LONG_ROW("2", "k(int)", "(6, 1, 1)", "dram__bytes.sum", "byte", "7")
                                  DRAM("3", LONG64 "a", "1") DRAM("4", LONG64 "b", "2")};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 4);
    const struct rl_row *first = &run->rows[0];
    assert_string_equal(first->kernel, "k(int) @ (5, 1, 1)x(256, 1, 1)");
    assert_string_equal(first->import.function.value, "k(int)");
    assert_near(first->state[RL_COLD].bytes.dram.value, 105, 0);
    assert_int_equal(first->import.launch_count, 2);
    assert_int_equal(first->import.launches[1].order, 2);
    assert_int_equal(first->import.launches[1].id, 1);
    assert_near(first->import.launches[1].dram.value, 110, 0);
    assert_non_null(strstr(first->import.combined.value, "mean of 2 launches"));
    assert_non_null(strstr(first->import.combined.value, "from 100 to 110"));
    assert_true(rl_strings_has(&first->state[RL_COLD].flags, "launches_differ"));
    assert_string_equal(run->rows[1].kernel, "k(int) @ (6, 1, 1)x(256, 1, 1)");
    assert_string_equal(run->rows[1].import.combined.value, "one launch");
    assert_string_equal(run->rows[2].kernel, LONG64 "a");
    assert_near(run->rows[3].state[RL_COLD].bytes.dram.value, 2, 0);
    import_result_fini(&result);
    /* the same metric in two sections is fine, with another value it is not */
    assert_near(dram_of(LONG_HEAD DRAM("0", "k", "5") DRAM("0", "k", "5")), 5, 0);
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") DRAM("1", "k", "6") DRAM("0", "k", "6"), RL_E_IMPORT_DISAGREES,
               "line 4|dram__bytes.sum|\"6\"|\"5\" in line 2");
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") "\"1\",\"7\",\"a\",\"h\",\"k\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
                                             "1)\",\"1\",\"9.0\",\"s\",\"x\",\"\",\"1\"\n",
               RL_E_IMPORT_DISAGREES, "line 3|\"Device\"|one GPU");
}

static void percentages_are_averaged_and_kept_above_100(void **state)
{
    (void)state;
#define HIT(id, value)   LONG_ROW(id, "k", "(5, 1, 1)", "lts__t_sector_hit_rate.pct", "%", value)
#define WARPS(id, value) LONG_ROW(id, "k", "(5, 1, 1)", "sm__warps_active.avg.pct_of_peak_sustained_active", "%", value)
    struct given given = {.ncu = LONG_HEAD DRAM("0", "k", "100") HIT("0", "2,418.75") WARPS("0", "60")
                              DRAM("1", "k", "100") HIT("1", "81.25") WARPS("1", "40")};
    struct import_result result;
    const struct rl_row *row = &must_import(&given, &result)->rows[0];
    assert_int_equal(row->import.percent_count, 2);
    assert_string_equal(row->import.percents[1].metric, "lts__t_sector_hit_rate.pct");
    assert_near(row->import.percents[1].percent.value, 1250, 0);
    assert_near(row->state[RL_COLD].occupancy.value, 0.5, 1e-12);
    assert_true(rl_strings_has(&row->flags, "percent_over_100"));
    assert_false(rl_strings_has(&row->state[RL_COLD].flags, "launches_differ"));
    import_result_fini(&result);
    given.ncu = LONG_HEAD DRAM("0", "k", "100") WARPS("0", "123.4");
    row = &must_import(&given, &result)->rows[0];
    assert_non_null(row->state[RL_COLD].occupancy.why);
    assert_near(row->import.percents[0].percent.value, 123.4, 1e-12);
    assert_true(rl_strings_has(&row->flags, "percent_over_100"));
    import_result_fini(&result);
}

static void names_survive(void **state)
{
    (void)state;
    static const char *const names[] = {
        "void k<(int)4, float, std::tuple<int, int>>(T1 *, const T2 &, \"\"quoted\"\", 'x')",
        "<script>alert(1)</script> &amp; {lambda(int)#1}",
        "\xC3\xA9t\xC3\xA9::\xE6\xA0\xB8\xE5\xBF\x83(\xF0\x9F\x98\x80)",
        "unnamed>::saxpy_kernel(float, const float *)",
        "=HYPERLINK(1)",
        " k with a leading blank",
    };
    static const char *const bases[] = {"k", NULL, "\xE6\xA0\xB8\xE5\xBF\x83", "saxpy_kernel", NULL, NULL};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char ncu[4096], plain[256];
        size_t to = 0;
        snprintf(ncu, sizeof ncu,
                 "%s\"0\",\"7\",\"a\",\"h\",\"%s\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"dram__bytes.sum\",\"byte\",\"1\"\n",
                 LONG_HEAD, names[i]);
        for (const char *c = names[i]; *c != '\0'; c++)
            if (*c != '"' || c[1] == '"')
                plain[to++] = *c;
        plain[to] = '\0';
        struct given given = {.ncu = ncu};
        struct import_result result;
        struct rl_run *run = must_import(&given, &result);
        assert_string_equal(run->rows[0].kernel, plain);
        assert_string_equal(run->rows[0].import.function.value, plain);
        if (bases[i] != NULL) {
            struct rl_arena *arena = rl_arena_new(65536);
            assert_string_equal(import_base_name(arena, plain), bases[i]);
            rl_arena_free(arena);
        }
        import_result_fini(&result);
    }
    for (int over = 0; over < 2; over++) {
        size_t len = over ? IMPORT_NAME_MAX + 1 : 7000;
        char *name = malloc(len + 1), *ncu = malloc(len + 1024);
        memset(name, 'n', len);
        name[len] = '\0';
        snprintf(ncu, len + 1024,
                 "%s\"0\",\"7\",\"a\",\"h\",\"%s\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, "
                 "1)\",\"0\",\"9.0\",\"s\",\"dram__bytes.sum\",\"byte\",\"1\"\n",
                 LONG_HEAD, name);
        struct given given = {.ncu = ncu};
        struct import_result result;
        if (over)
            refuse_ncu(ncu, RL_E_IMPORT_FORMAT, "line 2|\"Kernel Name\"|16385 bytes");
        else {
            assert_string_equal(must_import(&given, &result)->rows[0].title, name);
            import_result_fini(&result);
        }
        free(name);
        free(ncu);
    }
}

static void rows_of_the_wrong_length(void **state)
{
    (void)state;
    refuse_ncu("ID,Process ID,Kernel Name,Grid Size,Block Size,Metric Name,Metric Unit,Metric Value\n"
               "0,7,k,(256, 1, 1),(5, 1, 1),dram__bytes.sum,byte,2,816\n",
               RL_E_IMPORT_FORMAT, "c.csv, line 2|13 fields|8|quotes are lost");
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") "\"0\",\"7\",\"app\"\n", RL_E_IMPORT_FORMAT,
               "line 3|\"Metric Value\"|3 fields");
    refuse_ncu(LONG_HEAD DRAM("0", "k", "5") "\"0\",\"7\",\"app", RL_E_IMPORT_FORMAT, "line 3|cut");
    refuse_ncu(LONG_HEAD "\"0\",\"7\"x,\n", RL_E_IMPORT_FORMAT, "line 2|quote");
    /* short rows are fine down to the value, when columns of rules follow */
    assert_near(
        dram_of("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\"\n"
                "\"0\",\"k\",\"dram__bytes.sum\",\"byte\",\"5\"\n"
                "\"0\",\"k\",\"\",\"\",\"\",\"Bottleneck\",\"words, with \"\"quotes\"\", 3.141.5\"\n"),
        5, 0);
    /* a spreadsheet's semicolons */
    assert_near(dram_of("ID;Kernel Name;Metric Name;Metric Unit;Metric Value\n0;k;dram__bytes.sum;byte;5\n"), 5, 0);
    refuse_ncu(LONG_HEAD LONG_ROW("x", "k", "(5, 1, 1)", "dram__bytes.sum", "byte", "5"), RL_E_IMPORT_FORMAT,
               "line 2|\"ID\"|\"x\"");
    refuse_ncu(LONG_HEAD LONG_ROW("0", "k", "(5, 0, 1)", "dram__bytes.sum", "byte", "5"), RL_E_IMPORT_FORMAT,
               "\"Grid Size\"|(5, 0, 1)");
    refuse_ncu("\"ID\",\"Kernel Name\",\"Metric Name\"\n", RL_E_IMPORT_FORMAT, "Metric Value");
    refuse_ncu("\"ID\",\"ID\",\"Kernel Name\",\"Metric Name\"\n", RL_E_IMPORT_FORMAT, "twice");
}

static void other_files_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum rl_code code;
        const char *words;
    } files[] = {
        {"==PROF== Connected to process 5 (/x/python)\n==ERROR== ERR_NVGPUCTRPERM - no permission\n",
         RL_E_IMPORT_PERMISSION, "ERR_NVGPUCTRPERM"},
        {"==PROF== Connected\n==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. a,b\n",
         RL_E_IMPORT_NO_KERNELS, "No kernels were profiled|filter"},
        {"==PROF== Connected to process 5 (/x/python)\n==ERROR== The application returned an error code (1).\n",
         RL_E_IMPORT_OTHER_FILE, "error code (1)"},
        {"==PROF== Connected to process 5 (/usr/bin/nvidia-smi)\n==PROF== Disconnected from process 5\n",
         RL_E_IMPORT_OTHER_FILE, "only the profiler's messages|1 nvidia-smi process that"},
        {"==9== NVPROF is profiling process 9\n", RL_E_IMPORT_OTHER_FILE, "nvprof"},
        {"Time(%),Time,Calls,Avg,Min,Max,Name\n1%,1ms,1,1,1,1,k\n", RL_E_IMPORT_OTHER_FILE, "nvprof"},
        {"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n", RL_E_IMPORT_OTHER_FILE, "rocprof"},
        {"GPU_ID,Dispatch_ID,Kernel_Name,Counter_Name,Counter_Value\n", RL_E_IMPORT_OTHER_FILE, "rocprof"},
        {"Session Info\n\"Session Attribute\",\"Value\"\n", RL_E_IMPORT_OTHER_FILE, "session page"},
        {"Time (%),Total Time (ns),Instances,Avg (ns)\n", RL_E_IMPORT_OTHER_FILE, "Nsight Systems"},
        {"  k (5, 1, 1)x(256, 1, 1), Context 1\n    Section: GPU Speed Of Light Throughput\n", RL_E_IMPORT_OTHER_FILE,
         "--csv"},
        {"  Precision; time [ms]; data [Bytes]\n double; 1,5; 7\n", RL_E_IMPORT_OTHER_FILE,
         "another tool's table|Precision"},
        {"{\"kernel\": \"k\", \"ms\": 1}\n", RL_E_IMPORT_OTHER_FILE, "JSON|timings"},
        {"hello\n", RL_E_IMPORT_OTHER_FILE, "hello"},
        {"Sun Nov 29 20:03:35 2026\n+-----+\n| NVIDIA-SMI 580.159.04   Driver Version: 580.159.04 |\n|-----+\n",
         RL_E_IMPORT_OTHER_FILE, "is output of nvidia-smi"},
        {"\n==============NVSMI LOG==============\n\nTimestamp : Sun Nov 29\n", RL_E_IMPORT_OTHER_FILE,
         "is output of nvidia-smi"},
        {"# A report\nThe driver is what nvidia-smi (NVIDIA-SMI) tells.\n", RL_E_IMPORT_OTHER_FILE,
         "is no export of Nsight Compute|A report"},
        {"\n\n", RL_E_IMPORT_OTHER_FILE, "no export"},
        {"\"ID\",\"Kernel Name\",\"Stream\",\"Metric Name\",\"Metric Unit\",\"Metric "
         "Value\"\n\"0\",\"range\",\"n/a\",\"dram__bytes.sum\",\"byte\",\"1\"\n",
         RL_E_IMPORT_OTHER_FILE, "line 2|app-range"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        refuse_ncu(files[i].text, files[i].code, files[i].words);
    struct given empty = {.ncu = ""};
    struct rl_err err = {.code = RL_E_NONE};
    struct import_result result;
    assert_int_equal(make_import(&empty, &result, &err), -1);
    assert_int_equal(err.code, RL_E_IMPORT_OTHER_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_around_the_table),
        cmocka_unit_test(raw_page),
        cmocka_unit_test(units),
        cmocka_unit_test(device_names),
        cmocka_unit_test(preferred_names),
        cmocka_unit_test(renamed_counters_are_summed_and_said),
        cmocka_unit_test(launches),
        cmocka_unit_test(percentages_are_averaged_and_kept_above_100),
        cmocka_unit_test(names_survive),
        cmocka_unit_test(rows_of_the_wrong_length),
        cmocka_unit_test(other_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
