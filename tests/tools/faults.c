/* Rules of what goes wrong, and when. */
#include "tests/tools/faults.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu/recording/internal.h"

static const char *const selector_names[] = {"sizes", "unit",    "state",    "at",    "line",
                                             "phase", "variant", "launches", "sample"};
/* members that count things */
static const char *const integers[] = {"other_processes", "compared_device", "compared_host", "wrong", "worst_index"};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
static const char *const on_names[FAULT_ON_KINDS] = {
    [FAULT_ON_CARD_STATE] = "card_state",
    [FAULT_ON_DRIVER_NOW] = "driver_now",
    [FAULT_ON_SPIN] = "spin",
    [FAULT_ON_DESCRIBE] = "describe",
    [FAULT_ON_CHECK] = "check",
    [FAULT_ON_WARM] = "warm",
    [FAULT_ON_COLD] = "cold",
    [FAULT_ON_COUNT] = "count",
    [FAULT_ON_IDENTIFY] = "identify",
    [FAULT_ON_RESERVE] = "reserve",
    [FAULT_ON_PREPARE] = "prepare",
    [FAULT_ON_PROFILE] = "profile",
    [FAULT_ON_LINE] = "line",
};
static const char *const write_names[] = {"half", "garbage", "oversize", "twice", "drop"};

/* What set and scale may name, by what is struck. */
static const char *const alterable[FAULT_ON_KINDS][32] = {
    [FAULT_ON_CARD_STATE] = {"sm_hz", "memory_hz", "temperature_c", "power_w", "energy_j", "reasons",
                             "other_processes"},
    [FAULT_ON_DRIVER_NOW] = {"value"},
    [FAULT_ON_SPIN] = {"sm_hz"},
    [FAULT_ON_CHECK] = {"passed", "compared_device", "compared_host", "wrong", "worst_index", "worst", "detail"},
    [FAULT_ON_WARM] = {"time_s", "sm_hz"},
    [FAULT_ON_COLD] = {"time_s", "sm_hz"},
    [FAULT_ON_COUNT] = {"dram_read", "dram_write", "l2", "l2_sm_sectors", "l1", "warps_active_pct", "fp64_add",
                        "fp64_mul", "fp64_fma", "fp32_add", "fp32_mul", "fp32_fma", "fp16_add", "fp16_mul", "fp16_fma",
                        "local_bytes"},
};

struct faults {
    json_t *rules;
    uint64_t *seen; /* by rule: how often its selectors fitted */
};

/* ---- checking ---- */

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && word; i++)
        if (words[i] && strcmp(words[i], word) == 0)
            return true;
    return false;
}

static int on_of(const json_t *rule)
{
    const char *on = json_string_value(json_object_get(rule, "on"));
    for (int i = 0; i < FAULT_ON_KINDS && on; i++)
        if (strcmp(on, on_names[i]) == 0)
            return i;
    return -1;
}

static void check_selectors(struct members *m)
{
    enum rl_sizes sizes;
    for (size_t i = 0; i < COUNT(selector_names); i++) {
        const char *name = selector_names[i];
        if (!members_has(m, name))
            continue;
        if (i >= 6)
            members_integer(m, name, 0, INT64_MAX);
        else
            members_string(m, name);
        const char *word = json_string_value(json_object_get(m->object, name));
        if (strcmp(name, "sizes") == 0 && word && rl_sizes_from_name(word, &sizes) != 0)
            members_fail(m, name, "not course or scaled");
        if (strcmp(name, "unit") == 0 && word && !rl_unit_find(word))
            members_fail(m, name, "not a unit of this program's catalogue");
        if (strcmp(name, "state") == 0 && word && strcmp(word, "warm") != 0 && strcmp(word, "cold") != 0)
            members_fail(m, name, "not warm or cold");
    }
    if (members_has(m, "skip"))
        members_integer(m, "skip", 0, INT64_MAX);
    if (members_has(m, "times"))
        members_integer(m, "times", 1, INT64_MAX);
}

