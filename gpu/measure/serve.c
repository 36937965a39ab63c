/* The process end of the measuring protocol (gpu/wire/PROTOCOL.md): one request on a socket, its lines, and a watchdog
 * that ends the process when the parent is gone, whatever CUDA is doing. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpu/backend/count_fields.h"
#include "gpu/base/io.h"
#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/measure/measure.h"
#include "gpu/record/json.h"
#include "gpu/suites/document.h"
#include "gpu/suites/verify/verify.h"
#include "gpu/wire/wire.h"

#define REQUEST_MS 30000 /* absolute, from the hello line on */
/* That the watchdog waits for the line being written, before it writes its own or gives up. */
#define LAST_LINE_MS 1000

struct server {
    int fd;
    const struct cli_options *options;
    struct wire_writer writer;
    size_t total;         /* bytes written */
    pthread_mutex_t lock; /* of the descriptor's lines: the main thread writes, the watchdog may write one last */
    struct gpu_backend *backend;
    bool unsendable;      /* a line could not be made: the run ends with an error */
    atomic_bool finished; /* the last line was written or is being written; then exit_status counts */
    atomic_int exit_status;
};

/* ---- lines ---- */

/* A parent that is gone needs no more lines: the process ends. */
static void write_bytes(struct server *s, const char *data, size_t len)
{
    if (rl_write_all(s->fd, data, len) == 0)
        return;
    probe_abandon();
    _exit(rl_code_exit(RL_E_CANCELLED));
}

/* Makes and writes a line; body is stolen. A line that cannot be made or sent within the limits fails the run later on,
 * with an error that says so. */
static int send_line(struct server *s, enum wire_kind kind, json_t *body)
{
    struct rl_buf line;
    int rc = -1;
    rl_buf_init(&line, PROTOCOL_LINE_MAX + 2);
    pthread_mutex_lock(&s->lock);
    /* room is kept for the one line that says that there is none */
    size_t most = kind == WIRE_ERROR ? PROTOCOL_TOTAL_MAX : PROTOCOL_TOTAL_MAX - 16384;
    struct wire_writer before = s->writer;
    if (wire_write(&s->writer, kind, body, &line) == 0) {
        if (s->total + line.len <= most) {
            write_bytes(s, line.data, line.len);
            s->total += line.len;
            rc = 0;
        } else {
            s->writer = before;
        }
    }
    if (rc != 0)
        s->unsendable = true;
    pthread_mutex_unlock(&s->lock);
    rl_buf_free(&line);
    return rc;
}

/* Bytes of text that fit into max and are whole, valid characters. */
static size_t valid_prefix(const char *text, size_t max)
{
    size_t at = 0, len = strlen(text);
    while (at < len) {
        size_t step = rl_utf8_step(text + at, len - at);
        if (step == 0 || at + step > max)
            break;
        at += step;
    }
    return at;
}

static json_t *text_json(const char *text, size_t max)
{
    return json_stringn(text, valid_prefix(text, max));
}

static json_t *error_json(const struct rl_err *err)
{
    json_t *error =
        json_pack("{s:s, s:o, s:s}", "code", rl_code_id(err->code), "message",
                  text_json(err->message, PROTOCOL_MESSAGE_MAX), "next_action", rl_code_next_action(err->code));
    if (error && err->field[0])
        json_object_set_new(error, "field", text_json(err->field, PROTOCOL_WORD_MAX));
    return json_pack("{s:o}", "error", error);
}

/* ---- events of a run ---- */

static void on_device(void *arg, const struct rl_device *device, const struct rl_environment *environment)
{
    send_line(arg, WIRE_DEVICE,
              json_pack("{s:o, s:o, s:n, s:{s:s}}", "device", rl_device_to_json(device), "environment",
                        rl_environment_to_json(environment), "counters", "why", "counters",
                        "a run finds out when it counts; ask with a probe"));
}

static void on_progress(void *arg, const char *phase, const char *what, unsigned done, unsigned total)
{
    send_line(arg, WIRE_PROGRESS,
              json_pack("{s:s, s:o, s:I, s:I}", "phase", phase, "what", text_json(what ? what : "", PROTOCOL_WORD_MAX),
                        "done", (json_int_t)done, "total", (json_int_t)total));
}

