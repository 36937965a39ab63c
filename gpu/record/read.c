/* Strict decoding: a document is what the field tables say, or it is refused with the member's path. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/record/fields.h"
#include "gpu/record/json.h"

#define REASON_MAX 1024u /* bytes of one reason: it may quote a whole error message */

struct path {
    const struct path *up;
    const char *name; /* a member, or NULL for an item */
    size_t index;
};

struct reader {
    struct rl_arena *arena;
    struct rl_err *err;
    int64_t version; /* of the document */
};

static bool is_newer(const struct reader *reader)
{
    return reader->version > RL_RECORD_VERSION;
}

static void path_text(const struct path *path, struct rl_buf *out)
{
    if (path == NULL)
        return;
    path_text(path->up, out);
    if (path->name == NULL)
        rl_buf_printf(out, "[%zu]", path->index);
    else
        rl_buf_printf(out, "%s%s", out->len > 0 ? "." : "", path->name);
}

static int refuse(const struct reader *reader, enum rl_code code, const struct path *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static int refuse(const struct reader *reader, enum rl_code code, const struct path *path, const char *fmt, ...)
{
    struct rl_buf where;
    rl_buf_init(&where, sizeof reader->err->field - 1);
    path_text(path, &where);
    const char *name = where.data != NULL ? where.data : "";
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    rl_fail(reader->err, code, name, "%s %s", name[0] != '\0' ? name : "the document", what);
    rl_buf_free(&where);
    return -1;
}

static int no_memory(const struct reader *reader, const struct path *path)
{
    return refuse(reader, RL_E_NO_MEMORY, path, "does not fit in memory");
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {"an object", "a list", "a text", "an integer",
                                        "a number",  "true",   "false",  "null"};
    return names[json_typeof(value)];
}

static int wrong_type(const struct reader *reader, const struct path *path, const char *wanted, const json_t *value)
{
    return refuse(reader, RL_E_BAD_FIELD, path, "has to be %s, not %s", wanted, type_name(value));
}

static int read_text(const struct reader *reader, const struct path *path, const json_t *value, size_t max,
                     const char **ret)
{
    if (!json_is_string(value))
        return wrong_type(reader, path, "a text", value);
    size_t len = json_string_length(value);
    if (len > max)
        return refuse(reader, RL_E_BAD_FIELD, path, "has %zu bytes where %zu are allowed", len, max);
    if (strlen(json_string_value(value)) != len)
        return refuse(reader, RL_E_BAD_FIELD, path, "has a NUL character");
    const char *copy = rl_arena_strdup(reader->arena, json_string_value(value));
    if (copy == NULL)
        return no_memory(reader, path);
    *ret = copy;
    return 0;
}

static bool is_allowed(const struct rl_field *field, const char *text)
{
    if (field->words == NULL)
        return field->allowed == NULL || field->allowed(text);
    for (size_t i = 0; field->words[i] != NULL; i++)
        if (strcmp(field->words[i], text) == 0)
            return true;
    return false;
}

static int read_choice(const struct reader *reader, const struct path *path, const struct rl_field *field,
                       const json_t *value, const char **ret)
{
    const char *text;
    if (read_text(reader, path, value, field->max_count, &text) < 0)
        return -1;
    if (!is_allowed(field, text))
        return refuse(reader, RL_E_BAD_FIELD, path, "is \"%.64s\", which is none of the words allowed", text);
    *ret = text;
    return 0;
}

/* A newer build may have written a word that this one does not know. */
static int read_choice_or_unknown(const struct reader *reader, const struct path *path, const struct rl_field *field,
                                  const json_t *value, struct rl_text *ret)
{
    const char *text;
    if (!is_newer(reader) || field->words == NULL)
        return read_choice(reader, path, field, value, &ret->value);
    if (read_text(reader, path, value, field->max_count, &text) < 0)
        return -1;
    *ret = is_allowed(field, text) ? (struct rl_text){text, NULL}
                                   : (struct rl_text){NULL, rl_why_sentence(RL_WHY_NOT_KNOWN)};
    return 0;
}

static int read_enum(const struct reader *reader, const struct path *path, const struct rl_field *field,
                     const json_t *value, unsigned *ret)
{
    if (!json_is_string(value))
        return wrong_type(reader, path, "a text", value);
    for (unsigned i = 0; field->words[i] != NULL; i++)
        if (strcmp(field->words[i], json_string_value(value)) == 0) {
            *ret = i;
            return 0;
        }
    return refuse(reader, RL_E_BAD_FIELD, path, "is \"%.64s\", which is none of the words allowed",
                  json_string_value(value));
}

static int read_int(const struct reader *reader, const struct path *path, const struct rl_field *field,
                    const json_t *value, int64_t *ret)
{
    if (!json_is_integer(value))
        return wrong_type(reader, path, "an integer", value);
    int64_t number = json_integer_value(value);
    if (number < field->int_min || number > field->int_max)
        return refuse(reader, RL_E_BAD_FIELD, path, "is %lld, outside %lld to %lld", (long long)number,
                      (long long)field->int_min, (long long)field->int_max);
    *ret = number;
    return 0;
}

static int read_int3(const struct reader *reader, const struct path *path, const struct rl_field *field,
                     const json_t *value, int64_t *ret)
{
    if (!json_is_array(value) || json_array_size(value) != 3)
        return refuse(reader, RL_E_BAD_FIELD, path, "has to be a list of three integers");
    for (size_t i = 0; i < 3; i++) {
        struct path item = {path, NULL, i};
        if (read_int(reader, &item, field, json_array_get(value, i), &ret[i]) < 0)
            return -1;
    }
    return 0;
}

static int read_real(const struct reader *reader, const struct path *path, const struct rl_field *field,
                     const json_t *value, double *ret)
{
    if (!json_is_number(value))
        return wrong_type(reader, path, "a number", value);
    double number = json_number_value(value);
    char seen[RL_REAL_TEXT] = "not finite", low[RL_REAL_TEXT] = "", high[RL_REAL_TEXT] = "";
    bool good =
        isfinite(number) && number <= field->max && (field->above_min ? number > field->min : number >= field->min);
    if (good && number > 0 && number < field->least) {
        rl_format_real(seen, sizeof seen, number);
        rl_format_real(low, sizeof low, field->least);
        return refuse(reader, RL_E_BAD_FIELD, path,
                      "is %s, but has to be 0, or at least %s: a whole number over the launches counted", seen, low);
    }
    if (!good) {
        rl_format_real(seen, sizeof seen, number);
        rl_format_real(low, sizeof low, field->min);
        rl_format_real(high, sizeof high, field->max);
        return refuse(reader, RL_E_BAD_FIELD, path, "is %s, but has to be %s %s and at most %s", seen,
                      field->above_min ? "above" : "at least", low, high);
    }
    *ret = number;
    return 0;
}

static int read_time(const struct reader *reader, const struct path *path, const json_t *value, int64_t *ret)
{
    if (!json_is_string(value))
        return wrong_type(reader, path, "a time", value);
    const char *text = json_string_value(value);
    char again[RL_TIME_TEXT];
    int64_t ms;
    /* One form only, so that equal times are equal texts wherever they are stored or compared. */
    if (rl_time_parse(text, &ms) == 0) {
        rl_time_format(ms, again);
        if (ms > 0 && strcmp(text, again) == 0) {
            *ret = ms;
            return 0;
        }
    }
    return refuse(reader, RL_E_BAD_FIELD, path, "is \"%.64s\", not a UTC time like 2026-11-29T20:03:35.123Z after 1970",
                  text);
}

static int read_words(const struct reader *reader, const struct path *path, const struct rl_field *field,
                      const json_t *value, struct rl_strings *ret)
{
    if (!json_is_array(value))
        return wrong_type(reader, path, "a list", value);
    size_t count = json_array_size(value);
    if (count > field->max_count)
        return refuse(reader, RL_E_BAD_FIELD, path, "has %zu items where %zu are allowed", count, field->max_count);
    const char **items = rl_arena_array(reader->arena, count, sizeof *items);
    if (items == NULL)
        return no_memory(reader, path);
    for (size_t i = 0; i < count; i++) {
        struct path item = {path, NULL, i};
        if (read_text(reader, &item, json_array_get(value, i), 512, &items[i]) < 0)
            return -1;
    }
    *ret = (struct rl_strings){items, count};
    return 0;
}

static int read_object(const struct reader *reader, const struct path *path, const struct rl_object *object,
                       const json_t *value, void *base);

static int read_list(const struct reader *reader, const struct path *path, const struct rl_field *field,
                     const json_t *value, void *base)
{
    if (!json_is_array(value))
        return wrong_type(reader, path, "a list", value);
    size_t count = json_array_size(value);
    if (count > field->max_count)
        return refuse(reader, RL_E_BAD_FIELD, path, "has %zu items where %zu are allowed", count, field->max_count);
    char *items = rl_arena_array(reader->arena, count, field->object->size);
    if (items == NULL)
        return no_memory(reader, path);
    for (size_t i = 0; i < count; i++) {
        struct path item = {path, NULL, i};
        if (read_object(reader, &item, field->object, json_array_get(value, i), items + i * field->object->size) < 0)
            return -1;
    }
    memcpy((char *)base + field->offset, &items, sizeof items);
    memcpy((char *)base + field->count_offset, &count, sizeof count);
    return 0;
}

static bool may_be_null(enum rl_kind kind)
{
    return kind >= RL_KIND_REAL || kind == RL_KIND_TIME_OR_NULL;
}

/* The reasons beside an object's members. */
struct reasons {
    const json_t *why, *code; /* NULL without */
};

/* Documents of version 1 had the sentences alone. These are those that rules act on, as that version wrote them: they
 * stay as they are whatever why.def's become. */
static enum rl_why_code code_of_version_1(const char *reason)
{
    static const struct {
        const char *sentence;
        enum rl_why_code code;
    } known[] = {
        {"the settled bytes are below three spreads of the flush alone", RL_WHY_BELOW_SPREAD},
        {"its only FP16 instructions are a few fused ones a thread, by which compilers load constants",
         RL_WHY_HALF_CONSTANTS},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].sentence, reason) == 0)
            return known[i].code;
    return RL_WHY_NONE;
}

