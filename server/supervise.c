/* Life of one measuring process; see supervise.h.
 *
 *   start ── hello, request ── lines … result|error ── end of stream ── exit ── reaped ── ended()
 *                    └─ broken protocol, deadline, supervise_stop ─┐        │
 *                                  our end closed ── TERM ── KILL ─┴─ exit ─┘ or stuck
 */
#include "server/supervise.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "server/limits.h"
#include "server/spawn.h"

#define READ_BYTES 65536u
/* Reads left in a dead process's stream: more than a socket buffer holds (net.core.wmem_max is 208 KiB by default). */
#define DRAIN_READS 256
/* How often a process group is looked at after its leader's exit. No descriptor tells when a group is empty. */
#define GROUP_POLL_MS 20

enum phase { PHASE_START, PHASE_CEILINGS, PHASE_KERNELS, PHASE_COUNTERS, PHASE_CHECKS, PHASE_COUNT };
static const char *const phase_names[] = {"start", "ceilings", "kernels", "counters", "checks"};

enum ending { NOT_ENDING, ENDING_EOF, ENDING_TERM, ENDING_KILL };

struct supervise {
    struct loop *loop;
    struct supervise_events events;
    struct supervise_limits limits;
    struct wire_request request;
    struct transcript transcript;
    struct wire_reader *reader;
    struct spawned process;
    struct loop_source *channel_source, *output_source, *exit_source;
    struct loop_source *deadline_timer, *ending_timer;
    bool by_socket, replay, pid_known;
    bool exited, told; /* told: ended() was called */
    enum ending ending;
    int64_t started_ns, ending_ns, phase_deadline_ns[PHASE_COUNT];
    enum phase phase;
    char what[128], backend[16];
    bool result, final, failed; /* final: result or error has come */
    struct rl_err error;
    int wait_status;
    bool wait_status_known;
};

static void end_now(struct supervise *s);

void supervise_limits_default(bool probe, int64_t total_ms, struct supervise_limits *ret)
{
    double scale = total_ms > 0 ? (double)total_ms / LIMIT_JOB_MS : 1;
    int64_t phases[] = {LIMIT_START_MS,    LIMIT_CEILINGS_MS, LIMIT_KERNELS_MS,
                        LIMIT_COUNTERS_MS, LIMIT_CHECKS_MS,   LIMIT_JOB_MS};
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        phases[i] = (int64_t)((double)phases[i] * scale);
        if (phases[i] < 1)
            phases[i] = 1;
    }
    *ret = (struct supervise_limits){
        .start = probe ? LIMIT_PROBE_MS : phases[0],
        .ceilings = phases[1],
        .kernels = phases[2],
        .counters = phases[3],
        .checks = phases[4],
        .total = probe ? LIMIT_PROBE_MS : phases[5],
        .exit_after_eof = LIMIT_EXIT_AFTER_EOF_MS,
        .exit_after_term = LIMIT_EXIT_AFTER_TERM_MS,
        .stuck = LIMIT_STUCK_MS,
    };
}

/* ---- how it ends ---- */

static void close_source(struct supervise *s, struct loop_source **source, int *fd)
{
    loop_remove(s->loop, *source);
    *source = NULL;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The first failure is the cause; later ones follow from it. */
static void set_failure(struct supervise *s, const struct rl_err *why)
{
    if (s->failed)
        return;
    s->failed = true;
    s->error = *why;
}

static void describe_exit(struct supervise *s)
{
    char text[160];
    int status = s->wait_status;
    if (!s->wait_status_known)
        snprintf(text, sizeof text, "process %ld ended", (long)s->process.pid);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "process %ld was ended by signal %d (%s)", (long)s->process.pid, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "process %ld exited with status %d", (long)s->process.pid, WEXITSTATUS(status));
    transcript_line(&s->transcript, "daemon", text);
    if (s->failed && s->error.code == RL_E_MEASURE_CRASHED) {
        struct rl_err seen = s->error;
        rl_fail(&s->error, RL_E_MEASURE_CRASHED, seen.field[0] != '\0' ? seen.field : NULL, "%s The %s.", seen.message,
                text);
    }
}

