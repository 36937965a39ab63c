/* Runs in the store: stored with the job's last step, given back byte for byte, never changed; devices. */
#include "db/check.h"
#include "db/runs/read.h"
#include "db/series/memory.h"
#include "tests/unit/db/store_answer.h"

#include <math.h>

static char *take_document(struct fixture *f, int64_t id)
{
    struct rl_buf out;

    rl_buf_init(&out, STORE_DOCUMENT_MAX_BYTES);
    OK(f, store_run_document(f->store, id, &out, &f->err));
    return rl_buf_take(&out);
}

static json_t *list(struct fixture *f, struct store_run_filter filter)
{
    struct rl_buf out;
    json_t *object;

    if (filter.limit == 0)
        filter.limit = 50;
    rl_buf_init(&out, 1 << 20);
    OK(f, store_run_list(f->store, &filter, &out, &f->err));
    object = parse(out.data);
    rl_buf_free(&out);
    return object;
}

static void a_run_comes_back_as_it_went_in(void **state)
{
    struct fixture *f = *state;
    static const char body[] =
        "{\"note\":\"\xc3\xa9 <b>'\\\"; DROP TABLE run; -- \xe6\xb8\xac\",\"x\":0.10000000000000001}";
    struct rl_run *run = make_run(DEVICE_A, T0);
    double warm[] = {1.25e-5, 1.0 / 3.0, 0}, cold[256];
    struct store_samples samples[] = {{"dram_copy", RL_WARM, 10, warm, 0},
                                      {"vector_add", RL_COLD, 1, cold, 256},
                                      {"vector_add", RL_WARM, 40, warm, 3}};
    struct store_run_new new = {.run = run, .document = document_of(f, body), .samples = samples, .sample_count = 3};
    int64_t id = 0, job = 0;
    struct store_job stored;
    char expected[512], *document;
    struct rl_buf out;
    json_t *object, *items;

    for (int i = 0; i < 256; i++)
        cold[i] = 1e-6 * (i + 1);
    OK(f, finish_with(f, &new, &id, &job));
    reopen_fixture(f);
    document = take_document(f, id);
    snprintf(expected, sizeof expected, "{\"id\":\"%lld\",\"job\":\"%lld\",%s", (long long)id, (long long)job,
             body + 1);
    assert_string_equal(document, expected);
    free(document);
    OK(f, store_job_get(f->store, job, &stored, &f->err));
    assert_int_equal(stored.run_id, id);
    assert_int_equal(stored.state, JOB_DONE);
    assert_string_equal(stored.outcome, rl_outcome_name(run->outcome));
    store_job_fini(&stored);
    rl_buf_init(&out, 1 << 20);
    OK(f, store_run_samples(f->store, id, &out, &f->err));
    object = parse(out.data);
    items = json_object_get(object, "items");
    assert_int_equal(json_array_size(items), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *item = json_array_get(items, i), *times = json_object_get(item, "times_s");

        assert_string_equal(json_string_value(json_object_get(item, "unit")), samples[i].unit);
        assert_string_equal(json_string_value(json_object_get(item, "state")), rl_state_name(samples[i].state));
        assert_int_equal(json_integer_value(json_object_get(item, "launches")), samples[i].launches);
        assert_int_equal(json_array_size(times), samples[i].count);
        for (size_t k = 0; k < samples[i].count; k++)
            assert_true((float)json_number_value(json_array_get(times, k)) == (float)samples[i].times_s[k]);
    }
    json_decref(object);
    FAILS(f, RL_E_RUN_NOT_FOUND, store_run_samples(f->store, id + 1, &out, &f->err));
    FAILS(f, RL_E_RUN_NOT_FOUND, store_run_document(f->store, id + 1, &out, &f->err));
    rl_buf_free(&out);
    rl_buf_init(&out, 20); /* an answer that does not fit is an error, not a cut */
    rl_buf_puts(&out, "before");
    FAILS(f, RL_E_NO_MEMORY, store_run_document(f->store, id, &out, &f->err));
    assert_string_equal(out.data, "before");
    rl_buf_free(&out);
    assert_int_equal(newest_ok(f), id);
    OK(f, store_check_integrity(f->store, &f->err));
    rl_run_free(run);
}

