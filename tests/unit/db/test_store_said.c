/* Notes and accepted changes, predictions and their scores, imports, retention. */
#include "tests/unit/db/store_answer.h"
#include "tests/unit/db/store_documents.h"

#include <math.h>

#include "db/check.h"
#include "db/notes/predictions.h"
#include "db/notes/run_note.h"
#include "db/runs/imports.h"
#include "db/runs/retention.h"

/* ---- notes ---- */

static json_t *note_of(struct fixture *f, int64_t run, int64_t version)
{
    struct rl_buf out;
    json_t *answer;
    int64_t got = -1;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_note_json(f->store, run, &out, &got, &f->err));
    answer = parse(out.data);
    assert_int_equal(got, version);
    assert_int_equal(int_of(answer, "version"), version);
    rl_buf_free(&out);
    return answer;
}

static void a_note_has_versions_of_its_own(void **state)
{
    struct fixture *f = *state;
    static char long_text[STORE_NOTE_MAX_BYTES + 2];
    struct store_accepted accepted[] = {{"vector_add", "cold"}, {"dram_copy", "warm"}, {"vector_add", "cold"}};
    struct store_note_new note = {
        .run_id = 1, .text = "caf\xc3\xa9\n\t\"<b>", .principal = "uid:7", .if_version = 0, .now_ms = T0};
    json_t *answer;
    int64_t version = 0;

    store_small(f, T0, NULL);
    answer = note_of(f, 1, 0);
    assert_string_equal(text_at(answer, "text"), "");
    assert_true(json_is_null(json_object_get(answer, "principal")));
    assert_int_equal(json_object_size(json_object_get(answer, "why")), 2);
    json_decref(answer);
    OK(f, store_note_put(f->store, &note, &version, &f->err));
    assert_int_equal(version, 1);
    FAILS(f, RL_E_CONFLICT, store_note_put(f->store, &note, &version, &f->err)); /* somebody was quicker */
    note.if_version = 1;
    note.accepted = accepted;
    note.accepted_count = 3;
    OK(f, store_note_put(f->store, &note, &version, &f->err));
    reopen_fixture(f);
    answer = note_of(f, 1, 2);
    assert_string_equal(text_at(answer, "text"), note.text);
    assert_string_equal(text_at(answer, "principal"), "uid:7");
    assert_string_equal(text_at(answer, "changed_at"), "2025-11-29T20:00:00.000Z");
    assert_int_equal(json_array_size(json_object_get(answer, "accepted")), 2);
    assert_string_equal(text_at(json_array_get(json_object_get(answer, "accepted"), 0), "kernel"), "vector_add");
    assert_string_equal(text_at(json_array_get(json_object_get(answer, "accepted"), 1), "state"), "warm");
    json_decref(answer);
    accepted[1] = (struct store_accepted){"fp32_fma", "cold"}; /* that the run does not have */
    note.if_version = -1;
    FAILS(f, RL_E_BAD_FIELD, store_note_put(f->store, &note, &version, &f->err));
    accepted[1] = (struct store_accepted){"no_kernel", "warm"};
    FAILS(f, RL_E_BAD_FIELD, store_note_put(f->store, &note, &version, &f->err));
    json_decref(note_of(f, 1, 2)); /* nothing of it was stored */
    note.accepted_count = 0;
    memset(long_text, 'x', sizeof long_text - 1);
    note.text = long_text;
    FAILS(f, RL_E_TOO_LARGE, store_note_put(f->store, &note, &version, &f->err));
    note.text = "\xff";
    FAILS(f, RL_E_BAD_FIELD, store_note_put(f->store, &note, &version, &f->err));
    note.text = "\xc2\x9b"
                "31m"; /* as a job's note */
    FAILS(f, RL_E_BAD_FIELD, store_note_put(f->store, &note, &version, &f->err));
    note.text = "a\r\n";
    FAILS(f, RL_E_BAD_FIELD, store_note_put(f->store, &note, &version, &f->err));
    note.text = "";
    note.run_id = 9;
    FAILS(f, RL_E_RUN_NOT_FOUND, store_note_put(f->store, &note, &version, &f->err));
    FAILS(f, RL_E_RUN_NOT_FOUND, store_note_json(f->store, 9, &(struct rl_buf){.max = 100}, &version, &f->err));
    note.run_id = 1;
    OK(f, store_note_put(f->store, &note, &version, &f->err));
    answer = note_of(f, 1, 3);
    assert_int_equal(json_array_size(json_object_get(answer, "accepted")), 0);
    json_decref(answer);
    OK(f, store_check_integrity(f->store, &f->err));
}