static void tell(struct supervise *s, bool stuck)
{
    if (s->told)
        return;
    s->told = true;
    struct supervise_end end = {.complete = s->result && !s->failed && !stuck, .stuck = stuck, .error = s->error};
    if (!end.complete && end.error.code == RL_E_NONE)
        rl_fail(&end.error, stuck ? RL_E_MEASURE_STUCK : RL_E_MEASURE_CRASHED, NULL,
                "The measuring process ended without a result.");
    if (stuck)
        rl_fail(&end.error, RL_E_MEASURE_STUCK, NULL,
                "The measuring process is still there %" PRId64 " ms after the end of its stream%s%s", s->limits.stuck,
                s->failed ? "; it was ended because: " : ".", s->failed ? s->error.message : "");
    if (!end.complete) {
        char text[sizeof end.error.message + 64];
        snprintf(text, sizeof text, "%s: %s", rl_code_id(end.error.code), end.error.message);
        transcript_line(&s->transcript, "daemon", text);
    }
    s->events.ended(s->events.arg, &end); /* may free s */
}

/* After the leader's exit: whether any process of its group is left. Those that became our children (we are process 1
 * of a container) are reaped here. */
static bool group_left(const struct supervise *s)
{
    while (waitpid(-s->process.pid, NULL, WNOHANG) > 0)
        continue;
    return kill(-s->process.pid, 0) == 0 || errno == EPERM;
}

static int64_t stuck_in_ms(const struct supervise *s)
{
    int64_t gone_ms = (rl_monotonic_ns() - s->ending_ns) / 1000000;
    return s->limits.stuck > gone_ms ? s->limits.stuck - gone_ms : 0;
}

static void gone(struct supervise *s)
{
    if (!s->by_socket && s->exited && group_left(s)) {
        if (stuck_in_ms(s) > 0)
            loop_timer_set(s->loop, s->ending_timer, GROUP_POLL_MS);
        else
            tell(s, true);
        return;
    }
    loop_timer_set(s->loop, s->ending_timer, -1);
    if (s->output_source != NULL)
        close_source(s, &s->output_source, &s->process.output);
    if (s->pid_known)
        describe_exit(s);
    tell(s, false);
}

static void begin_ending(struct supervise *s)
{
    if (s->channel_source != NULL)
        close_source(s, &s->channel_source, &s->process.channel);
    loop_timer_set(s->loop, s->deadline_timer, -1);
    if (s->ending != NOT_ENDING)
        return;
    s->ending = ENDING_EOF;
    s->ending_ns = rl_monotonic_ns();
    /* Without a pid there is no process that was asked for anything (a request goes out only after hello), so nothing
     * that holds the GPU: the ending timer tells so from the loop, never from inside supervise_stop. */
    loop_timer_set(s->loop, s->ending_timer, s->pid_known ? s->limits.exit_after_eof : 0);
}

static void signal_group(struct supervise *s, int signal)
{
    char text[64];
    snprintf(text, sizeof text, "still there, sending %s", signal == SIGTERM ? "TERM" : "KILL");
    transcript_line(&s->transcript, "daemon", text);
    kill(-s->process.pid, signal);
}

static void on_ending_timer(void *arg)
{
    struct supervise *s = arg;
    if (!s->pid_known || s->exited) {
        gone(s);
        return;
    }
    if (s->by_socket || s->ending == ENDING_KILL) {
        int64_t left = stuck_in_ms(s);
        if (left > 0)
            loop_timer_set(s->loop, s->ending_timer, left);
        else
            tell(s, true);
        return;
    }
    bool first = s->ending == ENDING_EOF;
    s->ending = first ? ENDING_TERM : ENDING_KILL;
    signal_group(s, first ? SIGTERM : SIGKILL);
    loop_timer_set(s->loop, s->ending_timer, first ? s->limits.exit_after_term : stuck_in_ms(s));
}

static void fail_with(struct supervise *s, const struct rl_err *why)
{
    set_failure(s, why);
    begin_ending(s);
}

void supervise_stop(struct supervise *s, const struct rl_err *why)
{
    if (s->ending == NOT_ENDING)
        fail_with(s, why);
    else if (!s->result)
        set_failure(s, why);
}

/* ---- deadlines ---- */

