/* The parent's end of the protocol. The process is not trusted: every line is held against the table below before
 * anybody sees it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/record/json.h"
#include "gpu/wire/wire.h"
#include "kernels/unit/catalogue.h"

#define COUNTER_NAMES_MAX 64u
#define SECONDS_MAX       1e6
#define COUNT_MAX         1e18 /* bytes or instructions of one range */
#define DECODE_BYTES_MAX  (4u * 1024u * 1024u)

enum stage { WANT_HELLO, WANT_DEVICE, RUNNING, ENDED };

struct wire_reader {
    const struct rl_suite *suite; /* NULL: a probe's */
    bool broken;
    int (*line)(void *arg, const struct wire_line *line, struct rl_err *err);
    void *arg;
    struct rl_buf partial;
    size_t total, devices;
    enum stage stage;
    int64_t seq, at_ns;
};

static int want(struct rl_err *err, const char *what)
{
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has to be %s", what);
}

/* ---- members ---- */

static int check_text_of(const json_t *value, size_t max, struct rl_err *err)
{
    if (!json_is_string(value))
        return want(err, "a text");
    if (json_string_length(value) > max)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has %zu bytes where %zu are allowed",
                       json_string_length(value), max);
    return 0;
}

static int check_text(const json_t *value, struct rl_err *err)
{
    return check_text_of(value, PROTOCOL_WORD_MAX, err);
}

static int check_message(const json_t *value, struct rl_err *err)
{
    return check_text_of(value, PROTOCOL_MESSAGE_MAX, err);
}

static int check_log(const json_t *value, struct rl_err *err)
{
    return check_text_of(value, PROTOCOL_LOG_MAX, err);
}

static int check_word(const json_t *value, const char *const *words, struct rl_err *err)
{
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0)
            return 0;
    return want(err, "one of the words of the protocol");
}

static int check_int(const json_t *value, int64_t min, int64_t max, struct rl_err *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < min || json_integer_value(value) > max)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has to be an integer from %lld to %lld", (long long)min,
                       (long long)max);
    return 0;
}

static int check_version(const json_t *value, struct rl_err *err)
{
    if (check_int(value, 0, INT32_MAX, err) < 0)
        return -1;
    if (json_integer_value(value) != PROTOCOL_VERSION)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL,
                       "is %lld, but this daemon speaks version %d: the programs are of two builds",
                       (long long)json_integer_value(value), PROTOCOL_VERSION);
    return 0;
}

static int check_backend(const json_t *value, struct rl_err *err)
{
    static const char *const words[] = {"cuda", "replay", "null", NULL};
    return check_word(value, words, err);
}

static int check_state(const json_t *value, struct rl_err *err)
{
    static const char *const words[] = {"warm", "cold", NULL};
    return check_word(value, words, err);
}

static int check_unit(const json_t *value, struct rl_err *err)
{
    const char *id = json_string_value(value);
    return id != NULL && rl_unit_find(id) != NULL ? 0 : want(err, "a unit of the catalogue");
}

static int check_pid(const json_t *value, struct rl_err *err)
{
    return check_int(value, 1, INT32_MAX, err);
}

static int check_steps(const json_t *value, struct rl_err *err)
{
    return check_int(value, 0, 1000000, err);
}

static int check_launches(const json_t *value, struct rl_err *err)
{
    return check_int(value, 1, 1000000000, err);
}

static int check_times(const json_t *value, struct rl_err *err)
{
    size_t count = json_array_size(value);
    if (count < 1 || count > PROTOCOL_SAMPLES_MAX)
        return want(err, "a list of 1 to 256 times");
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(value, i);
        double time_s = json_number_value(item);
        if (!json_is_number(item) || !isfinite(time_s) || time_s <= 0 || time_s > SECONDS_MAX)
            return want(err, "a list of times above 0 s");
    }
    return 0;
}

static int check_values(const json_t *value, struct rl_err *err)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value) || json_object_size(value) > COUNTER_NAMES_MAX)
        return want(err, "an object of at most 64 counters");
    json_object_foreach((json_t *)value, name, item)
    {
        double count = json_number_value(item);
        bool good = json_is_null(item) || (json_is_number(item) && isfinite(count) && count >= 0 && count <= COUNT_MAX);
        if (!good || strlen(name) > 64)
            return want(err, "an object of counts, none below 0, or null");
    }
    return 0;
}

