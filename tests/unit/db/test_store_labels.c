/* Labels of jobs and runs, and runs that were withdrawn. Lists by either are in tests/unit/db/test_store_list.c. */
#include "tests/unit/db/store_answer.h"
#include "tests/unit/db/store_spec.h"

#include "db/check.h"
#include "db/history/matrix.h"
#include "db/history/observations.h"
#include "db/history/trend.h"
#include "db/notes/run_note.h"
#include "db/runs/imports.h"
#include "db/runs/retention.h"
#include "db/runs/withdrawal.h"
#include "db/series/labels.h"

#define CAFE "caf\xc3\xa9, \xe2\x89\xa4 3f2c"

/* ---- what is compared: whole answers as text ---- */

static char *matrix_of(struct fixture *f, const char *label)
{
    struct store_matrix_query query = {.label = label, .now_ms = DAY0 + 30 * TREND_DAY_MS};
    struct rl_buf out;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_history_matrix(f->store, &query, &out, &f->err));
    return rl_buf_take(&out);
}

static char *trend_of(struct fixture *f, const char *kernel, const char *label)
{
    struct store_trend_query query = {
        .device = DEVICE_A, .kernel = kernel, .state = "warm", .label = label, .now_ms = DAY0 + 30 * TREND_DAY_MS};
    struct rl_buf out;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_history_trend(f->store, &query, &out, &f->err));
    return rl_buf_take(&out);
}

static char *list_of(struct fixture *f, const char *label, const char *withdrawn)
{
    struct store_run_filter filter = {.label = label, .withdrawn = withdrawn, .limit = 100};
    struct rl_buf out;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_run_list(f->store, &filter, &out, &f->err));
    return rl_buf_take(&out);
}

static char *draws_of(struct fixture *f, const char *label)
{
    struct store_side side = {
        .device = DEVICE_A, .sizes = "course", .label = label, .limit = 100, .left_out_limit = 100};
    struct store_observations draws;
    struct rl_buf out;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    for (size_t i = 0; i < draws.count; i++)
        rl_buf_printf(&out, "%lld ", (long long)draws.draws[i].run_id);
    rl_buf_puts(&out, "but");
    for (size_t i = 0; i < draws.left_out_count; i++)
        rl_buf_printf(&out, " %lld%s", (long long)draws.left_out[i].run_id, draws.left_out[i].withdrawn ? "w" : "");
    store_observations_fini(&draws);
    return rl_buf_take(&out);
}

static void expect(char *is, const char *expected)
{
    assert_string_equal(is, expected);
    free(is);
}

/* ---- labels ---- */

static void a_jobs_label_is_its_runs(void **state)
{
    struct fixture *f = *state;
    struct rl_buf out;
    char *list;

    store_run(f, (struct spec){.date_ms = DAY0, .label = CAFE});
    store_run(f, (struct spec){.date_ms = DAY0});
    rl_buf_init(&out, 1 << 16);
    OK(f, store_run_document(f->store, 1, &out, &f->err));
    assert_string_equal(out.data, "{\"id\":\"1\",\"job\":\"1\",\"label\":\"" CAFE "\",\"suite\":\"verify\"}");
    rl_buf_clear(&out);
    OK(f, store_run_document(f->store, 2, &out, &f->err));
    assert_string_equal(out.data, "{\"id\":\"2\",\"job\":\"2\",\"suite\":\"verify\"}"); /* as it was before labels */
    rl_buf_free(&out);
    list = list_of(f, CAFE, NULL);
    assert_non_null(strstr(list, "\"label\":\"" CAFE "\",\"withdrawn\":false"));
    assert_null(strstr(list, "\"id\":\"2\""));
    free(list);
    assert_int_equal(sqlite3_exec(f->store->db, "UPDATE job SET label = 'x' WHERE id = 1", NULL, NULL, NULL) & 0xff,
                     SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_exec(f->store->db, "UPDATE run SET label = 'x' WHERE id = 1", NULL, NULL, NULL) & 0xff,
                     SQLITE_CONSTRAINT);
}

static int see(void *arg, const struct store_job *job)
{
    struct rl_buf *ids = arg;

    rl_buf_printf(ids, " %lld", (long long)job->id);
    return 0;
}

static void expect_jobs(struct fixture *f, struct store_job_filter filter, const char *expected, bool more)
{
    struct rl_buf ids;
    bool is;

    rl_buf_init(&ids, 1 << 16);
    OK(f, store_job_list(f->store, &filter, see, &ids, &is, &f->err));
    assert_string_equal(ids.data != NULL ? ids.data : "", expected);
    assert_int_equal(is, more);
    rl_buf_free(&ids);
}

