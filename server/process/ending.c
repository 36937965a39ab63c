/* How a measuring process ends: its failure, our end of the stream closed, TERM, KILL, its exit told, or that it is
 * stuck. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/process/internal.h"

/* How often a process group is looked at after its leader's exit. No descriptor tells when a group is empty. */
#define GROUP_POLL_MS 20

void supervise_close(struct supervise *s, struct loop_source **source, int *fd)
{
    loop_remove(s->loop, *source);
    *source = NULL;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void supervise_set_failure(struct supervise *s, const struct rl_err *why)
{
    if (s->failed)
        return;
    s->failed = true;
    s->error = *why;
}

static void describe_exit(struct supervise *s)
{
    char text[160];
    int status = s->wait_status, not_run = spawn_exec_error(&s->process);
    if (not_run != 0 && s->failed && s->error.code == RL_E_MEASURE_CRASHED)
        rl_fail(&s->error, RL_E_MEASURE_START, "--measure-exec", "The measuring program could not be started: %s.",
                strerror(not_run));
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
        size_t len = strlen(seen.message); /* the reader of the stream ends its words without a stop */
        rl_fail(&s->error, RL_E_MEASURE_CRASHED, seen.field[0] != '\0' ? seen.field : NULL, "%s%s The %s.",
                seen.message, len > 0 && seen.message[len - 1] == '.' ? "" : ".", text);
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
    int64_t gone_ms = (loop_now_ns(s->loop) - s->ending_ns) / 1000000;
    return s->limits.stuck > gone_ms ? s->limits.stuck - gone_ms : 0;
}

void supervise_gone(struct supervise *s)
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
        supervise_close(s, &s->output_source, &s->process.output);
    if (s->pid_known)
        describe_exit(s);
    tell(s, false);
}

void supervise_begin_ending(struct supervise *s)
{
    if (s->channel_source != NULL)
        supervise_close(s, &s->channel_source, &s->process.channel);
    loop_timer_set(s->loop, s->deadline_timer, -1);
    if (s->ending != NOT_ENDING)
        return;
    s->ending = ENDING_EOF;
    s->ending_ns = loop_now_ns(s->loop);
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

void supervise_on_ending(void *arg)
{
    struct supervise *s = arg;
    if (!s->pid_known || s->exited) {
        supervise_gone(s);
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
