/* See server/ctl/suite.h. */
#include "server/ctl/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/suites/base/params.h"
#include "gpu/suites/suites.h"

static const char *option_name(const struct rl_param *param)
{
    return param->option != NULL ? param->option : param->name;
}

/* ---- help ---- */

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

/* "a, b or c"; the default is marked. */
static void add_words(const struct rl_param *param, bool mark, char *text, size_t size)
{
    const char *const *words = param->words;
    for (size_t i = 0; words[i] != NULL; i++)
        add(text, size, "%s%s%s",
            i == 0                 ? ""
            : words[i + 1] == NULL ? " or "
                                   : ", ",
            words[i], mark && (int64_t)i == param->initial ? " (default)" : "");
}

static void add_range(const struct rl_param *param, const char *what, char *text, size_t size)
{
    add(text, size, "%s from %lld to %lld", what, (long long)param->min, (long long)param->max);
    if (param->step != 0)
        add(text, size, " in steps of %lld", (long long)param->step);
}

/* What may be given, its default, and the parameter's sentence. */
static void describe(const struct rl_suite *suite, const struct rl_param *param, char *text, size_t size)
{
    text[0] = '\0';
    switch (param->kind) {
    case RL_PARAM_CHOICE:
        add_words(param, true, text, size);
        break;
    case RL_PARAM_WORDS:
        add_words(param, false, text, size);
        add(text, size, ", with commas between (default: all)");
        break;
    case RL_PARAM_UNITS:
        add(text, size, "kernel ids with commas between (default: all %zu)", suite->unit_count);
        break;
    case RL_PARAM_BOOL:
        add(text, size, "%s: %s", param->title, param->initial != 0 ? "no" : "yes");
        break;
    case RL_PARAM_INT:
        add_range(param, "an integer", text, size);
        add(text, size, " (default %lld)", (long long)param->initial);
        break;
    case RL_PARAM_INTS:
        add_range(param, "integers", text, size);
        add(text, size, ", with commas between (default ");
        for (size_t i = 0; i < param->list_count; i++)
            add(text, size, "%s%lld", i == 0 ? "" : ",", (long long)param->list[i]);
        add(text, size, ")");
        break;
    case RL_PARAM_UNIT_WORDS:
        add(text, size, "KERNEL=");
        add_words(param, false, text, size);
        add(text, size, ", with commas between");
        for (size_t i = 0; i < 2 && i < suite->unit_count && param->words[i] != NULL; i++)
            add(text, size, "%s%s=%s", i == 0 ? ", as " : ",", suite->units[i]->id, param->words[i]);
        add(text, size, " (default: none)");
        break;
    }
    add(text, size, ". %s", param->help);
}

void ctl_suite_options(const struct rl_suite *suite, size_t at, struct ctl_suite_table *ret)
{
    for (size_t i = 0; i < suite->param_count; i++) {
        const struct rl_param *param = &suite->params[i];
        bool is_switch = param->kind == RL_PARAM_BOOL;
        size_t place = is_switch ? offsetof(struct ctl_suite_values, on) + i * sizeof(bool)
                                 : offsetof(struct ctl_suite_values, text) + i * sizeof(char *);
        describe(suite, param, ret->what[i], sizeof ret->what[i]);
        ret->options[i] = (struct ctl_option){.name = option_name(param),
                                              .value = is_switch              ? NULL
                                                       : param->value != NULL ? param->value
                                                                              : "VALUE",
                                              .at = at + place,
                                              .what = ret->what[i]};
    }
}

void ctl_suite_names(bool submittable, const char *between, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < rl_suite_count; i++)
        if (!submittable || rl_suites[i]->submittable)
            add(text, size, "%s%s", text[0] != '\0' ? between : "", rl_suites[i]->name);
}

const struct rl_suite *ctl_suite_with(const char *name, size_t len)
{
    for (size_t i = 0; i < rl_suite_count; i++)
        for (size_t k = 0; rl_suites[i]->submittable && k < rl_suites[i]->param_count; k++) {
            const char *option = option_name(&rl_suites[i]->params[k]);
            if (strlen(option) == len && strncmp(option, name, len) == 0)
                return rl_suites[i];
        }
    return NULL;
}

const struct ctl_option *ctl_suite_any_option(const char *name, size_t len)
{
    static struct ctl_suite_table table;
    const struct rl_suite *suite = ctl_suite_with(name, len);
    if (suite == NULL)
        return NULL;
    ctl_suite_options(suite, 0, &table);
    return ctl_table_find((struct ctl_table){table.options, suite->param_count}, name, len);
}

