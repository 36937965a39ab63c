/* See server/process/importer.h. What the process writes is untrusted: its lines are counted and capped here, and read
 * strictly by server/imports/accept.c. */
#include "server/process/importer.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/base/escape.h"
#include "gpu/base/time.h"
#include "gpu/wire/import.h"
#include "server/limits/limits.h"
#include "server/process/spawn.h"

#define READ_BYTES   65536u
#define OUTPUT_BYTES 1024u /* kept of what it writes to its standard output and error, which should be nothing */
#define DRAIN_READS  64
#define LEAVE_MS     2000 /* that it may take to exit: after its answer, after the end of its stream, after TERM */

struct import_process {
    struct loop *loop;
    struct spawned process;
    struct loop_source *channel_source, *output_source, *exit_source, *timer;
    void (*ended)(void *arg, struct import_process_end *end);
    void *arg;
    char *request;
    int64_t wall_ms;
    struct rl_buf lines; /* whole ones, NUL in place of the line feed, and the beginning of the next */
    size_t line_start, kept;
    int64_t seq;
    bool hello, result, final, failed, closed, exited, termed;
    struct rl_err error;
    char output[OUTPUT_BYTES];
    size_t output_len;
    int status;
};

static void fail_with(struct import_process *p, const struct rl_err *why)
{
    if (!p->failed)
        p->error = *why;
    p->failed = true;
    if (!p->exited)
        kill(-p->process.pid, SIGKILL);
}

static void broken(struct import_process *p, const char *what)
{
    struct rl_err err;
    rl_fail(&err, RL_E_IMPORT_FAILED, NULL, "The importing process broke its protocol: %s.", what);
    fail_with(p, &err);
}

/* ---- lines ---- */

static void copy_clean(char *to, size_t size, const char *from)
{
    struct rl_buf clean;
    rl_buf_init(&clean, size - 1);
    if (from != NULL)
        text_escape(&clean, from, strlen(from), false);
    snprintf(to, size, "%s", clean.data != NULL ? clean.data : "");
    rl_buf_free(&clean);
}

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static void take_error(struct import_process *p, const json_t *line)
{
    const json_t *error = json_object_get(line, "error");
    const char *code = text_of(error, "code"), *message = text_of(error, "message");
    struct rl_err why = {.code = code != NULL ? rl_code_from_id(code) : RL_E_NONE};
    if (why.code == RL_E_NONE || message == NULL) {
        broken(p, "an error without a known code and a message");
        return;
    }
    copy_clean(why.message, sizeof why.message, message);
    copy_clean(why.field, sizeof why.field, text_of(error, "field"));
    p->error = why;
    p->failed = p->final = true;
    loop_timer_set(p->loop, p->timer, LEAVE_MS);
}

static void take_hello(struct import_process *p, const json_t *line)
{
    if (json_integer_value(json_object_get(line, "protocol")) != IMPORT_PROTOCOL) {
        broken(p, "hello is of another protocol; install rooflined and roofline-import of one build");
        return;
    }
    p->hello = true;
    /* the stream's buffer is empty and larger than a request */
    size_t len = strlen(p->request);
    if (send(p->process.channel, p->request, len, MSG_NOSIGNAL) != (ssize_t)len)
        broken(p, "it took no request");
}

/* hello and error are small and read here; samples and the result are kept as they are, but for their kind and seq,
 * which stand at their beginning: {"t":"sample","seq":2, */
static void take_line(struct import_process *p, char *text, size_t len)
{
    char head[64];
    if (memchr(text, '\0', len) != NULL || p->final) {
        broken(p, p->final ? "a line after the last" : "a NUL in a line");
        return;
    }
    p->seq++;
    for (int kind = 0; kind < 2; kind++) {
        int head_len = snprintf(head, sizeof head, "{\"t\":\"%s\",\"seq\":%lld,", kind == 0 ? "sample" : "result",
                                (long long)p->seq);
        if (strncmp(text, head, (size_t)head_len) != 0)
            continue;
        if (!p->hello)
            broken(p, "an answer before hello");
        p->result = p->final = kind == 1;
        if (p->final)
            loop_timer_set(p->loop, p->timer, LEAVE_MS);
        return;
    }
    json_t *line = len <= IMPORT_REQUEST_MAX ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *kind = text_of(line, "t");
    bool in_turn = json_integer_value(json_object_get(line, "seq")) == p->seq;
    if (kind == NULL || !in_turn)
        broken(p, "a line that is none, or out of turn");
    else if (strcmp(kind, "hello") == 0 && !p->hello)
        take_hello(p, line);
    else if (strcmp(kind, "error") == 0 && p->hello)
        take_error(p, line);
    else
        broken(p, "a line of an unknown kind");
    json_decref(line);
    p->lines.len = p->line_start; /* read, and not to be kept */
}