static int64_t phase_limit(const struct supervise *s, enum phase phase)
{
    const int64_t limits[] = {s->limits.start, s->limits.ceilings, s->limits.kernels, s->limits.counters,
                              s->limits.checks};
    return limits[phase];
}

static void arm_deadline(struct supervise *s)
{
    int64_t at = s->phase_deadline_ns[s->phase];
    int64_t total = s->started_ns + s->limits.total * 1000000;
    /* rounded up, so that the deadline has passed when it fires */
    int64_t left = ((at < total ? at : total) - rl_monotonic_ns() + 999999) / 1000000;
    loop_timer_set(s->loop, s->deadline_timer, left > 0 ? left : 0);
}

static void enter_phase(struct supervise *s, enum phase phase)
{
    s->phase = phase;
    if (s->phase_deadline_ns[phase] == 0)
        s->phase_deadline_ns[phase] = rl_monotonic_ns() + phase_limit(s, phase) * 1000000;
    arm_deadline(s);
}

static void on_deadline(void *arg)
{
    struct supervise *s = arg;
    struct rl_err err = {0};
    if (s->final) {
        /* It said all it had to say and does not leave: its answer stands, it is ended. */
        begin_ending(s);
        return;
    }
    bool whole = rl_monotonic_ns() >= s->started_ns + s->limits.total * 1000000;
    const char *step = s->what[0] != '\0' ? s->what : "nothing yet";
    if (whole)
        rl_fail(&err, RL_E_MEASURE_TIMEOUT, NULL,
                "The measuring process took more than %" PRId64 " ms (in phase %s, last step: %s).", s->limits.total,
                phase_names[s->phase], step);
    else
        rl_fail(&err, RL_E_MEASURE_TIMEOUT, NULL, "Phase %s took more than %" PRId64 " ms (last step: %s).",
                phase_names[s->phase], phase_limit(s, s->phase), step);
    fail_with(s, &err);
}

/* ---- lines ---- */

static void copy_clean(char *to, size_t size, const char *from)
{
    struct rl_buf clean;
    rl_buf_init(&clean, size - 1);
    transcript_escape(&clean, from, strlen(from), false);
    snprintf(to, size, "%s", clean.data != NULL ? clean.data : "");
    rl_buf_free(&clean);
}

static const char *text_of(const json_t *body, const char *member)
{
    const char *text = json_string_value(json_object_get(body, member));
    return text != NULL ? text : "";
}

static int send_request(struct supervise *s, struct rl_err *err)
{
    struct rl_buf line;
    rl_buf_init(&line, PROTOCOL_REQUEST_MAX);
    int result = 0;
    /* the stream's buffer is empty and larger than a request: a short write means that the other end is broken */
    if (wire_request_write(&s->request, &line) != 0)
        result = rl_fail(err, RL_E_INTERNAL, NULL, "The request to the measuring process could not be written.");
    else if (send(s->process.channel, line.data, line.len, MSG_NOSIGNAL) != (ssize_t)line.len)
        result = rl_fail(err, RL_E_MEASURE_CRASHED, NULL, "The measuring process took no request.");
    rl_buf_free(&line);
    return result;
}

static int on_hello(struct supervise *s, const json_t *body, struct rl_err *err)
{
    json_int_t pid = json_integer_value(json_object_get(body, "pid"));
    copy_clean(s->backend, sizeof s->backend, text_of(body, "backend"));
    if (s->by_socket && !s->pid_known)
        return rl_fail(err, RL_E_MEASURE_START, "--measure-socket",
                       "The process at the socket runs where its pid cannot be seen, so its end could not be either.");
    if (s->by_socket && pid != s->process.pid)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, NULL,
                       "hello gives pid %" JSON_INTEGER_FORMAT ", the kernel says %ld.", pid, (long)s->process.pid);
    /* Behind a socket the operator's unit decides what measures; by exec, our own command line did. */
    bool replays = strcmp(s->backend, "replay") == 0;
    if (!s->by_socket && strcmp(s->backend, "null") != 0 && replays != s->replay)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "backend",
                       "hello gives backend \"%s\" for a process started %s --replay.", s->backend,
                       s->replay ? "with" : "without");
    return send_request(s, err);
}