static void check_error(struct members *m)
{
    struct members e;
    members_begin(&e, members_take(m, "error"), NULL, m->err);
    const char *code = members_string(&e, "code");
    members_string(&e, "message");
    if (code && rl_code_from_id(code) == RL_E_NONE)
        members_fail(&e, "code", "not an error's id");
    if (members_end(&e) != 0)
        m->failed = true;
}

static void check_session(struct members *m, int on)
{
    struct members s;
    members_begin(&s, members_take(m, "session"), NULL, m->err);
    const char *status = members_string(&s, "status");
    members_string(&s, "reason");
    if (status && rl_code_from_id(status) == RL_E_NONE)
        members_fail(&s, "status", "not an error's id");
    if (members_end(&s) != 0)
        m->failed = true;
    if (on != FAULT_ON_COUNT)
        members_fail(m, "session", "for \"on\": \"count\" alone");
}

static bool is_why(const json_t *value)
{
    return json_object_size(value) == 1 && json_is_string(json_object_get(value, "why"));
}

static bool value_fits(int on, const char *name, const json_t *value, bool scale)
{
    double number = json_number_value(value);
    size_t index;
    json_t *word;
    if (strcmp(name, "reasons") == 0) {
        bool fits = json_is_array(value) && json_array_size(value) <= 64 && !scale;
        json_array_foreach(value, index, word)
        {
            fits = fits && json_is_string(word) && json_string_length(word) <= 128;
        }
        return fits;
    }
    if (strcmp(name, "detail") == 0 || strcmp(name, "value") == 0)
        return json_is_string(value) && json_string_length(value) <= 255 && !scale;
    if (strcmp(name, "passed") == 0)
        return json_is_boolean(value) && !scale;
    if (is_one_of(name, integers, COUNT(integers)))
        return json_is_integer(value) && number >= 0 && !scale;
    if (!scale && (on == FAULT_ON_COUNT || on == FAULT_ON_CARD_STATE) && is_why(value))
        return true;
    /* bounded, so that no product overflows */
    return json_is_number(value) && number >= 0 && number <= (scale ? 1e6 : 1e18);
}

static void check_alteration(struct members *m, int on, const char *action)
{
    const json_t *object = members_take(m, action);
    const char *name;
    json_t *value;
    bool scale = strcmp(action, "scale") == 0;
    if (!json_is_object(object) || json_object_size(object) == 0)
        members_fail(m, action, "not an object with members");
    if (m->failed)
        return;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!is_one_of(name, alterable[on], 32))
            members_fail(m, action, "naming something that is not answered there");
        else if (!value_fits(on, name, value, scale))
            members_fail(m, action, "giving a member a value of the wrong type");
    }
}

int fault_check(const json_t *rule, struct rl_err *err)
{
    struct members m;
    members_begin(&m, rule, NULL, err);
    members_take(&m, "op");
    members_take(&m, "on");
    int on = on_of(rule);
    if (on < 0) {
        members_fail(&m, "on", "not what a fault can strike");
        return -1;
    }
    check_selectors(&m);
    size_t selected = m.taken;
    if (members_has(&m, "error"))
        check_error(&m);
    if (members_has(&m, "error") && on == FAULT_ON_LINE)
        members_fail(&m, "error", "not for a line, which is no call");
    if (members_has(&m, "hang") && !members_bool(&m, "hang"))
        members_fail(&m, "hang", "not true");
    if (members_has(&m, "exit"))
        members_integer(&m, "exit", 0, 255);
    if (members_has(&m, "signal"))
        members_integer(&m, "signal", 1, 31);
    if (members_has(&m, "delay_ms"))
        members_integer(&m, "delay_ms", 1, 600000);
    if (members_has(&m, "session"))
        check_session(&m, on);
    if (members_has(&m, "scale"))
        check_alteration(&m, on, "scale");
    if (members_has(&m, "set"))
        check_alteration(&m, on, "set");
    if (members_has(&m, "write")) {
        const char *word = members_string(&m, "write");
        if (on != FAULT_ON_LINE || !is_one_of(word, write_names, COUNT(write_names)))
            members_fail(&m, "write", "not half, garbage, oversize, twice or drop on a line");
    }
    if (!m.failed && m.taken == selected)
        members_fail(&m, "op", "a fault without an action");
    return members_end(&m);
}