static int read_why_code(const struct reader *reader, const struct path *path, const struct rl_field *field,
                         const struct reasons *reasons, const char *reason, enum rl_why_code *ret)
{
    const json_t *value = json_object_get(reasons->code, field->name);
    struct path codes = {path->up, "why_code", 0};
    struct path name = {&codes, field->name, 0};
    *ret = reader->version == 1 ? code_of_version_1(reason) : RL_WHY_NONE;
    if (value == NULL)
        return 0;
    if (!json_is_string(value))
        return wrong_type(reader, &name, "a text", value);
    *ret = rl_why_from_id(json_string_value(value));
    if (*ret == RL_WHY_NONE && !is_newer(reader))
        return refuse(reader, RL_E_BAD_FIELD, &name, "is \"%.64s\", which is no code of a reason",
                      json_string_value(value));
    return 0;
}

/* A null member with its reason. */
static int read_unknown(const struct reader *reader, const struct path *path, const struct rl_field *field,
                        const struct reasons *reasons, void *base)
{
    void *at = (char *)base + field->offset;
    const json_t *value = json_object_get(reasons->why, field->name);
    if (value == NULL)
        return refuse(reader, RL_E_BAD_FIELD, path, "is null without a reason in \"why\"");
    struct path up = {path->up, "why", 0};
    struct path name = {&up, field->name, 0};
    const char *reason;
    enum rl_why_code code;
    if (read_text(reader, &name, value, REASON_MAX, &reason) < 0)
        return -1;
    if (reason[0] == '\0')
        return refuse(reader, RL_E_BAD_FIELD, &name, "is empty");
    if (read_why_code(reader, path, field, reasons, reason, &code) < 0)
        return -1;
    switch (field->kind) {
    case RL_KIND_REAL:
        *(struct rl_real *)at = (struct rl_real){0, reason, code};
        break;
    case RL_KIND_COUNT:
        *(struct rl_count *)at = (struct rl_count){0, reason};
        break;
    case RL_KIND_TEXT:
        *(struct rl_text *)at = (struct rl_text){NULL, reason};
        break;
    case RL_KIND_FLAG3:
        *(struct rl_flag3 *)at = (struct rl_flag3){false, reason};
        break;
    case RL_KIND_INT_OR_NULL:
    case RL_KIND_INT3_OR_NULL:
        *(const char **)(void *)((char *)base + field->why_offset) = reason;
        break;
    default:
        *(int64_t *)at = 0;
        break; /* RL_KIND_TIME_OR_NULL: its reason is the table's own */
    }
    return 0;
}

