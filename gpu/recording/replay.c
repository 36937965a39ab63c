/* The replay backend: answers from a recording what was asked of a GPU when it was made, and nothing else. */
#include "gpu/recording/replay.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/backend/count_fields.h"
#include "gpu/record/json.h"
#include "gpu/recording/recording.h"

struct replay {
    struct gpu_backend backend;
    struct recording *recording;
    struct faults *faults;
    json_t *cursors; /* of the run in progress: see recording_cursor_step */
    unsigned driver_calls;
};

static struct replay *of(struct gpu_backend *b)
{
    return (struct replay *)b;
}

/* A moment without a work; the run's sizes are the backend's. */
static struct fault_moment moment_of(const struct replay *r, enum recording_op op)
{
    struct fault_moment moment = FAULT_MOMENT(op, r->backend.sizes);
    return moment;
}

/* Why the recorded run did not hold the GPU for itself; NULL when it did. */
static const char *sharing(const struct replay *r, const char *moment)
{
    struct recording_key key = {.op = RECORDING_SHARING, .sizes = r->backend.sizes};
    return json_string_value(json_object_get(recording_find(r->recording, &key), moment));
}

static int identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                    struct rl_environment *ret_environment, struct rl_err *err)
{
    struct replay *r = of(b);
    struct fault_moment moment = moment_of(r, RECORDING_IDENTIFY);
    struct fault_hits hits;
    struct rl_device device;
    struct rl_environment environment;
    json_object_clear(r->cursors); /* a run begins */
    r->driver_calls = 0;
    b->shared_why = sharing(r, "opened");
    if (faults_strike(r->faults, &moment, &hits, err) != 0 ||
        rl_device_from_json(json_object_get(r->recording->header, "device"), r->recording->record_version, arena,
                            &device, err) != 0 ||
        rl_environment_from_json(json_object_get(r->recording->header, "environment"), r->recording->record_version,
                                 arena, &environment, err) != 0)
        return -1;
    *ret_device = device;
    *ret_environment = environment;
    return 0;
}

static int driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = {.op = RECORDING_DRIVER_NOW, .sizes = b->sizes};
    struct fault_moment moment = moment_of(r, RECORDING_DRIVER_NOW);
    struct fault_hits hits;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    const json_t *values = json_object_get(recording_find(r->recording, &key), "values");
    const json_t *value = json_array_get(values, r->driver_calls);
    if (!value)
        return recording_missing(r->recording, &key, r->driver_calls, err);
    struct rl_text text;
    if (recording_to_text(value, arena, &text, err) != 0)
        return -1;
    const char *set = fault_text(&hits, "value");
    if (set) {
        text = (struct rl_text){rl_arena_strdup(arena, set), NULL};
        if (!text.value)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the driver's version");
    }
    r->driver_calls++;
    *ret = text;
    return 0;
}

static int card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                      struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = {.op = RECORDING_CARD_STATE, .sizes = b->sizes, .at = at};
    struct fault_moment moment = moment_of(r, RECORDING_CARD_STATE);
    struct fault_hits hits;
    struct gpu_card_state state;
    moment.at = at;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    if (recording_to_card_state(entry, arena, &state, err) != 0)
        return -1;
    fault_real(&hits, "sm_hz", arena, &state.sm_hz);
    fault_real(&hits, "memory_hz", arena, &state.memory_hz);
    fault_real(&hits, "temperature_c", arena, &state.temperature_c);
    fault_real(&hits, "power_w", arena, &state.power_w);
    fault_real(&hits, "energy_j", arena, &state.energy_j);
    fault_count(&hits, "other_processes", &state.other_processes);
    const json_t *reasons = fault_list(&hits, "reasons"), *word;
    size_t index;
    if (reasons)
        state.reasons = (struct rl_strings){NULL, 0};
    json_array_foreach(reasons, index, word)
    {
        if (rl_strings_add(arena, &state.reasons, json_string_value(word)) != 0)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the card's state");
    }
    *ret = state;
    return 0;
}

static int reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    struct replay *r = of(b);
    struct fault_moment moment = moment_of(r, RECORDING_RESERVE);
    struct fault_hits hits;
    (void)works;
    (void)count;
    return faults_strike(r->faults, &moment, &hits, err);
}

static int spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = {.op = RECORDING_SPIN, .sizes = b->sizes};
    struct fault_moment moment = moment_of(r, RECORDING_SPIN);
    struct fault_hits hits;
    double sm_hz = 0;
    moment.sample = step;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry || !recording_sample(entry, step, NULL, &sm_hz))
        return recording_missing(r->recording, &key, step, err);
    fault_number(&hits, "sm_hz", &sm_hz);
    *ret_sm_hz = sm_hz;
    return 0;
}

static int prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    struct fault_moment moment = fault_moment_work(RECORDING_PREPARE, work);
    struct fault_hits hits;
    return faults_strike(of(b)->faults, &moment, &hits, err);
}