static int on_progress(struct supervise *s, const json_t *body, struct rl_err *err)
{
    const char *name = text_of(body, "phase");
    int phase = 0;
    while (phase < PHASE_COUNT && strcmp(name, phase_names[phase]) != 0)
        phase++;
    if (phase == PHASE_COUNT)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, "phase", "A progress line names a phase that is not known.");
    copy_clean(s->what, sizeof s->what, text_of(body, "what"));
    enter_phase(s, (enum phase)phase);
    return 0;
}

static void on_error(struct supervise *s, const json_t *body)
{
    const json_t *error = json_object_get(body, "error");
    struct rl_err why = {.code = rl_code_from_id(text_of(error, "code"))};
    if (why.code == RL_E_NONE)
        why.code = RL_E_MEASURE_PROTOCOL;
    copy_clean(why.message, sizeof why.message, text_of(error, "message"));
    copy_clean(why.field, sizeof why.field, text_of(error, "field"));
    set_failure(s, &why);
}

static int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct supervise *s = arg;
    int result = 0;
    if (line->kind == WIRE_HELLO)
        result = on_hello(s, line->body, err);
    else if (line->kind == WIRE_PROGRESS)
        result = on_progress(s, line->body, err);
    else if (line->kind == WIRE_LOG)
        transcript_line(&s->transcript, "", text_of(line->body, "text"));
    else if (line->kind == WIRE_WARNING)
        transcript_line(&s->transcript, "warning", text_of(line->body, "message"));
    if (result == 0 && s->events.line(s->events.arg, line, err) != 0)
        return -1;
    if (line->kind == WIRE_ERROR)
        on_error(s, line->body);
    s->result |= result == 0 && line->kind == WIRE_RESULT;
    if (result == 0 && (line->kind == WIRE_ERROR || line->kind == WIRE_RESULT)) {
        s->final = true;
        loop_timer_set(s->loop, s->deadline_timer, s->limits.exit_after_eof);
    }
    return result;
}

/* ---- descriptors ---- */

static void on_exit_ready(void *arg, uint32_t events);

/* Learns the sender's pid from the first message and closes descriptors that it may have passed. */
static void take_control(struct supervise *s, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < count; i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                close(fd);
            }
        }
        struct ucred credentials;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS || s->process.pid != 0)
            continue;
        memcpy(&credentials, CMSG_DATA(c), sizeof credentials);
        if (credentials.pid <= 0) /* of a pid namespace that we do not see into */
            continue;
        s->process.pid = credentials.pid;
        s->process.pidfd = spawn_pidfd(credentials.pid);
        s->exited = s->process.pidfd < 0 && errno == ESRCH;
        /* a pid that cannot be watched is as good as none: on_hello then asks it for nothing */
        s->pid_known = s->exited ||
                       (s->process.pidfd >= 0 &&
                        loop_add_fd(s->loop, s->process.pidfd, EPOLLIN, on_exit_ready, s, &s->exit_source, NULL) == 0);
    }
}

