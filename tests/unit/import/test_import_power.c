/* Power logs: averages and energies by hand, and what is wrong with a log. */
#include "tests/unit/import/import_fixture.h"

#define QUERY(rows)       "timestamp, index, uuid, power.draw [W]\n" rows
#define AT(second, watts) "2026/11/28 10:00:" second ", 0, GPU-a, " watts " W\n"

static int import_log(const char *log, const struct import_fields *fields, struct import_result *ret,
                      struct rl_err *err)
{
    static const char timings[] = "{\"kernel\": \"k\", \"ms\": 1}";
    const struct import_file files[] = {{IMPORT_TIMINGS, "t.jsonl", timings, sizeof timings - 1},
                                        {IMPORT_POWER, "p.csv", log, strlen(log)}};
    struct import_request request = {.files = files, .file_count = 2, .fields = *fields};
    if (rl_time_parse("2026-11-29T12:00:00Z", &request.now_ms) != 0)
        return -1;
    if (request.fields.device == NULL)
        request.fields.device = "Test GPU";
    request.fields.date = "2026-11-28";
    return import_make(&request, ret, err);
}

static struct rl_power power_of(const char *log, struct import_fields fields, struct import_result *result)
{
    struct rl_err err = {.code = RL_E_NONE};
    if (import_log(log, &fields, result, &err) != 0)
        fail_msg("refused (%s): %s", rl_code_id(err.code), err.message);
    assert_true(result->run->power.present);
    return result->run->power;
}

static void refuse(const char *log, struct import_fields fields, enum rl_code code, const char *field,
                   const char *words)
{
    struct rl_err err = {.code = RL_E_NONE};
    struct import_result result = {0};
    if (import_log(log, &fields, &result, &err) == 0)
        fail_msg("accepted, but %s (%s) was expected", rl_code_id(code), words);
    if (err.code != code || strcmp(err.field, field) != 0)
        fail_msg("%s, field %s: %s", rl_code_id(err.code), err.field, err.message);
    assert_words(err.message, words);
}

static void averages(void **state)
{
    (void)state;
    struct import_result result;
    /* a ramp from 100 to 400 W in 3 s: 750 J, 250 W */
    const char *ramp = QUERY(AT("00.000", "100") AT("01.000", "200") AT("02.000", "300") AT("03.000", "400"));
    struct rl_power power = power_of(ramp, (struct import_fields){0}, &result);
    assert_near(power.average_w.value, 250, 1e-9);
    assert_near(power.energy_j.value, 750, 1e-9);
    assert_int_equal(power.samples, 4);
    assert_near(power.interval_s.value, 1, 1e-12);
    assert_string_equal(power.from.value, "2026-11-28T10:00:00.000");
    assert_string_equal(power.until.value, "2026-11-28T10:00:03.000");
    import_result_fini(&result);
    /* from 0.5 to 2.5 s: 150 to 350 W, 500 J */
    power = power_of(ramp, (struct import_fields){.since = "2026-11-28 10:00:00.5", .until = "2026/11/28 10:00:02.5"},
                     &result);
    assert_near(power.average_w.value, 250, 1e-9);
    assert_near(power.energy_j.value, 500, 1e-9);
    assert_int_equal(power.samples, 2);
    import_result_fini(&result);
    power =
        power_of("2026/11/28 10:00:00.000, 50.5\n2026/11/28 10:00:02.000, 70.5\n", (struct import_fields){0}, &result);
    assert_near(power.energy_j.value, 121, 1e-9); /* no header, no units */
    import_result_fini(&result);
    power = power_of(
        "#Date       Time        gpu    pwr  gtemp  mtemp \n#YYYYMMDD   HH:MM:SS    Idx      W      C      C \n"
        " 20261128   10:00:00      0    100     35      -\n 20261128   10:00:01      0    300     35      -\n",
        (struct import_fields){0}, &result);
    assert_near(power.average_w.value, 200, 1e-9);
    assert_string_equal(power.source, "nvidia-smi dmon");
    import_result_fini(&result);
    power = power_of("# gpu    pwr  gtemp\n# Idx      W      C\n    0    100     35\n    0    300     35\n",
                     (struct import_fields){0}, &result);
    assert_near(power.average_w.value, 200, 1e-9);
    assert_false(rl_is_known(power.energy_j) || rl_is_known(power.interval_s)); /* no times: no energy */
    assert_non_null(power.from.why);
    import_result_fini(&result);
}

