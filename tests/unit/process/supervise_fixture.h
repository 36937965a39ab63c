/* What the tests of supervision share: one supervised process, scripted (tests/tools/fake_measure.c), and its end. */
#ifndef TESTS_UNIT_PROCESS_SUPERVISE_FIXTURE_H
#define TESTS_UNIT_PROCESS_SUPERVISE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/suites/base/params.h"
#include "gpu/suites/verify/verify.h"
#include "server/limits/limits.h"
#include "server/process/supervise.h"

#define GIVE_UP_MS 120000 /* a test that takes this long has failed */
#define HELLO                                                                                                          \
    "line "                                                                                                            \
    "{\"t\":\"hello\",\"seq\":@SEQ,\"at_ns\":@NS,\"protocol\":2,\"build\":\"b\",\"backend\":\"replay\",\"pid\":@PID}"  \
    "\n"
#define RESULT    "line {\"t\":\"result\",\"seq\":@SEQ,\"at_ns\":@NS,\"run\":null}\n"
#define LOG(text) "line {\"t\":\"log\",\"seq\":@SEQ,\"at_ns\":@NS,\"text\":\"" text "\"}\n"
#define PROGRESS(phase)                                                                                                \
    "line {\"t\":\"progress\",\"seq\":@SEQ,\"at_ns\":@NS,\"phase\":\"" phase                                           \
    "\",\"what\":\"step\",\"done\":1,\"total\":9}\n"
#define FAILED                                                                                                         \
    "line "                                                                                                            \
    "{\"t\":\"error\",\"seq\":@SEQ,\"at_ns\":@NS,\"error\":{\"code\":\"device_busy\",\"message\":\"held\\u0007\","     \
    "\"next_action\":\"wait\",\"field\":\"device\"}}\n"

struct bench {
    struct loop *loop;
    struct supervise *process;
    struct loop_source *give_up, *stopper, *listener;
    char script[64], socket[80];
    int listen_fd;
    pid_t served; /* the process that the listener started */
    struct supervise_start start;
    struct wire_request request;
    int lines, ended;
    bool stop_at_progress, stop_at_log;
    int64_t stop_us_ms, hold_us_ms; /* at the first log line, at hello: what this process itself is kept from running */
    struct loop_source *turn;
    int turns;              /* of the loop's, as a timer counts them */
    int64_t after_stuck_ms; /* how long the loop runs on after a stuck end; the process is ended first */
    void (*stop_us)(void *bench);
    struct supervise_end end;
    pid_t pid;
    char *transcript;
};

#define KERNELS 2 /* the phase of this name in verify_phases */

/* A run of the first kernel, warm. */
static inline struct wire_request one_kernel(const char *device)
{
    struct wire_request request = {.job = "7"};
    snprintf(request.device, sizeof request.device, "%s", device);
    rl_params_default(&rl_suite_verify, &request.params);
    request.params.value[VERIFY_CACHE].has[RL_COLD] = false;
    for (size_t i = 1; i < rl_kernel_count; i++)
        request.params.value[VERIFY_KERNELS].has[i] = false;
    return request;
}

static inline int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_int_equal(loop_new(&bench->loop, NULL), 0);
    snprintf(bench->script, sizeof bench->script, "/tmp/rl_supervise_XXXXXX");
    int fd = mkstemp(bench->script);
    assert_true(fd >= 0);
    close(fd);
    snprintf(bench->socket, sizeof bench->socket, "%s.sock", bench->script);
    bench->listen_fd = -1;
    bench->request.probe = true;
    bench->start = (struct supervise_start){.exec = FAKE_MEASURE, .replay = bench->script, .request = &bench->request};
    supervise_limits_default(&rl_suite_verify, 0, &bench->start.limits);
    *state = bench;
    return 0;
}

static inline int tear_down(void **state)
{
    struct bench *bench = *state;
    supervise_free(bench->process);
    loop_free(bench->loop);
    if (bench->listen_fd >= 0)
        close(bench->listen_fd);
    if (bench->served > 0) {
        kill(bench->served, SIGKILL);
        waitpid(bench->served, NULL, 0);
    }
    unlink(bench->script);
    unlink(bench->socket);
    free(bench->transcript);
    free(bench);
    return 0;
}

static inline void script(struct bench *bench, const char *text)
{
    FILE *file = fopen(bench->script, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void on_give_up(void *arg)
{
    struct bench *bench = arg;
    loop_stop(bench->loop);
}

static inline void on_stop(void *arg)
{
    struct bench *bench = arg;
    struct rl_err why = {0};
    rl_fail(&why, RL_E_CANCELLED, NULL, "The job was cancelled.");
    supervise_stop(bench->process, &why);
}

static inline int on_line(void *arg, const struct wire_line *line, struct rl_err *err)
{
    struct bench *bench = arg;
    (void)err;
    bench->lines++;
    if (line->kind == WIRE_HELLO && bench->hold_us_ms > 0)
        usleep((useconds_t)bench->hold_us_ms * 1000);
    if (line->kind == WIRE_LOG && bench->stop_us_ms > 0)
        bench->stop_us(bench);
    if ((line->kind == WIRE_PROGRESS && bench->stop_at_progress) || (line->kind == WIRE_LOG && bench->stop_at_log))
        loop_timer_set(bench->loop, bench->stopper, 0);
    return 0;
}

static inline void on_ended(void *arg, const struct supervise_end *end)
{
    struct bench *bench = arg;
    struct rl_buf text;
    bench->ended++;
    bench->end = *end;
    bench->pid = supervise_pid(bench->process);
    rl_buf_init(&text, 1 << 20);
    assert_int_equal(transcript_write(supervise_transcript(bench->process), &text), 0);
    free(bench->transcript);
    bench->transcript = rl_buf_take(&text);
    if (end->stuck) {
        siginfo_t info;
        assert_int_equal(kill(bench->served, SIGKILL), 0);
        assert_int_equal(waitid(P_PID, (id_t)bench->served, &info, WEXITED | WNOWAIT), 0);
        loop_timer_set(bench->loop, bench->give_up, bench->after_stuck_ms);
        return;
    }
    supervise_free(bench->process);
    bench->process = NULL;
    loop_stop(bench->loop);
}

static inline void run(struct bench *bench)
{
    struct supervise_events events = {bench, on_line, on_ended};
    struct rl_err err = {0};
    loop_add_timer(bench->loop, GIVE_UP_MS, on_give_up, bench, &bench->give_up, NULL);
    loop_add_timer(bench->loop, -1, on_stop, bench, &bench->stopper, NULL);
    if (supervise_start(bench->loop, &bench->start, &events, &bench->process, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(loop_run(bench->loop, NULL), 0);
    if (bench->ended != 1)
        fail_msg("ended was called %d times", bench->ended);
}

/* The end's error code by id, "ok" when complete: a mismatch shows what came instead. */
static inline void ended_with(const struct bench *bench, const char *id)
{
    const char *got = bench->end.complete ? "ok" : rl_code_id(bench->end.error.code);
    if (strcmp(got, id) != 0)
        fail_msg("%s: %s\n%s", got, bench->end.error.message, bench->transcript);
}

static inline void says(const struct bench *bench, const char *part)
{
    if (bench->transcript == NULL || strstr(bench->transcript, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, bench->transcript != NULL ? bench->transcript : "(nothing)");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
