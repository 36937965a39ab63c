/* Recordings in memory: keys, look-up, series, and what is said about a gap. */
#include "gpu/recording/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[RECORDING_OP_COUNT] = {
    [RECORDING_CARD_STATE] = "card_state",
    [RECORDING_DRIVER_NOW] = "driver_now",
    [RECORDING_SPIN] = "spin",
    [RECORDING_DESCRIBE] = "describe",
    [RECORDING_CHECK] = "check",
    [RECORDING_WARM] = "warm",
    [RECORDING_COLD] = "cold",
    [RECORDING_COUNT] = "count",
    [RECORDING_SESSION] = "session",
    [RECORDING_SHARING] = "sharing",
    [RECORDING_PREPARE] = "prepare",
};

/* Which members make the key of an op, beside op and sizes; KEY_SAMPLE that of its failures alone. */
enum { KEY_WORK = 1, KEY_LAUNCHES = 2, KEY_STATE = 4, KEY_AT = 8, KEY_ATTEMPT = 16, KEY_SAMPLE = 32 };
static const unsigned key_members[RECORDING_OP_COUNT] = {
    [RECORDING_CARD_STATE] = KEY_AT,
    [RECORDING_DRIVER_NOW] = KEY_SAMPLE,
    [RECORDING_SPIN] = KEY_SAMPLE,
    [RECORDING_DESCRIBE] = KEY_WORK,
    [RECORDING_CHECK] = KEY_WORK,
    [RECORDING_WARM] = KEY_WORK | KEY_LAUNCHES | KEY_ATTEMPT | KEY_SAMPLE,
    [RECORDING_COLD] = KEY_WORK | KEY_ATTEMPT | KEY_SAMPLE,
    [RECORDING_COUNT] = KEY_WORK | KEY_LAUNCHES | KEY_STATE,
    [RECORDING_PREPARE] = KEY_WORK,
};
static const char *const key_names[] = {"op",       "of",    "sizes", "unit",    "dims",  "variant",
                                        "launches", "state", "at",    "attempt", "sample"};

struct recording_key recording_key_work(enum recording_op op, const struct gpu_work *work)
{
    return (struct recording_key){
        .op = op, .sizes = work->sizes, .unit = work->unit->id, .dims = work->dims, .variant = work->variant};
}

void recording_key_text(const struct recording_key *key, char text[512])
{
    unsigned members = key_members[key->op];
    char work[256] = "", launches[32] = "";
    if (members & KEY_WORK)
        snprintf(work, sizeof work, "%.64s %llu,%llu,%llu %u", key->unit, (unsigned long long)key->dims.n,
                 (unsigned long long)key->dims.edge, (unsigned long long)key->dims.steps, key->variant);
    if (members & KEY_LAUNCHES)
        snprintf(launches, sizeof launches, "%lld", (long long)key->launches);
    snprintf(text, 512, "%s%s|%s|%s|%s|%s|%u|%u|%.128s", key->failed ? "failed " : "", op_names[key->op],
             rl_sizes_name(key->sizes), work, launches, members & KEY_STATE ? rl_state_name(key->state) : "",
             members & KEY_ATTEMPT ? key->attempt : 0, key->failed && (members & KEY_SAMPLE) ? key->sample : 0,
             members & KEY_AT ? key->at : "");
}

struct recording *recording_new(void)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return NULL;
    recording->header = json_object();
    recording->entries = json_object();
    if (!recording->header || !recording->entries) {
        recording_free(recording);
        return NULL;
    }
    return recording;
}

void recording_free(struct recording *recording)
{
    if (!recording)
        return;
    json_decref(recording->header);
    json_decref(recording->entries);
    free(recording);
}

json_t *recording_find(const struct recording *recording, const struct recording_key *key)
{
    char text[512];
    recording_key_text(key, text);
    return json_object_get(recording->entries, text);
}