static void gaps_and_clocks(void **state)
{
    (void)state;
    struct import_result result;
    struct rl_power power = power_of(
        QUERY(AT("00.000", "100") AT("01.000", "100") AT("02.000", "100") AT("12.000", "300") AT("13.000", "300")),
        (struct import_fields){0}, &result);
    assert_near(power.average_w.value, 500 / 3.0, 1e-9); /* two seconds at 100 W and one at 300 W were seen */
    assert_false(rl_is_known(power.energy_j));
    assert_non_null(strstr(power.energy_j.why, "10.0 s without, the first before the power log's line 5"));
    import_result_fini(&result);
    power = power_of(QUERY(AT("10.000", "100") AT("11.000", "100") AT("05.000", "100") AT("06.000", "100")),
                     (struct import_fields){0}, &result);
    assert_non_null(strstr(power.energy_j.why, "set back before its line 4"));
    import_result_fini(&result);
    power = power_of(
        QUERY(AT("00.000", "100") "2026/11/28 10:00:01.000, 0, GPU-a, [N/A]\n" AT("02.000", "100") AT("03.000", "100")),
        (struct import_fields){0}, &result);
    assert_near(power.energy_j.value, 300, 1e-9);
    assert_true(has_note(result.run, "1 line of the power log has no value (the first is line 3)"));
    import_result_fini(&result);
}

static void several_gpus(void **state)
{
    (void)state;
    const char *log = QUERY("2026/11/28 10:00:00.000, 0, GPU-a, 100 W\n2026/11/28 10:00:00.001, 1, GPU-b, 200 W\n"
                            "2026/11/28 10:00:01.000, 0, GPU-a, 100 W\n2026/11/28 10:00:01.001, 1, GPU-b, 200 W\n");
    struct import_result result;
    refuse(log, (struct import_fields){0}, RL_E_BAD_FIELD, "power_gpu", "2 GPUs|0 GPU-a, 1 GPU-b|power_gpu");
    refuse(log, (struct import_fields){.power_gpu = "2"}, RL_E_BAD_FIELD, "power_gpu", "\"2\"|0 GPU-a, 1 GPU-b");
    struct rl_power power = power_of(log, (struct import_fields){.power_gpu = "1"}, &result);
    assert_near(power.average_w.value, 200, 1e-9);
    import_result_fini(&result);
    power = power_of(log, (struct import_fields){.power_gpu = "GPU-a"}, &result);
    assert_near(power.average_w.value, 100, 1e-9);
    import_result_fini(&result);
    const char *uuids = "timestamp, uuid, power.draw [W]\n2026/11/28 10:00:00.000, GPU-aaaa, 100 W\n2026/11/28 "
                        "10:00:01.000, GPU-aaaa, 100 W\n";
    refuse(uuids, (struct import_fields){.device = "GPU-bbbb"}, RL_E_IMPORT_DISAGREES, "power", "GPU-aaaa|GPU-bbbb");
    refuse("timestamp, power.draw [W]\n2026/11/28 10:00:00.000, 1 W\n2026/11/28 10:00:00.001, 2 W\n2026/11/28 "
           "10:00:01.000, 1 W\n2026/11/28 10:00:01.001, 2 W\n2026/11/28 10:00:02.000, 1 W\n2026/11/28 10:00:02.001, 2 "
           "W\n2026/11/28 10:00:03.000, 1 W\n2026/11/28 10:00:03.001, 2 W\n2026/11/28 10:00:04.000, 1 W\n2026/11/28 "
           "10:00:04.001, 2 W\n",
           (struct import_fields){0}, RL_E_BAD_FIELD, "power_gpu", "several GPUs|index");
}

#define PLAIN(rows)       "timestamp, power.draw [W]\n" rows
#define OF(second, watts) "2026/11/28 10:00:" second ", " watts " W\n"
#define SEVERAL           RL_E_BAD_FIELD, "power_gpu"

