/* The published T4 record, and recordings as imports. argv: the shipped record, a recording. */
#include "gpu/import/record.h"
#include "tests/unit/import/import_fixture.h"

static char *shipped, *recorded;

static char *read_whole(const char *path)
{
    struct rl_buf text;
    char part[65536];
    size_t got;
    FILE *file = fopen(path, "re");
    rl_buf_init(&text, IMPORT_FILE_MAX);
    if (file == NULL)
        return NULL;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        rl_buf_add(&text, part, got);
    fclose(file);
    return rl_buf_take(&text);
}

static void both_entries(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "\ncopy ceiling 245.1 GB/s, FMA ceiling 7473.1 GFLOP/s, ridge point 30.49 FLOP/byte\n",
        "\nvector add                201.3    201.3    201.5    219.9   1.0922  116.9\n",
        "\nvector add, stride 32     201.3   1610.6   1610.9   4339.9  21.5566  107.6\n",
        "\ntranspose, naive          134.2    604.0    604.4    360.3   2.6844  111.5\n",
        "\ntranspose, tiled          134.2    134.2    134.5    159.3   1.1871  102.4\n",
        "\nmatmul, naive            1074.8    537.9     67.3      4.2   0.0039    3.8\n",
        "\nmatmul, tiled 16           68.2     67.8     65.1      3.9   0.0579    5.7\n",
        "\nblock reduction            67.4     69.2     69.6     92.2   1.3688   65.5\n",
        "\nstencil, global           100.5    121.1     46.9     44.7   0.4448  112.0\n",
        "\nstencil, tiled             39.0     48.5     47.0     48.2   1.2350  106.9\n",
        "\npolynomial, 256           134.2    134.2    134.6    170.8   1.2724   60.7\n",
        "device Tesla T4, driver 595.84, CUDA 12.6, 2026-09-01T00:00:00.000Z\ncourse sizes, mixed cache, counters ok\n",
    };
    struct given given = {.record = shipped, .fields = {.date = "2026-09-01"}};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    struct rl_buf table;
    rl_buf_init(&table, 1 << 20);
    assert_int_equal(rl_table_write(run, RL_MIXED, &table), 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strstr(table.data, lines[i]) == NULL)
            fail_msg("no %s in:\n%s", lines[i], table.data);
    rl_buf_free(&table);
    assert_true(run->counter_backed);
    assert_string_equal(run->suite, "verify");
    assert_string_equal(run->device.id, "tesla-t4");
    for (size_t i = 0; i < 10; i++) {
        assert_true(rl_strings_has(&run->rows[i].state[RL_MIXED].flags, "time_derived"));
        assert_null(run->rows[i].state[RL_MIXED].bound.value);
    }
    assert_true(rl_strings_has(&run->ceilings[1].flags, "derived"));
    import_result_fini(&result);

    given.fields.date = "2026-09-02";
    run = must_import(&given, &result);
    assert_false(run->counter_backed);
    assert_int_equal(run->outcome, RL_OK);
    assert_int_equal(run->row_count, 0);
    assert_string_equal(run->environment.driver_version.value, "580.173.02");
    assert_string_equal(run->environment.cuda_runtime_version.value, "13.0");
    assert_string_equal(run->counters.status, "off");
    assert_near(run->ridge_flop_per_byte.value, 30.24, 0.005);
    assert_string_equal(run->device.id, "tesla-t4");
    import_result_fini(&result);
}

static void record_errors(void **state)
{
    (void)state;
    struct given given = {.record = shipped};
    must_refuse(&given, RL_E_BAD_FIELD, "date", "2026-09-01, 2026-09-02");
    given.fields.date = "2026-09-03";
    must_refuse(&given, RL_E_BAD_FIELD, "date", "2026-09-01");
    given.fields = (struct import_fields){.date = "2026-09-01", .driver = "1.2"};
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "record", "driver");
    given.record = "{}";
    must_refuse(&given, RL_E_IMPORT_OTHER_FILE, "record", "rooflined_record");
    given.record = "{\n\"rooflined_record\": 1,\n}";
    must_refuse(&given, RL_E_IMPORT_FORMAT, "record", "r.json, line 3");
    given.record = "{\"rooflined_record\": 1, \"entries\": 7}";
    must_refuse(&given, RL_E_BAD_FIELD, "date", "");
#define ENTRY(rest)                                                                                                    \
    "{\"rooflined_record\": 1, \"device\": \"D\", \"sizes\": \"course\", \"entries\": [{\"date\": \"2026-09-01\", "    \
    "\"driver\": \"1\", "                                                                                              \
    "\"cuda\": \"1\", \"copy_gb_per_s\": 100, \"ridge_flop_per_byte\": 10, " rest "}]}"
#define ROW(ask, dram, ratio)                                                                                          \
    ENTRY("\"rows\": [{\"kernel\": \"vector_add\", \"ask_mb\": " ask                                                   \
          ", \"l1_mb\": 1, \"l2_mb\": 1, \"dram_mb\": " dram ", \"dram_per_ask\": " ratio                              \
          ", \"percent_of_ceiling\": 50}]")
