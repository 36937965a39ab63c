/* Validation of a job's specification; see server/jobs/spec.h. */
#include "server/jobs/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/json_text.h"
#include "server/text/escape.h"

/* How much of a refused value an answer repeats. */
#define SHOWN_BYTES 64u

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "of an unknown type";
}

/* The value as an answer may repeat it, "\"abc\"" or "12" or "a list", into text. */
static const char *seen(const json_t *value, char *text, size_t size)
{
    if (json_is_integer(value)) {
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, size, "%g", json_real_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    } else if (json_is_string(value)) {
        struct rl_buf shown;
        rl_buf_init(&shown, 4 * SHOWN_BYTES);
        size_t len = json_string_length(value);
        /* never cut inside a character: continuation bytes are 10xxxxxx */
        size_t most = len < SHOWN_BYTES ? len : SHOWN_BYTES;
        while (most > 0 && most < len && ((unsigned char)json_string_value(value)[most] & 0xc0) == 0x80)
            most--;
        text_escape(&shown, json_string_value(value), most, false);
        snprintf(text, size, "\"%s\"%s", shown.data != NULL ? shown.data : "", most < len ? "…" : "");
        rl_buf_free(&shown);
    } else {
        snprintf(text, size, "%s", type_name(value));
    }
    return text;
}

#define SEEN_BYTES (4 * SHOWN_BYTES + 16)

static int bad(struct rl_err *err, const char *field, const json_t *value, const char *wanted)
{
    char text[SEEN_BYTES];
    if (value == NULL)
        return rl_fail(err, RL_E_BAD_FIELD, field, "%s is missing: it must be %s.", field, wanted);
    return rl_fail(err, RL_E_BAD_FIELD, field, "%s is %s: it must be %s.", field, seen(value, text, sizeof text),
                   wanted);
}

static int unknown(struct rl_err *err, const char *prefix, const char *key)
{
    char shown[SEEN_BYTES], field[SEEN_BYTES + 32];
    json_t *name = json_string(key);
    if (name == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to check the job.");
    seen(name, shown, sizeof shown);
    json_decref(name);
    size_t len = strlen(shown);
    /* without the quotes that seen() puts around a string */
    snprintf(field, sizeof field, "%s%.*s", prefix, (int)(len >= 2 ? len - 2 : 0), shown + 1);
    return rl_fail(err, RL_E_UNKNOWN_FIELD, field, "%s is not a field of a job.", field);
}

static size_t kernel_index(const char *id)
{
    for (size_t i = 0; i < rl_kernel_count; i++)
        if (strcmp(rl_units[i]->id, id) == 0)
            return i;
    return SIZE_MAX;
}

static int read_suite(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    (void)spec;
    if (!json_is_string(value) || strcmp(json_string_value(value), "verify") != 0)
        return bad(err, "suite", value, "\"verify\"");
    return 0;
}

static int read_device(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    size_t len = json_is_string(value) ? json_string_length(value) : 0;
    bool good = len > 0 && len < sizeof spec->device;
    for (size_t i = 0; good && i < len; i++) {
        char c = json_string_value(value)[i];
        good = c > ' ' && c < 0x7f;
    }
    if (!good)
        return bad(err, "device", value, "a device's id as GET /api/v1/devices lists it");
    memcpy(spec->device, json_string_value(value), len + 1);
    return 0;
}

static int read_sizes(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_string(value) || rl_sizes_from_name(json_string_value(value), &spec->sizes) != 0)
        return bad(err, "sizes", value, "\"course\" or \"scaled\"");
    return 0;
}

static int read_cache(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_array(value) || json_array_size(value) == 0)
        return bad(err, "cache", value, "a list of \"warm\", \"cold\" or both, not empty");
    spec->warm = spec->cold = false;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        char field[40];
        snprintf(field, sizeof field, "cache[%zu]", i);
        const char *name = json_string_value(item);
        bool warm = name != NULL && strcmp(name, "warm") == 0;
        bool cold = name != NULL && strcmp(name, "cold") == 0;
        if (!warm && !cold)
            return bad(err, field, item, "\"warm\" or \"cold\"");
        if ((warm && spec->warm) || (cold && spec->cold))
            return rl_fail(err, RL_E_BAD_FIELD, field, "%s repeats \"%s\": name each cache state once.", field, name);
        spec->warm |= warm;
        spec->cold |= cold;
    }
    return 0;
}

