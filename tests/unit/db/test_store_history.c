/* What is kept beside runs: facts, rows and rollups, made by storing, by migrating and by remaking, always the same. */
#include "tests/unit/db/store_fixture.h"

#include <jansson.h>
#include <math.h>
#include <zlib.h>

#include "db/check.h"
#include "db/history/trend.h"
#include "db/rows/trend_day.h"
#include "gpu/suites/document.h"
#include "tests/unit/record/sample_run.h"

/* A sample run of DEVICE_A, finished then. */
static struct rl_run *run_at(int64_t date_ms)
{
    struct rl_run *run = sample_run_small();

    run->device.id = DEVICE_A;
    run->finished_at_ms = date_ms;
    run->started_at_ms = date_ms - 4000;
    return run;
}

static int64_t store_at(struct fixture *f, int64_t date_ms)
{
    struct rl_run *run = run_at(date_ms);
    int64_t id = add_run(f, run);

    rl_run_free(run);
    return id;
}

static void check(struct fixture *f)
{
    OK(f, store_check_integrity(f->store, &f->err));
}

/* ---- one run ---- */

static void a_run_leaves_its_facts_and_rows(void **state)
{
    struct fixture *f = *state;

    store_at(f, T0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row"), 5); /* two states of a kernel, three ceilings */
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_fact WHERE run_id = 1 AND eligible = 1 AND flags = 0 AND "
                                  "ecc = 1 AND mig IS NULL AND power_limit_w = 700 AND cuda_driver = '13.0' AND "
                                  "floor_dram_bytes = 100 AND date_ms = 1764446400000 AND day = 20421"),
                     1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row JOIN unit ON unit.id = unit_id "
                                  "WHERE name = 'vector_add' AND kind = 'kernel' AND state = 'cold' AND "
                                  "time_s = 55e-6 AND value IS NULL AND ask_bytes = 201326592 AND "
                                  "dram_bytes = 174.3e6 AND settled_bytes = 201.5e6 AND flags = 32"),
                     1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row JOIN unit ON unit.id = unit_id "
                                  "WHERE name = 'dram_copy' AND kind = 'ceiling' AND state = 'warm' AND "
                                  "value = 4.27e12 AND time_s = 0.0005 AND ask_bytes = 2135000000"),
                     1);
    check(f);
}

/* Another profiler counts a cold launch without what it leaves behind: those bytes are what such a row is known to owe.
 */
static void an_import_has_a_trend_of_its_bytes_as_counted(void **state)
{
    struct fixture *f = *state;
    struct rl_run *run = run_at(T0);
    struct rl_buf out;

    run->source = RL_IMPORTED;
    run->rows[0].state[RL_COLD].bytes.dram_settled = rl_unknown("the counter file does not have it");
    add_run(f, run);
    rl_run_free(run);
    assert_int_equal(query_int(f,
                               "SELECT count(*) FROM run_row JOIN unit ON unit.id = unit_id WHERE name = 'vector_add' "
                               "AND state = 'cold' AND dram_bytes = 174.3e6 AND settled_bytes = 174.3e6"),
                     1);
    rl_buf_init(&out, 1 << 16);
    OK(f, store_history_trend(f->store,
                              &(struct store_trend_query){.device = DEVICE_A,
                                                          .kernel = "vector_add",
                                                          .state = "cold",
                                                          .metric = "dram_bytes",
                                                          .source = "imported",
                                                          .now_ms = T0},
                              &out, &f->err));
    assert_non_null(strstr(out.data, "\"median\":174300000"));
    rl_buf_free(&out);
    check(f);
}

static void flags_and_outcomes_keep_a_run_out_of_trends(void **state)
{
    static const char *const flags[] = {"shared", "throttled", "driver_changed", "another"};
    struct fixture *f = *state;

    for (int i = 0; i < 6; i++) {
        struct rl_run *run = run_at(T0 + i);

        if (i < 4)
            assert_int_equal(rl_strings_add(run->arena, &run->flags, flags[i]), 0);
        else
            run->outcome = i == 4 ? RL_PARTIAL : RL_REFUSED;
        add_run(f, run);
        rl_run_free(run);
    }
    assert_int_equal(query_int(f, "SELECT sum(eligible << (run_id - 1)) FROM run_fact"),
                     8); /* "another" is no reason */
    assert_int_equal(query_int(f, "SELECT sum(flags) FROM run_fact"), 7);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trend_day WHERE runs = 1"), 5);
    assert_int_equal(query_int(f, "SELECT sum(runs) FROM series_day"), 6);
    check(f);
}