static ssize_t receive(struct supervise *s, void *data, size_t size)
{
    if (!s->by_socket)
        return recv(s->process.channel, data, size, 0);
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec part = {data, size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(s->process.channel, &message, MSG_CMSG_CLOEXEC);
    if (got >= 0)
        take_control(s, &message);
    return got;
}

static void stream_ended(struct supervise *s)
{
    struct rl_err err = {0};
    if (wire_reader_end(s->reader, &err) != 0)
        set_failure(s, &err);
    begin_ending(s);
}

/* One read of the stream: false when there is nothing more to read now or ever. */
static bool read_stream(struct supervise *s)
{
    char data[READ_BYTES];
    ssize_t got = receive(s, data, sizeof data);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    struct rl_err err = {0};
    if (got > 0 && wire_reader_feed(s->reader, data, (size_t)got, &err) != 0) {
        fail_with(s, &err);
        return false;
    }
    if (got <= 0)
        stream_ended(s);
    return got > 0;
}

static void on_channel(void *arg, uint32_t events)
{
    struct supervise *s = arg;
    (void)events;
    read_stream(s);
    if (s->exited)
        end_now(s);
}

static bool read_output(struct supervise *s)
{
    char data[READ_BYTES];
    ssize_t got = read(s->process.output, data, sizeof data);
    if (got > 0)
        transcript_output(&s->transcript, data, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_source(s, &s->output_source, &s->process.output);
    return got > 0;
}

static void on_output(void *arg, uint32_t events)
{
    (void)events;
    read_output(arg);
}

/* The process has exited: what it left in the stream and in the pipe still counts. */
static void end_now(struct supervise *s)
{
    for (int i = 0; i < DRAIN_READS && s->channel_source != NULL && read_stream(s); i++)
        continue;
    if (s->channel_source != NULL)
        stream_ended(s);
    for (int i = 0; i < DRAIN_READS && s->output_source != NULL && read_output(s); i++)
        continue;
    gone(s);
}

static void on_exit_ready(void *arg, uint32_t events)
{
    struct supervise *s = arg;
    (void)events;
    if (!s->by_socket) {
        /* Before the leader is reaped, so that the group's number is still its own: nothing of it may hold the GPU on.
         */
        kill(-s->process.pid, SIGKILL);
        s->wait_status_known = waitpid(s->process.pid, &s->wait_status, WNOHANG) == s->process.pid;
    }
    close_source(s, &s->exit_source, &s->process.pidfd);
    s->exited = true;
    end_now(s);
}

/* ---- start and free ---- */

static int watch(struct supervise *s, struct rl_err *err)
{
    if (loop_add_timer(s->loop, -1, on_deadline, s, &s->deadline_timer, err) != 0 ||
        loop_add_timer(s->loop, -1, on_ending_timer, s, &s->ending_timer, err) != 0 ||
        loop_add_fd(s->loop, s->process.channel, EPOLLIN, on_channel, s, &s->channel_source, err) != 0)
        return -1;
    if (s->by_socket)
        return 0;
    if (loop_add_fd(s->loop, s->process.output, EPOLLIN, on_output, s, &s->output_source, err) != 0 ||
        loop_add_fd(s->loop, s->process.pidfd, EPOLLIN, on_exit_ready, s, &s->exit_source, err) != 0)
        return -1;
    return 0;
}

int supervise_start(struct loop *loop, const struct supervise_start *start, const struct supervise_events *events,
                    struct supervise **ret, struct rl_err *err)
{
    struct supervise *s = calloc(1, sizeof *s);
    if (s == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to start a measuring process.");
    *s = (struct supervise){.loop = loop,
                            .events = *events,
                            .limits = start->limits,
                            .request = *start->request,
                            .process = {.channel = -1, .output = -1, .pidfd = -1},
                            .by_socket = start->socket != NULL,
                            .replay = start->replay != NULL,
                            .started_ns = rl_monotonic_ns()};
    s->reader = wire_reader_new(start->request->probe, on_line, s);
    if (s->reader == NULL || transcript_init(&s->transcript, s->started_ns) != 0) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to start a measuring process.");
        goto out;
    }
    int failed = s->by_socket ? spawn_connect(start->socket, &s->process, err)
                              : spawn_exec(start->exec, start->replay, &s->process, err);
    if (failed != 0)
        goto out;
    s->pid_known = !s->by_socket;
    if (watch(s, err) != 0) {
        if (!s->by_socket) {
            kill(-s->process.pid, SIGKILL);
            waitpid(s->process.pid, NULL, 0);
        }
        goto out;
    }
    enter_phase(s, PHASE_START);
    *ret = s;
    return 0;
out:
    supervise_free(s);
    return -1;
}

pid_t supervise_pid(const struct supervise *s)
{
    return s->process.pid;
}

struct transcript *supervise_transcript(struct supervise *s)
{
    return &s->transcript;
}

const char *supervise_backend(const struct supervise *s)
{
    return s->backend;
}

void supervise_free(struct supervise *s)
{
    if (s == NULL)
        return;
    close_source(s, &s->channel_source, &s->process.channel);
    close_source(s, &s->output_source, &s->process.output);
    close_source(s, &s->exit_source, &s->process.pidfd);
    loop_remove(s->loop, s->deadline_timer);
    loop_remove(s->loop, s->ending_timer);
    wire_reader_free(s->reader);
    transcript_fini(&s->transcript);
    free(s);
}