static int read_kernels(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_array(value) || json_array_size(value) == 0)
        return bad(err, "kernels", value, "a list of kernel ids as GET /api/v1/kernels lists them, not empty");
    memset(spec->kernel, 0, sizeof spec->kernel);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        char field[40];
        snprintf(field, sizeof field, "kernels[%zu]", i);
        size_t index = json_is_string(item) ? kernel_index(json_string_value(item)) : SIZE_MAX;
        if (index == SIZE_MAX)
            return bad(err, field, item, "a kernel id as GET /api/v1/kernels lists them");
        if (spec->kernel[index])
            return rl_fail(err, RL_E_BAD_FIELD, field, "%s repeats \"%s\": name each kernel once.", field,
                           rl_units[index]->id);
        spec->kernel[index] = true;
    }
    return 0;
}

static int read_counters(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_boolean(value))
        return bad(err, "counters", value, "true or false");
    spec->counters = json_is_true(value);
    return 0;
}

static int read_on_interrupt(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    const char *name = json_string_value(value);
    if (name == NULL || (strcmp(name, "fail") != 0 && strcmp(name, "retry") != 0))
        return bad(err, "on_interrupt", value, "\"fail\" or \"retry\"");
    spec->retry_on_interrupt = name[0] == 'r';
    return 0;
}

static int read_note(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_string(value))
        return bad(err, "note", value, "a string");
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    if (len > LIMIT_NOTE_BYTES)
        return rl_fail(err, RL_E_BAD_FIELD, "note", "note is %zu bytes long: at most %u are kept.", len,
                       LIMIT_NOTE_BYTES);
    if (!rl_utf8_valid(text, len))
        return rl_fail(err, RL_E_BAD_FIELD, "note", "note is not valid UTF-8.");
    for (size_t i = 0; i < len; i++) {
        unsigned control = rl_utf8_control_of_lines(text + i, len - i);
        if (control != 0)
            return rl_fail(err, RL_E_BAD_FIELD, "note",
                           "note has the control character U+%04X at byte %zu: only line feed and tab are kept.",
                           control, i);
    }
    memcpy(spec->note, text, len + 1);
    return 0;
}

static int read_label(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_string(value))
        return bad(err, "label", value, "a string");
    size_t len = json_string_length(value);
    if (rl_label_check(json_string_value(value), len, "label", err) != 0)
        return -1;
    memcpy(spec->label, json_string_value(value), len + 1);
    return 0;
}

static int read_predictions(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_object(value))
        return bad(err, "predictions", value, "an object of kernel ids with \"above\", \"near\" or \"below\"");
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)value, key, item)
    {
        size_t index = kernel_index(key);
        if (index == SIZE_MAX)
            return unknown(err, "predictions.", key);
        char field[64];
        snprintf(field, sizeof field, "predictions.%s", key);
        const char *name = json_string_value(item);
        for (int p = PREDICT_ABOVE; name != NULL && p <= PREDICT_BELOW; p++)
            if (strcmp(name, job_prediction_name((enum job_prediction)p)) == 0)
                spec->prediction[index] = (enum job_prediction)p;
        if (spec->prediction[index] == PREDICT_NONE)
            return bad(err, field, item, "\"above\", \"near\" or \"below\"");
    }
    return 0;
}

static const struct member {
    const char *name;
    int (*read)(const json_t *value, struct job_spec *spec, struct rl_err *err);
} members[] = {
    {"suite", read_suite},
    {"device", read_device},
    {"sizes", read_sizes},
    {"cache", read_cache},
    {"kernels", read_kernels},
    {"counters", read_counters},
    {"on_interrupt", read_on_interrupt},
    {"note", read_note},
    {"label", read_label},
    {"predictions", read_predictions},
};
#define MEMBER_COUNT (sizeof members / sizeof members[0])

static int check_known(const json_t *body, struct rl_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)body, key, value)
    {
        (void)value;
        size_t i = 0;
        while (i < MEMBER_COUNT && strcmp(members[i].name, key) != 0)
            i++;
        if (i == MEMBER_COUNT)
            return unknown(err, "", key);
    }
    return 0;
}

