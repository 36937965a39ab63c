/* Documents of other builds: of older ones, which lack members; of newer ones, which have more; and reasons that rules
 * act on, by code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "gpu/record/derive/derive.h"
#include "gpu/record/fields.h"
#include "gpu/record/flags.h"
#include "gpu/suites/document.h"
#include "tests/unit/record/sample_run.h"

/* ---- a table with members of three versions ---- */

struct inner {
    struct rl_real depth;
};
struct late { /* an optional object of version 3 */
    bool present;
    struct rl_count level;
};
struct thing {
    const char *name;      /* version 1 */
    struct rl_real width;  /* 1 */
    struct rl_text colour; /* 1: "red" or "blue" */
    struct rl_real height; /* 2 */
    struct rl_strings tags;
    struct inner inner;
    struct late late;
};

static const char *const colours[] = {"red", "blue", NULL};
static const struct rl_field inner_fields[] = {
    {.name = "depth", .kind = RL_KIND_REAL, .max = 10, .offset = offsetof(struct inner, depth)}};
static const struct rl_object inner_object = {
    .title = "an inner one", .fields = inner_fields, .count = 1, .size = sizeof(struct inner)};
static const struct rl_field late_fields[] = {
    {.name = "level", .kind = RL_KIND_COUNT, .int_max = 10, .offset = offsetof(struct late, level)}};
static const struct rl_object late_object = {
    .title = "a late one", .fields = late_fields, .count = 1, .size = sizeof(struct late)};
static const struct rl_field thing_fields[] = {
    {.name = "name", .kind = RL_KIND_STRING, .max_count = 32, .offset = offsetof(struct thing, name)},
    {.name = "width", .kind = RL_KIND_REAL, .max = 10, .offset = offsetof(struct thing, width)},
    {.name = "colour",
     .kind = RL_KIND_TEXT,
     .max_count = 32,
     .words = colours,
     .offset = offsetof(struct thing, colour)},
    {.name = "height", .kind = RL_KIND_REAL, .max = 10, .offset = offsetof(struct thing, height), .since = 2},
    {.name = "tags", .kind = RL_KIND_WORDS, .max_count = 4, .offset = offsetof(struct thing, tags), .since = 2},
    {.name = "inner",
     .kind = RL_KIND_OBJECT,
     .object = &inner_object,
     .offset = offsetof(struct thing, inner),
     .since = 2},
    {.name = "late", .kind = RL_KIND_STATE, .object = &late_object, .offset = offsetof(struct thing, late), .since = 2},
};
static const struct rl_object thing_object = {.title = "a thing",
                                              .fields = thing_fields,
                                              .count = sizeof thing_fields / sizeof thing_fields[0],
                                              .size = sizeof(struct thing)};

static int read_thing(const char *text, int64_t version, struct rl_arena *arena, struct thing *ret, struct rl_err *err)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    memset(ret, 0, sizeof *ret);
    *err = (struct rl_err){0};
    int rc = rl_object_from_json(&thing_object, json, version, arena, ret, err);
    json_decref(json);
    return rc;
}

static void an_older_document_lacks_members(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(1 << 16);
    struct thing thing;
    struct rl_err err;
    static const char old[] = "{\"name\": \"a\", \"width\": 2.5, \"colour\": \"red\"}";
    assert_int_equal(read_thing(old, 1, arena, &thing, &err), 0);
    assert_true(rl_is_known(thing.width));
    assert_true(thing.width.value == 2.5);
    assert_int_equal(thing.height.code, RL_WHY_NOT_RECORDED);
    assert_string_equal(thing.height.why, "not recorded by the build that wrote this");
    assert_int_equal(thing.inner.depth.code, RL_WHY_NOT_RECORDED);
    assert_int_equal(thing.tags.count, 0);
    assert_false(thing.late.present);
    /* the same of a document that says that it is of version 2 is incomplete */
    assert_int_equal(read_thing(old, 2, arena, &thing, &err), -1);
    assert_int_equal(err.code, RL_E_BAD_FIELD);
    assert_string_equal(err.field, "height");
    /* what version 1 had has to be there in a document of version 1 */
    assert_int_equal(read_thing("{\"name\": \"a\", \"colour\": \"red\"}", 1, arena, &thing, &err), -1);
    assert_string_equal(err.field, "width");
    rl_arena_free(arena);
}

#define WHOLE                                                                                                          \
    "\"name\": \"a\", \"width\": null, \"height\": 1, \"tags\": [\"x\"], \"inner\": {\"depth\": 2}, \"why\": "         \
    "{\"width\": \"lost\""

