/* Raw answers as JSON and back, one pair of functions per type, members in the order of the structs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/backend/count_fields.h"
#include "gpu/recording/internal.h"

/* ---- values ---- */

static json_t *from_number(double value)
{
    if (isfinite(value))
        return json_real(value);
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* A count up to 2^64 - 1 (an index that means none, say); above 2^63 - 1 as digits in a text, since JSON's integers
 * here are signed. */
static json_t *from_unsigned(uint64_t value)
{
    char digits[24];
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return json_string(digits);
}

static json_t *from_why(const char *why)
{
    return json_pack("{s:s}", "why", why);
}

static json_t *from_real(struct rl_real real)
{
    if (!rl_is_known(real))
        return from_why(real.why);
    return isfinite(real.value) ? json_real(real.value) : from_why("the backend answered a number that is not finite");
}

static json_t *from_count(struct rl_count count)
{
    return count.why ? from_why(count.why) : json_integer(count.value);
}

json_t *recording_from_text(struct rl_text text)
{
    return text.why ? from_why(text.why) : json_string(text.value);
}

int recording_to_text(const json_t *value, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    json_t *holder = json_pack("{s:O}", "value", value);
    if (!holder)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording's text");
    struct members m;
    members_begin(&m, holder, arena, err);
    struct rl_text text = members_text(&m, "value");
    int rc = members_end(&m);
    if (rc == 0)
        *ret = text;
    json_decref(holder);
    return rc;
}

static json_t *from_strings(const struct rl_strings *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count && array; i++)
        if (json_array_append_new(array, json_string(list->items[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static struct rl_strings to_strings(struct members *m, const char *name)
{
    struct rl_strings list = {NULL, 0};
    const json_t *array = members_take(m, name), *value;
    size_t index;
    if (!json_is_array(array) || json_array_size(array) > 64)
        members_fail(m, name, "not a list of at most 64 words");
    json_array_foreach(array, index, value)
    {
        if (!json_is_string(value) || json_string_length(value) > 128)
            members_fail(m, name, "not a list of words of at most 128 bytes");
        if (m->failed)
            break;
        if (rl_strings_add(m->arena, &list, json_string_value(value)) != 0) {
            rl_fail(m->err, RL_E_NO_MEMORY, NULL, "no memory for a recording's list");
            m->failed = true;
        }
    }
    return list;
}

/* Sets name to value (stolen); a NULL value sticks in *bad. */
static void set(json_t *object, int *bad, const char *name, json_t *value)
{
    *bad |= json_object_set_new(object, name, value);
}

static json_t *finished(json_t *object, int bad)
{
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- card state ---- */

json_t *recording_from_card_state(const struct gpu_card_state *state)
{
    json_t *o = json_object();
    int bad = 0;
    set(o, &bad, "sm_hz", from_real(state->sm_hz));
    set(o, &bad, "memory_hz", from_real(state->memory_hz));
    set(o, &bad, "temperature_c", from_real(state->temperature_c));
    set(o, &bad, "power_w", from_real(state->power_w));
    set(o, &bad, "energy_j", from_real(state->energy_j));
    set(o, &bad, "reasons", from_strings(&state->reasons));
    set(o, &bad, "other_processes", from_count(state->other_processes));
    return finished(o, bad);
}

int recording_to_card_state(const json_t *entry, struct rl_arena *arena, struct gpu_card_state *ret, struct rl_err *err)
{
    struct gpu_card_state state;
    struct members m;
    members_begin(&m, entry, arena, err);
    members_skip_key(&m);
    state.sm_hz = members_real(&m, "sm_hz");
    state.memory_hz = members_real(&m, "memory_hz");
    state.temperature_c = members_real(&m, "temperature_c");
    state.power_w = members_real(&m, "power_w");
    state.energy_j = members_real(&m, "energy_j");
    state.reasons = to_strings(&m, "reasons");
    state.other_processes = members_count(&m, "other_processes");
    if (members_end(&m) != 0)
        return -1;
    *ret = state;
    return 0;
}

/* ---- launch ---- */

static json_t *from_triple(const int64_t triple[3])
{
    return json_pack("[I,I,I]", (json_int_t)triple[0], (json_int_t)triple[1], (json_int_t)triple[2]);
}

static void to_triple(struct members *m, const char *name, int64_t ret[3])
{
    const json_t *array = members_take(m, name);
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_integer(value) || json_array_size(array) != 3)
            members_fail(m, name, "not three integers");
        ret[i] = json_integer_value(value);
    }
}

json_t *recording_from_launch(const struct gpu_launch *launch)
{
    json_t *o = json_object();
    int bad = 0;
    set(o, &bad, "grid", from_triple(launch->launch.grid));
    set(o, &bad, "block", from_triple(launch->launch.block));
    set(o, &bad, "shared_bytes", json_integer(launch->launch.shared_bytes));
    set(o, &bad, "registers", from_count(launch->launch.registers));
    set(o, &bad, "local_bytes", from_count(launch->launch.local_bytes));
    set(o, &bad, "max_blocks_per_sm", from_count(launch->launch.max_blocks_per_sm));
    set(o, &bad, "shape", recording_from_text(launch->launch.shape));
    set(o, &bad, "binary", launch->binary ? json_string(launch->binary) : json_null());
    return finished(o, bad);
}

int recording_to_launch(const json_t *entry, struct rl_arena *arena, struct gpu_launch *ret, struct rl_err *err)
{
    struct gpu_launch launch;
    struct members m;
    memset(&launch, 0, sizeof launch);
    members_begin(&m, entry, arena, err);
    members_skip_key(&m);
    to_triple(&m, "grid", launch.launch.grid);
    to_triple(&m, "block", launch.launch.block);
    launch.launch.shared_bytes = members_integer(&m, "shared_bytes", 0, INT64_MAX);
    launch.launch.registers = members_count(&m, "registers");
    launch.launch.local_bytes = members_count(&m, "local_bytes");
    launch.launch.max_blocks_per_sm = members_count(&m, "max_blocks_per_sm");
    launch.launch.shape = members_text(&m, "shape");
    if (json_is_null(json_object_get(entry, "binary")))
        members_take(&m, "binary");
    else
        launch.binary = members_string(&m, "binary");
    if (members_end(&m) != 0)
        return -1;
    *ret = launch;
    return 0;
}

/* ---- result check ---- */

json_t *recording_from_result(const struct gpu_result *result)
{
    json_t *o = json_object();
    int bad = 0;
    set(o, &bad, "passed", json_boolean(result->passed));
    set(o, &bad, "compared_device", from_unsigned(result->compared_device));
    set(o, &bad, "compared_host", from_unsigned(result->compared_host));
    set(o, &bad, "wrong", from_unsigned(result->wrong));
    set(o, &bad, "worst_index", from_unsigned(result->worst_index));
    set(o, &bad, "worst", from_number(result->worst));
    set(o, &bad, "detail", json_string(result->detail));
    return finished(o, bad);
}

int recording_to_result(const json_t *entry, struct gpu_result *ret, struct rl_err *err)
{
    struct gpu_result result;
    struct members m;
    memset(&result, 0, sizeof result);
    members_begin(&m, entry, NULL, err);
    members_skip_key(&m);
    result.passed = members_bool(&m, "passed");
    result.compared_device = members_unsigned(&m, "compared_device");
    result.compared_host = members_unsigned(&m, "compared_host");
    result.wrong = members_unsigned(&m, "wrong");
    result.worst_index = members_unsigned(&m, "worst_index");
    result.worst = members_number(&m, "worst");
    const char *detail = members_string(&m, "detail");
    if (detail && strlen(detail) >= sizeof result.detail)
        members_fail(&m, "detail", "longer than 255 bytes");
    if (members_end(&m) != 0)
        return -1;
    memcpy(result.detail, detail, strlen(detail) + 1);
    *ret = result;
    return 0;
}

/* ---- counts ---- */

static json_t *from_range(const struct gpu_counts *counts)
{
    json_t *o = json_object();
    int bad = 0;
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++)
        set(o, &bad, gpu_range_name(i), from_real(gpu_range_value(counts, i)));
    return finished(o, bad);
}

/* A counter counts up from 0. */
static struct rl_real to_counted(struct members *m, const char *name)
{
    struct rl_real value = members_real(m, name);
    if (rl_is_known(value) && value.value < 0)
        members_fail(m, name, "below 0");
    return value;
}

static struct gpu_counts range_of(struct members *outer, const char *name, const json_t *object)
{
    struct gpu_counts counts;
    struct members m;
    memset(&counts, 0, sizeof counts);
    if (outer->failed)
        return counts;
    members_begin(&m, object, outer->arena, outer->err);
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++)
        *gpu_range_field(&counts, i) = to_counted(&m, gpu_range_name(i));
    if (members_end(&m) != 0) {
        rl_wrap(outer->err, "in '%s'", name);
        outer->failed = true;
    }
    return counts;
}

static struct gpu_counts to_range(struct members *m, const char *name)
{
    return range_of(m, name, members_take(m, name));
}

json_t *recording_from_counts(const struct gpu_count_answer *answer)
{
    json_t *o = json_object();
    int bad = 0;
    set(o, &bad, "one", from_range(&answer->one));
    set(o, &bad, "four", from_range(&answer->four));
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        set(o, &bad, gpu_launch_name(i), from_real(gpu_launch_value(answer, i)));
    return finished(o, bad);
}

int recording_to_counts(const json_t *entry, struct rl_arena *arena, struct gpu_count_answer *ret, struct rl_err *err)
{
    struct gpu_count_answer answer;
    struct members m;
    members_begin(&m, entry, arena, err);
    members_skip_key(&m);
    answer.one = to_range(&m, "one");
    answer.four = to_range(&m, "four");
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        *gpu_launch_field(&answer, i) = to_counted(&m, gpu_launch_name(i));
    if (members_end(&m) != 0)
        return -1;
    *ret = answer;
    return 0;
}

/* ---- counter session ---- */

json_t *recording_from_session(const struct gpu_count_session *session)
{
    const struct rl_counters *counters = &session->counters;
    json_t *o = json_object(), *metrics = json_array(), *flush = json_array();
    int bad = 0;
    for (size_t i = 0; i < counters->metric_count; i++)
        bad |=
            json_array_append_new(metrics, json_pack("[s,s]", counters->metrics[i].name, counters->metrics[i].metric));
    for (size_t i = 0; i < session->flush_count; i++)
        bad |= json_array_append_new(flush, from_range(&session->flush[i]));
    set(o, &bad, "status", json_string(counters->status));
    /* a session that went well has no reason, and says so in why */
    set(o, &bad, "reason", recording_from_text(counters->why));
    set(o, &bad, "metrics", metrics);
    set(o, &bad, "passes", from_count(counters->passes));
    set(o, &bad, "chip", recording_from_text(session->chip));
    set(o, &bad, "empty", from_range(&session->empty));
    set(o, &bad, "flush", flush);
    return finished(o, bad);
}

/* Pairs of name and metric: a name may have two, where a chip counts packed operations apart. */
static void to_metrics(struct members *m, struct rl_counters *counters)
{
    const json_t *array = members_take(m, "metrics"), *pair;
    size_t index;
    if (!json_is_array(array) || json_array_size(array) > 64)
        members_fail(m, "metrics", "not a list of at most 64 pairs");
    if (m->failed || json_array_size(array) == 0)
        return;
    counters->metrics = rl_arena_array(m->arena, json_array_size(array), sizeof *counters->metrics);
    json_array_foreach(array, index, pair)
    {
        const json_t *name = json_array_get(pair, 0), *metric = json_array_get(pair, 1);
        if (json_array_size(pair) != 2 || !json_is_string(name) || !json_is_string(metric) ||
            json_string_length(name) > 64 || json_string_length(metric) > 256) {
            members_fail(m, "metrics", "not a list of pairs of short texts");
            return;
        }
        if (counters->metrics) {
            counters->metrics[index].name = rl_arena_strdup(m->arena, json_string_value(name));
            counters->metrics[index].metric = rl_arena_strdup(m->arena, json_string_value(metric));
        }
        if (!counters->metrics || !counters->metrics[index].name || !counters->metrics[index].metric) {
            rl_fail(m->err, RL_E_NO_MEMORY, NULL, "no memory for a recording's metrics");
            m->failed = true;
            return;
        }
        counters->metric_count = index + 1;
    }
}

int recording_to_session(const json_t *entry, struct rl_arena *arena, struct gpu_count_session *ret, struct rl_err *err)
{
    struct gpu_count_session session;
    struct members m;
    memset(&session, 0, sizeof session);
    members_begin(&m, entry, arena, err);
    members_skip_key(&m);
    session.counters.status = members_string(&m, "status");
    session.counters.why = members_text(&m, "reason");
    to_metrics(&m, &session.counters);
    session.counters.passes = members_count(&m, "passes");
    session.chip = members_text(&m, "chip");
    session.empty = to_range(&m, "empty");
    const json_t *flush = members_take(&m, "flush");
    session.flush_count = json_array_size(flush);
    if (!json_is_array(flush) || session.flush_count > sizeof session.flush / sizeof session.flush[0])
        members_fail(&m, "flush", "not a list of at most 5 ranges");
    for (size_t i = 0; i < session.flush_count && !m.failed; i++)
        session.flush[i] = range_of(&m, "flush", json_array_get(flush, i));
    const char *status = session.counters.status;
    if (!m.failed && strcmp(status, "ok") != 0 && strcmp(status, "off") != 0 && rl_code_from_id(status) == RL_E_NONE)
        members_fail(&m, "status", "not ok, off or an error's id");
    /* the engine makes these three from the ranges above */
    session.counters.floor_dram_bytes = session.counters.flush_dram_bytes = session.counters.flush_spread_bytes =
        session.counters.self_test = rl_unknown("not derived yet");
    if (members_end(&m) != 0)
        return -1;
    *ret = session;
    return 0;
}

/* ---- any entry ---- */

static int check_series(const json_t *entry, bool timed, struct rl_err *err)
{
    struct members m;
    members_begin(&m, entry, NULL, err);
    members_skip_key(&m);
    if (members_has(&m, "first"))
        members_integer(&m, "first", 1, UINT32_MAX);
    const json_t *times = timed ? members_take(&m, "time_s") : NULL, *clocks = members_take(&m, "sm_hz");
    size_t count = json_array_size(clocks);
    if (!json_is_array(clocks) || count < 1 || count > RECORDING_SERIES_MAX ||
        (timed && (!json_is_array(times) || json_array_size(times) != count)))
        members_fail(&m, "sm_hz", "not a list of 1 to 4096 numbers, as many as time_s");
    for (size_t i = 0; i < count && !m.failed; i++) {
        const json_t *time = json_array_get(times, i), *clock = json_array_get(clocks, i);
        if (!json_is_number(clock) || json_number_value(clock) < 0)
            members_fail(&m, "sm_hz", "not a list of numbers from 0");
        if (timed && (!json_is_number(time) || json_number_value(time) <= 0))
            members_fail(&m, "time_s", "not a list of numbers above 0");
    }
    return members_end(&m);
}

static int check_driver(const json_t *entry, struct rl_arena *arena, struct rl_err *err)
{
    struct members m;
    struct rl_text text;
    size_t index;
    const json_t *value;
    members_begin(&m, entry, NULL, err);
    members_skip_key(&m);
    const json_t *values = members_take(&m, "values");
    if (!json_is_array(values) || json_array_size(values) < 1 || json_array_size(values) > 64)
        members_fail(&m, "values", "not a list of 1 to 64 texts");
    if (m.failed)
        return -1;
    json_array_foreach(values, index, value)
    {
        if (recording_to_text(value, arena, &text, err) != 0)
            return -1;
    }
    return members_end(&m);
}

/* Why the GPU was not locked when the backend was opened, and after counting; null: it was. */
static int check_sharing(const json_t *entry, struct rl_err *err)
{
    static const char *const names[] = {"opened", "counted"};
    struct members m;
    members_begin(&m, entry, NULL, err);
    members_skip_key(&m);
    for (size_t i = 0; i < 2; i++) {
        if (json_is_null(json_object_get(entry, names[i])))
            members_take(&m, names[i]);
        else
            members_string(&m, names[i]);
    }
    return members_end(&m);
}

int recording_entry_check(enum recording_op op, const json_t *entry, struct rl_err *err)
{
    union {
        struct gpu_card_state state;
        struct gpu_launch launch;
        struct gpu_result result;
        struct gpu_count_answer answer;
        struct gpu_count_session session;
    } unused;
    struct rl_arena *arena = rl_arena_new(1024 * 1024);
    int rc = -1;
    if (!arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to check a recording");
    if (op == RECORDING_CARD_STATE)
        rc = recording_to_card_state(entry, arena, &unused.state, err);
    else if (op == RECORDING_DESCRIBE)
        rc = recording_to_launch(entry, arena, &unused.launch, err);
    else if (op == RECORDING_CHECK)
        rc = recording_to_result(entry, &unused.result, err);
    else if (op == RECORDING_COUNT)
        rc = recording_to_counts(entry, arena, &unused.answer, err);
    else if (op == RECORDING_SESSION)
        rc = recording_to_session(entry, arena, &unused.session, err);
    else if (op == RECORDING_DRIVER_NOW)
        rc = check_driver(entry, arena, err);
    else if (op == RECORDING_SHARING)
        rc = check_sharing(entry, err);
    else
        rc = check_series(entry, op != RECORDING_SPIN, err);
    rl_arena_free(arena);
    return rc;
}
