/* Validation of a POSTed job: defaults, canonical text, and what each bad body is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "gpu/suites/verify/verify.h"
#include "server/jobs/spec.h"

#define ALL_KERNELS                                                                                                    \
    "[\"vector_add\",\"vector_add_stride32\",\"transpose_naive\",\"transpose_tiled\",\"matmul_naive\","                \
    "\"matmul_tiled16\",\"block_reduction\",\"stencil_global\",\"stencil_tiled\",\"polynomial256\"]"

static int read_text(const char *text, struct job_spec *spec, struct rl_err *err)
{
    json_t *body = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (body == NULL)
        fail_msg("not JSON: %s", text);
    int result = job_spec_read(body, spec, err);
    json_decref(body);
    return result;
}

static void becomes(const char *body, const char *canonical)
{
    struct job_spec spec, again;
    struct rl_err err = {0};
    if (read_text(body, &spec, &err) != 0)
        fail_msg("%s: %s", body, err.message);
    char *text = job_spec_text(&spec);
    assert_string_equal(text, canonical);
    assert_int_equal(job_spec_parse(text, &again, &err), 0);
    assert_memory_equal(&spec, &again, sizeof spec);
    free(text);
}

static void the_smallest_job_gets_every_default(void **state)
{
    (void)state;
    becomes("{\"suite\":\"verify\"}",
            "{\"suite\":\"verify\",\"sizes\":\"course\",\"cache\":[\"warm\",\"cold\"],\"kernels\":" ALL_KERNELS
            ",\"counters\":true,\"predictions\":{},\"on_interrupt\":\"fail\",\"note\":null,\"label\":null}");
}

static void a_full_job_is_kept_in_catalogue_order(void **state)
{
    (void)state;
    becomes(
        "{\"predictions\":{\"transpose_naive\":\"above\",\"vector_add\":\"near\"},\"note\":\"a\\n\\tb "
        "é\",\"label\":\"3f2c, v2\",\"on_interrupt\":\"retry\","
        "\"counters\":false,\"kernels\":[\"transpose_naive\",\"vector_add\"],\"cache\":[\"cold\"],\"sizes\":\"scaled\","
        "\"device\":\"GPU-1\",\"suite\":\"verify\"}",
        "{\"suite\":\"verify\",\"device\":\"GPU-1\",\"sizes\":\"scaled\",\"cache\":[\"cold\"],\"kernels\":[\"vector_"
        "add\","
        "\"transpose_naive\"],\"counters\":false,\"predictions\":{\"vector_add\":\"near\","
        "\"transpose_naive\":\"above\"},\"on_interrupt\":\"retry\",\"note\":\"a\\n\\tb é\","
        "\"label\":\"3f2c, v2\"}");
}

#define SIXTY_FOUR "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé"

static void a_label_may_have_64_characters_and_no_more(void **state)
{
    (void)state;
    struct job_spec spec;
    struct rl_err err = {0};
    assert_int_equal(read_text("{\"suite\":\"verify\",\"label\":\"" SIXTY_FOUR "\"}", &spec, &err), 0);
    assert_string_equal(spec.label, SIXTY_FOUR);
    assert_int_equal(strlen(spec.label), 128);
}

static const struct refusal {
    const char *body;
    enum rl_code code;
    const char *field, *says;
} refusals[] = {
    {"[]", RL_E_BAD_JSON, "", "a list"},
    {"\"verify\"", RL_E_BAD_JSON, "", "a string"},
    {"null", RL_E_BAD_JSON, "", "null"},
    {"{}", RL_E_BAD_FIELD, "suite", "missing"},
    {"{\"suite\":\"quick\"}", RL_E_BAD_FIELD, "suite", "\"quick\""},
    {"{\"suite\":1}", RL_E_BAD_FIELD, "suite", "suite is 1"},
    {"{\"suite\":\"verify\",\"Sizes\":\"course\"}", RL_E_UNKNOWN_FIELD, "Sizes", "not a field"},
    {"{\"suite\":\"verify\",\"a\\u001bb\":1}", RL_E_UNKNOWN_FIELD, "a\\x1bb", "not a field"},
    {"{\"suite\":\"verify\",\"\":1}", RL_E_UNKNOWN_FIELD, "", "not a field"},
    {"{\"suite\":\"verify\",\"device\":0}", RL_E_BAD_FIELD, "device", "device is 0"},
    {"{\"suite\":\"verify\",\"device\":\"\"}", RL_E_BAD_FIELD, "device", "\"\""},
    {"{\"suite\":\"verify\",\"device\":\"GPU 1\"}", RL_E_BAD_FIELD, "device", "GPU 1"},
    {"{\"suite\":\"verify\",\"device\":null}", RL_E_BAD_FIELD, "device", "null"},
    {"{\"suite\":\"verify\",\"sizes\":\"huge\"}", RL_E_BAD_FIELD, "sizes", "\"huge\""},
    {"{\"suite\":\"verify\",\"sizes\":-1}", RL_E_BAD_FIELD, "sizes", "-1"},
    {"{\"suite\":\"verify\",\"sizes\":9223372036854775807}", RL_E_BAD_FIELD, "sizes", "9223372036854775807"},
    {"{\"suite\":\"verify\",\"sizes\":1e9}", RL_E_BAD_FIELD, "sizes", "1e+09"},
    {"{\"suite\":\"verify\",\"cache\":\"warm\"}", RL_E_BAD_FIELD, "cache", "\"warm\""},
    {"{\"suite\":\"verify\",\"cache\":[]}", RL_E_BAD_FIELD, "cache", "not empty"},
    {"{\"suite\":\"verify\",\"cache\":[\"warm\",\"hot\"]}", RL_E_BAD_FIELD, "cache[1]", "\"hot\""},
    {"{\"suite\":\"verify\",\"cache\":[\"warm\",\"warm\"]}", RL_E_BAD_FIELD, "cache[1]", "repeats"},
    {"{\"suite\":\"verify\",\"cache\":[[]]}", RL_E_BAD_FIELD, "cache[0]", "a list"},
    {"{\"suite\":\"verify\",\"kernels\":[]}", RL_E_BAD_FIELD, "kernels", "not empty"},
    {"{\"suite\":\"verify\",\"kernels\":{}}", RL_E_BAD_FIELD, "kernels", "an object"},
    {"{\"suite\":\"verify\",\"kernels\":[\"dram_copy\"]}", RL_E_BAD_FIELD, "kernels[0]", "dram_copy"},
    {"{\"suite\":\"verify\",\"kernels\":[\"vector_add\",7]}", RL_E_BAD_FIELD, "kernels[1]", "7"},
    {"{\"suite\":\"verify\",\"kernels\":[\"vector_add\",\"vector_add\"]}", RL_E_BAD_FIELD, "kernels[1]", "repeats"},
    {"{\"suite\":\"verify\",\"counters\":1}", RL_E_BAD_FIELD, "counters", "counters is 1"},
    {"{\"suite\":\"verify\",\"counters\":\"true\"}", RL_E_BAD_FIELD, "counters", "\"true\""},
    {"{\"suite\":\"verify\",\"on_interrupt\":\"again\"}", RL_E_BAD_FIELD, "on_interrupt", "again"},
    {"{\"suite\":\"verify\",\"label\":7}", RL_E_BAD_FIELD, "label", "label is 7"},
    {"{\"suite\":\"verify\",\"label\":null}", RL_E_BAD_FIELD, "label", "null"},
    {"{\"suite\":\"verify\",\"label\":\"\"}", RL_E_BAD_FIELD, "label", "0 characters"},
    {"{\"suite\":\"verify\",\"label\":\"\\u200b \"}", RL_E_BAD_FIELD, "label", "nothing that can be seen"},
    {"{\"suite\":\"verify\",\"label\":\"a\\nb\"}", RL_E_BAD_FIELD, "label", "U+000A at byte 1"},
    {"{\"suite\":\"verify\",\"label\":\"a\\tb\"}", RL_E_BAD_FIELD, "label", "one line"},
    {"{\"suite\":\"verify\",\"label\":\"a\\u2028b\"}", RL_E_BAD_FIELD, "label", "U+2028"},
    {"{\"suite\":\"verify\",\"label\":\"" SIXTY_FOUR "é\"}", RL_E_BAD_FIELD, "label", "65 characters"},
    {"{\"suite\":\"verify\",\"note\":[]}", RL_E_BAD_FIELD, "note", "a list"},
    {"{\"suite\":\"verify\",\"note\":null}", RL_E_BAD_FIELD, "note", "null"},
    {"{\"suite\":\"verify\",\"note\":\"a\\u0007\"}", RL_E_BAD_FIELD, "note", "U+0007 at byte 1"},
    {"{\"suite\":\"verify\",\"note\":\"\\u009b31m\"}", RL_E_BAD_FIELD, "note", "U+009B at byte 0"},
    {"{\"suite\":\"verify\",\"note\":\"a\\r\\n\"}", RL_E_BAD_FIELD, "note", "U+000D"},
    {"{\"suite\":\"verify\",\"predictions\":[]}", RL_E_BAD_FIELD, "predictions", "a list"},
    {"{\"suite\":\"verify\",\"predictions\":{\"saxpy\":\"above\"}}", RL_E_UNKNOWN_FIELD, "predictions.saxpy",
     "not a field"},
    {"{\"suite\":\"verify\",\"predictions\":{\"vector_add\":\"over\"}}", RL_E_BAD_FIELD, "predictions.vector_add",
     "\"over\""},
    {"{\"suite\":\"verify\",\"predictions\":{\"vector_add\":1.5}}", RL_E_BAD_FIELD, "predictions.vector_add", "1.5"},
    {"{\"suite\":\"verify\",\"kernels\":[\"vector_add\"],\"predictions\":{\"matmul_naive\":\"above\"}}", RL_E_BAD_FIELD,
     "predictions.matmul_naive", "leaves out"},
};

static void every_refusal_names_the_field_and_what_was_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        struct job_spec spec;
        struct rl_err err = {0};
        memset(&spec, 0x5a, sizeof spec);
        struct job_spec untouched = spec;
        if (read_text(r->body, &spec, &err) == 0)
            fail_msg("accepted: %s", r->body);
        if (err.code != r->code || strcmp(err.field, r->field) != 0 || strstr(err.message, r->says) == NULL)
            fail_msg("%s gave %s, field \"%s\", \"%s\"", r->body, rl_code_id(err.code), err.field, err.message);
        assert_memory_equal(&spec, &untouched, sizeof spec);
    }
}

static void note_of(size_t len, const char *unit, char **ret)
{
    size_t each = strlen(unit);
    char *text = calloc(1, len * each + 64);
    static const char head[] = "{\"suite\":\"verify\",\"note\":\"";
    memcpy(text, head, sizeof head);
    size_t at = strlen(text);
    for (size_t i = 0; i < len; i++, at += each)
        memcpy(text + at, unit, each);
    memcpy(text + at, "\"}", 3);
    *ret = text;
}

static void a_note_may_have_4096_bytes_and_no_more(void **state)
{
    (void)state;
    struct job_spec spec;
    struct rl_err err = {0};
    char *text;
    note_of(LIMIT_NOTE_BYTES, "n", &text);
    assert_int_equal(read_text(text, &spec, &err), 0);
    assert_int_equal(strlen(spec.note), LIMIT_NOTE_BYTES);
    free(text);
    note_of(LIMIT_NOTE_BYTES + 1, "n", &text);
    assert_int_equal(read_text(text, &spec, &err), -1);
    free(text);
    note_of(LIMIT_NOTE_BYTES / 2 + 1, "é", &text);
    assert_int_equal(read_text(text, &spec, &err), -1);
    assert_string_equal(err.field, "note");
    assert_non_null(strstr(err.message, "4098 bytes"));
    free(text);
}

static void a_long_value_is_cut_at_a_character(void **state)
{
    (void)state;
    struct job_spec spec;
    struct rl_err err = {0};
    assert_int_equal(read_text("{\"suite\":\"aéééééééééééééééééééééééééééééééééééééééééééééééé\"}", &spec, &err), -1);
    assert_non_null(strstr(err.message, "é\"…"));
    assert_null(strstr(err.message, "\\x"));
}

static void a_stored_text_that_is_none_is_corrupt(void **state)
{
    (void)state;
    struct job_spec spec;
    struct rl_err err = {0};
    assert_int_equal(job_spec_parse("{", &spec, &err), -1);
    assert_int_equal(err.code, RL_E_STORE_CORRUPT);
    assert_int_equal(job_spec_parse("{\"suite\":\"x\"}", &spec, &err), -1);
    assert_int_equal(err.code, RL_E_STORE_CORRUPT);
}

static void the_request_says_what_the_job_says(void **state)
{
    (void)state;
    struct job_spec spec;
    struct wire_request request;
    struct rl_err err = {0};
    assert_int_equal(
        read_text("{\"suite\":\"verify\",\"device\":\"GPU-1\",\"cache\":[\"cold\"],\"kernels\":[\"polynomial256\"],"
                  "\"counters\":false,\"sizes\":\"scaled\"}",
                  &spec, &err),
        0);
    job_spec_request(&spec, 9007199254740993, &request);
    assert_string_equal(request.job, "9007199254740993");
    assert_string_equal(request.device, "GPU-1");
    assert_false(request.probe);
    assert_ptr_equal(request.params.suite, &rl_suite_verify);
    const struct rl_param_value *value = request.params.value;
    assert_int_equal(value[VERIFY_SIZES].number, RL_SCALED);
    assert_false(value[VERIFY_COUNTERS].number);
    assert_true(value[VERIFY_CACHE].has[RL_COLD] && !value[VERIFY_CACHE].has[RL_WARM]);
    for (size_t i = 0; i < rl_kernel_count; i++)
        assert_int_equal(value[VERIFY_KERNELS].has[i], i == rl_kernel_count - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_job_gets_every_default),
        cmocka_unit_test(a_label_may_have_64_characters_and_no_more),
        cmocka_unit_test(a_full_job_is_kept_in_catalogue_order),
        cmocka_unit_test(every_refusal_names_the_field_and_what_was_seen),
        cmocka_unit_test(a_note_may_have_4096_bytes_and_no_more),
        cmocka_unit_test(a_long_value_is_cut_at_a_character),
        cmocka_unit_test(a_stored_text_that_is_none_is_corrupt),
        cmocka_unit_test(the_request_says_what_the_job_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
