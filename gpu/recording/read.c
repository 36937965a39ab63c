/* Recording files: lines in, overlays resolved, every member checked. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/record/json.h"
#include "gpu/recording/internal.h"

struct reading {
    struct recording *recording;
    const char *base; /* of the header, borrowed from it; NULL when there is none */
    size_t line;      /* number of the line being read, from 1 */
    size_t entries;   /* lines with entries so far */
    bool ended;       /* the end line was seen */
};

/* Names the line in an error of the format. */
static int at_line(const struct reading *r, struct rl_err *err)
{
    if (err && err->code == RL_E_REPLAY_FORMAT) {
        snprintf(err->field, sizeof err->field, "line %zu", r->line);
        rl_wrap(err, "recording, line %zu", r->line);
    }
    return -1;
}

static int check_own_header(struct reading *r, const json_t *header, struct rl_err *err)
{
    struct members m;
    struct rl_arena *arena = rl_arena_new(256 * 1024);
    struct rl_device device;
    struct rl_environment environment;
    int rc = -1;
    if (!arena)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to read a recording");
    members_begin(&m, header, arena, err);
    members_take(&m, "roofline_recording");
    if (members_has(&m, "note"))
        members_string(&m, "note");
    const char *at = members_string(&m, "recorded_at");
    members_string(&m, "build");
    int64_t method = members_integer(&m, "method_version", 1, INT32_MAX);
    int64_t version = members_has(&m, "record_version") ? members_integer(&m, "record_version", 1, INT32_MAX) : 1;
    const json_t *device_json = members_take(&m, "device"), *environment_json = members_take(&m, "environment");
    if (at && rl_time_parse(at, &r->recording->recorded_at_ms) != 0)
        members_fail(&m, "recorded_at", "not an RFC 3339 time");
    if (version > RL_RECORD_VERSION) {
        rl_fail(err, RL_E_REPLAY_FORMAT, "record_version",
                "the recording was made by a newer build (record version %lld), of which this one reads no more than "
                "version %d: replay it with that build",
                (long long)version, RL_RECORD_VERSION);
        goto out;
    }
    if (members_end(&m) != 0)
        goto out;
    if (method != RL_METHOD_VERSION) {
        rl_fail(err, RL_E_REPLAY_FORMAT, "method_version",
                "the recording was made by method %lld, this program measures by method %d", (long long)method,
                RL_METHOD_VERSION);
        goto out;
    }
    r->recording->record_version = version;
    rc = rl_device_from_json(device_json, version, arena, &device, err);
    if (rc == 0)
        rc = rl_environment_from_json(environment_json, version, arena, &environment, err);
    if (rc != 0 && err && err->code != RL_E_NO_MEMORY)
        err->code = RL_E_REPLAY_FORMAT;
out:
    rl_arena_free(arena);
    return rc;
}

static int read_header(struct reading *r, json_t *header, struct rl_err *err)
{
    const json_t *version = json_object_get(header, "roofline_recording");
    if (!json_is_integer(version))
        return rl_fail(err, RL_E_REPLAY_FORMAT, "",
                       "is not the header of a recording: no integer 'roofline_recording'");
    if (json_integer_value(version) != RECORDING_VERSION)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "",
                       "the recording has version %lld of the format, this program reads version %d",
                       (long long)json_integer_value(version), RECORDING_VERSION);
    json_object_update(r->recording->header, header);
    if (!json_object_get(header, "base"))
        return check_own_header(r, header, err);
    struct members m;
    members_begin(&m, header, NULL, err);
    members_take(&m, "roofline_recording");
    const char *base = members_string(&m, "base");
    if (members_has(&m, "note"))
        members_string(&m, "note");
    if (base && (!*base || *base == '/'))
        members_fail(&m, "base", "not a path relative to this file");
    if (members_end(&m) != 0)
        return -1;
    r->base = json_string_value(json_object_get(r->recording->header, "base"));
    return 0;
}

static int read_end(struct reading *r, const json_t *line, struct rl_err *err)
{
    struct members m;
    members_begin(&m, line, NULL, err);
    members_take(&m, "op");
    int64_t entries = members_integer(&m, "entries", 0, INT64_MAX);
    if (members_end(&m) != 0)
        return -1;
    if ((uint64_t)entries != r->entries)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "entries",
                       "the end line counts %lld entries where %zu stand: lines are missing", (long long)entries,
                       r->entries);
    r->ended = true;
    return 0;
}

static int read_entry(struct reading *r, json_t *entry, struct rl_err *err)
{
    const char *op = json_string_value(json_object_get(entry, "op"));
    struct recording_key key;
    char text[512];
    if (r->ended)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "", "stands behind the end line");
    if (op && strcmp(op, "end") == 0)
        return read_end(r, entry, err);
    if (++r->entries > RECORDING_ENTRIES_MAX)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "", "a recording has at most %u entries", RECORDING_ENTRIES_MAX);
    if (recording_key_read(entry, &key, err) != 0)
        return -1;
    if ((key.failed ? recording_failure_check(entry, err) : recording_entry_check(key.op, entry, err)) != 0)
        return -1;
    recording_key_text(&key, text);
    if (json_object_get(r->recording->entries, text))
        return rl_fail(err, RL_E_REPLAY_FORMAT, "", "repeats the key of an earlier entry: %s", text);
    if (json_object_set(r->recording->entries, text, entry) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording");
    return 0;
}

