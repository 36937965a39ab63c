/* Life of one measuring process; see server/process/supervise.h.
 *
 *   start ── hello, request ── lines … result|error ── end of stream ── exit ── reaped ── ended()
 *                    └─ broken protocol, deadline, supervise_stop ─┐        │
 *                                  our end closed ── TERM ── KILL ─┴─ exit ─┘ or stuck
 */
#include "server/process/internal.h"

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

#include "gpu/base/time.h"
#include "server/limits/limits.h"

#define READ_BYTES 65536u
/* Reads left in a stream: more than a socket buffer holds (net.core.wmem_max is 208 KiB by default). */
#define DRAIN_READS 256

static void end_now(struct supervise *s);

void supervise_limits_default(const struct rl_suite *suite, int64_t total_ms, struct supervise_limits *ret)
{
    double scale = total_ms > 0 ? (double)total_ms / LIMIT_JOB_MS : 1;
    int64_t total = (int64_t)(LIMIT_JOB_MS * scale);
    *ret = (struct supervise_limits){
        .phase = {LIMIT_PROBE_MS},
        .total = suite == NULL ? LIMIT_PROBE_MS
                 : total > 0   ? total
                               : 1,
        .exit_after_eof = LIMIT_EXIT_AFTER_EOF_MS,
        .exit_after_term = LIMIT_EXIT_AFTER_TERM_MS,
        .stuck = LIMIT_STUCK_MS,
    };
    for (size_t i = 0; suite != NULL && i < suite->phase_count; i++) {
        int64_t limit = (int64_t)(suite->phases[i].limit_s * 1000 * scale);
        ret->phase[i] = limit > 0 ? limit : 1;
    }
}

/* ---- descriptors ---- */

static void fail_with(struct supervise *s, const struct rl_err *why)
{
    supervise_set_failure(s, why);
    supervise_begin_ending(s);
}

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
        supervise_set_failure(s, &err);
    supervise_begin_ending(s);
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
        supervise_close(s, &s->output_source, &s->process.output);
    return got > 0;
}

static void on_output(void *arg, uint32_t events)
{
    (void)events;
    read_output(arg);
}

/* Reads all that there is of the stream now, however it ends. */
static void drain(struct supervise *s)
{
    for (int i = 0; i < DRAIN_READS && s->channel_source != NULL && read_stream(s); i++)
        continue;
}

/* The process has exited: what it left in the stream and in the pipe still counts. */
static void end_now(struct supervise *s)
{
    drain(s);
    if (s->channel_source != NULL)
        stream_ended(s);
    for (int i = 0; i < DRAIN_READS && s->output_source != NULL && read_output(s); i++)
        continue;
    supervise_gone(s);
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
    supervise_close(s, &s->exit_source, &s->process.pidfd);
    s->exited = true;
    end_now(s);
}

/* ---- told to end, or out of time ---- */

void supervise_stop(struct supervise *s, const struct rl_err *why)
{
    if (s->ending == NOT_ENDING)
        drain(s); /* a result that has come counts */
    if (s->ending == NOT_ENDING && s->result)
        supervise_begin_ending(s);
    else if (s->ending == NOT_ENDING)
        fail_with(s, why);
    else if (!s->result)
        supervise_set_failure(s, why);
}

/* The time of the current phase, or of the whole, is over. */
static void on_deadline(void *arg)
{
    struct supervise *s = arg;
    struct rl_err err = {0};
    /* What it has said in time may still be on its way to us. */
    drain(s);
    if (s->ending != NOT_ENDING)
        return;
    if (s->final) {
        /* It said all it had to say and does not leave: its answer stands, it is ended. */
        supervise_begin_ending(s);
        return;
    }
    int64_t now = loop_now_ns(s->loop);
    bool whole = now >= s->started_ns + s->limits.total * 1000000;
    if (!whole && now < s->phase_deadline_ns[s->phase]) {
        supervise_arm_deadline(s); /* it was further than we knew */
        return;
    }
    const char *step = s->what[0] != '\0' ? s->what : "nothing yet";
    if (whole)
        rl_fail(&err, RL_E_MEASURE_TIMEOUT, NULL,
                "The measuring process took more than %" PRId64 " ms (in phase %s, last step: %s).", s->limits.total,
                supervise_phase_name(s), step);
    else
        rl_fail(&err, RL_E_MEASURE_TIMEOUT, NULL, "Phase %s took more than %" PRId64 " ms (last step: %s).",
                supervise_phase_name(s), s->limits.phase[s->phase], step);
    supervise_set_failure(s, &err);
    supervise_begin_ending(s);
}

/* ---- start and free ---- */

static int watch(struct supervise *s, struct rl_err *err)
{
    if (loop_add_timer(s->loop, -1, on_deadline, s, &s->deadline_timer, err) != 0 ||
        loop_add_timer(s->loop, -1, supervise_on_ending, s, &s->ending_timer, err) != 0 ||
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
                            .process = {.channel = -1, .output = -1, .failed = -1, .pidfd = -1},
                            .by_socket = start->socket != NULL,
                            .replay = start->replay != NULL,
                            .started_ns = loop_now_ns(loop)};
    s->reader = wire_reader_new(start->request, supervise_on_line, s);
    if (s->reader == NULL || transcript_init(&s->transcript, rl_monotonic_ns()) != 0) {
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
    supervise_enter_phase(s, 0);
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
    supervise_close(s, &s->channel_source, &s->process.channel);
    supervise_close(s, &s->output_source, &s->process.output);
    supervise_close(s, &s->exit_source, &s->process.pidfd);
    if (s->process.failed >= 0)
        close(s->process.failed);
    loop_remove(s->loop, s->deadline_timer);
    loop_remove(s->loop, s->ending_timer);
    wire_reader_free(s->reader);
    transcript_fini(&s->transcript);
    free(s);
}