static json_t *key_to_json(const struct recording_key *key)
{
    unsigned members = key_members[key->op];
    const char *op = op_names[key->op];
    json_t *entry = json_pack("{s:s, s:s*, s:s}", "op", key->failed ? RECORDING_FAILURE : op, "of",
                              key->failed ? op : NULL, "sizes", rl_sizes_name(key->sizes));
    int bad = entry == NULL;
    if (members & KEY_WORK) {
        bad |= json_object_set_new(entry, "unit", json_string(key->unit));
        bad |= json_object_set_new(
            entry, "dims",
            json_pack("[I,I,I]", (json_int_t)key->dims.n, (json_int_t)key->dims.edge, (json_int_t)key->dims.steps));
        bad |= json_object_set_new(entry, "variant", json_integer(key->variant));
    }
    if (members & KEY_LAUNCHES)
        bad |= json_object_set_new(entry, "launches", json_integer(key->launches));
    if (members & KEY_STATE)
        bad |= json_object_set_new(entry, "state", json_string(rl_state_name(key->state)));
    if (members & KEY_AT)
        bad |= json_object_set_new(entry, "at", json_string(key->at));
    if ((members & KEY_ATTEMPT) && key->attempt > 0)
        bad |= json_object_set_new(entry, "attempt", json_integer(key->attempt));
    if (key->failed && (members & KEY_SAMPLE))
        bad |= json_object_set_new(entry, "sample", json_integer(key->sample));
    if (bad) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

int recording_put(struct recording *recording, const struct recording_key *key, json_t *body)
{
    char text[512];
    json_t *entry = key_to_json(key);
    recording_key_text(key, text);
    int rc = !entry || !body || json_object_update(entry, body) != 0 ? -1 : 0;
    json_decref(body);
    if (rc == 0)
        return json_object_set_new(recording->entries, text, entry);
    json_decref(entry);
    return -1;
}

/* ---- reading keys ---- */

static int read_state(struct members *m, enum rl_state *ret)
{
    const char *name = json_string_value(members_take(m, "state"));
    for (int state = 0; state < RL_STATE_COUNT && name; state++)
        if (strcmp(name, rl_state_name(state)) == 0) {
            *ret = (enum rl_state)state;
            return 0;
        }
    members_fail(m, "state", "not warm or cold");
    return -1;
}

static void read_work(struct members *m, struct recording_key *key)
{
    const struct rl_unit *unit = NULL;
    const char *id = json_string_value(members_take(m, "unit"));
    if (id)
        unit = rl_unit_find(id);
    if (!unit)
        members_fail(m, "unit", "not a unit of this program's catalogue");
    else
        key->unit = unit->id;
    const json_t *dims = members_take(m, "dims");
    uint64_t *const to[3] = {&key->dims.n, &key->dims.edge, &key->dims.steps};
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(dims, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_array_size(dims) != 3) {
            members_fail(m, "dims", "not three integers from 0");
            return;
        }
        *to[i] = (uint64_t)json_integer_value(value);
    }
    key->variant = (unsigned)members_integer(m, "variant", 0, 65535);
}

/* Whether a failure of the op is of one that can be recorded, or an answer of one that has answers. */
static bool op_fits(enum recording_op op, bool failed)
{
    /* a session is counted whole, or fails whole; who shared the GPU is no call */
    return failed ? op != RECORDING_COUNT && op != RECORDING_SHARING : op != RECORDING_PREPARE;
}

static void read_op(struct members *m, struct recording_key *key)
{
    const char *op = json_string_value(members_take(m, "op")), *member = "op";
    key->failed = op && strcmp(op, RECORDING_FAILURE) == 0;
    if (key->failed)
        op = json_string_value(members_take(m, member = "of"));
    for (int i = 0; i < RECORDING_OP_COUNT && op; i++)
        if (strcmp(op, op_names[i]) == 0 && op_fits((enum recording_op)i, key->failed)) {
            key->op = (enum recording_op)i;
            return;
        }
    members_fail(m, member, key->failed ? "not an op whose failures are recorded" : "not an op that has entries");
}