/* Lines of several GPUs that do not say which, however few, and what looks like them and is one GPU's. */
static void untold_gpus(void **state)
{
    (void)state;
    const struct import_fields none = {0};
    refuse(PLAIN(OF("00.000", "100") OF("00.002", "300") OF("01.000", "100") OF("01.002", "300")), none, SEVERAL,
           "2 ms|998 ms|several GPUs|index,uuid");
    refuse(PLAIN(OF("00.000", "100") OF("00.002", "300") OF("01.000", "100")), none, SEVERAL, "several GPUs");
    refuse(PLAIN(OF("00.000", "100") OF("00.000", "300")), none, SEVERAL, "same time|several GPUs");
    refuse(PLAIN(OF("00.000", "100") OF("01.000", "100") OF("02.000", "100") OF("02.000", "300")), none, SEVERAL,
           "same time|several GPUs");
    /* eight GPUs: seven intervals of eight are short */
    char log[8192];
    size_t len = (size_t)snprintf(log, sizeof log, PLAIN(""));
    for (int i = 0; i < 80; i++)
        len += (size_t)snprintf(log + len, sizeof log - len, "2026/11/28 10:00:%02d.%03d, 100 W\n", i / 8, i % 8);
    refuse(log, none, SEVERAL, "1 ms|993 ms|several GPUs");
    /* one GPU: a pause of 61 s among a hundred samples, and a sample that came early */
    len = (size_t)snprintf(log, sizeof log, PLAIN(""));
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(log + len, sizeof log - len, "2026/11/28 10:%02d:%02d.000, 100 W\n", i / 60 + (i >= 50),
                                i % 60);
    snprintf(log + len, sizeof log - len, "2026/11/28 10:02:39.050, 100 W\n");
    struct import_result result;
    struct rl_power power = power_of(log, none, &result);
    assert_near(power.average_w.value, 100, 1e-9);
    assert_non_null(strstr(power.energy_j.why, "samples are missing: 61.0 s"));
    assert_near(power.interval_s.value, 1, 1e-9);
    import_result_fini(&result);
}

/* A clock set back, in a log whose window it lies beside or in. */
static void steps_and_windows(void **state)
{
    (void)state;
    /* from 4 s back to 1 s: what lies between was logged twice */
    const char *log = QUERY(AT("00.000", "100") AT("01.000", "100") AT("02.000", "100") AT("03.000", "100")
                                AT("04.000", "100") AT("01.000", "100") AT("02.000", "100") AT("03.000", "100")
                                    AT("04.000", "100") AT("05.000", "200") AT("06.000", "200") AT("07.000", "200"));
    static const struct {
        const char *since, *until;
        double joules; /* -1: unknown */
    } cases[] = {
        {"05.000", "07.000", 400}, {"04.500", "06.000", 287.5}, {"00.000", "01.000", -1},
        {"03.500", "06.000", -1},  {"02.000", "03.000", -1},    {"00.000", "07.000", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char since[40], until[40];
        struct import_result result;
        snprintf(since, sizeof since, "2026-11-28 10:00:%s", cases[i].since);
        snprintf(until, sizeof until, "2026-11-28 10:00:%s", cases[i].until);
        struct rl_power power = power_of(log, (struct import_fields){.since = since, .until = until}, &result);
        assert_int_equal(rl_is_known(power.energy_j), cases[i].joules >= 0);
        if (cases[i].joules >= 0)
            assert_near(power.energy_j.value, cases[i].joules, 1e-9);
        else
            assert_non_null(strstr(power.energy_j.why, "set back before its line 7"));
        import_result_fini(&result);
    }
}

#define DMON        "#Time        gpu    pwr\n#HH:MM:SS    Idx      W\n"
#define NIGHT(time) " " time "      0    100\n"

/* dmon -o T tells no day: times of a field behind midnight are of the log's second day. */
static void windows_behind_midnight(void **state)
{
    (void)state;
    const char *log = DMON NIGHT("23:59:57") NIGHT("23:59:58") NIGHT("23:59:59") NIGHT("00:00:00") NIGHT("00:00:01")
        NIGHT("00:00:02");
    static const struct {
        const char *since, *until;
        double joules;
    } cases[] = {
        {NULL, NULL, 500},
        {"00:00:00", "00:00:02", 200},
        {"23:59:58", "00:00:01", 300},
        {"23:59:57", "23:59:59", 200},
        {NULL, "00:00:00", 300},
    };
    struct import_result result;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rl_power power =
            power_of(log, (struct import_fields){.since = cases[i].since, .until = cases[i].until}, &result);
        assert_near(power.energy_j.value, cases[i].joules, 1e-9);
        import_result_fini(&result);
    }
    refuse(log, (struct import_fields){.since = "00:00:03"}, RL_E_BAD_FIELD, "since", "outside|23:59:57|00:00:02");
    refuse(log, (struct import_fields){.since = "12:00:00"}, RL_E_BAD_FIELD, "since", "outside");
    refuse(log, (struct import_fields){.since = "00:00:01", .until = "23:59:58"}, RL_E_BAD_FIELD, "since",
           "not before until");
    /* every hour from 10:00 to 12:00 on the day after: 12 hours of 100 W */
    char hours[1024];
    size_t len = (size_t)snprintf(hours, sizeof hours, DMON);
    for (int hour = 10; hour <= 36; hour++)
        len += (size_t)snprintf(hours + len, sizeof hours - len, NIGHT("%02d:00:00"), hour % 24);
    struct rl_power power = power_of(hours, (struct import_fields){.since = "23:00:00", .until = "11:00:00"}, &result);
    assert_near(power.energy_j.value, 12 * 3600 * 100.0, 1e-6);
    import_result_fini(&result);
}