/* What cannot become a document is told before the store has to do with it. */
static void a_document_that_is_none(void **state)
{
    struct fixture *f = *state;
    struct store_document document = {0};
    char *huge = malloc(STORE_DOCUMENT_MAX_BYTES + 1);

    FAILS(f, RL_E_INTERNAL, store_document_make("{}", &document, &f->err)); /* nothing to put "id" before */
    FAILS(f, RL_E_INTERNAL, store_document_make("", &document, &f->err));
    FAILS(f, RL_E_INTERNAL, store_document_make("[1]", &document, &f->err));
    FAILS(f, RL_E_INTERNAL, store_document_make("{\"a\":\"\xff\"}", &document, &f->err));
    assert_non_null(huge);
    memset(huge, ' ', STORE_DOCUMENT_MAX_BYTES);
    memcpy(huge, "{\"", 2);
    huge[STORE_DOCUMENT_MAX_BYTES] = '\0';
    FAILS(f, RL_E_TOO_LARGE, store_document_make(huge, &document, &f->err));
    assert_null(document.deflated);
    store_document_fini(&document);
    free(huge);
}

/* Of every kind of length: shorter than a window and longer, one that deflates and one that does not. */
static void documents_of_any_size_come_back(void **state)
{
    static const size_t sizes[] = {5, 100, 32768, 65535, 65536, 300000, 2000000};
    struct fixture *f = *state;
    struct rl_run *run = make_run(DEVICE_A, T0);
    uint32_t noise = 1;

    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i / 2], head;
        char *text = malloc(size + 1), *document;
        struct store_run_new new = {.run = run};
        int64_t id = 0, job = 0;

        assert_non_null(text);
        for (size_t at = 0; at < size; at++) {
            noise = noise * 1664525 + 1013904223;
            text[at] = i % 2 == 0 ? "{\"a\":1,"[at % 7] : (char)('#' + (noise >> 16) % 57);
        }
        memcpy(text, "{\"", 2);
        text[size] = '\0';
        new.document = document_of(f, text);
        OK(f, finish_with(f, &new, &id, &job));
        document = take_document(f, id);
        head = strlen(document) - (size - 1);
        assert_string_equal(document + head, text + 1);
        assert_memory_equal(document, "{\"id\":\"", 7);
        free(document);
        free(text);
    }
    OK(f, store_check_integrity(f->store, &f->err));
    rl_run_free(run);
}

static int count_all(struct fixture *f)
{
    return (int)query_int(f, "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM run_document) + "
                             "(SELECT count(*) FROM run_sample) + (SELECT count(*) FROM series) + "
                             "(SELECT count(*) FROM job WHERE state = 'done') + (SELECT count(*) FROM job_transcript)");
}

static void a_run_that_cannot_be_stored_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    double bad[3] = {1e-5, NAN, 1e-5}, many[257] = {0};
    struct store_samples samples = {"vector_add", RL_WARM, 10, bad, 3};
    struct rl_run *run = make_run(DEVICE_A, T0);
    struct store_run_new new = {
        .run = run, .document = document_of(f, "{\"suite\":\"verify\"}"), .samples = &samples, .sample_count = 1};
    int64_t id = 0, job = 0;

    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    assert_int_equal(state_of(f, job), JOB_RUNNING);
    assert_int_equal(count_all(f), 0);
    bad[1] = INFINITY;
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    bad[1] = 1e39; /* finite, and not as a float32 */
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    bad[1] = -1e-9;
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    samples = (struct store_samples){"vector_add", RL_WARM, 10, many, 257};
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    new.sample_count = 0;
    run->ridge_flop_per_byte = rl_known(INFINITY);
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    run->ridge_flop_per_byte = rl_known(NAN);
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    run->ridge_flop_per_byte = rl_known(14);
    run->sizes = "huge";
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    run->sizes = "course";
    run->finished_at_ms = 253402300799999LL + 1; /* 9999-12-31: the last that has a name */
    FAILS(f, RL_E_INTERNAL, finish_with(f, &new, &id, &job));
    assert_int_equal(id, 0);
    assert_int_equal(count_all(f), 0);
    add_job(f, DEVICE_A); /* another commit: nothing of the failed ones is remembered with it */
    assert_int_equal(f->store->series->cache.count, 0);
    OK(f, store_check_integrity(f->store, &f->err));
    rl_run_free(run);
}

