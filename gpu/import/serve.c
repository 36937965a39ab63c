/* One import for the daemon: a request on descriptor 3, files on descriptors of their own, a run or an error back. The
 * files are an untrusted client's, so that the process gives up first all that reading them does not need. */
#include "gpu/wire/import.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/base/buf.h"
#include "gpu/base/io.h"
#include "gpu/base/time.h"
#include "gpu/import/import.h"
#include "gpu/import/text/message.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"

#define FILES_MAX 3u
#define FD_MAX    16

/* The address sanitizer reserves terabytes of addresses: a limit on them would end it at once. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMIT_MEMORY false
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY true
#endif

struct served {
    struct import_file files[FILES_MAX];
    size_t file_count;
    struct import_fields fields;
    int64_t memory_bytes, cpu_s, wall_s;
    bool inherited; /* memory_bytes is the limit that this process came with */
    int64_t seq;
};

/* ---- lines out ---- */

/* Sends body (stolen, an object) as a line of this kind. */
static int send_line(struct served *s, const char *kind, json_t *body, struct rl_err *err)
{
    json_t *line = json_pack("{s:s, s:I}", "t", kind, "seq", (json_int_t)++s->seq);
    struct rl_buf text;
    rl_buf_init(&text, IMPORT_DOCUMENT_MAX);
    bool made = line != NULL && body != NULL && json_object_update(line, body) == 0 &&
                rl_json_write(line, &text) == 0 && rl_buf_add(&text, "\n", 1) == 0;
    int rc = 0;
    if (!made)
        rc = rl_fail(err, text.failed ? RL_E_TOO_LARGE : RL_E_NO_MEMORY, NULL,
                     "the run takes more than %zu bytes; import fewer kernels", IMPORT_DOCUMENT_MAX);
    else if (rl_write_all(IMPORT_FD, text.data, text.len) != 0)
        rc = rl_fail(err, RL_E_IO, NULL, "the answer could not be written");
    rl_buf_free(&text);
    json_decref(line);
    json_decref(body);
    return rc;
}

static json_t *error_body(const struct rl_err *err)
{
    json_t *error = json_pack("{s:s, s:s, s:s}", "code", rl_code_id(err->code), "message", err->message, "next_action",
                              rl_code_next_action(err->code));
    if (error != NULL && err->field[0] != '\0')
        json_object_set_new(error, "field", json_string(err->field));
    return error != NULL ? json_pack("{s:o}", "error", error) : NULL;
}

/* ---- the request ---- */

static int broken(struct rl_err *err, const char *what)
{
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the import's request is not one: %s", what);
}