static int describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                    struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_DESCRIBE, work);
    struct fault_moment moment = fault_moment_work(RECORDING_DESCRIBE, work);
    struct fault_hits hits;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    return entry ? recording_to_launch(entry, arena, ret, err) : recording_missing(r->recording, &key, 0, err);
}

static int check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_CHECK, work);
    struct fault_moment moment = fault_moment_work(RECORDING_CHECK, work);
    struct fault_hits hits;
    struct gpu_result result;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    if (recording_to_result(entry, &result, err) != 0)
        return -1;
    fault_bool(&hits, "passed", &result.passed);
    fault_unsigned(&hits, "compared_device", &result.compared_device);
    fault_unsigned(&hits, "compared_host", &result.compared_host);
    fault_unsigned(&hits, "wrong", &result.wrong);
    fault_unsigned(&hits, "worst_index", &result.worst_index);
    fault_number(&hits, "worst", &result.worst);
    const char *detail = fault_text(&hits, "detail");
    if (detail) /* fault_check has bounded it */
        memcpy(result.detail, detail, strlen(detail) + 1);
    *ret = result;
    return 0;
}

static int sample_of(struct replay *r, enum recording_op op, const struct gpu_work *work, int64_t launches,
                     unsigned sample, struct gpu_sample *ret, struct rl_err *err)
{
    struct recording_key key = recording_key_work(op, work);
    struct fault_moment moment = fault_moment_work(op, work);
    struct fault_hits hits;
    struct gpu_sample got = {.launches = launches};
    bool unused;
    key.launches = moment.launches = launches;
    moment.sample = sample;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    if (recording_cursor_step(r->cursors, &key, sample, &unused) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to replay a sample");
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry || !recording_sample(entry, sample, &got.time_s, &got.sm_hz))
        return recording_missing(r->recording, &key, sample, err);
    fault_number(&hits, "time_s", &got.time_s);
    fault_number(&hits, "sm_hz", &got.sm_hz);
    *ret = got;
    return 0;
}

static int warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
                struct gpu_sample *ret, struct rl_err *err)
{
    return sample_of(of(b), RECORDING_WARM, work, launches, sample, ret, err);
}

static int cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
                struct rl_err *err)
{
    return sample_of(of(b), RECORDING_COLD, work, 1, sample, ret, err);
}

/* ---- counters ---- */

static void alter_range(const struct fault_hits *hits, struct rl_arena *arena, struct gpu_counts *counts)
{
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++)
        fault_real(hits, gpu_range_name(i), arena, gpu_range_field(counts, i));
}

static void alter_answer(const struct fault_hits *hits, struct rl_arena *arena, struct gpu_count_answer *answer)
{
    alter_range(hits, arena, &answer->one);
    alter_range(hits, arena, &answer->four);
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        fault_real(hits, gpu_launch_name(i), arena, gpu_launch_field(answer, i));
}

static void blank_range(struct gpu_counts *counts, const char *why)
{
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++)
        *gpu_range_field(counts, i) = rl_unknown(why);
}

static void blank_answer(struct gpu_count_answer *answer, const char *why)
{
    blank_range(&answer->one, why);
    blank_range(&answer->four, why);
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        *gpu_launch_field(answer, i) = rl_unknown(why);
}

/* What a session answers that could not be had: the recorded one's, or a fault's. */
static int refuse_session(const json_t *fault, struct rl_arena *arena, struct gpu_count_session *session,
                          struct rl_err *err)
{
    const char *status = rl_arena_strdup(arena, json_string_value(json_object_get(fault, "status")));
    const char *why = rl_arena_strdup(arena, json_string_value(json_object_get(fault, "reason")));
    if (!status || !why)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the counter session");
    memset(session, 0, sizeof *session);
    session->chip = (struct rl_text){NULL, why};
    session->counters.status = status;
    session->counters.why = (struct rl_text){why, NULL};
    session->counters.passes = (struct rl_count){0, why};
    session->counters.floor_dram_bytes = session->counters.flush_dram_bytes = session->counters.flush_spread_bytes =
        session->counters.self_test = rl_unknown(why);
    blank_range(&session->empty, why);
    return 0;
}

/* *ret_refused says that a fault took the session away, so that recorded answers do not count. */
static int open_session(struct replay *r, struct rl_arena *arena, struct gpu_count_session *ret, bool *ret_refused,
                        struct rl_err *err)
{
    struct recording_key key = {.op = RECORDING_SESSION, .sizes = r->backend.sizes};
    struct fault_moment moment = moment_of(r, RECORDING_COUNT);
    struct fault_hits hits;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    *ret_refused = fault_session(&hits) != NULL;
    if (*ret_refused)
        return refuse_session(fault_session(&hits), arena, ret, err);
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    return recording_to_session(entry, arena, ret, err);
}