static int read_line(struct reading *r, const char *line, size_t len, struct rl_err *err)
{
    json_error_t why;
    r->line++;
    if (len > RECORDING_LINE_MAX)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "", "has %zu bytes, %u are allowed", len, RECORDING_LINE_MAX);
    json_t *value = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
    if (!value)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "", "is not JSON: %.160s", why.text);
    int rc = -1;
    if (!json_is_object(value))
        rl_fail(err, RL_E_REPLAY_FORMAT, "", "is not a JSON object");
    else if (r->line == 1)
        rc = read_header(r, value, err);
    else
        rc = read_entry(r, value, err);
    json_decref(value);
    return rc;
}

/* Reads one file's text into r->recording, which the caller made. */
static int read_text(struct reading *r, const char *text, size_t len, struct rl_err *err)
{
    size_t at = 0;
    while (at < len) {
        const char *newline = memchr(text + at, '\n', len - at);
        if (!newline) {
            r->line++;
            rl_fail(err, RL_E_REPLAY_FORMAT, "", "does not end with a newline: the file is cut");
            return at_line(r, err);
        }
        size_t length = (size_t)(newline - (text + at));
        if (read_line(r, text + at, length, err) != 0)
            return at_line(r, err);
        at += length + 1;
    }
    if (r->line == 0)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "line 1", "the recording is empty");
    /* an overlay is written by hand and short; a recording proper must be whole */
    if (!r->base && !r->ended)
        return rl_fail(err, RL_E_REPLAY_FORMAT, "end", "the recording has no end line: the file is cut");
    return 0;
}

int recording_parse(const char *text, size_t len, struct recording **ret, struct rl_err *err)
{
    struct reading r = {.recording = recording_new()};
    if (!r.recording)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording");
    int rc = read_text(&r, text, len, err);
    if (rc == 0 && r.base)
        rc = rl_fail(err, RL_E_REPLAY_FORMAT, "base", "an overlay cannot be read without the folder that it stands in");
    if (rc != 0) {
        recording_free(r.recording);
        return -1;
    }
    *ret = r.recording;
    return 0;
}

/* ---- files ---- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The whole file into memory of its own. Messages name the file without its folder: they may reach a client. */
static int read_file(const char *path, char **ret_text, size_t *ret_len, struct rl_err *err)
{
    const char *name = file_name(path);
    struct stat status;
    char *text = NULL;
    size_t len = 0;
    int rc = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0) {
        rl_fail(err, RL_E_REPLAY_OPEN, "replay", "the recording '%.200s' cannot be opened: %s", name, strerror(errno));
        goto out;
    }
    if (!S_ISREG(status.st_mode)) {
        rl_fail(err, RL_E_REPLAY_OPEN, "replay", "the recording '%.200s' is not a file", name);
        goto out;
    }
    if (status.st_size > (off_t)RECORDING_BYTES_MAX) {
        rl_fail(err, RL_E_REPLAY_FORMAT, "replay", "the recording '%.200s' has %lld bytes, %u are allowed", name,
                (long long)status.st_size, RECORDING_BYTES_MAX);
        goto out;
    }
    text = malloc((size_t)status.st_size + 1);
    if (!text) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to read a recording");
        goto out;
    }
    while (len < (size_t)status.st_size) {
        ssize_t got = read(fd, text + len, (size_t)status.st_size - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            rl_fail(err, RL_E_REPLAY_OPEN, "replay", "the recording '%.200s' cannot be read: %s", name,
                    strerror(errno));
            goto out;
        }
        if (got == 0)
            break;
        len += (size_t)got;
    }
    *ret_text = text;
    *ret_len = len;
    text = NULL;
    rc = 0;
out:
    free(text);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int load(const char *path, int depth, struct recording **ret, struct rl_err *err)
{
    struct reading r = {.recording = recording_new()};
    struct recording *base = NULL;
    char *text = NULL, *base_path = NULL;
    size_t len = 0;
    int rc = -1;
    if (!r.recording) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording");
        goto out;
    }
    if (read_file(path, &text, &len, err) != 0)
        goto out;
    if (read_text(&r, text, len, err) != 0) {
        if (err && err->code == RL_E_REPLAY_FORMAT)
            rl_wrap(err, "%.200s", file_name(path));
        goto out;
    }
    if (r.base) {
        int folder = (int)(file_name(path) - path);
        if (depth >= RECORDING_DEPTH_MAX) {
            rl_fail(err, RL_E_REPLAY_FORMAT, "base", "%.200s: overlays stand more than %d deep", file_name(path),
                    RECORDING_DEPTH_MAX);
            goto out;
        }
        if (asprintf(&base_path, "%.*s%s", folder, path, r.base) < 0) {
            base_path = NULL;
            rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording");
            goto out;
        }
        if (load(base_path, depth + 1, &base, err) != 0)
            goto out;
        if (json_object_update(base->entries, r.recording->entries) != 0) {
            rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a recording");
            goto out;
        }
    }
    *ret = base ? base : r.recording;
    if (!base)
        r.recording = NULL;
    base = NULL;
    rc = 0;
out:
    recording_free(base);
    recording_free(r.recording);
    free(base_path);
    free(text);
    return rc;
}

int recording_load(const char *path, struct recording **ret, struct rl_err *err)
{
    return load(path, 1, ret, err);
}