/* The reasons of an interval of 0, and of none. */
static void same_times(void **state)
{
    (void)state;
    struct import_result result;
    struct rl_power power =
        power_of(QUERY(AT("00.000", "100") AT("00.000", "300")), (struct import_fields){0}, &result);
    assert_false(rl_is_known(power.energy_j) || rl_is_known(power.interval_s));
    assert_non_null(strstr(power.energy_j.why, "the same time"));
    assert_non_null(strstr(power.interval_s.why, "the same time"));
    import_result_fini(&result);
    power = power_of(QUERY(AT("00.000", "100") AT("00.000", "100") AT("01.000", "100") AT("01.000", "100")),
                     (struct import_fields){0}, &result);
    assert_non_null(strstr(power.energy_j.why, "the same time")); /* and no samples are missing */
    import_result_fini(&result);
    power = power_of(QUERY(AT("00.000", "100")), (struct import_fields){0}, &result);
    assert_non_null(strstr(power.energy_j.why, "one sample"));
    assert_non_null(strstr(power.interval_s.why, "one sample"));
    import_result_fini(&result);
    power = power_of(QUERY(AT("05.000", "100") AT("04.000", "300")), (struct import_fields){0}, &result);
    assert_non_null(strstr(power.energy_j.why, "set back before its line 3"));
    assert_non_null(strstr(power.interval_s.why, "set back"));
    import_result_fini(&result);
}

#define SECONDS "#Time        gpu    pwr\n#HH:MM:SS    Idx      W\n 10:00:00      0    100\n 10:00:01      0    100\n"

/* A last line without a line end may be cut within its number, which is then another number. */
static void cut_logs(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        size_t line, samples;
    } cases[] = {
        {QUERY(AT("00.000", "100") AT("01.000", "100") "2026/11/28 10:00:02.000, 0, GPU-a, 12"), 4, 2},
        {QUERY(AT("00.000", "100") AT("01.000", "100") "2026/11/28 10:00:02.000, 0, GPU-a, 100.00 "), 4, 2},
        {QUERY(AT("00.000", "100") AT("01.000", "100") "2026/11/28 10:00:02.000, 0, GPU"), 4, 2},
        {QUERY(AT("00.000", "100") AT("01.000", "100") "2026/11/2"), 4, 2},
        {QUERY(AT("00.000", "100") AT("01.000", "100") "2026/11/28 10:00:02.000, 0, GPU-a, 100 W"), 0, 3}, /* whole */
        {QUERY(AT("00.000", "100") AT("01.000", "100") AT("02.000", "100")), 0, 3},
        {"timestamp, power.draw [W]\n2026/11/28 10:00:00.000, 100\n2026/11/28 10:00:01.000, 100\n"
         "2026/11/28 10:00:02.000, 10",
         4, 2},
        {SECONDS " 10:00:02      0    12", 5, 2},
        {SECONDS "#Time        gpu", 0, 2},
        {SECONDS " 10:00:02      0   100\n", 0, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct import_result result;
        char note[64];
        struct rl_power power = power_of(cases[i].log, (struct import_fields){0}, &result);
        assert_near(power.average_w.value, 100, 1e-9);
        assert_int_equal(power.samples, cases[i].samples);
        snprintf(note, sizeof note, "line %zu of the power log has no line end", cases[i].line);
        assert_int_equal(has_note(result.run, "no line end"), cases[i].line > 0);
        assert_int_equal(has_note(result.run, note), cases[i].line > 0);
        import_result_fini(&result);
    }
    refuse(QUERY("2026/11/28 10:00:02.000, 0, GPU-a, 12"), (struct import_fields){0}, RL_E_IMPORT_NOT_POWER, "power",
           "line 2|no line end|no other line");
}