/* ---- values ---- */

static json_t *integer_of(const char *text, size_t len)
{
    char digits[32];
    int64_t value;
    if (len >= sizeof digits)
        return NULL;
    memcpy(digits, text, len);
    digits[len] = '\0';
    return rl_parse_i64(digits, INT64_MIN, INT64_MAX, &value) == 0 ? json_integer(value) : NULL;
}

/* "a,b" as a list of words or integers. */
static json_t *list_of(const char *text, const char *option, bool integers, struct rl_err *err)
{
    json_t *list = json_array();
    for (const char *at = text; at != NULL;) {
        size_t len = strcspn(at, ",");
        json_t *item = len == 0 ? NULL : integers ? integer_of(at, len) : json_stringn(at, len);
        if (json_array_append_new(list, item) != 0) {
            rl_fail(err, RL_E_USAGE, option, "--%s \"%s\" has an empty part or %s.", option, text,
                    integers ? "one that is no integer" : "is not UTF-8");
            json_decref(list);
            return NULL;
        }
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return list;
}

/* "kernel=word,kernel=word" as an object. */
static json_t *unit_words_of(const struct rl_param *param, const char *text, struct rl_err *err)
{
    const char *option = option_name(param);
    json_t *parts = list_of(text, option, false, err), *object = json_object(), *part;
    size_t i;
    bool good = parts != NULL;
    json_array_foreach(parts, i, part)
    {
        const char *word = json_string_value(part), *equal = strchr(word, '=');
        char unit[64];
        good = good && equal != NULL && (size_t)(equal - word) < sizeof unit;
        if (!good)
            break;
        snprintf(unit, sizeof unit, "%.*s", (int)(equal - word), word);
        good = json_object_get(object, unit) == NULL && json_object_set_new(object, unit, json_string(equal + 1)) == 0;
    }
    if (parts != NULL && !good) {
        char words[256] = "";
        add_words(param, false, words, sizeof words);
        rl_fail(err, RL_E_USAGE, option, "--%s \"%s\" is not a list of KERNEL=%s.", option, text, words);
    }
    json_decref(parts);
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *value_of(const struct rl_param *param, const char *text, struct rl_err *err)
{
    const char *option = option_name(param);
    json_t *value = NULL;
    switch (param->kind) {
    case RL_PARAM_BOOL:
        return json_boolean(param->initial == 0);
    case RL_PARAM_CHOICE:
        value = json_string(text);
        if (value == NULL)
            rl_fail(err, RL_E_USAGE, option, "The value of --%s is not UTF-8.", option);
        return value;
    case RL_PARAM_INT:
        value = integer_of(text, strlen(text));
        if (value == NULL)
            rl_fail(err, RL_E_USAGE, option, "--%s is \"%s\", not an integer from %lld to %lld.", option, text,
                    (long long)param->min, (long long)param->max);
        return value;
    case RL_PARAM_INTS:
        return list_of(text, option, true, err);
    case RL_PARAM_UNIT_WORDS:
        return unit_words_of(param, text, err);
    case RL_PARAM_WORDS:
    case RL_PARAM_UNITS:
        break;
    }
    return list_of(text, option, false, err);
}

/* The daemon's own check, so that its words are the same; *err says to which option they belong. */
static int check(const struct rl_suite *suite, size_t index, const json_t *value, struct rl_params *params,
                 struct rl_err *err)
{
    struct rl_err why = {0};
    if (rl_param_read(params, index, value, &why) == 0)
        return 0;
    return rl_fail(err, why.code, why.field, "--%s: %s", option_name(&suite->params[index]), why.message);
}

int ctl_suite_params(const struct rl_suite *suite, const struct ctl_suite_values *values, json_t *body,
                     struct rl_err *err)
{
    struct rl_params params;
    rl_params_default(suite, &params);
    for (size_t i = 0; i < suite->param_count; i++) {
        const struct rl_param *param = &suite->params[i];
        if (param->kind == RL_PARAM_BOOL ? !values->on[i] : values->text[i] == NULL)
            continue;
        json_t *value = value_of(param, values->text[i], err);
        if (value == NULL)
            return err->code != RL_E_NONE ? -1 : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the job.");
        if (check(suite, i, value, &params, err) != 0) {
            json_decref(value);
            return -1;
        }
        if (json_object_set_new(body, param->name, value) != 0)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the job.");
    }
    return rl_params_check(&params, err);
}
