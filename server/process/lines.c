/* What a measuring process says and how long it may take to: hello and the request, phases and their deadlines, errors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "gpu/base/escape.h"
#include "server/process/internal.h"

/* ---- deadlines ---- */

const char *supervise_phase_name(const struct supervise *s)
{
    return s->request.probe ? "start" : s->request.params.suite->phases[s->phase].id;
}

void supervise_arm_deadline(struct supervise *s)
{
    int64_t at = s->phase_deadline_ns[s->phase];
    int64_t total = s->started_ns + s->limits.total * 1000000;
    /* rounded up, so that the deadline has passed when it fires */
    int64_t left = ((at < total ? at : total) - loop_now_ns(s->loop) + 999999) / 1000000;
    loop_timer_set(s->loop, s->deadline_timer, left > 0 ? left : 0);
}

void supervise_enter_phase(struct supervise *s, size_t phase)
{
    s->phase = phase;
    if (s->phase_deadline_ns[phase] == 0)
        s->phase_deadline_ns[phase] = loop_now_ns(s->loop) + s->limits.phase[phase] * 1000000;
    supervise_arm_deadline(s);
}

/* ---- lines ---- */

static void copy_clean(char *to, size_t size, const char *from)
{
    struct rl_buf clean;
    rl_buf_init(&clean, size - 1);
    text_escape(&clean, from, strlen(from), false);
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

static void on_progress(struct supervise *s, const json_t *body)
{
    copy_clean(s->what, sizeof s->what, text_of(body, "what"));
    supervise_enter_phase(s, rl_suite_phase(s->request.params.suite, text_of(body, "phase")));
}

static void on_error(struct supervise *s, const json_t *body)
{
    const json_t *error = json_object_get(body, "error");
    struct rl_err why = {.code = rl_code_from_id(text_of(error, "code"))};
    if (why.code == RL_E_NONE)
        why.code = RL_E_MEASURE_PROTOCOL;
    copy_clean(why.message, sizeof why.message, text_of(error, "message"));
    copy_clean(why.field, sizeof why.field, text_of(error, "field"));
    supervise_set_failure(s, &why);
}

int supervise_on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct supervise *s = arg;
    int result = 0;
    if (line->kind == WIRE_HELLO)
        result = on_hello(s, line->body, err);
    else if (line->kind == WIRE_PROGRESS)
        on_progress(s, line->body);
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
