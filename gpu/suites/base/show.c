/* See gpu/suites/base/show.h. */
#include "gpu/suites/base/show.h"

#include <stdio.h>
#include <string.h>

#include "gpu/base/escape.h"

/* How much of a refused value an answer repeats. */
#define SHOWN_BYTES 64u
#define SEEN_BYTES  (4 * SHOWN_BYTES + 16)

const char *rl_json_type_name(const json_t *value)
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
        snprintf(text, size, "%s", rl_json_type_name(value));
    }
    return text;
}

int rl_param_bad(struct rl_err *err, const char *field, const json_t *value, const char *wanted)
{
    char text[SEEN_BYTES];
    if (value == NULL)
        return rl_fail(err, RL_E_BAD_FIELD, field, "%s is missing: it must be %s.", field, wanted);
    return rl_fail(err, RL_E_BAD_FIELD, field, "%s is %s: it must be %s.", field, seen(value, text, sizeof text),
                   wanted);
}

int rl_param_unknown(struct rl_err *err, const char *prefix, const char *key)
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
