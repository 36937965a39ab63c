/* The recorder: passes every call on to the backend inside it and keeps what that answered. The file is written once,
 * at the end: a recording is whole or not there. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/backend/backend.h"
#include "gpu/base/time.h"
#include "gpu/record/json.h"
#include "gpu/recording/recording.h"

struct recorder {
    struct gpu_backend backend;
    struct gpu_backend_ops ops; /* name and source of inner */
    struct gpu_backend *inner;
    struct recording *recording;
    json_t *cursors;
    char *path;
    unsigned driver_calls; /* in the run in progress */
    bool finished;
};

static struct recorder *of(struct gpu_backend *b)
{
    return (struct recorder *)b;
}

static int no_memory(struct rl_err *err)
{
    return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to record an answer");
}

/* Keeps a failure of inner, which a replay meets at the same call, and returns -1. */
static int record_failure(struct recorder *r, const struct recording_key *key, unsigned sample,
                          const struct rl_err *err)
{
    /* without memory for it the recording lacks the answer, and a replay says so */
    (void)recording_put_failure(r->recording, *key, sample, err);
    return -1;
}

/* err as the caller gave it, or room of our own: a failure is recorded with its message. */
#define OWN_ERR(err, own) ((err) ? (err) : &(own))

static int put_header(struct recorder *r, const struct rl_device *device, const struct rl_environment *environment)
{
    char now[RL_TIME_TEXT];
    json_t *header = r->recording->header;
    if (json_object_size(header) > 0)
        return 0;
    r->recording->recorded_at_ms = rl_now_ms();
    rl_time_format(r->recording->recorded_at_ms, now);
    int bad = json_object_set_new(header, "roofline_recording", json_integer(RECORDING_VERSION));
    bad |= json_object_set_new(header, "recorded_at", json_string(now));
    bad |= json_object_set_new(header, "build", json_string(RL_BUILD_ID));
    bad |= json_object_set_new(header, "method_version", json_integer(RL_METHOD_VERSION));
    bad |= json_object_set_new(header, "record_version", json_integer(RL_RECORD_VERSION));
    bad |= json_object_set_new(header, "device", rl_device_to_json(device));
    bad |= json_object_set_new(header, "environment", rl_environment_to_json(environment));
    return bad;
}

/* Passes on why inner does not hold the GPU for itself, and keeps it: a replay is flagged as the run was. */
static int note_sharing(struct recorder *r, bool counted, struct rl_err *err)
{
    struct recording_key key = {.op = RECORDING_SHARING, .sizes = r->backend.sizes};
    const char *why = r->backend.shared_why = r->inner->shared_why;
    json_t *entry = recording_find(r->recording, &key);
    if (!why && !entry)
        return 0;
    if (!entry) {
        if (recording_put(r->recording, &key, json_pack("{s:n, s:n}", "opened", "counted")) != 0)
            return no_memory(err);
        entry = recording_find(r->recording, &key);
    }
    if (!counted && json_object_set_new(entry, "opened", why ? json_string(why) : json_null()) != 0)
        return no_memory(err);
    return json_object_set_new(entry, "counted", why ? json_string(why) : json_null()) == 0 ? 0 : no_memory(err);
}

static int identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                    struct rl_environment *ret_environment, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct rl_device device;
    struct rl_environment environment;
    json_object_clear(r->cursors); /* a run begins */
    r->inner->sizes = b->sizes;
    if (r->inner->ops->identify(r->inner, arena, &device, &environment, err) != 0)
        return -1;
    if (put_header(r, &device, &environment) != 0)
        return no_memory(err);
    if (note_sharing(r, false, err) != 0)
        return -1;
    r->driver_calls = 0;
    *ret_device = device;
    *ret_environment = environment;
    return 0;
}