static int read_line(char *line, size_t *ret_len, struct rl_err *err)
{
    size_t len = 0;
    for (;;) {
        ssize_t got = read(IMPORT_FD, line + len, IMPORT_REQUEST_MAX - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return broken(err, "the stream ended, or the line is too long");
        len += (size_t)got;
        const char *newline = memchr(line, '\n', len);
        if (newline != NULL && newline + 1 != line + len)
            return broken(err, "bytes came after it");
        if (newline != NULL) {
            *ret_len = len - 1;
            return 0;
        }
    }
}

/* The whole file behind a descriptor, from its beginning. */
static int read_file(int fd, struct import_file *file, struct rl_err *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return broken(err, "a descriptor is no file");
    if (status.st_size > (off_t)IMPORT_FILE_MAX)
        return rl_fail(err, RL_E_TOO_LARGE, import_kind_name(file->kind), "%s has %lld bytes; at most %zu are read",
                       import_kind_name(file->kind), (long long)status.st_size, IMPORT_FILE_MAX);
    size_t size = (size_t)status.st_size, len = 0;
    char *data = malloc(size + 1);
    if (data == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, import_kind_name(file->kind), "no memory for %zu bytes", size);
    while (len < size) {
        ssize_t got = pread(fd, data + len, size - len, (off_t)len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    file->data = data;
    file->len = len;
    return len == size ? 0 : rl_fail(err, RL_E_IO, import_kind_name(file->kind), "the upload could not be read whole");
}

static int take_file(struct served *s, const json_t *object, struct rl_err *err)
{
    const char *kind = "", *name = "";
    int fd = -1;
    if (json_unpack((json_t *)object, "{s:s, s:i, s:s !}", "kind", &kind, "fd", &fd, "name", &name) != 0 ||
        fd <= IMPORT_FD || fd >= FD_MAX || s->file_count == FILES_MAX)
        return broken(err, "files have kind, fd (4 to 15) and name, and are three at most");
    struct import_file *file = &s->files[s->file_count];
    for (file->kind = 0; file->kind < IMPORT_KIND_COUNT; file->kind++)
        if (strcmp(import_kind_name(file->kind), kind) == 0)
            break;
    if (file->kind == IMPORT_KIND_COUNT)
        return broken(err, "a kind is ncu, timings, recording, record or power");
    file->name = name[0] != '\0' ? name : kind;
    s->file_count++;
    return read_file(fd, file, err);
}

static int take_fields(struct served *s, const json_t *object, struct rl_err *err)
{
    const struct {
        const char *name;
        const char **value;
    } members[] = {{"device", &s->fields.device}, {"driver", &s->fields.driver},      {"cuda", &s->fields.cuda},
                   {"date", &s->fields.date},     {"sizes", &s->fields.sizes},        {"cache", &s->fields.cache},
                   {"times", &s->fields.times},   {"partial", &s->fields.partial},    {"since", &s->fields.since},
                   {"until", &s->fields.until},   {"power_gpu", &s->fields.power_gpu}};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (i < sizeof members / sizeof members[0] && strcmp(members[i].name, key) != 0)
            i++;
        char quoted[IMPORT_QUOTE];
        if (i == sizeof members / sizeof members[0])
            return rl_fail(err, RL_E_UNKNOWN_FIELD, import_quote(quoted, key), "an import has no field \"%s\"", quoted);
        if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
            return rl_fail(err, RL_E_BAD_FIELD, key, "%s has to be a text", key);
        *members[i].value = json_string_value(value);
    }
    return 0;
}

/* The smaller of what the daemon wants and what it has itself: a limit cannot be raised again. */
static int limit_memory(struct served *s, struct rl_err *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return rl_fail(err, RL_E_INTERNAL, NULL, "the memory limit could not be read");
    s->inherited = limit.rlim_cur < (rlim_t)s->memory_bytes;
    if (s->inherited)
        s->memory_bytes = (int64_t)limit.rlim_cur;
    limit = (struct rlimit){(rlim_t)s->memory_bytes, (rlim_t)s->memory_bytes};
    if (LIMIT_MEMORY && setrlimit(RLIMIT_AS, &limit) != 0)
        return rl_fail(err, RL_E_INTERNAL, NULL, "the memory limit could not be set");
    return 0;
}

/* Names the limit that memory ran out under, where it is not the daemon's own. */
static void name_limit(const struct served *s, struct rl_err *err)
{
    struct rl_err plain = *err;
    if (err->code == RL_E_NO_MEMORY && s->inherited)
        rl_fail(err, RL_E_NO_MEMORY, plain.field[0] != '\0' ? plain.field : NULL,
                "%s (the daemon's own limit of addresses, RLIMIT_AS, leaves an import %lld bytes)", plain.message,
                (long long)s->memory_bytes);
}

static int take_request(struct served *s, json_t *request, struct rl_err *err)
{
    const char *kind;
    int protocol;
    json_t *files, *fields;
    json_int_t memory, cpu, wall;
    if (json_unpack(request, "{s:s, s:i, s:o, s:o, s:{s:I, s:I, s:I !} !}", "t", &kind, "protocol", &protocol, "files",
                    &files, "fields", &fields, "limits", "memory_bytes", &memory, "cpu_s", &cpu, "wall_s",
                    &wall) != 0 ||
        strcmp(kind, "import") != 0 || protocol != IMPORT_PROTOCOL || !json_is_array(files) || !json_is_object(fields))
        return broken(err, "t \"import\", protocol 1, files, fields and limits {memory_bytes, cpu_s, wall_s} make it");
    if (memory < 64 << 20 || memory > INT64_C(1) << 40 || cpu < 1 || cpu > 3600 || wall < 1 || wall > 3600)
        return broken(err, "a limit is out of range");
    s->memory_bytes = memory;
    s->cpu_s = cpu;
    s->wall_s = wall;
    if (limit_memory(s, err) != 0)
        return -1;
    struct rlimit limit;
    /* the soft limit sends SIGXCPU, which says what happened; where both are equal Linux sends SIGKILL alone */
    limit = (struct rlimit){(rlim_t)cpu, (rlim_t)cpu + 1};
    if (setrlimit(RLIMIT_CPU, &limit) != 0)
        return rl_fail(err, RL_E_INTERNAL, NULL, "the time limit could not be set");
    alarm((unsigned)wall);
    if (take_fields(s, fields, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(files); i++)
        if (take_file(s, json_array_get(files, i), err) != 0)
            return -1;
    return 0;
}

static int send_result(struct served *s, const struct import_result *result, struct rl_err *err)
{
    for (size_t i = 0; i < result->sample_count; i++) {
        const struct import_sample *sample = &result->samples[i];
        json_t *times = json_array();
        for (size_t t = 0; times != NULL && t < sample->count; t++)
            json_array_append_new(times, json_real(sample->times_s[t]));
        if (send_line(s, "sample",
                      json_pack("{s:s, s:s, s:I, s:o}", "unit", sample->unit, "state", rl_state_name(sample->state),
                                "launches", (json_int_t)sample->launches, "times_s", times),
                      err) != 0)
            return -1;
    }
    return send_line(s, "result", json_pack("{s:o}", "run", rl_run_to_json(result->run)), err);
}

/* What reading files does not need is given up before anything of a client's is read. */
static void give_up(void)
{
    const struct rlimit none = {0, 0}, files = {FD_MAX + 16, FD_MAX + 16};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NOFILE, &files);
    signal(SIGPIPE, SIG_IGN);
    /* the daemon answers others meanwhile, on the same processors */
    setpriority(PRIO_PROCESS, 0, 10);
}

int import_serve(void)
{
    struct served s = {0};
    struct import_result result = {0};
    struct rl_err err = {.code = RL_E_NONE};
    json_t *request = NULL;
    size_t len = 0;
    struct stat status;
    if (fstat(IMPORT_FD, &status) != 0 || !S_ISSOCK(status.st_mode)) {
        rl_fail(&err, RL_E_USAGE, "protocol", "--protocol needs a socket as descriptor 3; it is for rooflined");
        return rl_err_print(IMPORT_PROGRAM, &err);
    }
    give_up();
    char *line = malloc(IMPORT_REQUEST_MAX);
    int rc = line == NULL ? rl_fail(&err, RL_E_NO_MEMORY, NULL, "no memory for the request")
                          : send_line(&s, "hello",
                                      json_pack("{s:i, s:s, s:I}", "protocol", IMPORT_PROTOCOL, "build", RL_BUILD_ID,
                                                "pid", (json_int_t)getpid()),
                                      &err);
    if (rc == 0)
        rc = read_line(line, &len, &err);
    if (rc == 0 &&
        ((request = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL)) == NULL || !json_is_object(request)))
        rc = broken(&err, "it is no JSON object");
    if (rc == 0)
        rc = take_request(&s, request, &err);
    struct import_request wanted = {s.files, s.file_count, s.fields, rl_now_ms(), false};
    if (rc == 0)
        rc = import_make(&wanted, &result, &err);
    if (rc == 0)
        rc = send_result(&s, &result, &err);
    if (rc != 0)
        name_limit(&s, &err);
    if (rc != 0)
        (void)send_line(&s, "error", error_body(&err), NULL);
    import_result_fini(&result);
    for (size_t i = 0; i < s.file_count; i++)
        free((char *)s.files[i].data);
    json_decref(request);
    free(line);
    return rc == 0 ? 0 : rl_code_exit(err.code);
}