/* ---- matching ---- */

struct fault_moment fault_moment(enum fault_on on, enum rl_sizes sizes)
{
    return (struct fault_moment){.on = on, .sizes = sizes, .variant = -1, .launches = -1, .sample = -1, .state = -1};
}

struct fault_moment fault_moment_work(enum fault_on on, const struct gpu_work *work)
{
    struct fault_moment moment = fault_moment(on, work->sizes);
    moment.unit = work->unit->id;
    moment.variant = work->variant;
    if (on == FAULT_ON_WARM || on == FAULT_ON_COLD)
        moment.state = on == FAULT_ON_WARM ? RL_WARM : RL_COLD;
    return moment;
}

struct faults *faults_new(json_t *rules)
{
    struct faults *faults = calloc(1, sizeof *faults);
    if (!faults)
        return NULL;
    faults->seen = calloc(json_array_size(rules) + 1, sizeof *faults->seen);
    if (!faults->seen) {
        free(faults);
        return NULL;
    }
    faults->rules = json_incref(rules);
    return faults;
}

void faults_free(struct faults *faults)
{
    if (!faults)
        return;
    json_decref(faults->rules);
    free(faults->seen);
    free(faults);
}

static bool text_fits(const json_t *rule, const char *name, const char *seen)
{
    const char *wanted = json_string_value(json_object_get(rule, name));
    return !wanted || (seen && strcmp(wanted, seen) == 0);
}

static bool integer_fits(const json_t *rule, const char *name, int64_t seen)
{
    const json_t *wanted = json_object_get(rule, name);
    return !wanted || json_integer_value(wanted) == seen;
}

static bool fits(const json_t *rule, const struct fault_moment *moment)
{
    return on_of(rule) == (int)moment->on && text_fits(rule, "sizes", rl_sizes_name(moment->sizes)) &&
           text_fits(rule, "unit", moment->unit) && text_fits(rule, "at", moment->at) &&
           text_fits(rule, "line", moment->line) && text_fits(rule, "phase", moment->phase) &&
           text_fits(rule, "state", moment->state < 0 ? NULL : rl_state_name(moment->state)) &&
           integer_fits(rule, "variant", moment->variant) && integer_fits(rule, "launches", moment->launches) &&
           integer_fits(rule, "sample", moment->sample);
}

void faults_match(struct faults *faults, const struct fault_moment *moment, struct fault_hits *ret)
{
    size_t index;
    json_t *rule;
    ret->count = 0;
    json_array_foreach(faults->rules, index, rule)
    {
        if (ret->count == FAULT_HITS_MAX || !fits(rule, moment))
            continue;
        uint64_t seen = faults->seen[index]++;
        uint64_t skip = (uint64_t)json_integer_value(json_object_get(rule, "skip"));
        const json_t *times = json_object_get(rule, "times");
        if (seen >= skip && (!times || seen - skip < (uint64_t)json_integer_value(times)))
            ret->rule[ret->count++] = rule;
    }
}

/* ---- acting ---- */