static void a_jobs_note_is_its_runs_first(void **state)
{
    struct fixture *f = *state;
    json_t *answer;

    store_small(f, T0, "{\"suite\":\"verify\",\"note\":\"before the update\"}");
    store_small(f, T0, "{\"suite\":\"verify\",\"note\":null}");
    answer = note_of(f, 1, 1);
    assert_string_equal(text_at(answer, "text"), "before the update");
    assert_string_equal(text_at(answer, "principal"), "uid:1000");
    json_decref(answer);
    json_decref(note_of(f, 2, 0));
}

/* ---- predictions ---- */

static json_t *predictions_of(struct fixture *f, int64_t run)
{
    struct rl_buf out;
    json_t *answer;
    int64_t version = -1;

    rl_buf_init(&out, 1 << 20);
    OK(f, store_predictions_json(f->store, run, &out, &version, &f->err));
    answer = parse(out.data);
    rl_buf_free(&out);
    return answer;
}

/* The published table, all ten predicted: what a reader of the source code would say. */
static void ten_directions_are_scored(void **state)
{
    static const char spec[] =
        "{\"suite\":\"verify\",\"predictions\":{\"vector_add\":\"near\",\"vector_add_stride32\":\"above\","
        "\"transpose_naive\":\"near\",\"transpose_tiled\":\"near\",\"matmul_naive\":\"above\",\"matmul_tiled16\":"
        "\"below\",\"block_reduction\":\"near\",\"stencil_global\":\"near\",\"stencil_tiled\":\"near\","
        "\"polynomial256\":\"above\"}}";
    struct fixture *f = *state;
    struct rl_run *run = sample_run_t4();
    json_t *answer, *items;

    run->source = RL_MEASURED;
    run->device.id = DEVICE_A;
    for (size_t i = 0; i < 10; i++)
        run->rows[i].state[RL_WARM].dram_per_ask = rl_known(t4_rows[i].per_ask);
    store_run(f, run, spec);
    answer = predictions_of(f, 1);
    assert_int_equal(int_of(answer, "predicted"), 10);
    assert_int_equal(int_of(answer, "scored"), 10);
    assert_int_equal(int_of(answer, "right"), 4); /* vector add, its stride, tiled matmul, the polynomial */
    items = json_object_get(answer, "items");
    assert_string_equal(text_at(json_array_get(items, 0), "kernel"), "vector_add");
    assert_string_equal(text_at(json_array_get(items, 0), "found"), "near");  /* 1.0922 */
    assert_string_equal(text_at(json_array_get(items, 3), "found"), "above"); /* 1.1871 */
    assert_string_equal(text_at(json_array_get(items, 3), "state"), "warm");
    /* |ln 0.0039| = 5.55, |ln 2.6844| = 0.99; the next is |ln 0.4448| = 0.81 */
    assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "most_wrong"), 0)), "matmul_naive");
    assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "most_wrong"), 1)), "transpose_naive");
    assert_int_equal(json_array_size(json_object_get(answer, "most_wrong")), 2);
    json_decref(answer);
    OK(f, store_check_integrity(f->store, &f->err));
    rl_run_free(run);
}