static int read_flag(const struct reader *reader, const struct path *path, const json_t *value, bool *ret)
{
    if (!json_is_boolean(value))
        return wrong_type(reader, path, "true or false", value);
    *ret = json_is_true(value);
    return 0;
}

static int read_member(const struct reader *reader, const struct path *path, const struct rl_field *field,
                       const json_t *value, void *base)
{
    void *at = (char *)base + field->offset;
    switch (field->kind) {
    case RL_KIND_STRING:
        return read_choice(reader, path, field, value, at);
    case RL_KIND_INT:
    case RL_KIND_INT_OR_NULL:
        return read_int(reader, path, field, value, at);
    case RL_KIND_INT3:
    case RL_KIND_INT3_OR_NULL:
        return read_int3(reader, path, field, value, at);
    case RL_KIND_BOOL:
        return read_flag(reader, path, value, at);
    case RL_KIND_ENUM:
        return read_enum(reader, path, field, value, at);
    case RL_KIND_TIME:
    case RL_KIND_TIME_OR_NULL:
        return read_time(reader, path, value, at);
    case RL_KIND_WORDS:
        return read_words(reader, path, field, value, at);
    case RL_KIND_OBJECT:
        return read_object(reader, path, field->object, value, at);
    case RL_KIND_STATE:
        *(bool *)at = true;
        return read_object(reader, path, field->object, value, at);
    case RL_KIND_LIST:
        return read_list(reader, path, field, value, base);
    case RL_KIND_REAL:
        return read_real(reader, path, field, value, &((struct rl_real *)at)->value);
    case RL_KIND_COUNT:
        return read_int(reader, path, field, value, &((struct rl_count *)at)->value);
    case RL_KIND_TEXT:
        return read_choice_or_unknown(reader, path, field, value, at);
    case RL_KIND_FLAG3:
        return read_flag(reader, path, value, &((struct rl_flag3 *)at)->value);
    }
    return -1;
}

