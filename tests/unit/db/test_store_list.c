/* Lists of runs against a plain model: every filter, every page size, cursors; and the plan of every statement. */
#include "tests/unit/db/store_fixture.h"

#include <jansson.h>

#include "db/check.h"
#include "db/core/prepared.h"
#include "db/runs/imports.h"
#include "db/runs/withdrawal.h"

#define RUNS 240

struct model_run {
    int64_t id, date_ms;
    const char *device, *driver, *cuda, *suite, *sizes, *source, *counters, *outcome;
    const char *label; /* NULL: none */
    bool withdrawn;
};
struct model {
    struct model_run runs[RUNS];
    int count;
};

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}
static const char *pick(uint32_t *seed, const char *const *words, uint32_t count)
{
    return words[random_next(seed) % count];
}

static const char *const devices[] = {DEVICE_A, DEVICE_A, DEVICE_A, DEVICE_B};
static const char *const drivers[] = {"580.159.04", "595.84", ""}; /* "": not known */
static const char *const cudas[] = {"13.0", ""};
static const char *const sizes[] = {"course", "scaled", "other"};
static const char *const labels[] = {NULL, "v1", "v1", "caf\xc3\xa9, 3f2c"};

static struct rl_text version(const char *word)
{
    return word[0] != '\0' ? text_known(word) : text_unknown();
}

/* A run of an import: no job made it. */
static int64_t add_import(struct fixture *f, const struct rl_run *run, const char *label, int number)
{
    struct store_run_new new = {.run = run, .document = document_of(f, "{\"suite\":\"import\"}"), .label = label};
    char sha256[65], record[65];
    bool existing;
    int64_t id = 0;

    snprintf(sha256, sizeof sha256, "%064d", number);
    snprintf(record, sizeof record, "a%063d", number);
    OK(f, store_import_run(f->store, &new, &(struct store_import_key){sha256, record}, &id, &existing, &f->err));
    assert_false(existing);
    return id;
}

static void add_model_run(struct fixture *f, struct model *model, uint32_t *seed)
{
    struct model_run m = {.device = pick(seed, devices, 4),
                          .driver = pick(seed, drivers, 3),
                          .cuda = pick(seed, cudas, 2),
                          .sizes = pick(seed, sizes, 3),
                          .date_ms = T0 + (int64_t)(random_next(seed) % 60) * 1000};
    struct rl_run *run = make_run(m.device, m.date_ms);
    char spec[80];

    run->environment.driver_version = version(m.driver);
    run->environment.cuda_runtime_version = version(m.cuda);
    run->sizes = m.sizes;
    run->source = (enum rl_source)(random_next(seed) % 3);
    run->suite = m.suite = run->source == RL_IMPORTED && random_next(seed) % 2 == 0 ? "import" : "verify";
    run->recorded_at_ms = run->source == RL_REPLAYED ? T0 : 0;
    run->counter_backed = random_next(seed) % 2 == 0;
    run->outcome = random_next(seed) % 4 == 0 ? RL_REFUSED : RL_OK;
    m.source = rl_source_name(run->source);
    m.counters = run->counter_backed ? "counter-backed" : "timed-only";
    m.outcome = rl_outcome_name(run->outcome);
    m.label = pick(seed, labels, 4);
    snprintf(spec, sizeof spec, "{\"label\":\"%s\"}", m.label != NULL ? m.label : "");
    f->spec = m.label != NULL ? spec : NULL;
    m.id = run->source == RL_IMPORTED ? add_import(f, run, m.label, model->count) : add_run(f, run);
    m.withdrawn = random_next(seed) % 5 == 0;
    if (m.withdrawn)
        OK(f, store_run_withdraw(f->store, &(struct store_withdrawal){m.id, "the fan stood still", "uid:1000", T0},
                                 &f->err));
    f->spec = NULL;
    model->runs[model->count++] = m;
    rl_run_free(run);
}

static int newest_first(const void *a, const void *b)
{
    const struct model_run *x = a, *y = b;

    if (x->date_ms != y->date_ms)
        return x->date_ms > y->date_ms ? -1 : 1;
    return x->id > y->id ? -1 : 1;
}

static bool is(const char *wanted, const char *value)
{
    return wanted == NULL || strcmp(wanted, "any") == 0 || strcmp(wanted, value) == 0;
}

static bool is_source(const char *wanted, const char *value)
{
    if (wanted != NULL && strcmp(wanted, "measured,imported") == 0)
        return strcmp(value, "replayed") != 0;
    return is(wanted, value);
}