static void jobs_are_found_by_label(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 6; i++) {
        f->spec = i % 2 == 0 ? "{\"label\":\"a\"}" : i == 3 ? "{\"label\":\"A\"}" : NULL;
        add_job(f, DEVICE_A);
    }
    OK(f, step(f, 3, JOB_QUEUED, JOB_CANCELLED));
    expect_jobs(f, (struct store_job_filter){.state = -1, .label = "a", .limit = 2}, " 5 3", true);
    expect_jobs(f, (struct store_job_filter){.state = -1, .label = "a", .before_id = 3, .limit = 2}, " 1", false);
    expect_jobs(f, (struct store_job_filter){.state = JOB_QUEUED, .label = "a", .limit = 9}, " 5 1", false);
    expect_jobs(f, (struct store_job_filter){.state = JOB_DONE, .label = "a", .limit = 9}, "", false);
    expect_jobs(f, (struct store_job_filter){.state = -1, .label = "A", .limit = 9}, " 4", false);
    expect_jobs(f, (struct store_job_filter){.state = -1, .label = "b", .limit = 9}, "", false);
}

/* A label's matrix and trend are those of a database that has no other runs. */
static void history_of_a_label_is_that_of_its_runs_alone(void **state)
{
    struct fixture *f = *state;
    char *wide[3], *alone[3];

    for (int pass = 0; pass < 2; pass++) {
        char **to = pass == 0 ? wide : alone;
        const char *label = pass == 0 ? "x" : NULL;
        uint32_t seed = 7;

        for (int i = 0; i < 400; i++) {
            struct spec spec = {.date_ms = DAY0 + (int64_t)(i % 20) * TREND_DAY_MS + i,
                                .time_s = 1e-3 + random_next(&seed) % 1000 * 1e-6,
                                .driver = i % 7 < 3 ? "580.1" : "590.2",
                                .timed_only = i % 5 == 0,
                                .flag = i % 11 == 0 ? "shared" : NULL,
                                .label = i % 3 == 0 || i % 20 == 4 ? "x"
                                         : i % 3 == 1              ? "y"
                                                                   : NULL};

            if (pass == 0 || (spec.label != NULL && strcmp(spec.label, "x") == 0))
                store_run(f, spec);
        }
        to[0] = matrix_of(f, label);
        to[1] = trend_of(f, "vector_add", label);
        to[2] = trend_of(f, "dram_copy", label);
        store_close(f->store);
        unlink(f->path);
        open_fixture(f);
        OK(f, put_device(f, DEVICE_A, "NVIDIA H200", 0));
    }
    for (int i = 0; i < 3; i++) {
        json_t *a = parse(wide[i]), *b = parse(alone[i]), *item;
        const char *list = i == 0 ? "rows" : "points";
        size_t at;

        assert_string_equal(text_at(a, "label"), "x");
        json_object_del(a, "label");
        assert_true(json_array_size(json_object_get(b, list)) >= (i == 0 ? 2 : 20));
        for (int k = 0; i > 0 && k < 2; k++) { /* the runs have other numbers there */
            json_array_foreach(json_object_get(k == 0 ? a : b, list), at, item) json_object_del(item, "newest_run");
        }
        assert_true(json_equal(a, b));
        json_decref(a);
        json_decref(b);
        free(wide[i]);
        free(alone[i]);
    }
}

