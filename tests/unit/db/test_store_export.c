/* Exports: a selection of runs, whole, in pieces. */
#include "tests/unit/db/store_answer.h"
#include "tests/unit/db/store_documents.h"

#include "db/runs/export.h"
#include "db/runs/retention.h"

static char *export_all(struct fixture *f, struct store_run_filter filter, enum store_export_format format,
                        size_t bytes, int64_t retire_after_first, int *ret_pieces)
{
    struct store_export *export = NULL;
    struct rl_buf whole;
    bool done = false;

    *ret_pieces = 0;
    rl_buf_init(&whole, 1 << 24);
    OK(f, store_export_start(f->store, &filter, format, &export, &f->err));
    while (!done) {
        OK(f, store_export_next(export, bytes, &whole, &done, &f->err));
        if (retire_after_first != 0 && *ret_pieces == 0)
            OK(f, store_run_retire(f->store, retire_after_first, "meanwhile", T0, &f->err));
        assert_true(++*ret_pieces < 1000);
    }
    store_export_free(export);
    return rl_buf_take(&whole);
}

static void an_export_is_the_selection_whole(void **state)
{
    struct fixture *f = *state;
    char *whole, *pieced;
    json_t *answer, *item;
    int pieces;
    size_t i;

    for (int k = 0; k < 150; k++)
        store_small(f, T0 + k * 7 % 150 * 1000, NULL);
    whole = export_all(f, (struct store_run_filter){0}, STORE_EXPORT_JSON, SIZE_MAX, 0, &pieces);
    assert_int_equal(pieces, 1);
    pieced = export_all(f, (struct store_run_filter){.source = "any"}, STORE_EXPORT_JSON, 1, 0, &pieces);
    assert_true(pieces > 100);
    assert_string_equal(whole, pieced);
    answer = parse(whole);
    assert_int_equal(json_array_size(json_object_get(answer, "items")), 150);
    json_array_foreach(json_object_get(answer, "items"), i, item)
    {
        int64_t id = strtoll(text_at(item, "id"), NULL, 10);

        assert_int_equal((id - 1) * 7 % 150, 149 - i); /* newest first */
        assert_string_equal(text_at(item, "suite"), "verify");
    }
    json_decref(answer);
    free(whole);
    free(pieced);
    whole = export_all(f, (struct store_run_filter){.since_ms = T0 + 140000, .device = DEVICE_A, .outcome = "ok"},
                       STORE_EXPORT_JSON, 1, 1 + 8, &pieces); /* run 9 is at 56 s: not in it */
    answer = parse(whole);
    assert_int_equal(json_array_size(json_object_get(answer, "items")), 10);
    json_decref(answer);
    free(whole);
    whole = export_all(f, (struct store_run_filter){.driver = "none"}, STORE_EXPORT_JSON, 1, 0, &pieces);
    answer = parse(whole);
    assert_int_equal(json_array_size(json_object_get(answer, "items")), 0);
    json_decref(answer);
    free(whole);
}

static void a_run_retired_under_an_export_is_left_out(void **state)
{
    struct fixture *f = *state;
    json_t *answer;
    char *text;
    int pieces;

    for (int k = 0; k < 5; k++)
        store_small(f, T0 + k, NULL);
    text = export_all(f, (struct store_run_filter){0}, STORE_EXPORT_JSON, 20, 4, &pieces); /* run 5 is out already */
    answer = parse(text);
    assert_int_equal(json_array_size(json_object_get(answer, "items")), 4);
    json_decref(answer);
    free(text);
    text = export_all(f, (struct store_run_filter){0}, STORE_EXPORT_JSON, 1, 5, &pieces); /* the first of all */
    answer = parse(text);
    assert_int_equal(json_array_size(json_object_get(answer, "items")), 3);
    json_decref(answer);
    free(text);
}

static size_t count_char(const char *text, char wanted)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == wanted;
    return count;
}

static void csv_has_one_head_and_says_which_run(void **state)
{
    struct fixture *f = *state;
    struct rl_run *run = sample_run_small();
    char *text, *line;
    int pieces;

    run->device.id = DEVICE_A;
    run->rows[0].title = "add, \"two\nlines\"";
    store_run(f, run, NULL);
    store_run(f, run, NULL);
    text = export_all(f, (struct store_run_filter){0}, STORE_EXPORT_CSV, 1, 0, &pieces);
    assert_true(strncmp(text, "run,source,", 11) == 0);
    assert_int_equal(count_char(text, '\r'), 1 + 2 * 2); /* two states of a kernel each */
    line = strstr(text, "\r\n") + 2;
    assert_true(strncmp(line, "2,measured,", 11) == 0);
    assert_non_null(strstr(line, "\"add, \"\"two\nlines\"\"\",warm,"));
    assert_null(strstr(line, "\n2,lines"));
    assert_non_null(strstr(line, "\r\n1,measured,"));
    assert_null(strstr(line, "run,"));
    free(text);
    text = export_all(f, (struct store_run_filter){.driver = "none"}, STORE_EXPORT_CSV, 1, 0, &pieces);
    assert_int_equal(count_char(text, '\n'), 1);
    free(text);
    rl_run_free(run);
}