static bool has_field(const struct rl_object *object, const char *name)
{
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->fields[i].name, name) == 0)
            return true;
    return false;
}

/* Fails with the first member of json that the object does not have. */
static int refuse_unknown(const struct reader *reader, const struct path *path, const struct rl_object *object,
                          const json_t *json)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key,
                        value) if (strcmp(key, "why") != 0 && strcmp(key, "why_code") != 0 &&
                                   !has_field(object, key)) return refuse(reader, RL_E_UNKNOWN_FIELD, path,
                                                                          "has the unknown member \"%.64s\"", key);
    return refuse(reader, RL_E_UNKNOWN_FIELD, path, "has a member too many");
}

/* A member that the document does not have. */
static int read_absent(const struct reader *reader, const struct path *path, const struct rl_field *field, void *base)
{
    if (field->kind == RL_KIND_STATE)
        return 0;
    if (field->since <= reader->version)
        return refuse(reader, RL_E_BAD_FIELD, path, "is missing");
    const struct rl_object alone = {.title = field->name, .fields = field, .count = 1};
    rl_object_unknown(&alone, base, rl_why_sentence(RL_WHY_NOT_RECORDED), RL_WHY_NOT_RECORDED);
    if (field->kind == RL_KIND_INT_OR_NULL || field->kind == RL_KIND_INT3_OR_NULL)
        *(const char **)(void *)((char *)base + field->why_offset) = rl_why_sentence(RL_WHY_NOT_RECORDED);
    return 0;
}

