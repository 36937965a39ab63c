/* Runs as JSON and back, by the field tables (fields.h). */
#include "gpu/record/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/record/fields.h"

/* ---- encoding ---- */

/* Names of hosts and devices come from outside; what is no UTF-8 in them is shown as U+FFFD. */
static json_t *make_text(const char *text)
{
    size_t len = strlen(text);
    if (rl_utf8_valid(text, len))
        return json_stringn_nocheck(text, len);
    struct rl_buf out;
    rl_buf_init(&out, 3 * len);
    for (size_t at = 0; at < len;) {
        size_t step = rl_utf8_step(text + at, len - at);
        int rc = step > 0 ? rl_buf_add(&out, text + at, step) : rl_buf_add(&out, "\xEF\xBF\xBD", 3);
        if (rc < 0)
            break;
        at += step > 0 ? step : 1;
    }
    json_t *value = out.failed ? NULL : json_stringn_nocheck(out.data, out.len);
    rl_buf_free(&out);
    return value;
}

static json_t *make_time(int64_t ms)
{
    char text[RL_TIME_TEXT];
    rl_time_format(ms, text);
    return json_string(text);
}

static json_t *make_words(const struct rl_strings *words)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < words->count; i++)
        if (json_array_append_new(list, make_text(words->items[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *make_int3(const int64_t *values)
{
    return json_pack("[I,I,I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *make_object(const struct rl_object *object, const void *base);

static json_t *make_list(const struct rl_field *field, const void *base)
{
    const char *items;
    size_t count;
    memcpy(&items, (const char *)base + field->offset, sizeof items);
    memcpy(&count, (const char *)base + field->count_offset, sizeof count);
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < count; i++)
        if (json_array_append_new(list, make_object(field->object, items + i * field->object->size)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *make_plain(const struct rl_field *field, const void *base, const void *at)
{
    switch (field->kind) {
    case RL_KIND_INT:
    case RL_KIND_INT_OR_NULL:
        return json_integer(*(const int64_t *)at);
    case RL_KIND_INT3:
    case RL_KIND_INT3_OR_NULL:
        return make_int3(at);
    case RL_KIND_BOOL:
        return json_boolean(*(const bool *)at);
    case RL_KIND_ENUM:
        return json_string(field->words[*(const unsigned *)at]);
    case RL_KIND_TIME:
    case RL_KIND_TIME_OR_NULL:
        return make_time(*(const int64_t *)at);
    case RL_KIND_WORDS:
        return make_words(at);
    case RL_KIND_OBJECT:
    case RL_KIND_STATE:
        return make_object(field->object, at);
    case RL_KIND_LIST:
        return make_list(field, base);
    case RL_KIND_STRING:
        return make_text(*(const char *const *)at);
    case RL_KIND_REAL:
        return json_real(((const struct rl_real *)at)->value);
    case RL_KIND_COUNT:
        return json_integer(((const struct rl_count *)at)->value);
    case RL_KIND_TEXT:
        return make_text(((const struct rl_text *)at)->value);
    case RL_KIND_FLAG3:
        return json_boolean(((const struct rl_flag3 *)at)->value);
    }
    return NULL;
}

/* Why the member is null, or NULL when it is known. */
static const char *unknown_why(const struct rl_field *field, const void *base, const void *at)
{
    switch (field->kind) {
    case RL_KIND_STRING:
        return *(const char *const *)at == NULL ? "not set" : NULL;
    case RL_KIND_TIME_OR_NULL:
        return *(const int64_t *)at == 0 ? field->absent : NULL;
    case RL_KIND_COUNT:
        return ((const struct rl_count *)at)->why;
    case RL_KIND_FLAG3:
        return ((const struct rl_flag3 *)at)->why;
    case RL_KIND_INT_OR_NULL:
    case RL_KIND_INT3_OR_NULL:
        return *(const char *const *)(const void *)((const char *)base + field->why_offset);
    case RL_KIND_REAL: {
        const struct rl_real *real = at;
        return real->why == NULL && !isfinite(real->value) ? "not finite" : real->why;
    }
    case RL_KIND_TEXT: {
        const struct rl_text *text = at;
        return text->why == NULL && text->value == NULL ? "not set" : text->why;
    }
    default:
        return NULL;
    }
}

struct reasons { /* of an object's null members */
    json_t *why, *code;
};

static int add_reason(struct reasons *reasons, const struct rl_field *field, const void *at, const char *reason)
{
    enum rl_why_code code = field->kind == RL_KIND_REAL ? ((const struct rl_real *)at)->code : RL_WHY_NONE;
    if (reasons->why == NULL && (reasons->why = json_object()) == NULL)
        return -1;
    if (json_object_set_new_nocheck(reasons->why, field->name, make_text(reason[0] != '\0' ? reason : "not said")) < 0)
        return -1;
    if (code == RL_WHY_NONE)
        return 0;
    if (reasons->code == NULL && (reasons->code = json_object()) == NULL)
        return -1;
    return json_object_set_new_nocheck(reasons->code, field->name, json_string(rl_why_id(code)));
}

static int add_member(const struct rl_field *field, const void *base, json_t *object, struct reasons *reasons)
{
    const void *at = (const char *)base + field->offset;
    if (field->kind == RL_KIND_STATE && !*(const bool *)at)
        return 0;
    const char *reason = unknown_why(field, base, at);
    if (reason == NULL)
        return json_object_set_new_nocheck(object, field->name, make_plain(field, base, at));
    if (add_reason(reasons, field, at, reason) < 0)
        return -1;
    return json_object_set_new_nocheck(object, field->name, json_null());
}

/* json_object_set_new takes the reference whether it succeeds or not. */
static int add_given(json_t *object, const char *name, json_t **value)
{
    json_t *given = *value;
    *value = NULL;
    return given == NULL ? 0 : json_object_set_new_nocheck(object, name, given);
}

static json_t *make_object(const struct rl_object *object, const void *base)
{
    json_t *json = json_object();
    struct reasons reasons = {NULL, NULL};
    if (json == NULL)
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (add_member(&object->fields[i], base, json, &reasons) < 0)
            goto fail;
    if (add_given(json, "why", &reasons.why) < 0 || add_given(json, "why_code", &reasons.code) < 0)
        goto fail;
    return json;
fail:
    json_decref(reasons.why);
    json_decref(reasons.code);
    json_decref(json);
    return NULL;
}

json_t *rl_object_to_json(const struct rl_object *object, const void *base)
{
    return make_object(object, base);
}

void rl_run_json_bare(json_t *document)
{
    json_t *why = json_object_get(document, "why");
    json_object_del(document, "id");
    json_object_del(document, "job");
    json_object_del(document, "label");
    json_object_del(why, "job");
    if (json_is_object(why) && json_object_size(why) == 0)
        json_object_del(document, "why");
}

json_t *rl_device_to_json(const struct rl_device *device)
{
    return make_object(&rl_object_device, device);
}

json_t *rl_environment_to_json(const struct rl_environment *environment)
{
    return make_object(&rl_object_environment, environment);
}

json_t *rl_telemetry_to_json(const struct rl_telemetry *telemetry)
{
    return make_object(&rl_object_telemetry, telemetry);
}