static void on_samples(void *arg, const char *unit, enum rl_state state, int64_t launches, const double *times_s,
                       size_t count)
{
    json_t *times = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(times, json_real(times_s[i]));
    send_line(arg, WIRE_SAMPLE,
              json_pack("{s:s, s:s, s:I, s:o}", "unit", unit, "state", rl_state_name(state), "launches",
                        (json_int_t)launches, "times_s", times));
}

struct counter_body {
    json_t *values, *why;
};

static void add_counter(struct counter_body *body, const char *name, struct rl_real value)
{
    if (!rl_is_known(value)) {
        json_object_set_new(body->values, name, json_null());
        json_object_set_new(body->why, name, text_json(value.why, PROTOCOL_MESSAGE_MAX));
        return;
    }
    json_object_set_new(body->values, name, json_real(value.value));
}

static void add_range(struct counter_body *body, const char *prefix, const struct gpu_counts *counts)
{
    for (size_t i = 0; i < GPU_RANGE_FIELDS; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s%s", prefix, gpu_range_name(i));
        add_counter(body, name, gpu_range_value(counts, i));
    }
}

static void on_counts(void *arg, const char *unit, enum rl_state state, const struct gpu_count_answer *answer)
{
    struct counter_body body = {json_object(), json_object()};
    add_range(&body, "", &answer->one);
    add_range(&body, state == RL_WARM ? "four_" : "flushed_", &answer->four);
    for (size_t i = 0; i < GPU_LAUNCH_FIELDS; i++)
        add_counter(&body, gpu_launch_name(i), gpu_launch_value(answer, i));
    if (json_object_size(body.why) == 0) {
        json_decref(body.why);
        body.why = json_null();
    }
    send_line(arg, WIRE_COUNTER,
              json_pack("{s:s, s:s, s:o, s:o}", "unit", unit, "state", rl_state_name(state), "values", body.values,
                        "why", body.why));
}

static void on_telemetry(void *arg, const struct rl_telemetry *telemetry)
{
    send_line(arg, WIRE_TELEMETRY, json_pack("{s:o}", "telemetry", rl_telemetry_to_json(telemetry)));
}

static void on_log(void *arg, const char *line)
{
    send_line(arg, WIRE_LOG, json_pack("{s:o}", "text", text_json(line, PROTOCOL_LOG_MAX)));
}

static void on_warning(void *arg, enum rl_code code, const char *message)
{
    send_line(arg, WIRE_WARNING,
              json_pack("{s:s, s:o}", "code", rl_code_id(code), "message", text_json(message, PROTOCOL_MESSAGE_MAX)));
}

/* ---- watchdog ---- */

/* Waits for the lock no longer than LAST_LINE_MS: the main thread may hold it for good, writing to a parent that does
 * not read. */
static bool lock_briefly(struct server *s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LAST_LINE_MS / 1000;
    return pthread_mutex_clocklock(&s->lock, CLOCK_MONOTONIC, &until) == 0;
}

static void refuse_more_bytes(struct server *s)
{
    struct rl_buf line;
    struct rl_err err;
    rl_fail(&err, RL_E_MEASURE_PROTOCOL, NULL, "bytes came after the request; one process serves one request");
    rl_buf_init(&line, PROTOCOL_LINE_MAX + 2);
    if (!lock_briefly(s))
        return;
    if (!atomic_load(&s->finished) && wire_write(&s->writer, WIRE_ERROR, error_json(&err), &line) == 0)
        (void)!send(s->fd, line.data, line.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(s->fd, SHUT_RDWR); /* with the lock held for good: nothing may come after the error line */
}

static void *watch(void *arg)
{
    struct server *s = arg;
    for (;;) {
        struct pollfd wait = {.fd = s->fd, .events = POLLIN | POLLRDHUP};
        char byte;
        if (poll(&wait, 1, -1) < 0 && errno == EINTR)
            continue;
        ssize_t got = recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR) &&
            (wait.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0)
            continue;
        if (atomic_load(&s->finished)) {
            /* the parent has its answer and closed: the main thread is on its way out, if CUDA lets it go */
            struct timespec grace = {.tv_sec = LAST_LINE_MS / 1000};
            nanosleep(&grace, NULL);
            _exit(atomic_load(&s->exit_status));
        }
        if (got > 0)
            refuse_more_bytes(s);
        probe_abandon();
        _exit(got > 0 ? rl_code_exit(RL_E_MEASURE_PROTOCOL) : rl_code_exit(RL_E_CANCELLED));
    }
    return NULL;
}

