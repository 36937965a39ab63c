/* Recordings: the raw answers of a backend as JSON Lines, keyed by sizes, unit and state. gpu/recording/RECORDING.md is
 * the specification.
 *
 * A recording is held as checked JSON: recording_load has seen every member of every line, so that the decoders below
 * fail only for want of memory. An overlay (a file whose header names a base) is read into the same form. CUDA-free.
 */
#ifndef GPU_RECORDING_RECORDING_H
#define GPU_RECORDING_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/backend/backend.h"
#include "gpu/base/buf.h"
#include "gpu/base/err.h"

#define RECORDING_VERSION     1
#define RECORDING_BYTES_MAX   (32u * 1024u * 1024u)
#define RECORDING_LINE_MAX    (4u * 1024u * 1024u)
#define RECORDING_ENTRIES_MAX 65536u
#define RECORDING_SERIES_MAX  4096u /* samples of one series */
#define RECORDING_DEPTH_MAX   4     /* overlay over overlay over … base */

/* What an entry answers. */
enum recording_op {
    RECORDING_CARD_STATE,
    RECORDING_DRIVER_NOW,
    RECORDING_SPIN,
    RECORDING_DESCRIBE,
    RECORDING_CHECK,
    RECORDING_WARM,
    RECORDING_COLD,
    RECORDING_COUNT,
    RECORDING_SESSION,
    RECORDING_SHARING, /* there only when a lock could not be taken */
    RECORDING_PREPARE, /* answers nothing: there only as a failure */
    RECORDING_OP_COUNT
};
#define RECORDING_FAILURE "failure" /* the op of an entry of a call that failed; its "of" is the call's op */

/* What an answer belongs to, or a failure. Members that an op does not use are ignored by it. */
struct recording_key {
    enum recording_op op;
    enum rl_sizes sizes;
    const char *unit;    /* describe, check, warm, cold, count, prepare */
    struct rl_dims dims; /* same */
    unsigned variant;    /* same */
    int64_t launches;    /* warm, count */
    enum rl_state state; /* count */
    unsigned attempt;    /* warm, cold: which of the run's series of this key, see recording_cursor_step */
    const char *at;      /* card_state */
    bool failed;         /* the call's failure, not its answer */
    unsigned sample;     /* of a failure, of an op that is asked again and again: warm, cold, spin, driver_now */
};
struct recording_key recording_key_work(enum recording_op op, const struct gpu_work *work);

struct recording {
    json_t *header;  /* object; an overlay's own is dropped for its base's */
    json_t *entries; /* object: key text → entry */
    int64_t recorded_at_ms;
    int64_t record_version; /* run.h: of the header's device and environment */
};

/* An empty recording, or NULL when memory ran out. */
struct recording *recording_new(void);
void recording_free(struct recording *recording); /* accepts NULL */

/* Reads a file and the bases that it names. RL_E_REPLAY_OPEN when a file cannot be read; RL_E_REPLAY_FORMAT with
 * field "line N" for anything that gpu/recording/RECORDING.md does not allow, a truncated file included. */
int recording_load(const char *path, struct recording **ret, struct rl_err *err);
/* The same from memory; a header that names a base fails. */
int recording_parse(const char *text, size_t len, struct recording **ret, struct rl_err *err);

/* Serialises to out: header, entries in their order, end line. recording_parse(recording_write(r)) is r,
 * doubles bit for bit. */
int recording_write(const struct recording *recording, struct rl_buf *out, struct rl_err *err);
/* Writes to a temporary file beside path, syncs, renames. */
int recording_save(const struct recording *recording, const char *path, struct rl_err *err);

/* The entry of a key, borrowed, or NULL. */
json_t *recording_find(const struct recording *recording, const struct recording_key *key);
/* Puts (steals) body as the entry of key, members that make the key included by this function. 0, or -1 when memory ran
 * out. */
int recording_put(struct recording *recording, const struct recording_key *key, json_t *body);
/* Puts the failure of the call with this key. sample: see recording_key. As recording_put. */
int recording_put_failure(struct recording *recording, struct recording_key key, unsigned sample,
                          const struct rl_err *why);
/* 0 when the call with this key did not fail; else -1, with the error that it failed with. */
int recording_failed(const struct recording *recording, struct recording_key key, unsigned sample, struct rl_err *err);
/* RL_E_REPLAY_MISSING: says in words what of a key is not in the recording. */
int recording_missing(const struct recording *recording, const struct recording_key *key, int64_t sample,
                      struct rl_err *err);

/* Encoders: new references, NULL when memory ran out. Decoders: strings into arena; RL_E_REPLAY_FORMAT names the
 * member. Members of the key are skipped by the decoders. */
json_t *recording_from_card_state(const struct gpu_card_state *state);
int recording_to_card_state(const json_t *entry, struct rl_arena *arena, struct gpu_card_state *ret,
                            struct rl_err *err);
json_t *recording_from_launch(const struct gpu_launch *launch);
int recording_to_launch(const json_t *entry, struct rl_arena *arena, struct gpu_launch *ret, struct rl_err *err);
json_t *recording_from_result(const struct gpu_result *result);
int recording_to_result(const json_t *entry, struct gpu_result *ret, struct rl_err *err);
json_t *recording_from_counts(const struct gpu_count_answer *answer);
int recording_to_counts(const json_t *entry, struct rl_arena *arena, struct gpu_count_answer *ret, struct rl_err *err);
json_t *recording_from_session(const struct gpu_count_session *session);
int recording_to_session(const json_t *entry, struct rl_arena *arena, struct gpu_count_session *ret,
                         struct rl_err *err);
json_t *recording_from_text(struct rl_text text);
int recording_to_text(const json_t *value, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err);
/* Element `sample` (numbered as the engine asked for it) of a series; false when it has fewer. sm_hz only for spin. */
bool recording_sample(const json_t *entry, size_t sample, double *ret_time_s, double *ret_sm_hz);
/* Appends a sample to a warm or cold series (timed), or a step to a spin. */
int recording_sample_add(json_t *entry, bool timed, double time_s, double sm_hz);
/* A new, empty series whose first element has the number `first`. */
json_t *recording_series_new(bool timed, unsigned first);

/* The engine may ask for samples 0, 1, 2, … of one key more than once in a run (a sweep, then the measurement). Each
 * time the number does not follow the one before, the next attempt begins; recorder and replay step alike. Sets
 * key->attempt and *ret_new. cursors is an object that one run begins empty. */
int recording_cursor_step(json_t *cursors, struct recording_key *key, unsigned sample, bool *ret_new);

#endif
