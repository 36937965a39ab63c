/* Runs as JSON and back: round trip, and every way in which a document can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"
#include "tests/unit/record/sample_run.h"

static char *as_text(const json_t *json)
{
    struct rl_buf out;
    rl_buf_init(&out, 1 << 20);
    assert_int_equal(rl_json_write(json, &out), 0);
    return rl_buf_take(&out);
}

static json_t *small_document(void)
{
    struct rl_run *run = sample_run_small();
    json_t *json = rl_run_to_json(run);
    assert_non_null(json);
    rl_run_free(run);
    return json;
}

static void round_trip(struct rl_run *run)
{
    struct rl_err err = {0};
    json_t *first = rl_run_to_json(run);
    char *text = as_text(first);
    json_t *parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(parsed);
    struct rl_run *back = NULL;
    if (rl_run_from_json(parsed, &back, &err) < 0)
        fail_msg("%s: %s", err.field, err.message);
    json_t *second = rl_run_to_json(back);
    char *again = as_text(second);
    assert_string_equal(text, again);
    rl_derive(back); /* derived values do not move when derived again from what was stored */
    json_t *third = rl_run_to_json(back);
    char *derived = as_text(third);
    assert_string_equal(text, derived);
    free(text);
    free(again);
    free(derived);
    json_decref(first);
    json_decref(parsed);
    json_decref(second);
    json_decref(third);
    rl_run_free(back);
    rl_run_free(run);
}

static void there_and_back(void **state)
{
    (void)state;
    round_trip(sample_run_small());
    round_trip(sample_run_t4());
    struct rl_run *replayed = sample_run_small();
    replayed->source = RL_REPLAYED;
    replayed->recorded_at_ms = 1795000000000;
    round_trip(replayed);
    struct rl_run *empty = rl_run_new();
    sample_head(empty);
    empty->outcome = RL_PARTIAL;
    MUST(rl_strings_add(empty->arena, &empty->outcome_reasons, "no kernel was measured") == 0);
    rl_derive(empty);
    round_trip(empty);
}

static void shape_of_the_document(void **state)
{
    (void)state;
    json_t *run = small_document();
    static const char *const order[] = {"record_version", "suite",      "sizes",
                                        "source",         "outcome",    "outcome_reasons",
                                        "date",           "started_at", "finished_at",
                                        "recorded_at",    "device",     "environment",
                                        "counters",       "ceilings",   "ridge_flop_per_byte",
                                        "kernels",        "checks",     "telemetry",
                                        "counter_backed", "flags",      "why"};
    const char *key;
    json_t *value;
    size_t i = 0;
    json_object_foreach(run, key, value) assert_string_equal(key, order[i++]);
    assert_int_equal(i, sizeof order / sizeof order[0]);
    assert_string_equal(json_string_value(json_object_get(run, "date")), "2026-11-29T20:03:35.123Z");
    assert_string_equal(json_string_value(json_object_get(run, "finished_at")), "2026-11-29T20:03:35.123Z");
    assert_true(json_is_null(json_object_get(run, "recorded_at")));
    assert_true(json_is_string(json_object_get(json_object_get(run, "why"), "recorded_at")));
    json_t *counters = json_object_get(run, "counters");
    assert_true(json_is_null(json_object_get(counters, "reason")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(counters, "why"), "reason")), "status is ok");
    json_t *row = json_array_get(json_object_get(run, "kernels"), 0);
    json_t *bytes = json_object_get(json_object_get(row, "warm"), "bytes");
    assert_true(json_is_null(json_object_get(bytes, "l2")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(bytes, "why"), "l2")),
                        "not counted in this test");
    assert_int_equal(json_object_size(json_object_get(bytes, "why")), 2); /* l2, l2_sm */
    json_t *times = json_object_get(json_object_get(row, "warm"), "time_s");
    assert_null(json_object_get(times, "why")); /* nothing unknown: no why */
    assert_true(json_is_integer(json_object_get(row, "ask_bytes")));
    assert_non_null(json_object_get(row, "cold"));
    struct rl_run *warm_only = sample_run_small();
    warm_only->rows[0].state[RL_COLD].present = false;
    json_t *other = rl_run_to_json(warm_only);
    assert_null(json_object_get(json_array_get(json_object_get(other, "kernels"), 0), "cold"));
    json_decref(other);
    rl_run_free(warm_only);
    json_decref(run);
}

