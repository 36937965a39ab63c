/* See gpu/suites/base/params.h. */
#include "gpu/suites/base/params.h"

#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/suites/base/show.h"

/* ---- what is wanted ---- */

/* "a", "b" or "c" */
static void quoted_words(const char *const *words, char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; words[i] != NULL && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s\"%s\"",
                                i == 0                 ? ""
                                : words[i + 1] == NULL ? " or "
                                                       : ", ",
                                words[i]);
}

void rl_param_wanted(const struct rl_param *param, char *text, size_t size)
{
    char words[RL_WANTED_BYTES / 2];
    if (param->words != NULL)
        quoted_words(param->words, words, sizeof words);
    switch (param->kind) {
    case RL_PARAM_CHOICE:
        snprintf(text, size, "%s", words);
        break;
    case RL_PARAM_WORDS:
        if (param->words[1] != NULL && param->words[2] == NULL)
            snprintf(text, size, "a list of \"%s\", \"%s\" or both, not empty", param->words[0], param->words[1]);
        else
            snprintf(text, size, "a list of %s, not empty", words);
        break;
    case RL_PARAM_UNITS:
        snprintf(text, size, "a list of kernel ids as GET /api/v1/kernels lists them, not empty");
        break;
    case RL_PARAM_BOOL:
        snprintf(text, size, "true or false");
        break;
    case RL_PARAM_INT:
        snprintf(text, size, "an integer from %lld to %lld", (long long)param->min, (long long)param->max);
        break;
    case RL_PARAM_INTS:
        snprintf(text, size, "a list of integers from %lld to %lld, not empty", (long long)param->min,
                 (long long)param->max);
        break;
    case RL_PARAM_UNIT_WORDS:
        snprintf(text, size, "an object of kernel ids with %s", words);
        break;
    }
}

static int bad(const struct rl_param *param, const char *field, const json_t *value, struct rl_err *err)
{
    char wanted[RL_WANTED_BYTES];
    rl_param_wanted(param, wanted, sizeof wanted);
    return rl_param_bad(err, field, value, wanted);
}

/* ---- reading ---- */

static size_t word_index(const char *const *words, const char *word)
{
    for (size_t i = 0; word != NULL && words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return SIZE_MAX;
}

static size_t unit_index(const struct rl_suite *suite, const char *id)
{
    for (size_t i = 0; id != NULL && i < suite->unit_count; i++)
        if (strcmp(suite->units[i]->id, id) == 0)
            return i;
    return SIZE_MAX;
}

/* One item of a list: its place in words or units; SIZE_MAX with err set. */
static size_t item_index(const struct rl_params *params, const struct rl_param *param, const char *field,
                         const json_t *item, struct rl_err *err)
{
    bool units = param->kind == RL_PARAM_UNITS;
    char words[RL_WANTED_BYTES];
    size_t index = !json_is_string(item) ? SIZE_MAX
                   : units               ? unit_index(params->suite, json_string_value(item))
                                         : word_index(param->words, json_string_value(item));
    if (index != SIZE_MAX)
        return index;
    if (units)
        rl_param_bad(err, field, item, "a kernel id as GET /api/v1/kernels lists them");
    else {
        quoted_words(param->words, words, sizeof words);
        rl_param_bad(err, field, item, words);
    }
    return SIZE_MAX;
}

static int read_list(const struct rl_params *params, const struct rl_param *param, const json_t *value,
                     struct rl_param_value *ret, struct rl_err *err)
{
    bool has[RL_PARAM_ITEMS] = {false};
    if (!json_is_array(value) || json_array_size(value) == 0)
        return bad(param, param->name, value, err);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        char field[64];
        snprintf(field, sizeof field, "%s[%zu]", param->name, i);
        size_t index = item_index(params, param, field, item, err);
        if (index == SIZE_MAX)
            return -1;
        if (has[index])
            return rl_fail(err, RL_E_BAD_FIELD, field, "%s repeats \"%s\": name each %s once.", field,
                           json_string_value(item), param->kind == RL_PARAM_UNITS ? "kernel" : param->item);
        has[index] = true;
    }
    memcpy(ret->has, has, sizeof has);
    return 0;
}