/* Why so many more bytes of the stream were not kept. */
static void no_room(struct import_process *p, size_t more)
{
    struct rl_err err;
    if (p->lines.len - p->line_start + more > LIMIT_IMPORT_LINE_BYTES)
        rl_fail(&err, RL_E_TOO_LARGE, NULL,
                "The imported run's document takes more than %u bytes; import fewer kernels at once.",
                LIMIT_IMPORT_LINE_BYTES);
    else if (p->lines.len + more + 1 > LIMIT_IMPORT_STREAM_BYTES)
        rl_fail(&err, RL_E_TOO_LARGE, NULL,
                "The imported run takes more than %u bytes with its samples; leave out sample lines, or import fewer "
                "kernels at once.",
                LIMIT_IMPORT_STREAM_BYTES);
    else
        rl_fail(&err, RL_E_NO_MEMORY, NULL, "No memory for the imported run.");
    fail_with(p, &err);
}

static void take_bytes(struct import_process *p, const char *data, size_t len)
{
    while (len > 0 && !p->failed) {
        const char *newline = memchr(data, '\n', len);
        size_t part = newline != NULL ? (size_t)(newline - data) : len;
        if (p->lines.len - p->line_start + part > LIMIT_IMPORT_LINE_BYTES || rl_buf_add(&p->lines, data, part) != 0 ||
            (newline != NULL && rl_buf_add(&p->lines, "", 1) != 0)) {
            no_room(p, part);
            return;
        }
        data += part + (newline != NULL);
        len -= part + (newline != NULL);
        if (newline != NULL) {
            take_line(p, p->lines.data + p->line_start, p->lines.len - 1 - p->line_start);
            p->line_start = p->lines.len;
        }
    }
}

/* ---- the end ---- */

/* Whether the limit that the daemon itself runs under explains it that no import is read: the program may not even be
 * started, or loaded. */
static bool too_little_memory(struct rl_err *ret)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= LIMIT_IMPORT_MEMORY_BYTES)
        return false;
    rl_fail(ret, RL_E_NO_MEMORY, NULL,
            "The import was not read: the daemon's own limit of addresses, RLIMIT_AS, leaves it %llu bytes, and it may "
            "need %lld.",
            (unsigned long long)limit.rlim_cur, LIMIT_IMPORT_MEMORY_BYTES);
    return true;
}

static void describe_end(struct import_process *p, struct rl_err *ret)
{
    int status = p->status, not_run = spawn_exec_error(&p->process);
    char text[4 * OUTPUT_BYTES + 1];
    if (p->output_len > 0) {
        struct rl_buf clean;
        rl_buf_init(&clean, sizeof text - 1);
        text_escape(&clean, p->output, p->output_len, false);
        fprintf(stderr, "rooflined: import: the process wrote: %.1000s\n", clean.data != NULL ? clean.data : "");
        rl_buf_free(&clean);
    }
    if (not_run != 0)
        rl_fail(ret, RL_E_IMPORT_FAILED, "--import-exec", "The importing program could not be started: %s.",
                strerror(not_run));
    else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM))
        rl_fail(ret, RL_E_IMPORT_TIMEOUT, NULL, "The import took more than %d s, or %d s of a processor.",
                LIMIT_IMPORT_WALL_S, LIMIT_IMPORT_CPU_S);
    else if (too_little_memory(ret))
        return;
    else if (WIFSIGNALED(status))
        rl_fail(ret, RL_E_IMPORT_FAILED, NULL, "The importing process was ended by signal %d (%s) without an answer.",
                WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        rl_fail(ret, RL_E_IMPORT_FAILED, NULL, "The importing process exited with status %d without an answer.",
                WEXITSTATUS(status));
}

static void tell(struct import_process *p)
{
    struct import_process_end end = {.error = p->error};
    if (!p->failed && p->result) {
        end.len = p->lines.len;
        end.lines = rl_buf_take(&p->lines);
        if (end.lines == NULL)
            rl_fail(&end.error, RL_E_NO_MEMORY, NULL, "No memory for the import.");
    } else if (!p->failed) {
        describe_end(p, &end.error);
    }
    p->ended(p->arg, &end); /* may free p */
}