/* Reasons by name; that each null has one is checked over the whole line. */
static int check_reasons(const json_t *value, struct rl_err *err)
{
    const char *name;
    json_t *item;
    if (json_is_null(value))
        return 0;
    if (!json_is_object(value) || json_object_size(value) > COUNTER_NAMES_MAX)
        return want(err, "an object of reasons, or null");
    json_object_foreach((json_t *)value, name, item)
    {
        if (check_message(item, err) < 0 || json_string_length(item) == 0)
            return want(err, "an object of reasons, each a text");
    }
    return 0;
}

static int check_device(const json_t *value, struct rl_err *err)
{
    struct rl_device device;
    struct rl_arena *arena = rl_arena_new(DECODE_BYTES_MAX);
    int rc = arena != NULL ? rl_device_from_json(value, RL_RECORD_VERSION, arena, &device, err)
                           : want(err, "small enough for memory");
    rl_arena_free(arena);
    return rc;
}

static int check_environment(const json_t *value, struct rl_err *err)
{
    struct rl_environment environment;
    struct rl_arena *arena = rl_arena_new(DECODE_BYTES_MAX);
    int rc = arena != NULL ? rl_environment_from_json(value, RL_RECORD_VERSION, arena, &environment, err)
                           : want(err, "small enough for memory");
    rl_arena_free(arena);
    return rc;
}

static int check_telemetry(const json_t *value, struct rl_err *err)
{
    struct rl_telemetry telemetry;
    struct rl_arena *arena = rl_arena_new(DECODE_BYTES_MAX);
    int rc = arena != NULL ? rl_telemetry_from_json(value, RL_RECORD_VERSION, arena, &telemetry, err)
                           : want(err, "small enough for memory");
    rl_arena_free(arena);
    return rc;
}

/* The one who asked for the run decodes it: here only whether there is one. */
static int check_run(const json_t *value, struct rl_err *err)
{
    return json_is_null(value) || json_is_object(value) ? 0 : want(err, "a run, or null");
}

static int check_code(const json_t *value, struct rl_err *err)
{
    return rl_code_from_id(json_string_value(value)) != RL_E_NONE ? 0 : want(err, "a code of the error catalogue");
}

/* What a counter session would get: {status, why}; null in a run. */
static int check_counters(const json_t *value, struct rl_err *err)
{
    if (json_is_null(value))
        return 0;
    const json_t *status = json_object_get(value, "status"), *why = json_object_get(value, "why");
    if (json_object_size(value) != 2 || status == NULL || why == NULL)
        return want(err, "an object of status and why, or null");
    if (!json_is_null(why) && check_message(why, err) < 0)
        return want(err, "an object whose why is a text or null");
    if (json_is_string(status) && strcmp(json_string_value(status), "ok") == 0)
        return json_is_null(why) ? 0 : want(err, "without a why when status is ok");
    if (check_code(status, err) < 0)
        return want(err, "an object whose status is ok or a code of the error catalogue");
    return json_is_string(why) ? 0 : want(err, "with a why when status is not ok");
}

static int check_error(const json_t *value, struct rl_err *err)
{
    const json_t *field = json_object_get(value, "field");
    if (check_code(json_object_get(value, "code"), err) < 0)
        return want(err, "an object whose code is one of the error catalogue");
    if (check_message(json_object_get(value, "message"), err) < 0 ||
        check_message(json_object_get(value, "next_action"), err) < 0 || (field != NULL && check_text(field, err) < 0))
        return want(err, "an object of code, message, next_action and perhaps field, all texts");
    return json_object_size(value) == 3u + (field != NULL) ? 0 : want(err, "without other members");
}

/* ---- kinds ---- */

struct member {
    const char *name;
    int (*check)(const json_t *value, struct rl_err *err);
};
#define MEMBERS_MAX 5
static const struct member members[][MEMBERS_MAX] = {
    [WIRE_HELLO] = {{"protocol", check_version}, {"build", check_text}, {"backend", check_backend}, {"pid", check_pid}},
    [WIRE_DEVICE] = {{"device", check_device},
                     {"environment", check_environment},
                     {"counters", check_counters},
                     {"why", check_reasons}},
    [WIRE_PROGRESS] = {{"phase", check_text}, {"what", check_text}, {"done", check_steps}, {"total", check_steps}},
    [WIRE_SAMPLE] = {{"unit", check_unit},
                     {"state", check_state},
                     {"launches", check_launches},
                     {"times_s", check_times}},
    [WIRE_COUNTER] = {{"unit", check_unit}, {"state", check_state}, {"values", check_values}, {"why", check_reasons}},
    [WIRE_TELEMETRY] = {{"telemetry", check_telemetry}},
    [WIRE_LOG] = {{"text", check_log}},
    [WIRE_WARNING] = {{"code", check_code}, {"message", check_message}},
    [WIRE_RESULT] = {{"run", check_run}},
    [WIRE_ERROR] = {{"error", check_error}},
};