static int read_integer(const struct rl_param *param, const char *field, const json_t *value, int64_t *ret,
                        struct rl_err *err)
{
    char wanted[RL_WANTED_BYTES];
    if (json_is_integer(value) && json_integer_value(value) >= param->min && json_integer_value(value) <= param->max &&
        (param->step == 0 || json_integer_value(value) % param->step == 0)) {
        *ret = json_integer_value(value);
        return 0;
    }
    snprintf(wanted, sizeof wanted, "an integer from %lld to %lld", (long long)param->min, (long long)param->max);
    if (param->step != 0)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), " in steps of %lld", (long long)param->step);
    return rl_param_bad(err, field, value, wanted);
}

static int read_integers(const struct rl_param *param, const json_t *value, struct rl_param_value *ret,
                         struct rl_err *err)
{
    size_t count = json_array_size(value);
    int64_t items[RL_PARAM_ITEMS];
    if (!json_is_array(value) || count == 0)
        return bad(param, param->name, value, err);
    if (count > RL_PARAM_ITEMS)
        return rl_fail(err, RL_E_BAD_FIELD, param->name, "%s has %zu items: at most %d are taken.", param->name, count,
                       (int)RL_PARAM_ITEMS);
    for (size_t i = 0; i < count; i++) {
        char field[64];
        snprintf(field, sizeof field, "%s[%zu]", param->name, i);
        if (read_integer(param, field, json_array_get(value, i), &items[i], err) != 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (items[k] == items[i])
                return rl_fail(err, RL_E_BAD_FIELD, field, "%s repeats %lld: name each %s once.", field,
                               (long long)items[i], param->item);
    }
    memcpy(ret->items, items, count * sizeof items[0]);
    ret->count = count;
    return 0;
}

static int read_unit_words(const struct rl_params *params, const struct rl_param *param, const json_t *value,
                           struct rl_param_value *ret, struct rl_err *err)
{
    int64_t items[RL_PARAM_ITEMS] = {0};
    const char *key;
    json_t *item;
    char prefix[64];
    if (!json_is_object(value))
        return bad(param, param->name, value, err);
    snprintf(prefix, sizeof prefix, "%s.", param->name);
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        size_t unit = unit_index(params->suite, key), word;
        char field[128], words[RL_WANTED_BYTES];
        if (unit == SIZE_MAX)
            return rl_param_unknown(err, prefix, key);
        snprintf(field, sizeof field, "%s%s", prefix, key);
        word = word_index(param->words, json_string_value(item));
        if (word == SIZE_MAX) {
            quoted_words(param->words, words, sizeof words);
            return rl_param_bad(err, field, item, words);
        }
        items[unit] = 1 + (int64_t)word;
    }
    memcpy(ret->items, items, sizeof items);
    return 0;
}

int rl_param_read(struct rl_params *params, size_t index, const json_t *value, struct rl_err *err)
{
    const struct rl_param *param = &params->suite->params[index];
    struct rl_param_value *ret = &params->value[index];
    size_t word;
    switch (param->kind) {
    case RL_PARAM_CHOICE:
        word = word_index(param->words, json_string_value(value));
        if (word == SIZE_MAX)
            return bad(param, param->name, value, err);
        ret->number = (int64_t)word;
        return 0;
    case RL_PARAM_BOOL:
        if (!json_is_boolean(value))
            return bad(param, param->name, value, err);
        ret->number = json_is_true(value);
        return 0;
    case RL_PARAM_INT:
        return read_integer(param, param->name, value, &ret->number, err);
    case RL_PARAM_INTS:
        return read_integers(param, value, ret, err);
    case RL_PARAM_UNIT_WORDS:
        return read_unit_words(params, param, value, ret, err);
    case RL_PARAM_WORDS:
    case RL_PARAM_UNITS:
        break;
    }
    return read_list(params, param, value, ret, err);
}