/* As a server does it: lines of each run are made apart, after its document was dropped and read again. */
static char *export_apart(struct fixture *f, size_t here_bytes, int64_t retire, int *ret_apart)
{
    struct store_export *export = NULL;
    struct store_run_filter filter = {0};
    struct rl_buf whole;
    bool done = false;

    *ret_apart = 0;
    rl_buf_init(&whole, 1 << 24);
    OK(f, store_export_start(f->store, &filter, STORE_EXPORT_CSV, &export, &f->err));
    store_export_beside(export, here_bytes);
    while (!done) {
        size_t length = whole.len;

        OK(f, store_export_next(export, 1, &whole, &done, &f->err));
        if (done || whole.len > length)
            continue;
        assert_true(++*ret_apart < 100);
        OK(f, store_export_next(export, 1, &whole, &done, &f->err)); /* not made yet */
        assert_int_equal(whole.len, length);
        assert_false(done);
        store_export_drop(export);
        if (retire != 0)
            OK(f, store_run_retire(f->store, retire, "meanwhile", T0, &f->err));
        retire = 0;
        OK(f, store_export_fetch(export, &f->err));
        OK(f, store_export_fetch(export, &f->err)); /* it is held */
        store_export_make(export);
    }
    store_export_free(export);
    return rl_buf_take(&whole);
}

static void large_runs_are_made_apart(void **state)
{
    struct fixture *f = *state;
    struct rl_run *run = sample_run_small();
    char *whole, *text, *line;
    int count;

    run->device.id = DEVICE_A;
    for (int k = 0; k < 3; k++)
        store_run(f, run, NULL);
    whole = export_all(f, (struct store_run_filter){0}, STORE_EXPORT_CSV, SIZE_MAX, 0, &count);
    assert_int_equal(count, 4); /* one run each, the end */
    text = export_apart(f, SIZE_MAX, 0, &count);
    assert_int_equal(count, 0);
    assert_string_equal(text, whole);
    free(text);
    text = export_apart(f, 0, 0, &count);
    assert_int_equal(count, 3);
    assert_string_equal(text, whole);
    free(text);
    text = export_apart(f, 0, 3, &count); /* the first of all, while it waits */
    line = strstr(whole, "\r\n2,measured,");
    assert_non_null(line);
    assert_string_equal(strstr(text, "\r\n"), line);
    free(text);
    free(whole);
    rl_run_free(run);
}

static void what_an_export_refuses(void **state)
{
    struct fixture *f = *state;
    struct store_run_filter filter = {.source = "nowhere"};
    struct store_export *export = NULL;
    struct rl_run *run = make_run(DEVICE_A, T0);
    struct rl_buf out;
    bool done = false;

    FAILS(f, RL_E_BAD_FIELD, store_export_start(f->store, &filter, STORE_EXPORT_CSV, &export, &f->err));
    assert_null(export);
    add_run(f, run); /* whose document is none */
    rl_run_free(run);
    filter = (struct store_run_filter){0};
    OK(f, store_export_start(f->store, &filter, STORE_EXPORT_CSV, &export, &f->err));
    rl_buf_init(&out, 1 << 20);
    FAILS(f, RL_E_STORE_CORRUPT, store_export_next(export, 1 << 19, &out, &done, &f->err));
    assert_int_equal(out.len, 0);
    store_export_free(export);
    OK(f, store_export_start(f->store, &filter, STORE_EXPORT_CSV, &export, &f->err));
    store_export_beside(export, 0);
    OK(f, store_export_next(export, 1, &out, &done, &f->err)); /* the head */
    OK(f, store_export_fetch(export, &f->err));
    store_export_make(export);
    FAILS(f, RL_E_STORE_CORRUPT, store_export_next(export, 1, &out, &done, &f->err));
    assert_false(done);
    store_export_free(export);
    OK(f, store_export_start(f->store, &filter, STORE_EXPORT_JSON, &export, &f->err));
    rl_buf_free(&out);
    rl_buf_init(&out, 16);
    FAILS(f, RL_E_NO_MEMORY, store_export_next(export, 1 << 19, &out, &done, &f->err));
    store_export_free(export);
    store_export_free(NULL);
    rl_buf_free(&out);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup_store, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(an_export_is_the_selection_whole),
        WITH_STORE(a_run_retired_under_an_export_is_left_out),
        WITH_STORE(csv_has_one_head_and_says_which_run),
        WITH_STORE(large_runs_are_made_apart),
        WITH_STORE(what_an_export_refuses),
    };

    return cmocka_run_group_tests_name("store: export", tests, NULL, NULL);
}