static void a_newer_document_has_more(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(1 << 16);
    struct thing thing;
    struct rl_err err;
    static const char newer[] =
        "{" WHOLE ", \"smell\": \"no nose\"}, \"why_code\": {\"width\": \"of_tomorrow\", \"smell\": \"no_nose\"},"
        " \"smell\": null, \"colour\": \"green\", \"weight\": {\"kg\": 4}}";
    assert_int_equal(read_thing(newer, RL_RECORD_VERSION + 1, arena, &thing, &err), 0);
    assert_string_equal(thing.width.why, "lost");
    assert_int_equal(thing.width.code, RL_WHY_NONE);
    assert_null(thing.colour.value);
    assert_string_equal(thing.colour.why, "a word of a newer build, which this one does not know");
    assert_true(thing.inner.depth.value == 2);
    /* of today's version each of these is an error, named */
    assert_int_equal(
        read_thing("{" WHOLE "}, \"colour\": \"red\", \"weight\": 4}", RL_RECORD_VERSION, arena, &thing, &err), -1);
    assert_int_equal(err.code, RL_E_UNKNOWN_FIELD);
    assert_non_null(strstr(err.message, "weight"));
    assert_int_equal(read_thing("{" WHOLE "}, \"colour\": \"green\"}", RL_RECORD_VERSION, arena, &thing, &err), -1);
    assert_string_equal(err.field, "colour");
    assert_int_equal(
        read_thing("{" WHOLE ", \"smell\": \"x\"}, \"colour\": \"red\"}", RL_RECORD_VERSION, arena, &thing, &err), -1);
    assert_string_equal(err.field, "why");
    assert_int_equal(read_thing("{" WHOLE "}, \"why_code\": {\"width\": \"of_tomorrow\"}, \"colour\": \"red\"}",
                                RL_RECORD_VERSION, arena, &thing, &err),
                     -1);
    assert_string_equal(err.field, "why_code.width");
    assert_int_equal(read_thing("{" WHOLE "}, \"why_code\": {\"height\": \"below_spread\"}, \"colour\": \"red\"}",
                                RL_RECORD_VERSION, arena, &thing, &err),
                     -1);
    assert_string_equal(err.field, "why_code");
    assert_int_equal(
        read_thing("{" WHOLE "}, \"why_code\": 4, \"colour\": \"red\"}", RL_RECORD_VERSION, arena, &thing, &err), -1);
    assert_string_equal(err.field, "why_code");
    /* a known member of a newer document is held to its type and range all the same */
    assert_int_equal(read_thing("{" WHOLE "}, \"colour\": 3}", RL_RECORD_VERSION + 1, arena, &thing, &err), -1);
    assert_string_equal(err.field, "colour");
    rl_arena_free(arena);
}

static void check_since(const struct rl_object *object)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct rl_field *field = &object->fields[i];
        bool can_be_absent = field->kind == RL_KIND_WORDS || field->kind == RL_KIND_LIST ||
                             field->kind >= RL_KIND_REAL || field->kind == RL_KIND_STATE ||
                             field->kind == RL_KIND_OBJECT || field->kind == RL_KIND_TIME_OR_NULL ||
                             strcmp(field->name, "record_version") == 0;
        if (field->since > 1 && !can_be_absent)
            fail_msg("%s cannot come in version %d: it may be neither absent nor null", field->name, field->since);
        if (field->since > RL_RECORD_VERSION)
            fail_msg("%s is of version %d, and RL_RECORD_VERSION is %d", field->name, field->since, RL_RECORD_VERSION);
        if (field->object != NULL)
            check_since(field->object);
    }
}

static void every_later_field_can_be_absent(void **state)
{
    (void)state;
    check_since(&rl_object_run);
}

/* ---- reasons by code ---- */

static json_t *document_of(const struct rl_run *run)
{
    json_t *document = rl_run_to_json(run);
    assert_non_null(document);
    return document;
}

static struct rl_run *read_run(const json_t *document)
{
    struct rl_run *run = NULL;
    struct rl_err err = {0};
    if (rl_run_from_json(document, &run, &err) != 0)
        fail_msg("%s: %s", err.field, err.message);
    return run;
}

static json_t *cold_bytes(json_t *document)
{
    json_t *row = json_array_get(json_object_get(document, "kernels"), 0);
    return json_object_get(json_object_get(row, "cold"), "bytes");
}

static struct rl_run *settled_below_spread(void)
{
    struct rl_run *run = sample_run_small();
    run->rows[0].state[RL_COLD].bytes.dram_settled = rl_unknown_by(RL_WHY_BELOW_SPREAD);
    rl_derive(run);
    assert_true(rl_strings_has(&run->rows[0].state[RL_COLD].flags, "cache_resident"));
    return run;
}

static bool derives_as_next_to_nothing(const json_t *document)
{
    struct rl_run *run = read_run(document);
    rl_derive(run);
    bool found = rl_strings_has(&run->rows[0].state[RL_COLD].flags, "cache_resident");
    rl_run_free(run);
    return found;
}

