/* Strict reading of a recording's JSON objects. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/recording/internal.h"

#define TEXT_MAX 1024 /* bytes of any text in a recording */

void members_begin(struct members *m, const json_t *object, struct rl_arena *arena, struct rl_err *err)
{
    *m = (struct members){.object = object, .arena = arena, .err = err};
    if (!json_is_object(object))
        members_fail(m, "", "not an object");
}

bool members_has(const struct members *m, const char *name)
{
    return json_object_get(m->object, name) != NULL;
}

void members_fail(struct members *m, const char *name, const char *what)
{
    if (!m->failed)
        rl_fail(m->err, RL_E_REPLAY_FORMAT, name, "member '%.64s' is %s", name, what);
    m->failed = true;
}

const json_t *members_take(struct members *m, const char *name)
{
    const json_t *value = m->failed ? NULL : json_object_get(m->object, name);
    if (value && m->taken < sizeof m->names / sizeof m->names[0])
        m->names[m->taken++] = name;
    else
        members_fail(m, name, "missing");
    return value;
}

/* A text of bounded length, copied when there is an arena. */
static const char *keep_text(struct members *m, const char *name, const json_t *value)
{
    if (m->failed)
        return NULL;
    if (!json_is_string(value) || json_string_length(value) > TEXT_MAX) {
        members_fail(m, name, "not a text of at most 1024 bytes");
        return NULL;
    }
    const char *text = json_string_value(value);
    if (!m->arena)
        return text;
    const char *copy = rl_arena_strdup(m->arena, text);
    if (!copy && !m->failed) {
        rl_fail(m->err, RL_E_NO_MEMORY, NULL, "no memory for a recording's text");
        m->failed = true;
    }
    return copy;
}

const char *members_string(struct members *m, const char *name)
{
    return keep_text(m, name, members_take(m, name));
}

int64_t members_integer(struct members *m, const char *name, int64_t min, int64_t max)
{
    const json_t *value = members_take(m, name);
    if (m->failed)
        return 0;
    int64_t integer = json_integer_value(value);
    if (!json_is_integer(value) || integer < min || integer > max) {
        members_fail(m, name, "not an integer in its range");
        return 0;
    }
    return integer;
}

uint64_t members_unsigned(struct members *m, const char *name)
{
    const json_t *value = members_take(m, name);
    const char *digits = json_string_value(value);
    uint64_t number = 0;
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (uint64_t)json_integer_value(value);
    bool good = digits && *digits;
    for (; good && *digits; digits++)
        good = *digits >= '0' && *digits <= '9' && rl_mul_u64(number, 10, &number) &&
               rl_add_u64(number, (uint64_t)(*digits - '0'), &number);
    if (!good)
        members_fail(m, name, "not a count");
    return good ? number : 0;
}

double members_number(struct members *m, const char *name)
{
    const json_t *value = members_take(m, name);
    const char *word = json_string_value(value);
    if (json_is_number(value))
        return json_number_value(value);
    if (word && strcmp(word, "nan") == 0)
        return NAN;
    if (word && strcmp(word, "inf") == 0)
        return INFINITY;
    if (word && strcmp(word, "-inf") == 0)
        return -INFINITY;
    members_fail(m, name, "not a number");
    return 0;
}

bool members_bool(struct members *m, const char *name)
{
    const json_t *value = members_take(m, name);
    if (!json_is_boolean(value))
        members_fail(m, name, "not true or false");
    return json_is_true(value);
}

/* The reason of {"why": "…"}; NULL when value is not that. */
static const char *why_of(struct members *m, const char *name, const json_t *value)
{
    const json_t *why = json_object_get(value, "why");
    if (!why || json_object_size(value) != 1)
        return NULL;
    return keep_text(m, name, why);
}

struct rl_real members_real(struct members *m, const char *name)
{
    const json_t *value = members_take(m, name);
    if (json_is_number(value))
        return rl_known(json_number_value(value));
    const char *why = why_of(m, name, value);
    if (!why)
        members_fail(m, name, "not a number or {\"why\": reason}");
    return rl_unknown(why ? why : "");
}

struct rl_count members_count(struct members *m, const char *name)
{
    const json_t *value = members_take(m, name);
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (struct rl_count){json_integer_value(value), NULL};
    const char *why = why_of(m, name, value);
    if (!why)
        members_fail(m, name, "not an integer from 0 or {\"why\": reason}");
    return (struct rl_count){0, why ? why : ""};
}

struct rl_text members_text(struct members *m, const char *name)
{
    const json_t *value = members_take(m, name);
    if (json_is_string(value)) {
        const char *text = keep_text(m, name, value);
        return (struct rl_text){text, text ? NULL : ""};
    }
    const char *why = why_of(m, name, value);
    if (!why)
        members_fail(m, name, "not a text or {\"why\": reason}");
    return (struct rl_text){NULL, why ? why : ""};
}

int members_end(struct members *m)
{
    if (m->failed)
        return -1;
    if (m->taken == json_object_size(m->object))
        return 0;
    const char *name = "";
    json_t *value;
    json_object_foreach((json_t *)m->object, name, value)
    {
        bool known = false;
        for (size_t i = 0; i < m->taken && !known; i++)
            known = strcmp(m->names[i], name) == 0;
        if (!known)
            break;
    }
    char word[72];
    snprintf(word, sizeof word, "%.64s", name);
    members_fail(m, word, "not known to this format");
    return -1;
}