int job_spec_read(const json_t *body, struct job_spec *ret, struct rl_err *err)
{
    if (!json_is_object(body))
        return rl_fail(err, RL_E_BAD_JSON, NULL, "The body is %s: a job is one JSON object.",
                       body != NULL ? type_name(body) : "empty");
    struct job_spec spec = {.sizes = RL_COURSE, .warm = true, .cold = true, .counters = true};
    for (size_t i = 0; i < rl_kernel_count; i++)
        spec.kernel[i] = true;
    if (check_known(body, err) != 0)
        return -1;
    if (json_object_get(body, "suite") == NULL)
        return bad(err, "suite", NULL, "\"verify\"");
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const json_t *value = json_object_get(body, members[i].name);
        if (value != NULL && members[i].read(value, &spec, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < rl_kernel_count; i++) {
        if (spec.prediction[i] == PREDICT_NONE || spec.kernel[i])
            continue;
        char field[64];
        snprintf(field, sizeof field, "predictions.%s", rl_units[i]->id);
        return rl_fail(err, RL_E_BAD_FIELD, field, "%s predicts a kernel that kernels leaves out.", field);
    }
    *ret = spec;
    return 0;
}

const char *job_prediction_name(enum job_prediction prediction)
{
    switch (prediction) {
    case PREDICT_NONE:
        return NULL;
    case PREDICT_ABOVE:
        return "above";
    case PREDICT_NEAR:
        return "near";
    case PREDICT_BELOW:
        return "below";
    }
    return NULL;
}

json_t *job_spec_to_json(const struct job_spec *spec)
{
    json_t *cache = json_array(), *kernels = json_array(), *predictions = json_object();
    int failed = 0;
    if (spec->warm)
        failed |= json_array_append_new(cache, json_string("warm"));
    if (spec->cold)
        failed |= json_array_append_new(cache, json_string("cold"));
    for (size_t i = 0; i < rl_kernel_count; i++) {
        if (spec->kernel[i])
            failed |= json_array_append_new(kernels, json_string(rl_units[i]->id));
        if (spec->prediction[i] != PREDICT_NONE)
            failed |= json_object_set_new(predictions, rl_units[i]->id,
                                          json_string(job_prediction_name(spec->prediction[i])));
    }
    if (failed != 0) {
        json_decref(cache);
        json_decref(kernels);
        json_decref(predictions);
        return NULL;
    }
    return json_pack("{s:s, s:s*, s:s, s:o, s:o, s:b, s:s, s:s?, s:s?, s:o}", "suite", "verify", "device",
                     spec->device[0] != '\0' ? spec->device : NULL, "sizes", rl_sizes_name(spec->sizes), "cache", cache,
                     "kernels", kernels, "counters", spec->counters, "on_interrupt",
                     spec->retry_on_interrupt ? "retry" : "fail", "note", spec->note[0] != '\0' ? spec->note : NULL,
                     "label", spec->label[0] != '\0' ? spec->label : NULL, "predictions", predictions);
}

char *job_spec_text(const struct job_spec *spec)
{
    json_t *object = job_spec_to_json(spec);
    if (object == NULL)
        return NULL;
    char *text = rl_json_dumps(object);
    json_decref(object);
    return text;
}

int job_spec_parse(const char *text, struct job_spec *ret, struct rl_err *err)
{
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    int result;
    struct rl_err why = {0};
    /* job_spec_text writes a missing note or label as null, which a client may not */
    if (json_is_null(json_object_get(object, "note")))
        json_object_del(object, "note");
    if (json_is_null(json_object_get(object, "label")))
        json_object_del(object, "label");
    if (object == NULL)
        result = rl_fail(err, RL_E_STORE_CORRUPT, NULL, "A stored job's specification is no JSON.");
    else if (job_spec_read(object, ret, &why) != 0)
        result = rl_fail(err, RL_E_STORE_CORRUPT, NULL, "A stored job's specification is not valid: %s", why.message);
    else
        result = 0;
    json_decref(object);
    return result;
}

void job_spec_request(const struct job_spec *spec, int64_t job, struct wire_request *ret)
{
    *ret = (struct wire_request){.warm = spec->warm, .cold = spec->cold, .counters = spec->counters};
    snprintf(ret->job, sizeof ret->job, "%" PRId64, job);
    snprintf(ret->device, sizeof ret->device, "%s", spec->device);
    snprintf(ret->sizes, sizeof ret->sizes, "%s", rl_sizes_name(spec->sizes));
    for (size_t i = 0; i < RL_KERNEL_COUNT; i++)
        ret->kernel[i] = spec->kernel[i];
}