/* Every null of values has its reason in why, and nothing else has. */
static int check_counter_line(const json_t *line, struct rl_err *err)
{
    const json_t *why = json_object_get(line, "why");
    const char *name;
    json_t *value;
    size_t nulls = 0;
    json_object_foreach(json_object_get(line, "values"), name, value)
    {
        if (!json_is_null(value))
            continue;
        if (json_object_get(why, name) == NULL)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has a null \"%.64s\" without a reason", name);
        nulls++;
    }
    return json_object_size(why) == nulls
               ? 0
               : rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has a reason for what is not null");
}

static int check_whole(enum wire_kind kind, const json_t *line, struct rl_err *err)
{
    if (kind == WIRE_COUNTER)
        return check_counter_line(line, err);
    if (kind == WIRE_PROGRESS &&
        json_integer_value(json_object_get(line, "done")) > json_integer_value(json_object_get(line, "total")))
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has done above total");
    if (kind == WIRE_DEVICE) {
        const json_t *why = json_object_get(line, "why");
        bool null = json_is_null(json_object_get(line, "counters"));
        if (null ? json_object_get(why, "counters") == NULL || json_object_size(why) != 1 : why != NULL)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "needs a why for counters exactly when counters is null");
    }
    return 0;
}

static int check_members(enum wire_kind kind, const json_t *line, struct rl_err *err)
{
    size_t seen = 3; /* t, seq, at_ns */
    for (size_t i = 0; i < MEMBERS_MAX && members[kind][i].name != NULL; i++) {
        const struct member *member = &members[kind][i];
        const json_t *value = json_object_get(line, member->name);
        if (value == NULL && kind == WIRE_DEVICE && member->check == check_reasons)
            continue; /* there only when counters is null */
        seen++;
        if (value == NULL)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has no member \"%s\"", member->name);
        if (member->check(value, err) < 0)
            return rl_wrap(err, "member \"%s\"", member->name);
    }
    if (json_object_size(line) != seen)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has a member that is not known");
    return check_whole(kind, line, err);
}

/* ---- order ---- */

static bool may_come(const struct wire_reader *reader, enum wire_kind kind)
{
    if (reader->stage == WANT_HELLO)
        return kind == WIRE_HELLO;
    switch (kind) {
    case WIRE_HELLO:
        return false;
    case WIRE_DEVICE:
        return (reader->suite == NULL) ? reader->devices < PROTOCOL_DEVICES_MAX : reader->stage == WANT_DEVICE;
    case WIRE_PROGRESS:
        return reader->suite != NULL;
    case WIRE_SAMPLE:
    case WIRE_COUNTER:
    case WIRE_TELEMETRY:
        return reader->suite != NULL && reader->stage == RUNNING;
    case WIRE_RESULT:
        return (reader->suite == NULL) || reader->stage == RUNNING;
    case WIRE_LOG:
    case WIRE_WARNING:
    case WIRE_ERROR:
        break;
    }
    return true;
}

static void advance(struct wire_reader *reader, enum wire_kind kind)
{
    if (kind == WIRE_HELLO)
        reader->stage = WANT_DEVICE;
    if (kind == WIRE_DEVICE) {
        reader->devices++;
        reader->stage = RUNNING;
    }
    if (kind == WIRE_RESULT || kind == WIRE_ERROR)
        reader->stage = ENDED;
}

static int read_head(struct wire_reader *reader, const json_t *line, enum wire_kind *ret_kind, struct rl_err *err)
{
    const char *t = json_string_value(json_object_get(line, "t"));
    const json_t *seq = json_object_get(line, "seq"), *at_ns = json_object_get(line, "at_ns");
    int kind = WIRE_ERROR;
    while (kind >= 0 && (t == NULL || strcmp(wire_kind_name((enum wire_kind)kind), t) != 0))
        kind--;
    if (kind < 0)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has no \"t\" that is known");
    if (!json_is_integer(seq) || json_integer_value(seq) != reader->seq + 1)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has no \"seq\" %lld", (long long)(reader->seq + 1));
    if (!json_is_integer(at_ns) || json_integer_value(at_ns) < reader->at_ns)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has no \"at_ns\", or time goes backwards in it");
    if (!may_come(reader, (enum wire_kind)kind))
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "is a \"%s\" where none may come", t);
    if (kind == WIRE_RESULT && json_is_null(json_object_get(line, "run")) != (reader->suite == NULL))
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "needs a run, or null after a probe");
    if (kind == WIRE_PROGRESS &&
        rl_suite_phase(reader->suite, json_string_value(json_object_get(line, "phase"))) == SIZE_MAX)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "has no \"phase\" of the suite %s", reader->suite->name);
    *ret_kind = (enum wire_kind)kind;
    return 0;
}