static void bad_logs(void **state)
{
    (void)state;
    const char *good = QUERY(AT("00.000", "100") AT("01.000", "200") AT("02.000", "200"));
    static const struct {
        const char *log, *words;
        enum rl_code code;
    } cases[] = {
        {"hello\n", "line 1|no power log", RL_E_IMPORT_NOT_POWER},
        {"", "empty", RL_E_IMPORT_NOT_POWER},
        {QUERY(""), "no sample", RL_E_IMPORT_NOT_POWER},
        {QUERY("2026/11/28 10:00:00.000, 0, GPU-a, [N/A]\n"), "no power|1 line|line 2", RL_E_IMPORT_NOT_POWER},
        {QUERY(AT("00.000", "-5")), "line 2, \"power\"|-5", RL_E_IMPORT_FORMAT},
        {QUERY(AT("00.000", "nan")), "line 2, \"power\"|nan", RL_E_IMPORT_FORMAT},
        {QUERY(AT("00.000", "1e9")), "line 2, \"power\"|1e9", RL_E_IMPORT_FORMAT},
        {QUERY("2026/11/28 10:00:00.000, 0\n"), "line 2|has 2 fields", RL_E_IMPORT_FORMAT},
        {QUERY("2026/13/28 10:00:00.000, 0, GPU-a, 5 W\n"), "line 2, \"timestamp\"|2026/13/28", RL_E_IMPORT_FORMAT},
        {"2026/11/28 10:00:00.000, 5 W, 700 W\n", "line 1|noheader", RL_E_IMPORT_NOT_POWER},
        {"+-----+\n| NVIDIA-SMI 580 |\n", "line 1|no power log", RL_E_IMPORT_NOT_POWER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refuse(cases[i].log, (struct import_fields){0}, cases[i].code, "power", cases[i].words);
    refuse(good, (struct import_fields){.since = "yesterday"}, RL_E_BAD_FIELD, "since",
           "yesterday|2026-09-01 12:00:00");
    refuse(good, (struct import_fields){.since = "2026-11-28 09:00:00"}, RL_E_BAD_FIELD, "since",
           "outside|10:00:00.000");
    refuse(good, (struct import_fields){.until = "2026-11-28 11:00:00"}, RL_E_BAD_FIELD, "until",
           "outside|10:00:02.000");
    refuse(good, (struct import_fields){.since = "2026-11-28 10:00:00.1", .until = "2026-11-28 10:00:00.2"},
           RL_E_BAD_FIELD, "since", "0 samples|every 1.000 s");
    refuse("# gpu    pwr\n# Idx      W\n    0    100\n", (struct import_fields){.since = "10:00:00"}, RL_E_BAD_FIELD,
           "since", "no times|-o DT");
    struct rl_err err = {.code = RL_E_NONE};
    struct import_result result;
    const struct import_file alone = {IMPORT_POWER, "p.csv", good, strlen(good)};
    struct import_request request = {.files = &alone, .file_count = 1};
    assert_int_equal(import_make(&request, &result, &err), -1);
    assert_string_equal(err.field, "power");
    struct given given = {.timings = "{\"kernel\": \"k\", \"ms\": 1}", .fields = {.since = "2026-11-28"}};
    must_refuse(&given, RL_E_BAD_FIELD, "since", "power log, and none was sent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages),
        cmocka_unit_test(gaps_and_clocks),
        cmocka_unit_test(several_gpus),
        cmocka_unit_test(untold_gpus),
        cmocka_unit_test(same_times),
        cmocka_unit_test(steps_and_windows),
        cmocka_unit_test(windows_behind_midnight),
        cmocka_unit_test(cut_logs),
        cmocka_unit_test(bad_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