static bool matches(const struct store_run_filter *filter, const struct model_run *run)
{
    return is(filter->device, run->device) && is(filter->driver, run->driver) && is(filter->cuda, run->cuda) &&
           is(filter->suite, run->suite) && is(filter->sizes, run->sizes) && is_source(filter->source, run->source) &&
           is(filter->counters, run->counters) && is(filter->outcome, run->outcome) &&
           (filter->label == NULL || (run->label != NULL && strcmp(filter->label, run->label) == 0)) &&
           is(filter->withdrawn != NULL ? filter->withdrawn : "false", run->withdrawn ? "true" : "false") &&
           (filter->since_ms == 0 || run->date_ms >= filter->since_ms) &&
           (filter->until_ms == 0 || run->date_ms < filter->until_ms);
}

/* Walks all pages; every id has to be the model's next one. */
static void walk(struct fixture *f, const struct model *model, struct store_run_filter filter)
{
    char cursor[128] = "";
    int at = 0, pages = 0;

    for (;;) {
        struct rl_buf out;
        json_t *answer, *items, *next;

        rl_buf_init(&out, 1 << 20);
        filter.cursor = cursor[0] != '\0' ? cursor : NULL;
        OK(f, store_run_list(f->store, &filter, &out, &f->err));
        answer = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(answer);
        items = json_object_get(answer, "items");
        assert_true(json_array_size(items) <= (size_t)filter.limit);
        for (size_t i = 0; i < json_array_size(items); i++) {
            int64_t id = strtoll(json_string_value(json_object_get(json_array_get(items, i), "id")), NULL, 10);

            while (at < model->count && !matches(&filter, &model->runs[at]))
                at++;
            assert_true(at < model->count);
            assert_int_equal(id, model->runs[at++].id);
        }
        next = json_object_get(answer, "next");
        if (json_is_string(next)) {
            assert_int_equal(json_array_size(items), filter.limit); /* a full page before another one */
            snprintf(cursor, sizeof cursor, "%s", json_string_value(next));
        } else {
            cursor[0] = '\0';
        }
        json_decref(answer);
        rl_buf_free(&out);
        assert_true(++pages <= RUNS + 1);
        if (cursor[0] == '\0')
            break;
    }
    while (at < model->count && !matches(&filter, &model->runs[at]))
        at++;
    assert_int_equal(at, model->count); /* none left out */
}

static void lists_equal_the_model(void **state)
{
    static const char *const sources[] = {"measured", "replayed", "imported", "measured,imported", "any"};
    static const char *const suites[] = {"verify", "import"};
    static const char *const counters[] = {"counter-backed", "timed-only"};
    static const char *const outcomes[] = {"ok", "refused", "partial", "any"};
    static const char *const withdrawn[] = {"false", "true", "any"};
    struct fixture *f = *state;
    struct model *model = calloc(1, sizeof *model);
    struct store_scan scan = {.rows_per_series = 4};
    uint32_t seed = 20251129;
    static const int limits[] = {1, 2, 3, 7, 50, RUNS, STORE_LIMIT_MAX};

    assert_non_null(model);
    while (model->count < RUNS)
        add_model_run(f, model, &seed);
    qsort(model->runs, RUNS, sizeof *model->runs, newest_first);
    f->store->scan = &scan;
    for (int round = 0; round < 600; round++) {
        struct store_run_filter filter = {.limit = limits[random_next(&seed) % 7]};

        scan.from_series = random_next(&seed) % 3 * 20; /* scans, merges, and changes over at any row */
        scan.rows_max = random_next(&seed) % 60 + 1;

        if (round > 0) { /* the first has no filter at all */
            filter.device = random_next(&seed) % 2 ? pick(&seed, devices, 4) : NULL;
            filter.driver = random_next(&seed) % 3 ? NULL : pick(&seed, drivers, 3);
            filter.cuda = random_next(&seed) % 4 ? NULL : pick(&seed, cudas, 2);
            filter.sizes = random_next(&seed) % 4 ? NULL : pick(&seed, sizes, 3);
            filter.suite = random_next(&seed) % 4 ? NULL : pick(&seed, suites, 2);
            filter.source = random_next(&seed) % 3 ? NULL : pick(&seed, sources, 5);
            filter.counters = random_next(&seed) % 4 ? NULL : pick(&seed, counters, 2);
            filter.outcome = random_next(&seed) % 2 ? NULL : pick(&seed, outcomes, 4);
            filter.label = random_next(&seed) % 2 ? NULL : pick(&seed, labels, 4);
            filter.withdrawn = random_next(&seed) % 2 ? NULL : pick(&seed, withdrawn, 3);
            filter.since_ms = random_next(&seed) % 3 ? 0 : T0 + (int64_t)(random_next(&seed) % 60) * 1000;
            filter.until_ms = random_next(&seed) % 3 ? 0 : T0 + (int64_t)(random_next(&seed) % 60) * 1000;
        }
        walk(f, model, filter);
    }
    walk(f, model, (struct store_run_filter){.limit = 10, .since_ms = T0 + 7000});
    walk(f, model, (struct store_run_filter){.limit = 10, .until_ms = T0 + 7000});
    walk(f, model, (struct store_run_filter){.limit = 10, .withdrawn = "any"});
    walk(f, model, (struct store_run_filter){.limit = 10, .withdrawn = "true"});
    walk(f, model, (struct store_run_filter){.limit = 10, .label = "v"});
    walk(f, model, (struct store_run_filter){.limit = 10, .device = "GPU-none"});
    walk(f, model, (struct store_run_filter){.limit = 10, .driver = "' OR 1=1 --"});
    for (int i = 0; i < RUNS; i++) {
        if (strcmp(model->runs[i].outcome, "ok") == 0 && !model->runs[i].withdrawn) {
            assert_int_equal(newest_ok(f), model->runs[i].id);
            break;
        }
    }
    OK(f, store_check_integrity(f->store, &f->err));
    free(model);
}