int rl_params_check(const struct rl_params *params, struct rl_err *err)
{
    const struct rl_suite *suite = params->suite;
    for (size_t i = 0; i < suite->param_count; i++) {
        const struct rl_param *param = &suite->params[i];
        if (param->kind != RL_PARAM_UNIT_WORDS)
            continue;
        const struct rl_param_value *units = &params->value[rl_param_find(suite, param->of)];
        for (size_t unit = 0; unit < suite->unit_count; unit++) {
            char field[128];
            if (params->value[i].items[unit] == 0 || units->has[unit])
                continue;
            snprintf(field, sizeof field, "%s.%s", param->name, suite->units[unit]->id);
            return rl_fail(err, RL_E_BAD_FIELD, field, "%s %s a kernel that %s leaves out.", field, param->verb,
                           param->of);
        }
    }
    return 0;
}

void rl_params_default(const struct rl_suite *suite, struct rl_params *ret)
{
    *ret = (struct rl_params){.suite = suite};
    for (size_t i = 0; i < suite->param_count; i++) {
        const struct rl_param *param = &suite->params[i];
        struct rl_param_value *value = &ret->value[i];
        value->number = param->initial;
        for (size_t unit = 0; param->kind == RL_PARAM_UNITS && unit < suite->unit_count; unit++)
            value->has[unit] = true;
        for (size_t word = 0; param->kind == RL_PARAM_WORDS && param->words[word] != NULL; word++)
            value->has[word] = true;
        for (; param->kind == RL_PARAM_INTS && value->count < param->list_count; value->count++)
            value->items[value->count] = param->list[value->count];
    }
}

size_t rl_param_find(const struct rl_suite *suite, const char *name)
{
    for (size_t i = 0; i < suite->param_count; i++)
        if (strcmp(suite->params[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

int rl_params_read(const struct rl_suite *suite, const json_t *object, bool wire, struct rl_params *ret,
                   struct rl_err *err)
{
    const char *key;
    json_t *value;
    struct rl_params params;
    rl_params_default(suite, &params);
    if (!json_is_object(object))
        return rl_param_bad(err, "params", object, "an object");
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t index = rl_param_find(suite, key);
        if (index == SIZE_MAX || (wire && suite->params[index].local))
            return rl_param_unknown(err, "", key);
        if (rl_param_read(&params, index, value, err) != 0)
            return -1;
    }
    if (rl_params_check(&params, err) != 0)
        return -1;
    *ret = params;
    return 0;
}

/* ---- writing ---- */

static json_t *value_json(const struct rl_params *params, size_t index)
{
    const struct rl_suite *suite = params->suite;
    const struct rl_param *param = &suite->params[index];
    const struct rl_param_value *value = &params->value[index];
    json_t *json;
    switch (param->kind) {
    case RL_PARAM_CHOICE:
        return json_string(param->words[value->number]);
    case RL_PARAM_BOOL:
        return json_boolean(value->number);
    case RL_PARAM_INT:
        return json_integer(value->number);
    case RL_PARAM_INTS:
        json = json_array();
        for (size_t i = 0; i < value->count; i++)
            json_array_append_new(json, json_integer(value->items[i]));
        return json;
    case RL_PARAM_UNIT_WORDS:
        json = json_object();
        for (size_t i = 0; i < suite->unit_count; i++)
            if (value->items[i] != 0)
                json_object_set_new(json, suite->units[i]->id, json_string(param->words[value->items[i] - 1]));
        return json;
    case RL_PARAM_UNITS:
        json = json_array();
        for (size_t i = 0; i < suite->unit_count; i++)
            if (value->has[i])
                json_array_append_new(json, json_string(suite->units[i]->id));
        return json;
    case RL_PARAM_WORDS:
        break;
    }
    json = json_array();
    for (size_t i = 0; param->words[i] != NULL; i++)
        if (value->has[i])
            json_array_append_new(json, json_string(param->words[i]));
    return json;
}

int rl_params_write(const struct rl_params *params, bool wire, json_t *object)
{
    if (object == NULL)
        return -1;
    for (size_t i = 0; i < params->suite->param_count; i++)
        if (!(wire && params->suite->params[i].local) &&
            json_object_set_new(object, params->suite->params[i].name, value_json(params, i)) != 0)
            return -1;
    return 0;
}