static void a_repeated_row_of_an_import_is_narrow_once(void **state)
{
    struct fixture *f = *state;
    struct rl_run *run = sample_run_t4();

    run->device.id = DEVICE_B;
    run->rows[4].kernel = run->rows[2].kernel;
    run->ceilings[1].name = run->ceilings[0].name;
    add_run(f, run);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row"), 10);
    assert_int_equal(query_int(f, "SELECT count(*) FROM unit WHERE name = 'dram_copy'"), 1);
    check(f);
    rl_run_free(run);
}

/* ---- days ---- */

static void read_trend(struct fixture *f, const char *unit, struct trend_day *ret)
{
    sqlite3_stmt *stmt = NULL;
    char sql[256];

    snprintf(sql, sizeof sql,
             "SELECT runs, newest FROM trend_day JOIN unit ON unit.id = unit_id WHERE name = '%s' AND state = 'warm'",
             unit);
    assert_int_equal(sqlite3_prepare_v2(f->store->db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    ret->runs = sqlite3_column_int64(stmt, 0);
    ret->count = sqlite3_column_bytes(stmt, 1) / TREND_ENTRY_BYTES;
    for (int i = 0; i < ret->count; i++)
        trend_entry_decode((const unsigned char *)sqlite3_column_blob(stmt, 1) + i * TREND_ENTRY_BYTES,
                           &ret->entries[i]);
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
}

static void a_day_keeps_its_newest_runs_in_any_order_of_storing(void **state)
{
    struct fixture *f = *state;
    struct trend_day day;

    for (int i = 0; i < 30; i++) /* 7 and 30 have no common divisor: every minute once, mixed up */
        store_at(f, T0 + (i * 7 % 30) * 60000);
    read_trend(f, "vector_add", &day);
    assert_int_equal(day.runs, 30);
    assert_int_equal(day.count, TREND_ENTRIES_MAX);
    for (int i = 0; i < day.count; i++) {
        assert_int_equal(day.entries[i].ms_of_day, T0 % TREND_DAY_MS + (6 + i) * 60000);
        assert_int_equal((day.entries[i].run_id - 1) * 7 % 30, 6 + i);
        assert_true(day.entries[i].value == 47.1e-6);
        assert_true(day.entries[i].dram_bytes == 201.3e6);
        assert_true(fabs(day.entries[i].dram_per_ask - 201.3 / 201.326592) < 1e-6);
    }
    read_trend(f, "fp32_fma", &day);
    assert_true(day.entries[0].value == 60e12);
    assert_true(isnan(day.entries[0].dram_bytes));
    assert_true(isnan(day.entries[0].percent_of_ceiling));
    check(f);
}

static void days_are_those_of_utc(void **state)
{
    struct fixture *f = *state;

    store_at(f, -1);
    store_at(f, 0);
    store_at(f, TREND_DAY_MS - 1);
    store_at(f, TREND_DAY_MS);
    assert_int_equal(query_int(f, "SELECT runs FROM series_day WHERE day = -1"), 1);
    assert_int_equal(query_int(f, "SELECT runs FROM series_day WHERE day = 0"), 2);
    assert_int_equal(query_int(f, "SELECT runs FROM series_day WHERE day = 1"), 1);
    check(f);
}

/* A table as text, kernels by name: equal tables, equal texts. */
static char *dump(struct fixture *f, const char *table)
{
    sqlite3_stmt *stmt = NULL;
    struct rl_buf text;
    char sql[400];
    const char *columns = "name, kind, t.*", *join = "JOIN unit ON unit.id = unit_id", *order = "1, 2, 3, 4, 5, 6, 7";

    if (strcmp(table, "run_fact") == 0 || strcmp(table, "series_day") == 0) {
        columns = "1, 2, t.*";
        join = "";
        order = "1, 2, 3, 4";
    } else if (strcmp(table, "run_row") == 0) {
        columns = "name, kind, t.*, flop, work.ask_bytes, dims, grid, block, function, shape";
        join = "JOIN unit ON unit.id = unit_id JOIN work ON work.id = work_id JOIN launch ON launch.id = launch_id";
    } else if (strcmp(table, "trend_day") == 0) {
        columns = "name, kind, t.*, flop, ask_bytes, dims";
        join = "JOIN unit ON unit.id = unit_id JOIN work ON work.id = work_id";
        order = "1, 2, 3, 4, 5, 6, 7, flop, ask_bytes, dims, profiler_time";
    }
    rl_buf_init(&text, 1 << 22);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s AS t %s ORDER BY %s", columns, table, join, order);
    assert_int_equal(sqlite3_prepare_v2(f->store->db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const unsigned char *blob = sqlite3_column_blob(stmt, i);

            if (strcmp(sqlite3_column_name(stmt, i), "unit_id") == 0 ||
                strcmp(sqlite3_column_name(stmt, i), "work_id") == 0 ||
                strcmp(sqlite3_column_name(stmt, i), "launch_id") == 0)
                continue; /* numbers in the order in which they came */
            if (sqlite3_column_type(stmt, i) == SQLITE_FLOAT)
                rl_buf_printf(&text, "%a|", sqlite3_column_double(stmt, i));
            else if (sqlite3_column_type(stmt, i) == SQLITE_NULL)
                rl_buf_puts(&text, "null|");
            else if (sqlite3_column_type(stmt, i) != SQLITE_BLOB)
                rl_buf_printf(&text, "%s|", sqlite3_column_text(stmt, i));
            else
                for (int k = 0; k < sqlite3_column_bytes(stmt, i); k++)
                    rl_buf_printf(&text, "%02x", blob[k]);
        }
        rl_buf_puts(&text, "\n");
    }
    sqlite3_finalize(stmt);
    return rl_buf_take(&text);
}

static void run_outside(struct fixture *f, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(f->store->db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static void remaking_gives_what_storing_gave(void **state)
{
    struct fixture *f = *state;
    char *before, *after;

    for (int i = 0; i < 40; i++) {
        struct rl_run *run = run_at(T0 + (i * 11 % 40) * 3600000);

        if (i % 5 == 0)
            run->sizes = "scaled";
        if (i % 7 == 0)
            assert_int_equal(rl_strings_add(run->arena, &run->flags, "shared"), 0);
        run->rows[0].state[RL_WARM].time_s.median = rl_known(1e-6 * (i + 1));
        if (i % 3 == 0)
            run->rows[0].state[RL_COLD].bytes.dram_settled = rl_unknown("too few");
        add_run(f, run);
        rl_run_free(run);
    }
    before = dump(f, "trend_day");
    run_outside(f, "INSERT INTO trend_stale SELECT DISTINCT series_id, method_version, day FROM run_fact; "
                   "UPDATE trend_day SET runs = 99; "
                   "INSERT INTO trend_stale SELECT 1, method_version, 7 FROM run_fact WHERE true LIMIT 1");
    reopen_fixture(f);
    after = dump(f, "trend_day");
    assert_true(strlen(before) > 1000);
    assert_string_equal(before, after);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trend_stale"), 0);
    check(f);
    free(before);
    free(after);
}

/* ---- migration ---- */

static void unpack_database(struct fixture *f)
{
    gzFile from = gzopen(VERSION1, "rb");
    char buffer[65536];
    FILE *to = fopen(f->path, "wb");
    int got;

    assert_non_null(from);
    assert_non_null(to);
    while ((got = gzread(from, buffer, sizeof buffer)) > 0)
        assert_int_equal(fwrite(buffer, 1, (size_t)got, to), got);
    assert_int_equal(got, 0);
    gzclose(from);
    fclose(to);
}

static char *old_text(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    char *text;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    text = strndup((const char *)sqlite3_column_text(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return text;
}

static void old_execute(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static struct rl_run *parse_run(const char *text)
{
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    assert_non_null(document);
    json_object_del(document, "id");
    json_object_del(document, "job");
    if (rl_run_from_json(document, &run, &err) != 0)
        fail_msg("%s: %s", err.field, err.message);
    json_decref(document);
    return run;
}

static void add_run_of(struct fixture *f, const struct rl_run *run, const char *spec)
{
    struct store_job_new job = new_job(run->device.id);
    struct store_run_new new = {.run = run, .document = document_of(f, "{\"suite\":\"verify\"}")};
    struct store_transition t = {.from = JOB_RUNNING, .to = JOB_DONE, .now_ms = T0, .run = &new};

    job.spec = spec;
    OK(f, store_job_add(f->store, &job, &t.id, NULL, &f->err));
    OK(f, step(f, t.id, JOB_QUEUED, JOB_RUNNING));
    OK(f, store_job_transition(f->store, &t, NULL, &f->err));
}

/* Nothing is lost, and what is new is exactly what storing the same runs makes today. */
static void version_1_becomes_what_storing_would_have_made(void **state)
{
    static const char *const tables[] = {"run_row", "run_fact", "trend_day", "series_day", "prediction"};
    struct fixture *f = *state;
    char *documents[4], *specs[4], *transcript, *migrated[5], sql[128];
    struct rl_buf out;

    unpack_database(f);
    old_execute(f->path,
                "DROP TRIGGER run_document_never_updated; DROP TRIGGER series_fixed; "
                "UPDATE run_document SET document = replace(document, '\"counter_backed\":true,\"flags\":[]', "
                "'\"counter_backed\":true,\"flags\":[\"shared\",\"driver_changed\"]') WHERE run_id = 2; "
                "UPDATE run_document SET document = replace(document, '\"outcome\":\"ok\"', "
                "'\"outcome\":\"partial\"') WHERE run_id = 4; UPDATE series SET outcome = 'partial' WHERE id = 3");
    for (int i = 0; i < 4; i++) {
        snprintf(sql, sizeof sql, "SELECT document FROM run_document WHERE run_id = %d", i + 1);
        documents[i] = old_text(f->path, sql);
        snprintf(sql, sizeof sql, "SELECT spec FROM job WHERE id = %d", i + 1);
        specs[i] = old_text(f->path, sql);
    }
    transcript = old_text(f->path, "SELECT text FROM job_transcript WHERE job_id = 2");
    open_fixture(f);
    check(f);
    rl_buf_init(&out, 1 << 20);
    for (int i = 0; i < 4; i++) {
        rl_buf_clear(&out);
        OK(f, store_run_document(f->store, i + 1, &out, &f->err));
        assert_string_equal(out.data, documents[i]);
    }
    for (int i = 0; i < 5; i++)
        migrated[i] = dump(f, tables[i]);
    assert_int_equal(query_int(f, "SELECT count(*) FROM note WHERE run_id = 1 AND text = 'before the update'"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM note"), 1);
    rl_buf_clear(&out);
    OK(f, store_transcript(f->store, 2, &out, &f->err));
    assert_string_equal(out.data, transcript);
    rl_buf_free(&out);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trend_stale"), 0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM job_transcript WHERE bytes > length(text)"), 4);
    assert_int_equal(query_int(f, "SELECT sum(flags) * 10 + sum(eligible) FROM run_fact"), 5 * 10 + 2);
    store_close(f->store);
    f->store = NULL;
    unlink(f->path);
    open_fixture(f);
    for (int i = 0; i < 4; i++) {
        struct rl_run *run = parse_run(documents[i]);

        if (i == 0)
            OK(f, put_device(f, run->device.id, run->device.name, 0));
        add_run_of(f, run, specs[i]);
        rl_run_free(run);
        free(documents[i]);
        free(specs[i]);
    }
    for (int i = 0; i < 5; i++) {
        char *stored = dump(f, tables[i]);

        assert_true(strlen(stored) > 20);
        assert_string_equal(migrated[i], stored);
        free(stored);
        free(migrated[i]);
    }
    free(transcript);
}

#define WITH_STORE(test)   cmocka_unit_test_setup_teardown(test, setup_store, teardown)
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup_directory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_run_leaves_its_facts_and_rows),
        WITH_STORE(an_import_has_a_trend_of_its_bytes_as_counted),
        WITH_STORE(flags_and_outcomes_keep_a_run_out_of_trends),
        WITH_STORE(a_repeated_row_of_an_import_is_narrow_once),
        WITH_STORE(a_day_keeps_its_newest_runs_in_any_order_of_storing),
        WITH_STORE(days_are_those_of_utc),
        WITH_STORE(remaking_gives_what_storing_gave),
        IN_DIRECTORY(version_1_becomes_what_storing_would_have_made),
    };

    return cmocka_run_group_tests_name("store: history", tests, NULL, NULL);
}