int recording_key_read(const json_t *entry, struct recording_key *ret, struct rl_err *err)
{
    struct recording_key key = {.op = RECORDING_OP_COUNT};
    struct members m;
    members_begin(&m, entry, NULL, err);
    read_op(&m, &key);
    if (m.failed)
        return -1;
    const char *sizes = json_string_value(members_take(&m, "sizes"));
    if (!sizes || rl_sizes_from_name(sizes, &key.sizes) != 0)
        members_fail(&m, "sizes", "not course or scaled");
    unsigned has = key_members[key.op];
    if (has & KEY_WORK)
        read_work(&m, &key);
    if (has & KEY_LAUNCHES)
        key.launches = members_integer(&m, "launches", 1, INT64_MAX);
    if (has & KEY_STATE)
        read_state(&m, &key.state);
    if ((has & KEY_ATTEMPT) && members_has(&m, "attempt"))
        key.attempt = (unsigned)members_integer(&m, "attempt", 1, 65535);
    if (has & KEY_AT) {
        key.at = json_string_value(members_take(&m, "at"));
        if (!key.at || strlen(key.at) > 128)
            members_fail(&m, "at", "not a text of at most 128 bytes");
    }
    if (key.failed && (has & KEY_SAMPLE))
        key.sample = (unsigned)members_integer(&m, "sample", 0, UINT32_MAX);
    size_t present = 0;
    for (size_t i = 0; i < sizeof key_names / sizeof key_names[0]; i++)
        present += json_object_get(entry, key_names[i]) != NULL;
    if (!m.failed && present != m.taken)
        members_fail(&m, "op", "has a key member that its op does not use");
    if (m.failed)
        return -1;
    *ret = key;
    return 0;
}

void members_skip_key(struct members *m)
{
    for (size_t i = 0; i < sizeof key_names / sizeof key_names[0]; i++)
        if (members_has(m, key_names[i]))
            members_take(m, key_names[i]);
}

/* ---- series ---- */

json_t *recording_series_new(bool timed, unsigned first)
{
    json_t *series = json_object();
    int bad = series == NULL;
    if (first > 0)
        bad |= json_object_set_new(series, "first", json_integer(first));
    if (timed)
        bad |= json_object_set_new(series, "time_s", json_array());
    bad |= json_object_set_new(series, "sm_hz", json_array());
    if (bad) {
        json_decref(series);
        return NULL;
    }
    return series;
}

int recording_sample_add(json_t *entry, bool timed, double time_s, double sm_hz)
{
    json_t *times = json_object_get(entry, "time_s"), *clocks = json_object_get(entry, "sm_hz");
    if (json_array_size(clocks) >= RECORDING_SERIES_MAX)
        return -1;
    if (timed && json_array_append_new(times, json_real(time_s)) != 0)
        return -1;
    return json_array_append_new(clocks, json_real(sm_hz));
}

bool recording_sample(const json_t *entry, size_t sample, double *ret_time_s, double *ret_sm_hz)
{
    size_t first = (size_t)json_integer_value(json_object_get(entry, "first"));
    const json_t *times = json_object_get(entry, "time_s"), *clocks = json_object_get(entry, "sm_hz");
    if (sample < first || sample - first >= json_array_size(clocks))
        return false;
    if (ret_time_s)
        *ret_time_s = json_number_value(json_array_get(times, sample - first));
    *ret_sm_hz = json_number_value(json_array_get(clocks, sample - first));
    return true;
}

int recording_cursor_step(json_t *cursors, struct recording_key *key, unsigned sample, bool *ret_new)
{
    char text[512];
    key->attempt = 0;
    recording_key_text(key, text);
    const json_t *known = json_object_get(cursors, text);
    json_int_t attempt = 0, last = -1;
    if (known) { /* attempt and last number in one integer */
        attempt = json_integer_value(known) >> 32;
        last = json_integer_value(known) & 0xffffffff;
        if ((json_int_t)sample != last + 1)
            attempt++;
    }
    *ret_new = !known || (json_int_t)sample != last + 1;
    key->attempt = (unsigned)attempt;
    return json_object_set_new(cursors, text, json_integer(attempt << 32 | sample));
}

/* ---- failures ---- */

int recording_put_failure(struct recording *recording, struct recording_key key, unsigned sample,
                          const struct rl_err *why)
{
    key.failed = true;
    key.sample = sample;
    return recording_put(recording, &key,
                         json_pack("{s:{s:s, s:s}}", "error", "code", rl_code_id(why->code), "message", why->message));
}