static void unset_and_odd_values_show(void **state)
{
    (void)state;
    struct rl_run *run = sample_run_small();
    run->rows[0].state[RL_WARM].occupancy = rl_known(NAN);
    run->rows[0].state[RL_WARM].sm_hz = rl_known(INFINITY);
    run->rows[0].title = NULL;
    run->environment.hostname = sample_text("n\xFFode");
    run->environment.mig = (struct rl_text){NULL, NULL};
    run->environment.cubin = (struct rl_text){NULL, ""};
    json_t *json = rl_run_to_json(run);
    json_t *row = json_array_get(json_object_get(json, "kernels"), 0);
    json_t *why = json_object_get(json_object_get(row, "warm"), "why");
    assert_string_equal(json_string_value(json_object_get(why, "occupancy")), "not finite");
    assert_string_equal(json_string_value(json_object_get(why, "sm_hz")), "not finite");
    json_t *environment = json_object_get(json, "environment");
    assert_string_equal(json_string_value(json_object_get(environment, "hostname")), "n\xEF\xBF\xBDode");
    assert_string_equal(json_string_value(json_object_get(json_object_get(environment, "why"), "mig")), "not set");
    assert_string_equal(json_string_value(json_object_get(json_object_get(environment, "why"), "cubin")), "not said");
    struct rl_run *back = NULL;
    struct rl_err err = {0};
    assert_int_equal(rl_run_from_json(json, &back, &err), -1); /* a title is not optional */
    assert_string_equal(err.field, "kernels[0].title");
    json_decref(json);
    rl_run_free(run);
}

/* ---- every member in turn ---- */

enum mutation { DROP, WRONG_TYPE, NULLED, TOO_LOW, TOO_HIGH, EXTRA, TOO_LONG, MUTATION_COUNT };

/* Changes member `name` of `object`; false when the mutation does not make that member wrong. */
static bool mutate(json_t *object, const char *name, enum mutation mutation)
{
    json_t *value = json_object_get(object, name);
    bool real = json_is_real(value), number = json_is_number(value), text = json_is_string(value);
    char longer[2000];
    switch (mutation) {
    case DROP:
        if (strcmp(name, "warm") == 0 || strcmp(name, "cold") == 0)
            return false;
        json_object_del(object, name);
        return true;
    case WRONG_TYPE:
        json_object_set_new(object, name, json_pack("[[i]]", 1));
        return true;
    case NULLED:
        if (json_is_null(value))
            return false;
        json_object_set_new(object, name, json_null());
        return true;
    case TOO_LOW:
        if (number)
            json_object_set_new(object, name, real ? json_real(-1e30) : json_integer(INT64_MIN));
        return number;
    case TOO_HIGH:
        if (number)
            json_object_set_new(object, name, real ? json_real(1e300) : json_integer(INT64_MAX));
        return number;
    case TOO_LONG:
        memset(longer, 'x', sizeof longer);
        longer[sizeof longer - 1] = '\0';
        if (text)
            json_object_set_new(object, name, json_string(longer));
        return text;
    default:
        if (json_is_object(value))
            json_object_set_new(value, "no_such_member", json_integer(1));
        return json_is_object(value);
    }
}