/* The watchdog takes no signal: whoever sends one means the process. */
static int start_watchdog(struct server *s, struct rl_err *err)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, &attributes, watch, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "the watchdog could not be started: %s", strerror(rc));
}

/* ---- request ---- */

/* One line of at most PROTOCOL_REQUEST_MAX bytes within REQUEST_MS. *ret_len excludes the newline. */
static int read_request_line(struct server *s, char *line, size_t *ret_len, struct rl_err *err)
{
    int64_t deadline = rl_monotonic_ns() + REQUEST_MS * INT64_C(1000000);
    size_t len = 0;
    for (;;) {
        int64_t left_ms = (deadline - rl_monotonic_ns() + 999999) / 1000000;
        struct pollfd wait = {.fd = s->fd, .events = POLLIN};
        int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "no whole request came within %d s", REQUEST_MS / 1000);
        ssize_t got = recv(s->fd, line + len, PROTOCOL_REQUEST_MAX + 1 - len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the stream ended before a whole request came");
        const char *newline = memchr(line + len, '\n', (size_t)got);
        len += (size_t)got;
        if (newline && newline + 1 != line + len)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL,
                           "bytes came after the request; one process serves one request");
        if (newline) {
            *ret_len = len - 1;
            return 0;
        }
        if (len > PROTOCOL_REQUEST_MAX)
            return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL, "the request has more than %u bytes",
                           PROTOCOL_REQUEST_MAX);
    }
}

static int read_request(struct server *s, struct wire_request *ret, struct rl_err *err)
{
    size_t len = 0;
    char *line = malloc(PROTOCOL_REQUEST_MAX + 1);
    if (!line)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the request");
    int rc = read_request_line(s, line, &len, err);
    if (rc == 0)
        rc = wire_request_parse(line, len, ret, err);
    free(line);
    return rc;
}

/* ---- serving ---- */

static int send_device(void *arg, const json_t *device, struct rl_err *err)
{
    struct server *s = arg;
    if (send_line(s, WIRE_DEVICE, json_copy((json_t *)device)) != 0)
        return rl_fail(err, RL_E_INTERNAL, NULL, "a device's line could not be written within the protocol's limits");
    return 0;
}

static int serve_run(struct server *s, const struct wire_request *asked, struct rl_run **ret, struct rl_err *err)
{
    struct engine_request request;
    const struct engine_events events = {.arg = s,
                                         .device = on_device,
                                         .progress = on_progress,
                                         .samples = on_samples,
                                         .counts = on_counts,
                                         .telemetry = on_telemetry,
                                         .log = on_log,
                                         .warning = on_warning};
    struct cli_options options = *s->options;
    const struct rl_param_value *values = asked->params.value;
    if (asked->params.suite != &rl_suite_verify)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "suite", "this build does not measure %s",
                       asked->params.suite->name);
    request = (struct engine_request){.sizes = (enum rl_sizes)values[VERIFY_SIZES].number,
                                      .counters = values[VERIFY_COUNTERS].number};
    memcpy(request.state, values[VERIFY_CACHE].has, sizeof request.state);
    memcpy(request.kernel, values[VERIFY_KERNELS].has, sizeof request.kernel);
    options.device = asked->device[0] ? asked->device : NULL;
    if (measure_open(&options, &s->backend, err) != 0)
        return -1;
    s->backend->sizes = request.sizes;
    return engine_run(s->backend, &request, &events, ret, err);
}