static int count_item(struct replay *r, struct rl_arena *arena, const struct gpu_count_item *item,
                      const struct gpu_count_session *session, bool refused, struct gpu_count_answer *ret,
                      struct rl_err *err)
{
    struct recording_key key = recording_key_work(RECORDING_COUNT, &item->work);
    struct fault_moment moment = fault_moment_work(RECORDING_COUNT, &item->work);
    struct fault_hits hits;
    key.state = item->state;
    key.launches = moment.launches = item->launches;
    moment.state = (int)item->state;
    if (faults_strike(r->faults, &moment, &hits, err) != 0)
        return -1;
    const json_t *entry = refused ? NULL : recording_find(r->recording, &key);
    if (!entry && strcmp(session->counters.status, "ok") != 0) {
        const struct rl_text *why = &session->counters.why;
        blank_answer(ret, why->why ? why->why : why->value);
        return 0;
    }
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    if (recording_to_counts(entry, arena, ret, err) != 0)
        return -1;
    alter_answer(&hits, arena, ret);
    return 0;
}

static int count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t item_count,
                 struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
                 bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    struct replay *r = of(b);
    struct gpu_count_session session;
    bool refused = false;
    if (open_session(r, arena, &session, &refused, err) != 0)
        return -1;
    for (size_t i = 0; i < item_count; i++) {
        if (progress && !progress(arg, i, item_count))
            return rl_fail(err, RL_E_CANCELLED, NULL, "the counter session was cancelled at item %zu of %zu", i,
                           item_count);
        if (count_item(r, arena, &items[i], &session, refused, &answers[i], err) != 0)
            return -1;
    }
    b->shared_why = sharing(r, "counted");
    *ret_session = session;
    return 0;
}

/* What the recorded session got, of whichever sizes have one: the same permission answered both. */
static int probe_counters(struct gpu_backend *b, struct rl_err *err)
{
    struct replay *r = of(b);
    struct rl_arena *arena = rl_arena_new(1024 * 1024);
    struct gpu_count_session session;
    bool refused = false;
    int rc = -1;
    if (!arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to look at the counter session");
    for (int sizes = 0; sizes < RL_SIZES_COUNT && rc != 0; sizes++) {
        b->sizes = (enum rl_sizes)sizes;
        rc = open_session(r, arena, &session, &refused, err);
    }
    if (rc == 0 && strcmp(session.counters.status, "ok") != 0) {
        enum rl_code code = rl_code_from_id(session.counters.status);
        const struct rl_text *why = &session.counters.why;
        rc = rl_fail(err, code != RL_E_NONE ? code : RL_E_REPLAY_MISSING, NULL, "%s", why->why ? why->why : why->value);
    }
    rl_arena_free(arena);
    return rc;
}

static int profile(struct gpu_backend *b, const struct gpu_work *works, size_t work_count, struct rl_err *err)
{
    (void)b;
    (void)works;
    (void)work_count;
    return rl_fail(err, RL_E_NOT_IMPLEMENTED, NULL, "a recording launches nothing that a profiler could see");
}

static void close_replay(struct gpu_backend *b)
{
    struct replay *r = of(b);
    if (!r)
        return;
    recording_free(r->recording);
    faults_free(r->faults);
    json_decref(r->cursors);
    free(r);
}

static const struct gpu_backend_ops replay_ops = {
    .name = "replay",
    .source = RL_REPLAYED,
    .identify = identify,
    .driver_now = driver_now,
    .card_state = card_state,
    .reserve = reserve,
    .spin = spin,
    .prepare = prepare,
    .describe = describe,
    .check = check,
    .warm = warm,
    .cold = cold,
    .count = count,
    .profile = profile,
    .probe_counters = probe_counters,
    .close = close_replay,
};

int gpu_backend_new_replay(struct recording *recording, const char *uuid, struct gpu_backend **ret, struct rl_err *err)
{
    const char *recorded = json_string_value(json_object_get(json_object_get(recording->header, "device"), "uuid"));
    struct replay *r = NULL;
    if (uuid && (!recorded || strcmp(uuid, recorded) != 0)) {
        rl_fail(err, RL_E_DEVICE_GONE, "device", "the recording is of %.64s, not of %.64s",
                recorded ? recorded : "a device without a UUID", uuid);
        goto failed;
    }
    r = calloc(1, sizeof *r);
    if (!r) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a replay");
        goto failed;
    }
    r->backend.ops = &replay_ops;
    r->backend.recorded_at_ms = recording->recorded_at_ms;
    r->faults = faults_new(recording->faults);
    r->cursors = json_object();
    if (!r->faults || !r->cursors) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a replay");
        goto failed;
    }
    r->recording = recording;
    *ret = &r->backend;
    return 0;
failed:
    close_replay(r ? &r->backend : NULL);
    recording_free(recording);
    return -1;
}

int gpu_backend_open_replay(const char *path, const char *uuid, struct gpu_backend **ret, struct rl_err *err)
{
    struct recording *recording;
    if (recording_load(path, &recording, err) != 0)
        return -1;
    return gpu_backend_new_replay(recording, uuid, ret, err);
}

struct faults *gpu_replay_faults(struct gpu_backend *backend)
{
    return backend && backend->ops == &replay_ops ? of(backend)->faults : NULL;
}