static int driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = {.op = RECORDING_DRIVER_NOW, .sizes = b->sizes};
    struct rl_err own;
    struct rl_text text;
    if (r->inner->ops->driver_now(r->inner, arena, &text, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, r->driver_calls, OWN_ERR(err, own));
    if (r->driver_calls++ == 0 && recording_put(r->recording, &key, json_pack("{s:[]}", "values")) != 0)
        return no_memory(err);
    json_t *values = json_object_get(recording_find(r->recording, &key), "values");
    if (json_array_append_new(values, recording_from_text(text)) != 0)
        return no_memory(err);
    *ret = text;
    return 0;
}

static int card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                      struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = {.op = RECORDING_CARD_STATE, .sizes = b->sizes, .at = at};
    struct rl_err own;
    if (r->inner->ops->card_state(r->inner, arena, at, ret, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, 0, OWN_ERR(err, own));
    return recording_put(r->recording, &key, recording_from_card_state(ret)) == 0 ? 0 : no_memory(err);
}

static int reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    struct recorder *r = of(b);
    r->inner->will_count = b->will_count;
    return r->inner->ops->reserve(r->inner, works, count, err);
}

/* Appends a sample to the series of key, a new one when fresh. */
static int add_sample(struct recorder *r, const struct recording_key *key, bool fresh, unsigned number, bool timed,
                      double time_s, double sm_hz, struct rl_err *err)
{
    json_t *entry = fresh ? NULL : recording_find(r->recording, key);
    if (!isfinite(time_s) || !isfinite(sm_hz) || (timed && time_s <= 0) || sm_hz < 0)
        return rl_fail(err, RL_E_INTERNAL, key->unit, "sample %u of %s cannot be recorded: %g s at %g Hz", number,
                       key->unit ? key->unit : "the warm-up", time_s, sm_hz);
    if (!entry) {
        if (recording_put(r->recording, key, recording_series_new(timed, number)) != 0)
            return no_memory(err);
        entry = recording_find(r->recording, key);
    }
    if (recording_sample_add(entry, timed, time_s, sm_hz) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to record a sample, or a series of more than %u",
                       RECORDING_SERIES_MAX);
    return 0;
}

static int spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = {.op = RECORDING_SPIN, .sizes = b->sizes};
    struct rl_err own;
    double sm_hz;
    if (r->inner->ops->spin(r->inner, step, &sm_hz, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, step, OWN_ERR(err, own));
    if (add_sample(r, &key, step == 0, step, false, 0, sm_hz, err) != 0)
        return -1;
    *ret_sm_hz = sm_hz;
    return 0;
}

static int prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_PREPARE, work);
    struct rl_err own;
    if (r->inner->ops->prepare(r->inner, work, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, 0, OWN_ERR(err, own));
    return 0;
}

static int describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                    struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_DESCRIBE, work);
    struct rl_err own;
    if (r->inner->ops->describe(r->inner, arena, work, ret, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, 0, OWN_ERR(err, own));
    return recording_put(r->recording, &key, recording_from_launch(ret)) == 0 ? 0 : no_memory(err);
}

static int check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_CHECK, work);
    struct rl_err own;
    if (r->inner->ops->check(r->inner, work, ret, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, 0, OWN_ERR(err, own));
    return recording_put(r->recording, &key, recording_from_result(ret)) == 0 ? 0 : no_memory(err);
}

static int warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
                struct gpu_sample *ret, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_WARM, work);
    struct rl_err own;
    bool fresh = false;
    key.launches = launches;
    if (recording_cursor_step(r->cursors, &key, sample, &fresh) != 0)
        return no_memory(err);
    if (r->inner->ops->warm(r->inner, work, launches, sample, ret, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, sample, OWN_ERR(err, own));
    return add_sample(r, &key, fresh, sample, true, ret->time_s, ret->sm_hz, err);
}

static int cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
                struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key key = recording_key_work(RECORDING_COLD, work);
    struct rl_err own;
    bool fresh = false;
    if (recording_cursor_step(r->cursors, &key, sample, &fresh) != 0)
        return no_memory(err);
    if (r->inner->ops->cold(r->inner, work, sample, ret, OWN_ERR(err, own)) != 0)
        return record_failure(r, &key, sample, OWN_ERR(err, own));
    return add_sample(r, &key, fresh, sample, true, ret->time_s, ret->sm_hz, err);
}