static void get_cursor(struct fixture *f, struct store_run_filter filter, char cursor[128])
{
    struct rl_buf out;
    json_t *answer;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_run_list(f->store, &filter, &out, &f->err));
    answer = json_loads(out.data, 0, NULL);
    snprintf(cursor, 128, "%s", json_string_value(json_object_get(answer, "next")));
    json_decref(answer);
    rl_buf_free(&out);
}

static void a_cursor_is_for_one_list(void **state)
{
    struct fixture *f = *state;
    struct store_run_filter filter = {.device = DEVICE_A, .limit = 1};
    struct rl_run *run = make_run(DEVICE_A, T0);
    struct rl_buf out;
    char cursor[128], changed[160];

    for (int i = 0; i < 3; i++)
        add_run(f, run);
    get_cursor(f, filter, cursor);
    rl_buf_init(&out, 1 << 20);
    filter.cursor = cursor;
    filter.limit = 2; /* the page size is no part of the filter */
    OK(f, store_run_list(f->store, &filter, &out, &f->err));
    rl_buf_clear(&out);
    for (size_t i = 0; i < strlen(cursor); i++) {
        snprintf(changed, sizeof changed, "%s", cursor);
        changed[i] = changed[i] == '0' ? '1' : '0';
        filter.cursor = changed;
        FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
        changed[i] = 'g';
        FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    }
    snprintf(changed, sizeof changed, "%s0", cursor);
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    for (char *p = changed; *p != '\0'; p++)
        *p = (char)(*p >= 'a' && *p <= 'f' ? *p - 32 : *p);
    changed[strlen(cursor)] = '\0';
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err)); /* upper case is another text */
    filter.cursor = "";
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    filter.cursor = cursor;
    filter.sizes = "course";
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    filter.sizes = NULL;
    filter.since_ms = 1;
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    filter.since_ms = 0;
    filter.device = NULL;
    filter.driver = DEVICE_A; /* the same text in another field */
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    filter = (struct store_run_filter){.device = DEVICE_A, .cursor = cursor, .limit = 1};
    f->store->cursor_salt[0] = f->store->cursor_salt[0] == '0' ? '1' : '0'; /* as in another database */
    FAILS(f, RL_E_BAD_CURSOR, store_run_list(f->store, &filter, &out, &f->err));
    assert_int_equal(out.len, 0);
    rl_buf_free(&out);
    rl_run_free(run);
}

static void bad_filters_name_the_field(void **state)
{
    struct fixture *f = *state;
    struct rl_buf out;
    static const struct {
        struct store_run_filter filter;
        const char *field;
    } cases[] = {
        {{.limit = 0}, "limit"},
        {{.limit = -1}, "limit"},
        {{.limit = STORE_LIMIT_MAX + 1}, "limit"},
        {{.limit = 1, .source = "Measured"}, "source"},
        {{.limit = 1, .outcome = ""}, "outcome"},
        {{.limit = 1, .counters = "any"}, "counters"},
        {{.limit = 1, .sizes = "tiny"}, "sizes"},
    };

    rl_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FAILS(f, RL_E_BAD_FIELD, store_run_list(f->store, &cases[i].filter, &out, &f->err));
        assert_string_equal(f->err.field, cases[i].field);
    }
    rl_buf_free(&out);
}