static void close_source(struct import_process *p, struct loop_source **source, int *fd)
{
    loop_remove(p->loop, *source);
    *source = NULL;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* No more comes, or no more is wanted. */
static void close_stream(struct import_process *p)
{
    p->closed = true;
    close_source(p, &p->channel_source, &p->process.channel);
    loop_timer_set(p->loop, p->timer, LEAVE_MS);
}

/* One read of the stream: false when there is nothing more now or ever. */
static bool read_stream(struct import_process *p)
{
    char data[READ_BYTES];
    ssize_t got = p->process.channel >= 0 ? recv(p->process.channel, data, sizeof data, 0) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    if (got > 0) {
        take_bytes(p, data, (size_t)got);
        return true;
    }
    if (!p->failed && p->lines.len != p->line_start)
        broken(p, "its stream ends within a line");
    close_stream(p);
    return false;
}

static void on_channel(void *arg, uint32_t events)
{
    (void)events;
    read_stream(arg);
}

static void on_output(void *arg, uint32_t events)
{
    struct import_process *p = arg;
    char data[4096];
    (void)events;
    ssize_t got = read(p->process.output, data, sizeof data);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        close_source(p, &p->output_source, &p->process.output);
        return;
    }
    size_t room = sizeof p->output - p->output_len, part = (size_t)got < room ? (size_t)got : room;
    memcpy(p->output + p->output_len, data, part);
    p->output_len += part;
}

static void on_exit_ready(void *arg, uint32_t events)
{
    struct import_process *p = arg;
    (void)events;
    if (waitpid(p->process.pid, &p->status, WNOHANG) != p->process.pid)
        return;
    p->exited = true;
    /* what it may have started goes with it */
    kill(-p->process.pid, SIGKILL);
    close_source(p, &p->exit_source, &p->process.pidfd);
    for (int i = 0; i < DRAIN_READS && read_stream(p); i++)
        continue;
    if (p->output_source != NULL)
        on_output(p, 0);
    loop_timer_set(p->loop, p->timer, -1);
    tell(p);
}

/* It has said all it had to say and does not leave: its answer stands. */
static void make_it_leave(struct import_process *p)
{
    if (!p->closed) {
        close_stream(p);
        return;
    }
    kill(-p->process.pid, p->termed ? SIGKILL : SIGTERM);
    p->termed = true;
    loop_timer_set(p->loop, p->timer, LEAVE_MS);
}

static void on_timer(void *arg)
{
    struct import_process *p = arg;
    struct rl_err err;
    /* what it has said in time may still be on its way to us */
    for (int i = 0; i < DRAIN_READS && !p->closed && read_stream(p); i++)
        continue;
    if (p->final || p->closed) {
        make_it_leave(p);
        return;
    }
    rl_fail(&err, RL_E_IMPORT_TIMEOUT, NULL, "The import took more than %lld s.", (long long)p->wall_ms / 1000);
    fail_with(p, &err);
}

void import_process_stop(struct import_process *process, const struct rl_err *why)
{
    fail_with(process, why);
}

/* ---- start and free ---- */

int import_process_start(struct loop *loop, const struct import_process_start *start,
                         void (*ended)(void *arg, struct import_process_end *end), void *arg,
                         struct import_process **ret, struct rl_err *err)
{
    struct import_process *p = calloc(1, sizeof *p);
    if (p == NULL || (p->request = strdup(start->request)) == NULL) {
        free(p);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to start an import.");
    }
    p->loop = loop;
    p->ended = ended;
    p->arg = arg;
    p->wall_ms = start->wall_ms;
    p->exited = true; /* until it is there */
    p->process = (struct spawned){.channel = -1, .output = -1, .failed = -1, .pidfd = -1};
    rl_buf_init(&p->lines, LIMIT_IMPORT_STREAM_BYTES);
    if (spawn_import(start->exec, start->files, start->file_count, &p->process, err) != 0) {
        (void)too_little_memory(err);
        import_process_free(p);
        return -1;
    }
    p->exited = false;
    if (loop_add_fd(loop, p->process.channel, EPOLLIN, on_channel, p, &p->channel_source, err) != 0 ||
        loop_add_fd(loop, p->process.output, EPOLLIN, on_output, p, &p->output_source, err) != 0 ||
        loop_add_fd(loop, p->process.pidfd, EPOLLIN, on_exit_ready, p, &p->exit_source, err) != 0 ||
        loop_add_timer(loop, start->wall_ms, on_timer, p, &p->timer, err) != 0) {
        import_process_free(p);
        return -1;
    }
    *ret = p;
    return 0;
}

void import_process_free(struct import_process *p)
{
    if (p == NULL)
        return;
    if (!p->exited) {
        kill(-p->process.pid, SIGKILL);
        waitpid(p->process.pid, NULL, 0);
    }
    close_source(p, &p->channel_source, &p->process.channel);
    close_source(p, &p->output_source, &p->process.output);
    close_source(p, &p->exit_source, &p->process.pidfd);
    if (p->process.failed >= 0)
        close(p->process.failed);
    loop_remove(p->loop, p->timer);
    rl_buf_free(&p->lines);
    free(p->request);
    free(p);
}