static void a_reason_is_known_by_its_code(void **state)
{
    (void)state;
    struct rl_run *run = settled_below_spread();
    json_t *document = document_of(run), *bytes = cold_bytes(document);
    assert_int_equal(json_integer_value(json_object_get(document, "record_version")), RL_RECORD_VERSION);
    assert_string_equal(json_string_value(json_object_get(json_object_get(bytes, "why_code"), "dram_settled")),
                        "below_spread");
    assert_true(derives_as_next_to_nothing(document));
    /* the sentence may be put otherwise */
    json_object_set_new(json_object_get(bytes, "why"), "dram_settled", json_string("too few bytes to tell"));
    assert_true(derives_as_next_to_nothing(document));
    /* and does nothing by itself in a document that has codes */
    json_object_set_new(json_object_get(bytes, "why"), "dram_settled",
                        json_string("the settled bytes are below three spreads of the flush alone"));
    json_object_del(bytes, "why_code");
    assert_false(derives_as_next_to_nothing(document));
    json_decref(document);
    rl_run_free(run);
}

static void remove_codes(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_del(value, "why_code");
    if (json_is_object(value))
        json_object_foreach(value, key, member) remove_codes(member);
    else
        json_array_foreach(value, i, member) remove_codes(member);
}

static void version_1_had_sentences_alone(void **state)
{
    (void)state;
    struct rl_run *run = settled_below_spread();
    json_t *document = document_of(run);
    remove_codes(document);
    json_object_del(document, "record_version");
    assert_true(derives_as_next_to_nothing(document));
    struct rl_run *back = read_run(document);
    json_t *again = document_of(back); /* written by this build, it has codes */
    assert_int_equal(json_integer_value(json_object_get(again, "record_version")), RL_RECORD_VERSION);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(cold_bytes(again), "why_code"), "dram_settled")),
        "below_spread");
    json_decref(again);
    json_decref(document);
    rl_run_free(back);
    rl_run_free(run);
}

static void a_run_of_a_newer_build_is_read(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    json_t *document = document_of(run);
    json_object_set_new(document, "record_version", json_integer(RL_RECORD_VERSION + 1));
    json_object_set_new(document, "weather", json_pack("{s:[s]}", "sky", "clear"));
    struct rl_run *back = read_run(document);
    assert_int_equal(back->row_count, run->row_count);
    rl_run_free(back);
    for (const char *const *wrong = (const char *const[]){"0", "-1", "1.5", "\"2\"", "null", NULL}; *wrong != NULL;
         wrong++) {
        struct rl_err err = {0};
        json_object_set_new(document, "record_version", json_loads(*wrong, JSON_DECODE_ANY, NULL));
        json_object_del(document, "weather");
        assert_int_equal(rl_run_from_json(document, &back, &err), -1);
        assert_string_equal(err.field, "record_version");
    }
    json_decref(document);
    rl_run_free(run);
}

/* Bits stand in databases: a line that moved would give stored runs other flags. */
static void flags_keep_their_bits(void **state)
{
    (void)state;
    static const char *const rows[] = {"clock_moved",    "throttled",        "not_steady",    "at_floor",
                                       "cache_resident", "writeback_unpaid", "above_ceiling", "unsettled",
                                       "single_launch",  "launches_differ",  "time_derived",  "profiler_time",
                                       "bytes_derived",  "above_roof"};
    static const char *const runs[] = {"shared", "throttled", "driver_changed", "clock_stepped"};
    struct rl_arena *arena = rl_arena_new(1 << 14);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rl_strings one = {0};
        assert_int_equal(rl_strings_add(arena, &one, rows[i]), 0);
        assert_int_equal(rl_row_flag_bits(&one), 1u << i);
    }
    for (unsigned i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct rl_strings one = {0};
        assert_int_equal(rl_strings_add(arena, &one, runs[i]), 0);
        assert_int_equal(rl_run_flag_bits(&one), 1u << i);
    }
    assert_int_equal(rl_run_flags_barring(), RL_RUN_SHARED | RL_RUN_THROTTLED | RL_RUN_DRIVER_CHANGED);
    rl_arena_free(arena);
}

/* Ranks are 1, 2, 3, …, each of one flag, and of those that comparisons have words for. */
static void each_judged_flag_has_its_rank(void **state)
{
    (void)state;
    unsigned judged = 0, seen = 0;
    for (unsigned i = 0; i < RL_ROW_FLAG_COUNT; i++) {
        unsigned rank = rl_row_flags[i].rank;
        assert_int_equal(rl_row_flags[i].judged != NULL, rank != 0);
        assert_false(rank != 0 && (seen >> rank & 1) != 0);
        seen |= rank != 0 ? 1u << rank : 0;
        judged += rank != 0;
    }
    assert_int_equal(seen, (1u << (judged + 1)) - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_document_lacks_members), cmocka_unit_test(a_newer_document_has_more),
        cmocka_unit_test(every_later_field_can_be_absent), cmocka_unit_test(a_reason_is_known_by_its_code),
        cmocka_unit_test(version_1_had_sentences_alone),   cmocka_unit_test(a_run_of_a_newer_build_is_read),
        cmocka_unit_test(flags_keep_their_bits),           cmocka_unit_test(each_judged_flag_has_its_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