static void the_file_itself_refuses_changes(void **state)
{
    static const char *const changes[] = {
        "UPDATE run SET date_ms = date_ms + 1",
        "UPDATE run SET why = NULL",
        "DELETE FROM run",
        "UPDATE run_document SET deflated = x'00'",
        "UPDATE run_fact SET eligible = 0",
        "DELETE FROM run_fact",
        "REPLACE INTO run_fact SELECT * FROM run_fact",
        "UPDATE run_row SET time_s = 1",
        "DELETE FROM run_row",
        "REPLACE INTO run_row SELECT * FROM run_row",
        "DELETE FROM run_document",
        "UPDATE run_sample SET launches = 1",
        "DELETE FROM run_sample",
        "REPLACE INTO run SELECT * FROM run",
        "REPLACE INTO run (id, series_id, date_ms, started_at_ms, why) SELECT id, series_id, 0, 0, '{}' FROM run",
        ("REPLACE INTO run (series_id, job_id, date_ms, started_at_ms, why) "
         "SELECT series_id, job_id, 0, 0, '{}' FROM run"),
        "REPLACE INTO run_document SELECT run_id, 2, x'00' FROM run_document",
        "REPLACE INTO run_sample SELECT * FROM run_sample",
        "INSERT INTO run SELECT * FROM run WHERE true ON CONFLICT (id) DO UPDATE SET date_ms = 0",
        "INSERT INTO run_document SELECT * FROM run_document WHERE true ON CONFLICT (run_id) DO UPDATE SET bytes = 3",
        "UPDATE series SET driver = 'other'",
        "DELETE FROM series",
        "DELETE FROM device",
        "UPDATE job SET spec = '{}'",
        "UPDATE job SET principal = 'me'",
        "DELETE FROM job",
    };
    struct fixture *f = *state;
    double times[] = {1e-5};
    struct store_samples samples = {"vector_add", RL_WARM, 10, times, 1};
    struct rl_run *run = make_run(DEVICE_A, T0);
    struct store_run_new new = {
        .run = run, .document = document_of(f, "{\"suite\":\"verify\"}"), .samples = &samples, .sample_count = 1};
    int64_t id = 0, job = 0;
    sqlite3 *other = NULL;
    int before;

    OK(f, finish_with(f, &new, &id, &job));
    before = count_all(f);
    /* a connection with none of our settings: what protects is in the file */
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = OFF", NULL, NULL, NULL),
                     SQLITE_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (sqlite3_exec(other, changes[i], NULL, NULL, NULL) == SQLITE_OK)
            fail_msg("this went through: %s", changes[i]);
        assert_int_equal(sqlite3_errcode(other), SQLITE_CONSTRAINT);
    }
    assert_int_equal(sqlite3_exec(other,
                                  "BEGIN; INSERT INTO run_retired VALUES (1, 0, 'older than a year'); "
                                  "DELETE FROM run_sample WHERE run_id = 1; DELETE FROM run_document WHERE run_id = 1; "
                                  "DELETE FROM run WHERE id = 1; COMMIT",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    assert_int_equal(count_all(f), before - 3);
    FAILS(f, RL_E_RUN_NOT_FOUND, store_run_document(f->store, id, &(struct rl_buf){.max = 100}, &f->err));
    assert_int_equal(newest_ok(f), 0);
    OK(f, store_check_integrity(f->store, &f->err));
    rl_run_free(run);
}

static void summaries_say_null_and_why(void **state)
{
    struct fixture *f = *state;
    struct rl_run *run = make_run(DEVICE_A, T0);
    json_t *answer, *item, *why;
    int64_t id;

    run->source = RL_REPLAYED;
    run->recorded_at_ms = T0 - 86400000;
    run->outcome = RL_PARTIAL;
    run->counter_backed = false;
    id = add_run(f, run);
    answer = list(f, (struct store_run_filter){.outcome = "any", .source = "any"});
    assert_true(json_is_null(json_object_get(answer, "next")));
    item = json_array_get(json_object_get(answer, "items"), 0);
    assert_int_equal(strtoll(text_at(item, "id"), NULL, 10), id);
    assert_string_equal(text_at(item, "job"), "1");
    assert_string_equal(text_at(item, "date"), "2025-11-29T20:00:00.000Z");
    assert_string_equal(text_at(json_object_get(item, "device"), "id"), DEVICE_A);
    assert_string_equal(text_at(json_object_get(item, "device"), "name"), "NVIDIA H200");
    assert_string_equal(text_at(item, "driver"), "580.159.04");
    assert_string_equal(text_at(item, "cuda"), "13.0");
    assert_string_equal(text_at(item, "suite"), "verify");
    assert_string_equal(text_at(item, "sizes"), "course");
    assert_string_equal(text_at(item, "source"), "replayed");
    assert_string_equal(text_at(item, "outcome"), "partial");
    assert_string_equal(text_at(item, "counters"), "timed-only");
    assert_string_equal(text_at(item, "recorded_at"), "2025-11-28T20:00:00.000Z");
    assert_true(json_number_value(json_object_get(item, "dram_copy_byte_per_s")) == 4.27e12);
    assert_true(json_number_value(json_object_get(item, "fp32_fma_flop_per_s")) == 6.03e13);
    assert_true(json_number_value(json_object_get(item, "ridge_flop_per_byte")) == 14.125);
    assert_true(json_is_null(json_object_get(item, "label")));
    assert_true(json_is_false(json_object_get(item, "withdrawn")));
    assert_null(json_object_get(item, "withdrawal"));
    assert_string_equal(text_at(json_object_get(item, "why"), "label"), "none was given");
    assert_int_equal(json_object_size(json_object_get(item, "why")), 1);
    json_decref(answer);

    run->source = RL_MEASURED;
    run->recorded_at_ms = 0;
    run->finished_at_ms = T0 + 1;
    run->ceiling_count = 0;
    run->ridge_flop_per_byte = rl_unknown("no \"ceiling\" \xc3\xa9\n");
    run->environment.driver_version = text_unknown();
    add_run(f, run);
    answer = list(f, (struct store_run_filter){.source = "measured"});
    item = json_array_get(json_object_get(answer, "items"), 0);
    why = json_object_get(item, "why");
    assert_true(json_is_null(json_object_get(item, "driver")));
    assert_true(json_is_null(json_object_get(item, "dram_copy_byte_per_s")));
    assert_true(json_is_null(json_object_get(item, "recorded_at")));
    assert_string_equal(text_at(why, "ridge_flop_per_byte"), "no \"ceiling\" \xc3\xa9\n");
    assert_string_equal(text_at(why, "driver"), "not known in this test");
    assert_int_equal(json_object_size(why), 6); /* label, driver, recorded_at, two ceilings, ridge */
    json_decref(answer);
    assert_int_equal(newest_ok(f), 0); /* neither is ok */
    rl_run_free(run);
}

static void devices_show_the_last_probe(void **state)
{
    struct fixture *f = *state;
    struct rl_device device;
    struct rl_environment environment;
    struct store_device row = {.device = &device,
                               .environment = &environment,
                               .counters_status = "counters_permission",
                               .counters_why = "RmProfilingAdminOnly is 1",
                               .source = RL_REPLAYED,
                               .checked_at_ms = T0 + 5,
                               .ordinal = 3};
    struct rl_buf out;
    json_t *answer, *items, *item;

    make_identity(&device, &environment, DEVICE_A, "<b>'\"; \xe6\xb8\xac");
    OK(f, store_put_device(f->store, &row, &f->err));
    rl_buf_init(&out, 1 << 20);
    OK(f, store_list_devices(f->store, &out, &f->err));
    answer = parse(out.data);
    items = json_object_get(answer, "items");
    assert_int_equal(json_array_size(items), 2);
    assert_string_equal(text_at(json_array_get(items, 0), "id"), DEVICE_B); /* ordinal 1 before 3 */
    item = json_array_get(items, 1);
    assert_string_equal(text_at(item, "id"), DEVICE_A);
    assert_string_equal(text_at(item, "name"), device.name);
    assert_string_equal(text_at(item, "source"), "replayed");
    assert_string_equal(text_at(item, "checked_at"), "2025-11-29T20:00:00.005Z");
    assert_string_equal(text_at(json_object_get(item, "counters"), "status"), "counters_permission");
    assert_string_equal(text_at(json_object_get(item, "counters"), "why"), "RmProfilingAdminOnly is 1");
    assert_string_equal(text_at(json_object_get(item, "device"), "chip"), "GH100");
    assert_string_equal(text_at(json_object_get(item, "environment"), "driver_version"), "580.159.04");
    assert_true(json_is_null(json_object_get(json_object_get(json_array_get(items, 0), "counters"), "why")));
    json_decref(answer);
    row.counters_why = NULL; /* a refusal without a reason, and a reason beside "ok", are no device rows */
    FAILS(f, RL_E_INTERNAL, store_put_device(f->store, &row, &f->err));
    row.counters_status = "ok";
    row.counters_why = "but";
    FAILS(f, RL_E_INTERNAL, store_put_device(f->store, &row, &f->err));
    rl_buf_free(&out);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_run_comes_back_as_it_went_in),  WITH_STORE(a_run_that_cannot_be_stored_leaves_nothing),
        WITH_STORE(the_file_itself_refuses_changes), WITH_STORE(summaries_say_null_and_why),
        WITH_STORE(devices_show_the_last_probe),     WITH_STORE(a_document_that_is_none),
        WITH_STORE(documents_of_any_size_come_back),
    };

    return cmocka_run_group_tests_name("store: runs and devices", tests, NULL, NULL);
}