static int count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t item_count,
                 struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
                 bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err)
{
    struct recorder *r = of(b);
    struct recording_key session = {.op = RECORDING_SESSION, .sizes = b->sizes};
    struct rl_err own;
    if (r->inner->ops->count(r->inner, arena, items, item_count, answers, ret_session, progress, arg,
                             OWN_ERR(err, own)) != 0)
        return record_failure(r, &session, 0, OWN_ERR(err, own));
    if (recording_put(r->recording, &session, recording_from_session(ret_session)) != 0)
        return no_memory(err);
    for (size_t i = 0; i < item_count; i++) {
        struct recording_key key = recording_key_work(RECORDING_COUNT, &items[i].work);
        key.state = items[i].state;
        key.launches = items[i].launches;
        if (recording_put(r->recording, &key, recording_from_counts(&answers[i])) != 0)
            return no_memory(err);
    }
    return note_sharing(r, true, err);
}

static int profile(struct gpu_backend *b, const struct gpu_work *works, size_t work_count, struct rl_err *err)
{
    struct recorder *r = of(b);
    return r->inner->ops->profile(r->inner, works, work_count, err);
}

static int probe_counters(struct gpu_backend *b, struct rl_err *err)
{
    struct recorder *r = of(b);
    return r->inner->ops->probe_counters(r->inner, err);
}

static void close_recorder(struct gpu_backend *b)
{
    struct recorder *r = of(b);
    if (!r)
        return;
    if (r->inner)
        r->inner->ops->close(r->inner);
    recording_free(r->recording);
    json_decref(r->cursors);
    free(r->path);
    free(r);
}

/* Minutes of measuring must not end in a folder that nobody may write. */
static int check_writable(const char *path, struct rl_err *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int rc = 0;
    if (!folder)
        return no_memory(err);
    if (!*path || (slash && !slash[1]))
        rc = rl_fail(err, RL_E_IO, "record", "'%.200s' is no name for a recording", path);
    else if (access(folder, W_OK | X_OK) != 0)
        rc = rl_fail(err, RL_E_IO, "record", "the recording '%.200s' cannot be written: %s", path, strerror(errno));
    free(folder);
    return rc;
}

int gpu_backend_open_recorder(struct gpu_backend *inner, const char *path, struct gpu_backend **ret, struct rl_err *err)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r) {
        inner->ops->close(inner);
        return no_memory(err);
    }
    r->inner = inner;
    if (check_writable(path, err) != 0)
        goto failed;
    r->path = strdup(path);
    r->recording = recording_new();
    r->cursors = json_object();
    if (!r->path || !r->recording || !r->cursors) {
        no_memory(err);
        goto failed;
    }
    r->ops = (struct gpu_backend_ops){.name = inner->ops->name,
                                      .source = inner->ops->source,
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
                                      .probe_counters = inner->ops->probe_counters ? probe_counters : NULL,
                                      .close = close_recorder};
    r->backend.ops = &r->ops;
    r->backend.recorded_at_ms = inner->recorded_at_ms;
    r->backend.sizes = inner->sizes;
    *ret = &r->backend;
    return 0;
failed:
    close_recorder(&r->backend);
    return -1;
}

int gpu_recorder_finish(struct gpu_backend *recorder, struct rl_err *err)
{
    struct recorder *r = of(recorder);
    if (json_object_size(r->recording->entries) == 0)
        return rl_fail(err, RL_E_INTERNAL, "record", "nothing was measured, so there is nothing to record");
    if (r->finished)
        return rl_fail(err, RL_E_INTERNAL, "record", "the recording was written already");
    if (recording_save(r->recording, r->path, err) != 0)
        return -1;
    r->finished = true;
    return 0;
}