static void delay(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static int act(const char *action, const json_t *value, struct rl_err *err)
{
    if (strcmp(action, "delay_ms") == 0) {
        delay(json_integer_value(value));
        return 0;
    }
    if (strcmp(action, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(action, "exit") == 0)
        _exit((int)json_integer_value(value));
    if (strcmp(action, "signal") == 0) {
        int number = (int)json_integer_value(value);
        signal(number, SIG_DFL); /* whatever handler stands there (a sanitizer's, say), the process dies of it */
        raise(number);
        _exit(128 + number);
    }
    return rl_fail(err, rl_code_from_id(json_string_value(json_object_get(value, "code"))), NULL, "%s",
                   json_string_value(json_object_get(value, "message")));
}

int faults_act(const struct fault_hits *hits, struct rl_err *err)
{
    static const char *const order[] = {"delay_ms", "hang", "exit", "signal", "error"};
    for (size_t action = 0; action < COUNT(order); action++)
        for (size_t i = 0; i < hits->count; i++) {
            const json_t *value = json_object_get(hits->rule[i], order[action]);
            if (value && act(order[action], value, err) != 0)
                return -1;
        }
    return 0;
}

int faults_strike(struct faults *faults, const struct fault_moment *moment, struct fault_hits *ret, struct rl_err *err)
{
    faults_match(faults, moment, ret);
    return faults_act(ret, err);
}

/* ---- altering ---- */

static const json_t *altered(const struct fault_hits *hits, size_t index, const char *action, const char *name)
{
    return json_object_get(json_object_get(hits->rule[index], action), name);
}

void fault_number(const struct fault_hits *hits, const char *name, double *value)
{
    struct rl_real real = rl_known(*value);
    fault_real(hits, name, NULL, &real);
    *value = real.value;
}

void fault_real(const struct fault_hits *hits, const char *name, struct rl_arena *arena, struct rl_real *value)
{
    for (size_t i = 0; i < hits->count; i++) {
        const json_t *factor = altered(hits, i, "scale", name), *set = altered(hits, i, "set", name);
        if (factor && rl_is_known(*value))
            value->value *= json_number_value(factor);
        if (json_is_number(set))
            *value = rl_known(json_number_value(set));
        else if (set && arena) {
            const char *why = rl_arena_strdup(arena, json_string_value(json_object_get(set, "why")));
            *value = rl_unknown(why ? why : "no memory for the reason");
        }
    }
}

void fault_count(const struct fault_hits *hits, const char *name, struct rl_count *value)
{
    for (size_t i = 0; i < hits->count; i++) {
        const json_t *set = altered(hits, i, "set", name);
        if (json_is_integer(set)) /* fault_check allows nothing else; a double would lose digits above 2^53 */
            *value = (struct rl_count){json_integer_value(set), NULL};
    }
}

void fault_unsigned(const struct fault_hits *hits, const char *name, uint64_t *value)
{
    struct rl_count count = {(int64_t)*value, NULL};
    fault_count(hits, name, &count);
    *value = (uint64_t)count.value;
}

void fault_bool(const struct fault_hits *hits, const char *name, bool *value)
{
    for (size_t i = 0; i < hits->count; i++)
        if (altered(hits, i, "set", name))
            *value = json_is_true(altered(hits, i, "set", name));
}

const char *fault_text(const struct fault_hits *hits, const char *name)
{
    const char *text = NULL;
    for (size_t i = 0; i < hits->count; i++)
        if (altered(hits, i, "set", name))
            text = json_string_value(altered(hits, i, "set", name));
    return text;
}

const json_t *fault_list(const struct fault_hits *hits, const char *name)
{
    const json_t *list = NULL;
    for (size_t i = 0; i < hits->count; i++)
        if (altered(hits, i, "set", name))
            list = altered(hits, i, "set", name);
    return list;
}

const json_t *fault_session(const struct fault_hits *hits)
{
    for (size_t i = 0; i < hits->count; i++)
        if (json_object_get(hits->rule[i], "session"))
            return json_object_get(hits->rule[i], "session");
    return NULL;
}

const char *fault_write(const struct fault_hits *hits)
{
    for (size_t i = 0; i < hits->count; i++)
        if (json_object_get(hits->rule[i], "write"))
            return json_string_value(json_object_get(hits->rule[i], "write"));
    return NULL;
}
