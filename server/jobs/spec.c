/* Validation of a job's specification; see server/jobs/spec.h. */
#include "server/jobs/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/base/show.h"
#include "gpu/suites/suites.h"

#define SUITE "suite" /* read before the others, whose names it decides */

/* The suites that a job may ask for, as a list in words. */
static void submittable(char text[RL_WANTED_BYTES])
{
    size_t len = 0, count = 0, named = 0;
    for (size_t i = 0; i < rl_suite_count; i++)
        count += rl_suites[i]->submittable;
    text[0] = '\0';
    for (size_t i = 0; i < rl_suite_count && len < RL_WANTED_BYTES; i++) {
        if (!rl_suites[i]->submittable)
            continue;
        len += (size_t)snprintf(text + len, RL_WANTED_BYTES - len, "%s\"%s\"",
                                named == 0           ? ""
                                : named + 1 == count ? " or "
                                                     : ", ",
                                rl_suites[i]->name);
        named++;
    }
}

static const struct rl_suite *read_suite(const json_t *value, struct rl_err *err)
{
    const struct rl_suite *suite = rl_suite_find(json_string_value(value));
    char wanted[RL_WANTED_BYTES];
    if (suite != NULL && suite->submittable)
        return suite;
    submittable(wanted);
    rl_param_bad(err, SUITE, value, wanted);
    return NULL;
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
        return rl_param_bad(err, "device", value, "a device's id as GET /api/v1/devices lists it");
    memcpy(spec->device, json_string_value(value), len + 1);
    return 0;
}

static int read_on_interrupt(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    const char *name = json_string_value(value);
    if (name == NULL || (strcmp(name, "fail") != 0 && strcmp(name, "retry") != 0))
        return rl_param_bad(err, "on_interrupt", value, "\"fail\" or \"retry\"");
    spec->retry_on_interrupt = name[0] == 'r';
    return 0;
}

static int read_note(const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    if (!json_is_string(value))
        return rl_param_bad(err, "note", value, "a string");
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
        return rl_param_bad(err, "label", value, "a string");
    size_t len = json_string_length(value);
    if (rl_label_check(json_string_value(value), len, "label", err) != 0)
        return -1;
    memcpy(spec->label, json_string_value(value), len + 1);
    return 0;
}

static const struct member {
    const char *name;
    int (*read)(const json_t *value, struct job_spec *spec, struct rl_err *err);
} members[] = {
    {"device", read_device},
    {"on_interrupt", read_on_interrupt},
    {"note", read_note},
    {"label", read_label},
};
#define MEMBER_COUNT (sizeof members / sizeof members[0])

/* One key of a job. */
static int read_key(const char *key, const json_t *value, struct job_spec *spec, struct rl_err *err)
{
    size_t index = rl_param_find(spec->params.suite, key);
    if (index != SIZE_MAX)
        return rl_param_read(&spec->params, index, value, err);
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (strcmp(members[i].name, key) == 0)
            return members[i].read(value, spec, err);
    return strcmp(key, SUITE) == 0 ? 0 : rl_param_unknown(err, "", key);
}

/* Unknown keys are told before wrong values: a misspelt name explains the rest. */
static int check_known(const json_t *body, const struct rl_suite *suite, struct rl_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        size_t i = 0;
        while (i < MEMBER_COUNT && strcmp(members[i].name, key) != 0)
            i++;
        if (i == MEMBER_COUNT && strcmp(key, SUITE) != 0 && rl_param_find(suite, key) == SIZE_MAX)
            return rl_param_unknown(err, "", key);
    }
    return 0;
}

int job_spec_read(const json_t *body, struct job_spec *ret, struct rl_err *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(body))
        return rl_fail(err, RL_E_BAD_JSON, NULL, "The body is %s: a job is one JSON object.",
                       body != NULL ? rl_json_type_name(body) : "empty");
    const struct rl_suite *suite = read_suite(json_object_get(body, SUITE), err);
    struct job_spec spec = {.retry_on_interrupt = false};
    if (suite == NULL || check_known(body, suite, err) != 0)
        return -1;
    rl_params_default(suite, &spec.params);
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        if (read_key(key, value, &spec, err) != 0)
            return -1;
    }
    if (rl_params_check(&spec.params, err) != 0)
        return -1;
    *ret = spec;
    return 0;
}

json_t *job_spec_to_json(const struct job_spec *spec)
{
    json_t *json = json_pack("{s:s, s:s*}", SUITE, spec->params.suite->name, "device",
                             spec->device[0] != '\0' ? spec->device : NULL);
    json_t *rest =
        json_pack("{s:s, s:s?, s:s?}", "on_interrupt", spec->retry_on_interrupt ? "retry" : "fail", "note",
                  spec->note[0] != '\0' ? spec->note : NULL, "label", spec->label[0] != '\0' ? spec->label : NULL);
    int rc = rl_params_write(&spec->params, false, json) != 0 || json_object_update_missing(json, rest) != 0;
    json_decref(rest);
    if (rc == 0)
        return json;
    json_decref(json);
    return NULL;
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
    *ret = (struct wire_request){.params = spec->params};
    snprintf(ret->job, sizeof ret->job, "%" PRId64, job);
    snprintf(ret->device, sizeof ret->device, "%s", spec->device);
}