/* One whole line without its '\n'. */
static int take_line(struct wire_reader *reader, const char *text, size_t len, struct rl_err *err)
{
    json_error_t why;
    enum wire_kind kind = WIRE_ERROR;
    if (reader->stage == ENDED)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "comes after the last line");
    json_t *body = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (body == NULL)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "is no JSON object: %s", why.text);
    int rc = json_is_object(body) ? 0 : want(err, "a JSON object");
    if (rc == 0)
        rc = read_head(reader, body, &kind, err);
    if (rc == 0)
        rc = check_members(kind, body, err);
    if (rc == 0) {
        struct wire_line line = {kind, reader->seq + 1, json_integer_value(json_object_get(body, "at_ns")), body};
        reader->seq = line.seq;
        reader->at_ns = line.at_ns;
        advance(reader, kind);
        rc = reader->line(reader->arg, &line, err) == 0 ? 0 : -2;
    }
    json_decref(body);
    return rc;
}

/* What the checks found, as one sentence about one line. The line's number, not its content: that may be anything. */
static int violation(struct wire_reader *reader, struct rl_err *err)
{
    reader->broken = true;
    if (err == NULL)
        return -1;
    char what[sizeof err->message];
    memcpy(what, err->message, sizeof what);
    enum rl_code code = err->code == RL_E_NO_MEMORY ? RL_E_NO_MEMORY : RL_E_MEASURE_PROTOCOL;
    return rl_fail(err, code, NULL, "protocol line %lld: %s", (long long)(reader->seq + 1), what);
}

struct wire_reader *wire_reader_new(const struct wire_request *request,
                                    int (*line)(void *arg, const struct wire_line *line, struct rl_err *err), void *arg)
{
    struct wire_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return NULL;
    reader->suite = request->probe ? NULL : request->params.suite;
    reader->line = line;
    reader->arg = arg;
    rl_buf_init(&reader->partial, PROTOCOL_LINE_MAX);
    return reader;
}

void wire_reader_free(struct wire_reader *reader)
{
    if (reader == NULL)
        return;
    rl_buf_free(&reader->partial);
    free(reader);
}

/* Bytes up to and with the next '\n', or all that are left. */
static int feed_part(struct wire_reader *reader, const char *data, size_t len, bool whole, struct rl_err *err)
{
    if (reader->partial.len == 0 && whole && len <= PROTOCOL_LINE_MAX)
        return take_line(reader, data, len, err);
    if (rl_buf_add(&reader->partial, data, len) < 0)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "is longer than %u bytes, or memory ran out",
                       PROTOCOL_LINE_MAX);
    if (!whole)
        return 0;
    int rc = take_line(reader, reader->partial.data, reader->partial.len, err);
    rl_buf_clear(&reader->partial);
    return rc;
}

int wire_reader_feed(struct wire_reader *reader, const void *data, size_t len, struct rl_err *err)
{
    const char *at = data;
    if (reader->broken)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the protocol was broken before");
    if (len > PROTOCOL_TOTAL_MAX - reader->total) {
        rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the stream is longer than %u bytes", PROTOCOL_TOTAL_MAX);
        return violation(reader, err);
    }
    reader->total += len;
    while (len > 0) {
        const char *end = memchr(at, '\n', len);
        size_t part = end != NULL ? (size_t)(end - at) : len;
        int rc = feed_part(reader, at, part, end != NULL, err);
        if (rc == -2) { /* the receiver's own error */
            reader->broken = true;
            return -1;
        }
        if (rc < 0)
            return violation(reader, err);
        part += end != NULL;
        at += part;
        len -= part;
    }
    return 0;
}

int wire_reader_end(struct wire_reader *reader, struct rl_err *err)
{
    if (reader->broken)
        return rl_fail(err, RL_E_MEASURE_CRASHED, NULL, "the measuring process broke the protocol before it ended");
    if (reader->partial.len > 0)
        return rl_fail(err, RL_E_MEASURE_CRASHED, NULL, "the measuring process ended in the middle of line %lld",
                       (long long)(reader->seq + 1));
    if (reader->stage != ENDED)
        return rl_fail(err, RL_E_MEASURE_CRASHED, NULL, "the measuring process ended after line %lld without a result",
                       (long long)reader->seq);
    return 0;
}