/* A line of a plan is allowed unless it reads a table from end to end, or sorts, that the statement does not name. */
static bool plan_line_allowed(const char *line, const char *scans)
{
    const char *scan = strstr(line, "SCAN ");

    if (scan != NULL && strncmp(scan, "SCAN CONSTANT ROW", 17) != 0)
        return scans != NULL && strncmp(scan + 5, scans, strlen(scans)) == 0;
    if (strstr(line, "TEMP B-TREE") != NULL)
        return scans != NULL;
    return strstr(line, "AUTOMATIC") == NULL;
}

static void no_statement_reads_a_large_table_whole(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < STMT_COUNT; i++) {
        const struct store_stmt_text *text = &store_stmt_texts[i];
        char sql[4096];
        sqlite3_stmt *stmt = NULL;

        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", text->sql);
        if (sqlite3_prepare_v2(f->store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
            fail_msg("%s: %s", text->name, sqlite3_errmsg(f->store->db));
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *line = (const char *)sqlite3_column_text(stmt, 3);

            if (!plan_line_allowed(line, text->scans))
                fail_msg("%s: %s", text->name, line);
        }
        sqlite3_finalize(stmt);
    }
    assert_false(plan_line_allowed("SCAN run", NULL));
    assert_false(plan_line_allowed("SCAN run USING INDEX run_by_date", "series"));
    assert_false(plan_line_allowed("USE TEMP B-TREE FOR ORDER BY", NULL));
    assert_true(plan_line_allowed("SEARCH run USING INTEGER PRIMARY KEY (rowid=?)", NULL));
}

static bool plan_has(struct fixture *f, enum store_stmt id, const char *wanted)
{
    char sql[4096];
    sqlite3_stmt *stmt = NULL;
    bool found = false;

    snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", store_stmt_texts[id].sql);
    assert_int_equal(sqlite3_prepare_v2(f->store->db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        found = found || strstr((const char *)sqlite3_column_text(stmt, 3), wanted) != NULL;
    sqlite3_finalize(stmt);
    return found;
}

/* A seek that used only the date would walk all runs of one millisecond: (date, id) both have to be in the search. */
static void pages_are_sought_by_date_and_id(void **state)
{
    struct fixture *f = *state;

    assert_true(plan_has(f, STMT_RUN_SAME_DATE_IN_SERIES,
                         "COVERING INDEX run_by_series (series_id=? AND date_ms=? AND rowid<?)"));
    assert_true(plan_has(f, STMT_RUN_EARLIER_IN_SERIES, "COVERING INDEX run_by_series (series_id=? AND date_ms<?)"));
    assert_true(plan_has(f, STMT_RUN_SAME_DATE, "COVERING INDEX run_by_date (date_ms=? AND id<?)"));
    assert_true(plan_has(f, STMT_RUN_EARLIER, "COVERING INDEX run_by_date (date_ms>? AND date_ms<?)"));
    assert_true(plan_has(f, STMT_LABEL_SAME_DATE_IN_SERIES,
                         "COVERING INDEX run_by_label_series (label=? AND series_id=? AND date_ms=? AND rowid<?)"));
    assert_true(plan_has(f, STMT_LABEL_EARLIER_IN_SERIES,
                         "COVERING INDEX run_by_label_series (label=? AND series_id=? AND date_ms<?)"));
    assert_true(plan_has(f, STMT_LABEL_SAME_DATE, "COVERING INDEX run_by_label (label=? AND date_ms=? AND id<?)"));
    assert_true(plan_has(f, STMT_LABEL_EARLIER, "COVERING INDEX run_by_label (label=? AND date_ms>? AND date_ms<?)"));
    assert_true(plan_has(f, STMT_JOB_LIST_LABEL, "job_by_label (label=? AND id<?)") ||
                plan_has(f, STMT_JOB_LIST_LABEL, "job_by_label (label=? AND rowid<?)"));
    assert_true(plan_has(f, STMT_JOB_NEXT, "job_queue"));
    assert_true(plan_has(f, STMT_JOB_OPEN_OF, "job_open"));
    assert_true(plan_has(f, STMT_JOB_BY_KEY, "job_by_key"));
    assert_true(plan_has(f, STMT_JOB_LIST_STATE, "job_by_state (state=? AND id<?)") ||
                plan_has(f, STMT_JOB_LIST_STATE, "job_by_state (state=? AND rowid<?)"));
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(lists_equal_the_model),           WITH_STORE(a_cursor_is_for_one_list),
        WITH_STORE(bad_filters_name_the_field),      WITH_STORE(no_statement_reads_a_large_table_whole),
        WITH_STORE(pages_are_sought_by_date_and_id),
    };

    return cmocka_run_group_tests_name("store: lists", tests, NULL, NULL);
}