/* Walks to the *index-th member of the document; NULL when there are fewer. */
static json_t *nth_member(json_t *value, size_t *index, const char **ret_name)
{
    const char *key;
    json_t *member, *found;
    if (json_is_object(value))
        json_object_foreach(value, key, member)
        {
            if ((*index)-- == 0) {
                *ret_name = key;
                return value;
            }
            found = nth_member(member, index, ret_name);
            if (found != NULL)
                return found;
        }
    for (size_t i = 0; i < json_array_size(value); i++) {
        found = nth_member(json_array_get(value, i), index, ret_name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static void every_member_is_held_to_its_shape(void **state)
{
    (void)state;
    json_t *document = small_document();
    size_t tried = 0;
    for (size_t at = 0;; at++) {
        size_t members = 0;
        for (int mutation = 0; mutation < MUTATION_COUNT; mutation++) {
            size_t index = at;
            const char *name = NULL;
            json_t *copy = json_deep_copy(document);
            json_t *object = nth_member(copy, &index, &name);
            if (object != NULL) {
                char label[64];
                members++;
                snprintf(label, sizeof label, "%s", name); /* the mutation frees the key */
                struct rl_run *run = NULL;
                struct rl_err err = {0};
                /* a document without it is of version 1 */
                bool legal = mutation == DROP && strcmp(label, "record_version") == 0;
                if (!legal && mutate(object, label, (enum mutation)mutation)) {
                    tried++;
                    if (rl_run_from_json(copy, &run, &err) == 0)
                        fail_msg("member %zu \"%s\", mutation %d: accepted", at, label, mutation);
                    assert_null(run);
                    assert_true(err.code == RL_E_BAD_FIELD || err.code == RL_E_UNKNOWN_FIELD);
                    assert_true(err.message[0] != '\0');
                }
            }
            json_decref(copy);
        }
        if (members == 0)
            break;
    }
    assert_true(tried > 500);
    json_decref(document);
}

/* Sets the value at path to what `text` parses to and expects the decoder to name `field`. */
static void expect_refused(const char *path, const char *text, const char *field, enum rl_code code)
{
    json_t *document = small_document(), *at = document;
    char step[256];
    const char *rest = path, *end;
    while ((end = strchr(rest, '/')) != NULL) {
        memcpy(step, rest, (size_t)(end - rest));
        step[end - rest] = '\0';
        at = json_is_array(at) ? json_array_get(at, strtoul(step, NULL, 10)) : json_object_get(at, step);
        assert_non_null(at);
        rest = end + 1;
    }
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    assert_int_equal(json_is_array(at) ? json_array_set_new(at, strtoul(rest, NULL, 10), value)
                                       : json_object_set_new(at, rest, value),
                     0);
    struct rl_run *run = NULL;
    struct rl_err err = {0};
    if (rl_run_from_json(document, &run, &err) == 0)
        fail_msg("%s = %s was accepted", path, text);
    assert_string_equal(err.field, field);
    assert_int_equal(err.code, code);
    assert_int_equal(rl_run_from_json(document, &run, NULL), -1);
    json_decref(document);
}

static void refusals_name_the_member(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text, *field;
        enum rl_code code;
    } cases[] = {
        {"kernels/0/warm/time_s/median", "0", "kernels[0].warm.time_s.median", RL_E_BAD_FIELD},
        {"kernels/0/warm/time_s/median", "-1.0", "kernels[0].warm.time_s.median", RL_E_BAD_FIELD},
        {"kernels/0/warm/time_s/median", "true", "kernels[0].warm.time_s.median", RL_E_BAD_FIELD},
        {"kernels/0/warm/time_s/median", "\"1\"", "kernels[0].warm.time_s.median", RL_E_BAD_FIELD},
        {"kernels/0/warm/time_s/n", "1.0", "kernels[0].warm.time_s.n", RL_E_BAD_FIELD},
        {"kernels/0/warm/time_s/stop", "\"bored\"", "kernels[0].warm.time_s.stop", RL_E_BAD_FIELD},
        {"kernels/0/warm/bytes/dram", "5e-324", "kernels[0].warm.bytes.dram", RL_E_BAD_FIELD},
        {"kernels/0/warm/bytes/l1", "0.9e-9", "kernels[0].warm.bytes.l1", RL_E_BAD_FIELD},
        {"kernels/0/warm/bytes/dram_settled", "-1.0", "kernels[0].warm.bytes.dram_settled", RL_E_BAD_FIELD},
        {"kernels/0/warm/local_bytes", "1e-300", "kernels[0].warm.local_bytes", RL_E_BAD_FIELD},
        {"kernels/0/flop_counted", "1e-300", "kernels[0].flop_counted", RL_E_BAD_FIELD},
        {"kernels/0/warm/bound", "\"network\"", "kernels[0].warm.bound", RL_E_BAD_FIELD},
        {"kernels/0/warm/why/occupancy", "\"known all the same\"", "kernels[0].warm.why", RL_E_UNKNOWN_FIELD},
        {"kernels/0/warm/why/sm_hz", "\"\"", "kernels[0].warm.why.sm_hz", RL_E_BAD_FIELD},
        {"kernels/0/warm/why", "[]", "kernels[0].warm.why", RL_E_BAD_FIELD},
        {"kernels/0/warm/time_s/why", "{}", "kernels[0].warm.time_s.why", RL_E_UNKNOWN_FIELD},
        {"kernels/0/launch/grid", "[1,2]", "kernels[0].launch.grid", RL_E_BAD_FIELD},
        {"kernels/0/launch/grid/1", "2147483648", "kernels[0].launch.grid[1]", RL_E_BAD_FIELD},
        {"kernels/0/warm/flags/0", "7", "kernels[0].warm.flags[0]", RL_E_BAD_FIELD},
        {"kernels/0/lukewarm", "1", "kernels[0]", RL_E_UNKNOWN_FIELD},
        {"kernels/0", "null", "kernels[0]", RL_E_BAD_FIELD},
        {"kernels", "{}", "kernels", RL_E_BAD_FIELD},
        {"ceilings/1/state", "\"warm\"", "ceilings", RL_E_BAD_FIELD},
        {"ceilings/1/state", "\"mixed\"", "ceilings[1].state", RL_E_BAD_FIELD},
        {"counters/status", "\"fine\"", "counters.status", RL_E_BAD_FIELD},
        {"suite", "\"other\"", "suite", RL_E_BAD_FIELD},
        {"source", "\"guessed\"", "source", RL_E_BAD_FIELD},
        {"source", "\"replayed\"", "recorded_at", RL_E_BAD_FIELD},
        {"recorded_at", "\"2026-11-29T20:03:35.123Z\"", "why", RL_E_UNKNOWN_FIELD},
        {"date", "\"2026-11-29T20:03:35.124Z\"", "date", RL_E_BAD_FIELD},
        {"started_at", "\"2026-11-29T20:03:35Z\"", "started_at", RL_E_BAD_FIELD},
        {"started_at", "\"2026-02-31T20:03:35.000Z\"", "started_at", RL_E_BAD_FIELD},
        {"started_at", "\"1970-01-01T00:00:00.000Z\"", "started_at", RL_E_BAD_FIELD},
        {"counter_backed", "1", "counter_backed", RL_E_BAD_FIELD},
        {"environment/method_version", "0", "environment.method_version", RL_E_BAD_FIELD},
        {"environment/ecc", "null", "environment.ecc", RL_E_BAD_FIELD},
        {"telemetry/0/temperature_c", "-300.0", "telemetry[0].temperature_c", RL_E_BAD_FIELD},
        {"extra", "1", "", RL_E_UNKNOWN_FIELD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refused(cases[i].path, cases[i].text, cases[i].field, cases[i].code);
    struct rl_run *measured = sample_run_small(), *run = NULL;
    struct rl_err err = {0};
    measured->recorded_at_ms = 1795000000000;
    json_t *both = rl_run_to_json(measured);
    assert_int_equal(rl_run_from_json(both, &run, &err), -1);
    assert_string_equal(err.field, "recorded_at");
    json_decref(both);
    rl_run_free(measured);
    json_t *list = json_array();
    assert_int_equal(rl_run_from_json(list, &run, &err), -1);
    assert_int_equal(rl_run_from_json(NULL, &run, &err), -1);
    json_decref(list);
}

static void long_lists_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t most;
    } lists[] = {{"kernels", 512},   {"ceilings", 32}, {"checks", 64},
                 {"telemetry", 256}, {"flags", 64},    {"outcome_reasons", 64}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (int over = 0; over < 2; over++) {
            json_t *document = small_document();
            json_t *list = json_object_get(document, lists[i].name);
            json_t *item = json_array_size(list) > 0 ? json_array_get(list, 0) : NULL;
            size_t count = lists[i].most + (size_t)over;
            json_t *longer = json_array();
            for (size_t k = 0; k < count; k++) {
                json_t *copy = item != NULL ? json_deep_copy(item) : json_sprintf("w%zu", k);
                if (json_object_get(copy, "kernel") != NULL)
                    json_object_set_new(copy, "kernel", json_sprintf("k%zu", k));
                else if (json_object_get(copy, "state") != NULL)
                    json_object_set_new(copy, "name", json_sprintf("c%zu", k));
                json_array_append_new(longer, copy);
            }
            json_object_set_new(document, lists[i].name, longer);
            struct rl_run *run = NULL;
            struct rl_err err = {0};
            assert_int_equal(rl_run_from_json(document, &run, &err), -over);
            if (over)
                assert_string_equal(err.field, lists[i].name);
            rl_run_free(run);
            json_decref(document);
        }
    json_t *document = small_document();
    json_array_append(json_object_get(document, "kernels"), json_array_get(json_object_get(document, "kernels"), 0));
    struct rl_run *run = NULL;
    struct rl_err err = {0};
    assert_int_equal(rl_run_from_json(document, &run, &err), -1);
    assert_non_null(strstr(err.message, "twice"));
    json_decref(document);
}

/* ---- the writer ---- */

static void writer(void **state)
{
    (void)state;
    struct rl_buf out;
    rl_buf_init(&out, 1000);
    json_t *json = json_pack("{s:[f,i,b,n,[],{}],s:s}", "a\"", 0.1, 4, 1, "t", "x\\\n\x01\x7F\xC3\xA9");
    assert_int_equal(rl_json_write(json, &out), 0);
    assert_string_equal(out.data, "{\"a\\\"\":[0.1,4,true,null,[],{}],\"t\":\"x\\\\\\n\\u0001\\u007f\xC3\xA9\"}");
    json_t *back = json_loads(out.data, 0, NULL);
    assert_true(json_equal(json, back));
    json_decref(back);
    rl_buf_free(&out);
    rl_buf_init(&out, 5);
    assert_int_equal(rl_json_write(json, &out), -1);
    assert_true(out.failed);
    rl_buf_free(&out);
    json_decref(json);
    rl_buf_init(&out, 1000);
    json_t *deep = json_array();
    for (int i = 0; i < RL_JSON_DEPTH_MAX - 1; i++)
        deep = json_pack("[o]", deep);
    assert_int_equal(rl_json_write(deep, &out), 0);
    deep = json_pack("[o]", deep);
    assert_int_equal(rl_json_write(deep, &out), -1);
    json_decref(deep);
    rl_buf_clear(&out);
    assert_int_equal(rl_json_write(NULL, &out), -1);
    rl_buf_free(&out);
}

static void words(void **state)
{
    (void)state;
    struct rl_run *run = rl_run_new();
    struct rl_strings list = {0};
    char word[] = "a";
    assert_int_equal(rl_strings_add(run->arena, &list, word), 0);
    word[0] = 'b'; /* the list keeps a copy */
    assert_int_equal(rl_strings_add(run->arena, &list, word), 0);
    assert_int_equal(rl_strings_add(run->arena, &list, "a"), 0);
    assert_int_equal(list.count, 2);
    assert_true(rl_strings_has(&list, "a") && rl_strings_has(&list, "b"));
    assert_false(rl_strings_has(&list, "c"));
    assert_null(rl_run_row(run, "x"));
    assert_null(rl_run_ceiling(run, "x", RL_WARM));
    rl_run_free(run);
    rl_run_free(NULL);
}

/* A reason that is NULL would make its value known: an arena that is full must not do that. */
static void copies_without_memory(void **state)
{
    (void)state;
    struct rl_arena *arena = rl_arena_new(16), *full = rl_arena_new(0);
    assert_non_null(arena);
    assert_non_null(full);
    assert_string_equal(rl_text_copy(arena, "R580").value, "R580");
    assert_null(rl_text_copy(full, "R580").value);
    assert_non_null(rl_text_copy(full, "R580").why);
    assert_non_null(rl_why_copy(full, "no permission"));
    rl_arena_free(arena);
    rl_arena_free(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_without_memory),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(shape_of_the_document),
        cmocka_unit_test(unset_and_odd_values_show),
        cmocka_unit_test(every_member_is_held_to_its_shape),
        cmocka_unit_test(refusals_name_the_member),
        cmocka_unit_test(long_lists_are_refused),
        cmocka_unit_test(writer),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