static void near_has_two_ends(void **state)
{
    static const struct {
        double ratio;
        const char *found;
    } cases[] = {{0.85, "near"}, {1.15, "near"}, {0.8499999, "below"}, {1.1500001, "above"}, {0, "below"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rl_run *run = sample_run_small();
        json_t *answer;

        run->device.id = DEVICE_A;
        run->rows[0].state[RL_COLD].dram_per_ask = rl_known(cases[i].ratio);
        answer = predictions_of(f, store_run(f, run, "{\"predictions\":{\"vector_add\":\"near\"}}"));
        assert_string_equal(text_at(json_array_get(json_object_get(answer, "items"), 0), "found"), cases[i].found);
        assert_string_equal(text_at(json_array_get(json_object_get(answer, "items"), 0), "state"), "cold");
        assert_int_equal(json_array_size(json_object_get(answer, "most_wrong")), i >= 2);
        json_decref(answer);
        rl_run_free(run);
    }
}

static void what_was_not_found_is_not_scored(void **state)
{
    struct fixture *f = *state;
    struct rl_run *run = sample_run_small();
    json_t *answer, *item;

    run->device.id = DEVICE_A;
    run->rows[0].state[RL_COLD].dram_per_ask = rl_unknown("counters were off");
    run->rows[0].state[RL_WARM].dram_per_ask = rl_unknown("counters were off, too");
    answer =
        predictions_of(f, store_run(f, run, "{\"predictions\":{\"vector_add\":\"near\",\"matmul_naive\":\"below\"}}"));
    assert_int_equal(int_of(answer, "predicted"), 2);
    assert_int_equal(int_of(answer, "scored"), 0);
    item = json_array_get(json_object_get(answer, "items"), 0);
    assert_true(json_is_null(json_object_get(item, "right")));
    assert_string_equal(text_at(json_object_get(item, "why"), "found"), "counters were off");
    item = json_array_get(json_object_get(answer, "items"), 1);
    assert_string_equal(text_at(json_object_get(item, "why"), "dram_per_ask"), "the run has no row of this kernel");
    json_decref(answer);
    run->rows[0].state[RL_WARM].dram_per_ask = rl_known(1); /* warm is settled, too */
    answer = predictions_of(f, store_run(f, run, "{\"predictions\":{\"vector_add\":\"near\"}}"));
    assert_int_equal(int_of(answer, "right"), 1);
    assert_string_equal(text_at(json_array_get(json_object_get(answer, "items"), 0), "state"), "warm");
    json_decref(answer);
    answer = predictions_of(f, store_run(f, run, NULL));
    assert_int_equal(int_of(answer, "predicted"), 0);
    json_decref(answer);
    FAILS(f, RL_E_RUN_NOT_FOUND,
          store_predictions_json(f->store, 99, &(struct rl_buf){.max = 100}, &(int64_t){0}, &f->err));
    rl_run_free(run);
}

/* ---- imports ---- */

static void the_same_bytes_are_the_same_run(void **state)
{
    static const char one[] = "1111111111111111111111111111111111111111111111111111111111111111",
                      two[] = "2222222222222222222222222222222222222222222222222222222222222222";
    static const struct store_import_key first = {one,
                                                  "a111111111111111111111111111111111111111111111111111111111111111"},
                                         second = {two,
                                                   "a222222222222222222222222222222222222222222222222222222222222222"};
    struct fixture *f = *state;
    struct rl_run *run = sample_run_t4();
    struct store_run_new new = {.run = run, .document = document_of(f, "{\"suite\":\"import\"}")};
    struct rl_buf out;
    int64_t id = 0, again = 0;
    bool existing = true;

    run->device.id = "tesla-t4"; /* that no probe ever saw */
    run->suite = "import";
    run->sizes = "other";
    OK(f, store_import_find(f->store, one, NULL, &id, &f->err));
    assert_int_equal(id, 0);
    OK(f, store_import_run(f->store, &new, &first, &id, &existing, &f->err));
    assert_false(existing);
    OK(f, store_import_run(f->store, &new, &first, &again, &existing, &f->err));
    assert_true(existing);
    assert_int_equal(again, id);
    OK(f, store_import_run(f->store, &new, &second, &again, &existing, &f->err));
    assert_int_not_equal(again, id);
    /* asked for in another way, which is known from then on */
    struct store_import_key other = {"3333333333333333333333333333333333333333333333333333333333333333", second.record};
    OK(f, store_import_run(f->store, &new, &other, &id, &existing, &f->err));
    assert_true(existing);
    assert_int_equal(id, again);
    reopen_fixture(f);
    OK(f, store_import_find(f->store, two, NULL, &id, &f->err));
    assert_int_equal(id, again);
    OK(f, store_import_find(f->store, other.request, NULL, &id, &f->err));
    assert_int_equal(id, again);
    rl_buf_init(&out, 1 << 16);
    OK(f, store_run_document(f->store, id, &out, &f->err));
    assert_string_equal(out.data, "{\"id\":\"2\",\"job\":null,\"suite\":\"import\"}");
    rl_buf_free(&out);
    assert_int_equal(query_int(f, "SELECT count(*) FROM device WHERE id = 'tesla-t4' AND source = 'imported'"), 1);
    FAILS(f, RL_E_INTERNAL,
          store_import_run(f->store, &new, &(struct store_import_key){"12", one}, &id, &existing, &f->err));
    FAILS(f, RL_E_INTERNAL,
          store_import_run(f->store, &new, &(struct store_import_key){one, "12"}, &id, &existing, &f->err));
    run->source = RL_MEASURED;
    FAILS(f, RL_E_INTERNAL, store_import_run(f->store, &new, &first, &id, &existing, &f->err));
    run->source = RL_IMPORTED;
    run->sizes = "none";
    struct store_import_key third = {"4444444444444444444444444444444444444444444444444444444444444444",
                                     "a444444444444444444444444444444444444444444444444444444444444444"};
    FAILS(f, RL_E_INTERNAL, store_import_run(f->store, &new, &third, &id, &existing, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_import"), 5);
    OK(f, store_run_retire(f->store, 1, "asked for", T0, &f->err)); /* and may come back */
    run->sizes = "other";
    OK(f, store_import_run(f->store, &new, &first, &id, &existing, &f->err));
    assert_false(existing);
    assert_int_equal(id, 3);
    OK(f, store_check_integrity(f->store, &f->err));
    rl_run_free(run);
}

/* ---- retention ---- */

static void a_retired_run_leaves_nothing_but_its_name(void **state)
{
    struct fixture *f = *state;
    struct store_accepted accepted = {"vector_add", "warm"};
    struct store_note_new note = {
        .run_id = 2, .text = "x", .accepted = &accepted, .accepted_count = 1, .principal = "p", .if_version = -1};
    int64_t version, job_state;

    for (int i = 0; i < 30; i++)
        store_small(f, T0 + i * 1000, i == 1 ? "{\"predictions\":{\"vector_add\":\"near\"}}" : NULL);
    OK(f, store_note_put(f->store, &note, &version, &f->err));
    OK(f, store_run_retire(f->store, 2, "older than a year", T0, &f->err));
    OK(f, store_run_retire(f->store, 30, "older than a year", T0, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM run WHERE id IN (2, 30)"), 0);
    assert_int_equal(query_int(f, "SELECT (SELECT count(*) FROM note) + (SELECT count(*) FROM accepted) + "
                                  "(SELECT count(*) FROM prediction)"),
                     0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run_row WHERE run_id IN (2, 30)"), 0);
    assert_int_equal(query_int(f, "SELECT runs FROM series_day"), 28);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trend_day WHERE runs = 28 AND length(newest) = 24 * 36"), 5);
    job_state = state_of(f, 2);
    assert_int_equal(job_state, JOB_DONE);
    FAILS(f, RL_E_RUN_NOT_FOUND, store_run_retire(f->store, 2, "again", T0, &f->err));
    OK(f, store_check_integrity(f->store, &f->err));
    for (int64_t id = 1; id < 30; id++) {
        if (id != 2)
            OK(f, store_run_retire(f->store, id, "all", T0, &f->err));
    }
    assert_int_equal(query_int(f, "SELECT (SELECT count(*) FROM series_day) + (SELECT count(*) FROM trend_day) + "
                                  "(SELECT count(*) FROM trend_stale)"),
                     0);
    assert_int_equal(newest_ok(f), 0);
    OK(f, store_check_integrity(f->store, &f->err));
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_note_has_versions_of_its_own),
        WITH_STORE(a_jobs_note_is_its_runs_first),
        WITH_STORE(ten_directions_are_scored),
        WITH_STORE(near_has_two_ends),
        WITH_STORE(what_was_not_found_is_not_scored),
        WITH_STORE(the_same_bytes_are_the_same_run),
        WITH_STORE(a_retired_run_leaves_nothing_but_its_name),
    };

    return cmocka_run_group_tests_name("store: notes, predictions, imports, retention", tests, NULL, NULL);
}