static void draws_of_a_label(void **state)
{
    struct fixture *f = *state;
    struct store_side side = {.device = DEVICE_A, .sizes = "course", .label = "x", .driver = "1", .limit = 9};
    struct store_observations draws;

    store_run(f, (struct spec){.date_ms = DAY0 + 1, .label = "x"});                   /* 1 */
    store_run(f, (struct spec){.date_ms = DAY0 + 2, .label = "y"});                   /* 2 */
    store_run(f, (struct spec){.date_ms = DAY0 + 3, .label = "x", .driver = "1"});    /* 3 */
    store_run(f, (struct spec){.date_ms = DAY0 + 4, .label = "x", .flag = "shared"}); /* 4 */
    store_run(f, (struct spec){.date_ms = DAY0 + 5, .method = 3});                    /* 5: newer, of no label */
    store_run(f, (struct spec){.date_ms = DAY0 + 6, .label = "y", .flag = "shared"}); /* 6 */
    store_run(f, (struct spec){.date_ms = DAY0 + 0, .label = "z", .method = 2});      /* 7 */
    store_run(f, (struct spec){.date_ms = DAY0 + 7, .label = "z"});                   /* 8: of an older method */
    expect(draws_of(f, "x"), "3 1 but 4");
    expect(draws_of(f, "y"), "2 but 6");
    expect(draws_of(f, "z"), "7 but 8");
    expect(draws_of(f, "none"), "but");
    OK(f, store_history_observations(f->store, &side, &draws, &f->err));
    assert_int_equal(draws.count, 1);
    assert_int_equal(draws.draws[0].run_id, 3);
    store_observations_fini(&draws);
    OK(f, store_run_withdraw(f->store, &(struct store_withdrawal){7, "why", "uid:1", T0}, &f->err));
    expect(draws_of(f, "z"), "8 but 7w");
}

static void what_a_labels_runs_have_in_common(void **state)
{
    struct fixture *f = *state;
    struct store_label_common has;

    store_run(f, (struct spec){.date_ms = DAY0, .label = "one"});
    store_run(f, (struct spec){.date_ms = DAY0, .label = "one", .driver = "2", .timed_only = true});
    store_run(f, (struct spec){.date_ms = DAY0, .label = "two"});
    store_run(f, (struct spec){.date_ms = DAY0, .label = "two", .device = DEVICE_B});
    store_run(f, (struct spec){.date_ms = DAY0, .label = "replayed", .source = RL_REPLAYED});
    OK(f, store_label_find(f->store, "one", NULL, &has, &f->err));
    assert_string_equal(has.device, DEVICE_A);
    assert_string_equal(has.suite, "verify");
    assert_string_equal(has.sizes, "course");
    OK(f, store_label_find(f->store, "two", NULL, &has, &f->err));
    assert_null(has.device);
    assert_true(has.devices > 1);
    assert_string_equal(has.sizes, "course");
    OK(f, store_label_find(f->store, "replayed", NULL, &has, &f->err));
    assert_int_equal(has.devices, 0);
    OK(f, store_label_find(f->store, "replayed", "any", &has, &f->err));
    assert_int_equal(has.devices, 1);
    FAILS(f, RL_E_BAD_FIELD, store_label_find(f->store, "one", "seen", &has, &f->err));
}

