/* roofline-measure with faults (tests/README.md): what replaces, at link time, the opening of a replay and the writing
 * of the protocol's lines. All else is the program that ships. Built with -Wl,--wrap=gpu_backend_open_replay
 * -Wl,--wrap=rl_write_all. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpu/base/io.h"
#include "gpu/wire/wire.h"
#include "tests/tools/faulty_backend.h"
#include "tests/tools/faulty_file.h"

int __real_gpu_backend_open_replay(const char *path, const char *uuid, struct gpu_backend **ret, struct rl_err *err);
int __wrap_gpu_backend_open_replay(const char *path, const char *uuid, struct gpu_backend **ret, struct rl_err *err);
int __real_rl_write_all(int fd, const void *data, size_t len);
int __wrap_rl_write_all(int fd, const void *data, size_t len);

/* The open backend with faults, of which a process has one at a time; NULL: none. Between its opening and its closing
 * the protocol's lines are struck. */
static struct gpu_backend *faulty;
static struct gpu_backend_ops ops;
static void (*close_faulty)(struct gpu_backend *b);
static char phase[32]; /* of the newest progress line */

static void forget_and_close(struct gpu_backend *b)
{
    faulty = NULL;
    close_faulty(b);
}

int __wrap_gpu_backend_open_replay(const char *path, const char *uuid, struct gpu_backend **ret, struct rl_err *err)
{
    struct gpu_backend *inner = NULL;
    char *recording = NULL;
    json_t *rules = json_array();
    int rc = faulty_file_read(path, rules, &recording, err);
    if (rc == 0)
        rc = __real_gpu_backend_open_replay(recording, uuid, &inner, err);
    if (rc == 0)
        rc = faulty_backend_open(inner, rules, ret, err);
    free(recording);
    json_decref(rules);
    if (rc != 0)
        return -1;
    faulty = *ret;
    ops = *faulty->ops;
    close_faulty = ops.close;
    ops.close = forget_and_close;
    faulty->ops = &ops;
    memcpy(phase, "start", sizeof "start");
    return 0;
}

/* ---- lines ---- */

static int write_oversize(int fd)
{
    char *text = malloc(PROTOCOL_LINE_MAX + 2);
    if (!text)
        return -1;
    memset(text, 'x', PROTOCOL_LINE_MAX + 1);
    text[PROTOCOL_LINE_MAX + 1] = '\n';
    int rc = __real_rl_write_all(fd, text, PROTOCOL_LINE_MAX + 2);
    free(text);
    return rc;
}

static int write_broken(int fd, const char *how, const void *line, size_t len)
{
    static const char garbage[] = "\x01\xff{\"t\":\"progress\",]\n";
    int rc = 0;
    if (strcmp(how, "drop") == 0)
        return 0;
    if (strcmp(how, "half") == 0)
        return __real_rl_write_all(fd, line, len / 2);
    if (strcmp(how, "garbage") == 0)
        rc = __real_rl_write_all(fd, garbage, sizeof garbage - 1);
    if (strcmp(how, "oversize") == 0)
        rc = write_oversize(fd);
    if (strcmp(how, "twice") == 0)
        rc = __real_rl_write_all(fd, line, len);
    return rc == 0 ? __real_rl_write_all(fd, line, len) : -1;
}

static int write_struck(int fd, const json_t *line, const void *data, size_t len)
{
    struct fault_moment moment = fault_moment(FAULT_ON_LINE, faulty->sizes);
    struct fault_hits hits;
    struct rl_err ignored;
    const char *new_phase = json_string_value(json_object_get(line, "phase"));
    if (new_phase && strlen(new_phase) < sizeof phase)
        memcpy(phase, new_phase, strlen(new_phase) + 1);
    moment.line = json_string_value(json_object_get(line, "t"));
    moment.unit = json_string_value(json_object_get(line, "unit"));
    moment.phase = phase;
    faults_match(faulty_backend_faults(faulty), &moment, &hits);
    const char *how = fault_write(&hits);
    int rc = how ? write_broken(fd, how, data, len) : __real_rl_write_all(fd, data, len);
    (void)faults_act(&hits, &ignored); /* an error has no meaning at a line */
    return rc;
}

/* Only the protocol's lines are struck: any other file may be descriptor 3 when the program is used by hand. */
int __wrap_rl_write_all(int fd, const void *data, size_t len)
{
    struct stat status;
    json_t *line = NULL;
    if (faulty && fd == PROTOCOL_FD && fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
        line = json_loadb(data, len, 0, NULL);
    int rc = line ? write_struck(fd, line, data, len) : __real_rl_write_all(fd, data, len);
    json_decref(line);
    return rc;
}