/* The last line. Once it is begun the exit status stands, whatever the parent does next. */
static int conclude(struct server *s, int failed, const struct rl_run *run, struct rl_err *err)
{
    if (!failed && s->unsendable)
        failed =
            rl_fail(err, RL_E_INTERNAL, NULL, "a line of the run could not be written within the protocol's limits");
    atomic_store(&s->exit_status, failed ? rl_code_exit(err->code) : 0);
    if (!failed) {
        json_t *document = run ? rl_run_to_json(run) : json_null();
        atomic_store(&s->finished, true);
        if (send_line(s, WIRE_RESULT, json_pack("{s:o}", "run", document)) == 0)
            return 0;
        failed =
            rl_fail(err, RL_E_INTERNAL, NULL, "the run's document could not be written within the protocol's limits");
        atomic_store(&s->exit_status, rl_code_exit(err->code));
    }
    atomic_store(&s->finished, true);
    send_line(s, WIRE_ERROR, error_json(err));
    return atomic_load(&s->exit_status);
}

static int serve(struct server *s, struct rl_err *err)
{
    struct wire_request request;
    struct rl_run *run = NULL;
    const char *backend = s->options->replay ? "replay" : MEASURE_BACKEND;
    send_line(s, WIRE_HELLO,
              json_pack("{s:i, s:s, s:s, s:I}", "protocol", PROTOCOL_VERSION, "build", RL_BUILD_ID, "backend", backend,
                        "pid", (json_int_t)getpid()));
    int failed = read_request(s, &request, err);
    if (!failed)
        failed = start_watchdog(s, err);
    if (!failed)
        failed =
            request.probe ? probe_devices(s->options->replay, send_device, s, err) : serve_run(s, &request, &run, err);
    int status = conclude(s, failed, run, err);
    shutdown(s->fd, SHUT_WR);
    rl_run_free(run);
    /* The driver takes everything back from a process that is gone, so CUDA is not taken down in order: 0.10 s from the
     * result to the exit instead of 0.13 (H200, 2026-11-29). */
    if (s->backend && s->backend->ops->source == RL_MEASURED)
        _exit(status);
    if (s->backend)
        s->backend->ops->close(s->backend);
    return status;
}

/* A service manager that hands the connection over says so in the environment; it is of no use to anybody further down.
 */
static int check_listen_variables(struct rl_err *err)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    int64_t number = 0, count = 0;
    bool ours = pid && fds && rl_parse_i64(pid, 1, INT32_MAX, &number) == 0 && number == getpid() &&
                rl_parse_i64(fds, 0, 1024, &count) == 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (ours && count != 1)
        return rl_fail(err, RL_E_USAGE, "protocol",
                       "the service manager passed %lld descriptors: use Accept=yes, which passes one",
                       (long long)count);
    return 0;
}

static int take_descriptor(struct rl_err *err)
{
    struct stat status;
    int flags = fcntl(PROTOCOL_FD, F_GETFL);
    if (flags < 0 || fstat(PROTOCOL_FD, &status) != 0 || !S_ISSOCK(status.st_mode))
        return rl_fail(
            err, RL_E_USAGE, "protocol",
            "--protocol is for rooflined and systemd, which pass a socket as descriptor %d: use --table by hand",
            PROTOCOL_FD);
    int accepting = 0;
    socklen_t size = sizeof accepting;
    if (getsockopt(PROTOCOL_FD, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &size) == 0 && accepting)
        return rl_fail(err, RL_E_USAGE, "protocol", "descriptor %d is a listening socket: use Accept=yes", PROTOCOL_FD);
    if (fcntl(PROTOCOL_FD, F_SETFD, FD_CLOEXEC) != 0 || fcntl(PROTOCOL_FD, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return rl_fail(err, RL_E_IO, "protocol", "descriptor %d cannot be set up: %s", PROTOCOL_FD, strerror(errno));
    return 0;
}

int serve_protocol(const struct cli_options *options)
{
    /* static: the watchdog looks at it until the process is gone, after main has returned too */
    static struct server s = {.fd = PROTOCOL_FD, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct rl_err err = {.code = RL_E_NONE};
    s.options = options;
    if (check_listen_variables(&err) != 0 || take_descriptor(&err) != 0)
        return rl_err_print(MEASURE_PROGRAM, &err);
    signal(SIGPIPE, SIG_IGN);
    return serve(&s, &err);
}