static void an_import_keeps_its_label(void **state)
{
    static const struct store_import_key key = {"1111111111111111111111111111111111111111111111111111111111111111",
                                                "a111111111111111111111111111111111111111111111111111111111111111"},
                                         other = {"2222222222222222222222222222222222222222222222222222222222222222",
                                                  "a111111111111111111111111111111111111111111111111111111111111111"};
    struct fixture *f = *state;
    struct rl_run *run = sample_run_t4();
    struct store_run_new new = {
        .run = run, .document = document_of(f, "{\"suite\":\"import\"}"), .label = "v1", .principal = "uid:7"};
    char *owner = NULL;
    bool existing;
    int64_t id;

    run->suite = "import";
    run->sizes = "other";
    OK(f, store_import_run(f->store, &new, &key, &id, &existing, &f->err));
    new.label = "v2";
    FAILS(f, RL_E_CONFLICT, store_import_run(f->store, &new, &key, &id, &existing, &f->err));
    assert_string_equal(f->err.field, "label");
    assert_non_null(strstr(f->err.message, "run 1 already, whose label is \"v1\""));
    FAILS(f, RL_E_CONFLICT, store_import_run(f->store, &new, &other, &id, &existing, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_import"), 2); /* nothing of it was stored */
    new.label = NULL;
    OK(f, store_import_run(f->store, &new, &other, &id, &existing, &f->err));
    assert_true(existing);
    OK(f, store_import_find(f->store, key.request, "v1", &id, &f->err));
    assert_int_equal(id, 1);
    FAILS(f, RL_E_CONFLICT, store_import_find(f->store, key.request, "v2", &id, &f->err));
    OK(f, store_run_owner(f->store, 1, &owner, &f->err));
    assert_string_equal(owner, "uid:7");
    free(owner);
    rl_run_free(run);
}

/* ---- withdrawn runs ---- */

static int change(struct fixture *f, int64_t run, const char *reason)
{
    return store_run_withdraw(f->store, &(struct store_withdrawal){run, reason, "uid:1000", T0}, &f->err);
}

static void put_ninety(struct fixture *f)
{
    uint32_t seed = 3;

    for (int i = 0; i < 90; i++)
        store_run(f, (struct spec){.date_ms = DAY0 + (int64_t)(i / 30) * TREND_DAY_MS + i,
                                   .time_s = 1e-3 + random_next(&seed) % 1000 * 1e-6,
                                   .label = i % 2 == 0 ? "even" : NULL,
                                   .flag = i == 40 ? "shared" : NULL});
}

/* Withdrawn, then taken back: every answer is what it was, and in between what it is without the run. */
static void a_withdrawal_hides_a_run_and_can_be_taken_back(void **state)
{
    static const char *const labels[] = {NULL, "even"};
    struct fixture *f = *state;
    char *before[5], *list;

    put_ninety(f);
    for (int l = 0; l < 2; l++) {
        char *during;

        before[0] = matrix_of(f, labels[l]);
        before[1] = trend_of(f, "vector_add", labels[l]);
        before[2] = trend_of(f, "dram_copy", labels[l]);
        before[3] = list_of(f, labels[l], NULL);
        before[4] = draws_of(f, labels[l]);
        for (int64_t run = 41; run < 60; run += 2) /* 41 is the shared one */
            OK(f, change(f, run, "the fan \"stood\" still\n\xc3\xa9"));
        if (l == 0)
            reopen_fixture(f);
        during = matrix_of(f, labels[l]);
        assert_non_null(strstr(during, l == 0 ? "\"counter_backed\":20" : "\"counter_backed\":5"));
        free(during);
        during = trend_of(f, "vector_add", labels[l]);
        assert_non_null(strstr(during, l == 0 ? "\"runs\":20,\"used\":20" : "\"runs\":5,\"used\":5"));
        free(during);
        during = draws_of(f, labels[l]);
        assert_non_null(strstr(during, "but 59w 57w 55w 53w 51w 49w 47w 45w 43w 41w"));
        free(during);
        list = list_of(f, labels[l], NULL);
        assert_null(strstr(list, "\"id\":\"43\""));
        free(list);
        list = list_of(f, labels[l], "true");
        assert_non_null(strstr(list,
                               "\"withdrawn\":true,\"withdrawal\":{\"reason\":\"the fan \\\"stood\\\" still\\u000a"
                               "\xc3\xa9\",\"principal\":\"uid:1000\",\"at\":\"2025-11-29T20:00:00.000Z\"}"));
        free(list);
        OK(f, store_check_integrity(f->store, &f->err));
        for (int64_t run = 41; run < 60; run += 2)
            OK(f, change(f, run, NULL));
        expect(matrix_of(f, labels[l]), before[0]);
        expect(trend_of(f, "vector_add", labels[l]), before[1]);
        expect(trend_of(f, "dram_copy", labels[l]), before[2]);
        expect(list_of(f, labels[l], NULL), before[3]);
        expect(draws_of(f, labels[l]), before[4]);
        for (int i = 0; i < 5; i++)
            free(before[i]);
    }
    OK(f, store_check_integrity(f->store, &f->err));
}

static void all_withdrawals_are_kept(void **state)
{
    struct fixture *f = *state;
    struct rl_buf out;
    bool is = true;
    json_t *answer, *log;

    store_run(f, (struct spec){.date_ms = DAY0});
    OK(f, change(f, 1, "first"));
    FAILS(f, RL_E_CONFLICT, change(f, 1, "again"));
    assert_non_null(strstr(f->err.message, "withdrawn already"));
    OK(f, store_run_withdrawn(f->store, 1, &is, &f->err));
    assert_true(is);
    OK(f, change(f, 1, NULL));
    FAILS(f, RL_E_CONFLICT, change(f, 1, NULL));
    OK(f, store_run_withdrawn(f->store, 1, &is, &f->err));
    assert_false(is);
    OK(f, change(f, 1, "second"));
    FAILS(f, RL_E_RUN_NOT_FOUND, change(f, 2, "x"));
    FAILS(f, RL_E_RUN_NOT_FOUND, change(f, 2, NULL));
    rl_buf_init(&out, 1 << 16);
    FAILS(f, RL_E_RUN_NOT_FOUND, store_withdrawals_json(f->store, 2, &out, &f->err));
    OK(f, store_withdrawals_json(f->store, 1, &out, &f->err));
    answer = parse(out.data);
    log = json_object_get(answer, "log");
    assert_true(json_is_true(json_object_get(answer, "withdrawn")));
    assert_int_equal(json_array_size(log), 2);
    assert_string_equal(text_at(json_array_get(log, 0), "reason"), "first");
    assert_string_equal(text_at(json_array_get(log, 0), "back_at"), "2025-11-29T20:00:00.000Z");
    assert_string_equal(text_at(json_array_get(log, 0), "back_principal"), "uid:1000");
    assert_string_equal(text_at(json_array_get(log, 1), "reason"), "second");
    assert_true(json_is_null(json_object_get(json_array_get(log, 1), "back_at")));
    json_decref(answer);
    rl_buf_free(&out);
    static const char *const refused[] = {"UPDATE withdrawal SET reason = 'x'",
                                          "UPDATE withdrawal SET back_principal = NULL, back_at_ms = NULL WHERE id = 1",
                                          "DELETE FROM withdrawal",
                                          "INSERT OR REPLACE INTO withdrawal VALUES (1, 1, 'x', 'y', 1, NULL, NULL)",
                                          "INSERT INTO withdrawal (run_id, reason, principal, at_ms) VALUES (1, 'x', "
                                          "'y', 1)"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(sqlite3_exec(f->store->db, refused[i], NULL, NULL, NULL) & 0xff, SQLITE_CONSTRAINT);
}

static void withdrawn_runs_are_retired_as_others(void **state)
{
    struct fixture *f = *state;

    put_ninety(f);
    OK(f, change(f, 1, "x"));
    OK(f, change(f, 2, "x"));
    OK(f, change(f, 2, NULL));
    OK(f, store_run_retire(f->store, 1, "old", T0, &f->err));
    OK(f, store_run_retire(f->store, 2, "old", T0, &f->err));
    OK(f, store_run_retire(f->store, 3, "old", T0, &f->err));
    assert_int_equal(query_int(f, "SELECT sum(runs) FROM series_day"), 87);
    assert_int_equal(query_int(f, "SELECT count(*) FROM withdrawal"), 0);
    OK(f, store_check_integrity(f->store, &f->err));
    for (int64_t run = 4; run <= 30; run++) /* a whole day, all of it withdrawn: its line goes, and comes again */
        OK(f, change(f, run, "x"));
    assert_int_equal(query_int(f, "SELECT count(*) FROM series_day"), 2);
    OK(f, change(f, 4, NULL));
    assert_int_equal(query_int(f, "SELECT min(runs) FROM series_day"), 1);
    OK(f, store_run_retire(f->store, 4, "old", T0, &f->err));
    OK(f, store_run_retire(f->store, 5, "old", T0, &f->err));
    assert_int_equal(query_int(f, "SELECT sum(runs) FROM series_day"), 60);
    OK(f, store_check_integrity(f->store, &f->err));
}

/* A run that began a new baseline and is withdrawn begins none. */
static void accepted_changes_of_a_withdrawn_run_do_not_count(void **state)
{
    struct fixture *f = *state;
    struct store_accepted accepted = {"vector_add", "warm"};
    struct store_note_new note = {
        .run_id = 40, .text = "x", .accepted = &accepted, .accepted_count = 1, .principal = "p", .if_version = -1};
    int64_t version;
    char *trend;

    put_ninety(f);
    OK(f, store_note_put(f->store, &note, &version, &f->err));
    trend = trend_of(f, "vector_add", NULL);
    assert_non_null(strstr(trend, "\"accepted\":true"));
    free(trend);
    OK(f, change(f, 40, "x"));
    trend = trend_of(f, "vector_add", NULL);
    assert_null(strstr(trend, "\"accepted\":true"));
    assert_non_null(strstr(trend, "\"accepted\":[]"));
    free(trend);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_jobs_label_is_its_runs),
        WITH_STORE(jobs_are_found_by_label),
        WITH_STORE(history_of_a_label_is_that_of_its_runs_alone),
        WITH_STORE(draws_of_a_label),
        WITH_STORE(what_a_labels_runs_have_in_common),
        WITH_STORE(an_import_keeps_its_label),
        WITH_STORE(a_withdrawal_hides_a_run_and_can_be_taken_back),
        WITH_STORE(all_withdrawals_are_kept),
        WITH_STORE(withdrawn_runs_are_retired_as_others),
        WITH_STORE(accepted_changes_of_a_withdrawn_run_do_not_count),
    };

    return cmocka_run_group_tests_name("store: labels and withdrawals", tests, NULL, NULL);
}