#define OF_DAY(date) ENTRY("\"rows\": []}, {\"date\": \"" date "\", \"driver\": \"2\"")
    given.fields = (struct import_fields){.date = "2026-09-01"};
    struct import_result result;
    given.record = OF_DAY("2026-09-01"); /* which of the two is meant, nothing says */
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "record", "\"date\"|2026-09-01 in two entries");
    given.record = OF_DAY("2026-09-01T12:00:00Z");
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "record", "\"date\"|2026-09-01T12:00:00Z in two entries");
    given.record = OF_DAY("2026-09-02");
    (void)must_import(&given, &result);
    import_result_fini(&result);
    char dates[2][IMPORT_DATE_MAX];
    size_t count = 0;
    struct rl_err err = {.code = RL_E_NONE};
    const struct import_file two = {IMPORT_RECORD, "r.json", given.record, strlen(given.record)};
    assert_int_equal(import_record_dates(&two, dates, 2, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(import_record_dates(&two, dates, 1, &count, &err), -1); /* none is left out */
    assert_int_equal(err.code, RL_E_TOO_LARGE);
    given.fields = (struct import_fields){0};
    given.record = ROW("201.3", "402.7", "2.0000");
    assert_near(must_import(&given, &result)->rows[0].state[RL_MIXED].time_s.median.value, 402653184 / 50e9, 1e-12);
    import_result_fini(&result);
    static const char *const bad[][2] = {
        {ROW("201.5", "402.7", "2.0000"), "ask_mb"},
        {ROW("201.3", "400.0", "2.0000"), "contradict"},
        {ROW("201.3", "402.7", "0"), "above 0"},
        {ROW("201.3", "\"402.7\"", "2"), "above 0"},
        {ENTRY("\"fma_gflop_per_s\": 7000, \"rows\": []"), "fma_gflop_per_s over"},
        {ENTRY("\"rows\": [{\"kernel\": \"dram_copy\"}]"), "none of the catalogue"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        given.record = bad[i][0];
        must_refuse(&given, RL_E_IMPORT_FORMAT, "record", bad[i][1]);
    }
    given.record = "{\"rooflined_record\": 1, \"device\": \"D\", \"sizes\": \"course\", \"entries\": [{\"date\": "
                   "\"2027-09-01\", \"driver\": \"1\", "
                   "\"cuda\": \"1\"}]}";
    must_refuse(&given, RL_E_BAD_FIELD, "date", "future");
    given.timings = "{\"kernel\": \"k\", \"ms\": 1}";
    must_refuse(&given, RL_E_BAD_FIELD, "record", "alone");
}

static void recordings(void **state)
{
    (void)state;
    struct given given = {.recording = recorded};
    struct import_result result;
    struct rl_run *run = must_import(&given, &result);
    assert_int_equal(run->row_count, 10);
    assert_true(run->counter_backed);
    assert_int_equal(run->recorded_at_ms, run->finished_at_ms);
    assert_true(result.sample_count >= 20);
    assert_true(run->rows[0].state[RL_WARM].present && run->rows[0].state[RL_COLD].present);
    assert_true(rl_is_known(run->rows[0].state[RL_COLD].bytes.dram_settled)); /* ours: settled, not unsettled */
    assert_false(rl_strings_has(&run->rows[0].state[RL_COLD].flags, "unsettled"));
    char id[300];
    snprintf(id, sizeof id, "%s", run->device.id);
    import_result_fini(&result);
    given.fields.device = id;
    (void)must_import(&given, &result);
    import_result_fini(&result);
    given.fields.device = "Tesla T4";
    must_refuse(&given, RL_E_IMPORT_DISAGREES, "device", "Tesla T4");
    given.fields = (struct import_fields){.sizes = "other"};
    must_refuse(&given, RL_E_BAD_FIELD, "sizes", "recording");
    given.fields = (struct import_fields){0};
    given.recording = "{}\n";
    must_refuse(&given, RL_E_IMPORT_FORMAT, "recording", "r.jsonl|line 1");
    char *other = strdup(recorded), *own = other != NULL ? strstr(other, "\"id\":\"GPU-") : NULL;
    assert_non_null(own);
    own[strlen("\"id\":\"GPU-")] = 'f'; /* not its uuid any more */
    given.recording = other;
    must_refuse(&given, RL_E_IMPORT_FORMAT, "recording", "r.jsonl|line 1|device.id");
    free(other);
    /* what makes the tests' processes hang and die is no part of a recording: no upload may bring it */
    size_t len = strlen(recorded), entries = 0;
    char *end = strstr(recorded, "{\"op\":\"end\""), *faulty = malloc(len + 512);
    assert_non_null(end);
    for (const char *c = recorded; c < end; c++)
        entries += *c == '\n';
    snprintf(faulty, len + 512,
             "%.*s{\"op\":\"fault\",\"on\":\"warm\",\"hang\":true}\n{\"op\":\"end\",\"entries\":%zu}\n",
             (int)(end - recorded), recorded, entries);
    given.recording = faulty;
    struct rl_err err = {.code = RL_E_NONE};
    assert_int_equal(make_import(&given, &result, &err), -1);
    if (err.code != RL_E_IMPORT_FORMAT || strstr(err.message, "'op'") == NULL)
        fail_msg("%s", err.message);
    free(faulty);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_entries),
        cmocka_unit_test(record_errors),
        cmocka_unit_test(recordings),
    };
    shipped = argc > 2 ? read_whole(argv[1]) : NULL;
    recorded = argc > 2 ? read_whole(argv[2]) : NULL;
    if (shipped == NULL || recorded == NULL) {
        fprintf(stderr, "usage: test_import_record RECORD RECORDING\n");
        return 64;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(shipped);
    free(recorded);
    return failed;
}