int recording_failure_check(const json_t *entry, struct rl_err *err)
{
    struct members m, error;
    members_begin(&m, entry, NULL, err);
    members_skip_key(&m);
    const json_t *why = members_take(&m, "error");
    if (m.failed)
        return -1;
    members_begin(&error, why, NULL, err);
    const char *code = members_string(&error, "code");
    members_string(&error, "message");
    if (code && rl_code_from_id(code) == RL_E_NONE)
        members_fail(&error, "code", "not an error's id");
    return members_end(&error) != 0 ? -1 : members_end(&m);
}

int recording_failed(const struct recording *recording, struct recording_key key, unsigned sample, struct rl_err *err)
{
    key.failed = true;
    key.sample = sample;
    const json_t *error = json_object_get(recording_find(recording, &key), "error");
    if (!error)
        return 0;
    return rl_fail(err, rl_code_from_id(json_string_value(json_object_get(error, "code"))), NULL, "%s",
                   json_string_value(json_object_get(error, "message")));
}

/* ---- gaps ---- */

struct lack {
    bool sizes, unit, state; /* the recording has any entry of these */
};

static struct lack look(const struct recording *recording, const struct recording_key *key)
{
    struct lack found = {false, false, false};
    const char *text;
    json_t *entry;
    const char *state = key->op == RECORDING_COUNT ? rl_state_name(key->state) : op_names[key->op];
    json_object_foreach(recording->entries, text, entry)
    {
        const char *sizes = json_string_value(json_object_get(entry, "sizes"));
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        const char *op = json_string_value(json_object_get(entry, "op"));
        if (!sizes || strcmp(sizes, rl_sizes_name(key->sizes)) != 0)
            continue;
        found.sizes = true;
        if (!unit || !key->unit || strcmp(unit, key->unit) != 0)
            continue;
        found.unit = true;
        found.state = found.state || strcmp(op, state) == 0;
    }
    return found;
}

int recording_missing(const struct recording *recording, const struct recording_key *key, int64_t sample,
                      struct rl_err *err)
{
    const char *sizes = rl_sizes_name(key->sizes), *op = op_names[key->op];
    struct lack found = look(recording, key);
    if (!found.sizes)
        return rl_fail(err, RL_E_REPLAY_MISSING, "sizes", "the recording holds nothing at %s sizes", sizes);
    if (key->op == RECORDING_CARD_STATE)
        return rl_fail(err, RL_E_REPLAY_MISSING, "sizes", "the recording holds no card state '%.100s' (%s)", key->at,
                       sizes);
    if (!(key_members[key->op] & KEY_WORK))
        return rl_fail(err, RL_E_REPLAY_MISSING, "sizes", "the recording holds no %s %lld (%s)", op, (long long)sample,
                       sizes);
    if (!found.unit)
        return rl_fail(err, RL_E_REPLAY_MISSING, key->unit, "the recording holds no %s (%s)", key->unit, sizes);
    if (key->op == RECORDING_COUNT)
        return rl_fail(err, RL_E_REPLAY_MISSING, key->unit,
                       "the recording holds no counts of %s, %s (%s, %lld launches)", key->unit,
                       rl_state_name(key->state), sizes, (long long)key->launches);
    if (key->op != RECORDING_WARM && key->op != RECORDING_COLD)
        return rl_fail(err, RL_E_REPLAY_MISSING, key->unit,
                       "the recording holds no %s of %s (%s, n %llu, edge %llu, steps %llu, launch shape %u)", op,
                       key->unit, sizes, (unsigned long long)key->dims.n, (unsigned long long)key->dims.edge,
                       (unsigned long long)key->dims.steps, key->variant);
    if (!found.state)
        return rl_fail(err, RL_E_REPLAY_MISSING, key->unit, "the recording holds no %s samples of %s (%s)", op,
                       key->unit, sizes);
    return rl_fail(err, RL_E_REPLAY_MISSING, key->unit,
                   "the recording holds no sample %lld of %s, %s (%s, n %llu, edge %llu, steps %llu, launch shape %u, "
                   "%lld launches, series %u)",
                   (long long)sample, key->unit, op, sizes, (unsigned long long)key->dims.n,
                   (unsigned long long)key->dims.edge, (unsigned long long)key->dims.steps, key->variant,
                   (long long)key->launches, key->attempt);
}