/* What may stand beside "why" and "why_code": reasons of null members alone, each of them once. */
static int check_reasons(const struct reader *reader, const struct path *path, const struct reasons *reasons,
                         size_t nulls)
{
    if (is_newer(reader))
        return 0; /* they may be of members that this build does not know */
    if (reasons->why != NULL && (nulls == 0 || json_object_size(reasons->why) != nulls)) {
        struct path why = {path, "why", 0};
        return refuse(reader, RL_E_UNKNOWN_FIELD, &why, "gives a reason for a member that is not null");
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)reasons->code, key, value) if (json_object_get(reasons->why, key) == NULL)
    {
        struct path code = {path, "why_code", 0};
        return refuse(reader, RL_E_UNKNOWN_FIELD, &code, "has a code for \"%.64s\", which is not null", key);
    }
    return 0;
}

/* An object of reasons, or NULL where there is none. */
static int read_reasons(const struct reader *reader, const struct path *path, const json_t *value, const char *name,
                        const json_t **ret)
{
    struct path here = {path, name, 0};
    *ret = json_object_get(value, name);
    if (*ret != NULL && !json_is_object(*ret))
        return wrong_type(reader, &here, "an object", *ret);
    return 0;
}

static int read_object(const struct reader *reader, const struct path *path, const struct rl_object *object,
                       const json_t *value, void *base)
{
    struct reasons reasons;
    if (!json_is_object(value))
        return value == NULL ? refuse(reader, RL_E_BAD_FIELD, path, "is missing")
                             : wrong_type(reader, path, object->title, value);
    if (read_reasons(reader, path, value, "why", &reasons.why) < 0 ||
        read_reasons(reader, path, value, "why_code", &reasons.code) < 0)
        return -1;
    size_t members = (reasons.why != NULL) + (reasons.code != NULL), nulls = 0;
    for (size_t i = 0; i < object->count; i++) {
        const struct rl_field *field = &object->fields[i];
        struct path here = {path, field->name, 0};
        const json_t *member = json_object_get(value, field->name);
        bool null = json_is_null(member) && may_be_null(field->kind);
        members += member != NULL;
        nulls += null;
        if ((member == NULL ? read_absent(reader, &here, field, base)
             : null         ? read_unknown(reader, &here, field, &reasons, base)
                            : read_member(reader, &here, field, member, base)) < 0)
            return -1;
    }
    if (members != json_object_size(value) && !is_newer(reader))
        return refuse_unknown(reader, path, object, value);
    return check_reasons(reader, path, &reasons, nulls);
}

int rl_object_from_json(const struct rl_object *object, const json_t *json, int64_t version, struct rl_arena *arena,
                        void *base, struct rl_err *err)
{
    struct reader reader = {arena, err, version};
    return read_object(&reader, NULL, object, json, base);
}

int rl_device_from_json(const json_t *object, int64_t version, struct rl_arena *arena, struct rl_device *ret,
                        struct rl_err *err)
{
    struct rl_device device = {0};
    if (rl_object_from_json(&rl_object_device, object, version, arena, &device, err) < 0)
        return -1;
    *ret = device;
    return 0;
}

int rl_environment_from_json(const json_t *object, int64_t version, struct rl_arena *arena, struct rl_environment *ret,
                             struct rl_err *err)
{
    struct rl_environment environment = {0};
    if (rl_object_from_json(&rl_object_environment, object, version, arena, &environment, err) < 0)
        return -1;
    *ret = environment;
    return 0;
}

int rl_telemetry_from_json(const json_t *object, int64_t version, struct rl_arena *arena, struct rl_telemetry *ret,
                           struct rl_err *err)
{
    struct rl_telemetry telemetry = {0};
    if (rl_object_from_json(&rl_object_telemetry, object, version, arena, &telemetry, err) < 0)
        return -1;
    *ret = telemetry;
    return 0;
}
