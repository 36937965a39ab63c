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
    json_t *cursors; /* of the run in progress: see recording_cursor_step */
    unsigned driver_calls;
};

static struct replay *of(struct gpu_backend *b)
{
    return (struct replay *)b;
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
    struct rl_device device;
    struct rl_environment environment;
    json_object_clear(r->cursors); /* a run begins */
    r->driver_calls = 0;
    b->shared_why = sharing(r, "opened");
    if (rl_device_from_json(json_object_get(r->recording->header, "device"), r->recording->record_version, arena,
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
    if (recording_failed(r->recording, key, r->driver_calls, err) != 0)
        return -1;
    const json_t *values = json_object_get(recording_find(r->recording, &key), "values");
    const json_t *value = json_array_get(values, r->driver_calls);
    if (!value)
        return recording_missing(r->recording, &key, r->driver_calls, err);
    struct rl_text text;
    if (recording_to_text(value, arena, &text, err) != 0)
        return -1;
    r->driver_calls++;
    *ret = text;
    return 0;
}

static int card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                      struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = {.op = RECORDING_CARD_STATE, .sizes = b->sizes, .at = at};
    struct gpu_card_state state;
    if (recording_failed(r->recording, key, 0, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    if (recording_to_card_state(entry, arena, &state, err) != 0)
        return -1;
    *ret = state;
    return 0;
}

static int reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    (void)b;
    (void)works;
    (void)count;
    (void)err;
    return 0;
}

static int spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = {.op = RECORDING_SPIN, .sizes = b->sizes};
    double sm_hz = 0;
    if (recording_failed(r->recording, key, step, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry || !recording_sample(entry, step, NULL, &sm_hz))
        return recording_missing(r->recording, &key, step, err);
    *ret_sm_hz = sm_hz;
    return 0;
}

static int prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    return recording_failed(of(b)->recording, recording_key_work(RECORDING_PREPARE, work), 0, err);
}

static int describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                    struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_DESCRIBE, work);
    if (recording_failed(r->recording, key, 0, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    return entry ? recording_to_launch(entry, arena, ret, err) : recording_missing(r->recording, &key, 0, err);
}

static int check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    struct replay *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_CHECK, work);
    struct gpu_result result;
    if (recording_failed(r->recording, key, 0, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    if (recording_to_result(entry, &result, err) != 0)
        return -1;
    *ret = result;
    return 0;
}

static int sample_of(struct replay *r, enum recording_op op, const struct gpu_work *work, int64_t launches,
                     unsigned sample, struct gpu_sample *ret, struct rl_err *err)
{
    struct recording_key key = recording_key_work(op, work);
    struct gpu_sample got = {.launches = launches};
    bool unused;
    key.launches = launches;
    if (recording_cursor_step(r->cursors, &key, sample, &unused) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to replay a sample");
    if (recording_failed(r->recording, key, sample, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry || !recording_sample(entry, sample, &got.time_s, &got.sm_hz))
        return recording_missing(r->recording, &key, sample, err);
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

static int open_session(struct replay *r, struct rl_arena *arena, struct gpu_count_session *ret, struct rl_err *err)
{
    struct recording_key key = {.op = RECORDING_SESSION, .sizes = r->backend.sizes};
    if (recording_failed(r->recording, key, 0, err) != 0)
        return -1;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    return recording_to_session(entry, arena, ret, err);
}

static int count_item(struct replay *r, struct rl_arena *arena, const struct gpu_count_item *item,
                      const struct gpu_count_session *session, struct gpu_count_answer *ret, struct rl_err *err)
{
    struct recording_key key = recording_key_work(RECORDING_COUNT, &item->work);
    key.state = item->state;
    key.launches = item->launches;
    const json_t *entry = recording_find(r->recording, &key);
    if (!entry && strcmp(session->counters.status, "ok") != 0) {
        const struct rl_text *why = &session->counters.why;
        blank_answer(ret, why->why ? why->why : why->value);
        return 0;
    }
    if (!entry)
        return recording_missing(r->recording, &key, 0, err);
    return recording_to_counts(entry, arena, ret, err);
}

static int count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t item_count,
                 struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
                 bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    struct replay *r = of(b);
    struct gpu_count_session session;
    if (open_session(r, arena, &session, err) != 0)
        return -1;
    for (size_t i = 0; i < item_count; i++) {
        if (progress && !progress(arg, i, item_count))
            return rl_fail(err, RL_E_CANCELLED, NULL, "the counter session was cancelled at item %zu of %zu", i,
                           item_count);
        if (count_item(r, arena, &items[i], &session, &answers[i], err) != 0)
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
    int rc = -1;
    if (!arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to look at the counter session");
    for (int sizes = 0; sizes < RL_SIZES_COUNT && rc != 0; sizes++) {
        b->sizes = (enum rl_sizes)sizes;
        rc = open_session(r, arena, &session, err);
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
    r->cursors = json_object();
    if (!r->cursors) {
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
