/* Supervision of one measuring process that the daemon starts itself: how it ends, and what is kept of it. Over a
 * socket: tests/unit/process/test_supervise_socket.c. */
#include "tests/unit/process/supervise_fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

static void ends(struct bench *bench, const char *text, const char *id)
{
    script(bench, text);
    run(bench);
    ended_with(bench, id);
    if (!bench->end.stuck && bench->pid > 0)
        assert_true(kill(bench->pid, 0) != 0 && errno == ESRCH);
}

static void a_probe_ends_well(void **state)
{
    struct bench *bench = *state;
    ends(bench, HELLO "request\necho\n" LOG("a b") RESULT, "ok");
    assert_int_equal(bench->lines, 4);
    says(bench, "s] {\"t\":\"probe\",\"protocol\":2}\n");
    says(bench, "s] a b\n");
    says(bench, "exited with status 0\n");
}

static void a_run_is_asked_for_by_device_and_kernels(void **state)
{
    struct bench *bench = *state;
    bench->request = one_kernel("GPU-1");
    ends(bench, HELLO "request\necho\n" FAILED, "device_busy");
    says(bench, "\"devices\":[\"GPU-1\"]");
    says(bench, "\"kernels\":[\"vector_add\"]");
    assert_string_equal(bench->end.error.message, "held\\x07");
    assert_string_equal(bench->end.error.field, "device");
}

static void it_starts_with_four_descriptors_and_default_signals(void **state)
{
    struct bench *bench = *state;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGHUP, SIG_IGN);
    int leak = open("/dev/null", O_RDONLY); /* not close-on-exec on purpose */
    ends(bench, HELLO "request\nfds\nsignals\n" RESULT, "ok");
    close(leak);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    says(bench, "fds 0 1 2 3\n");
    says(bench, "blocked 0\n");
    says(bench, "ignored 1000\n"); /* SIGPIPE, by the fake itself */
    says(bench, "pgid own\n");
}

static void a_process_that_exits_before_hello_has_crashed(void **state)
{
    ends(*state, "exit 69\n", "measure_crashed");
    says(*state, "exited with status 69");
    assert_non_null(strstr(((struct bench *)*state)->end.error.message, "without a result. The process "));
    assert_non_null(strstr(((struct bench *)*state)->end.error.message, "exited with status 69."));
}

static void a_crash_in_mid_line_names_the_signal(void **state)
{
    ends(*state, HELLO "request\npart {\"t\":\"log\",\"se\nabort\n", "measure_crashed");
    assert_non_null(strstr(((struct bench *)*state)->end.error.message, "signal 6"));
}

static void garbage_breaks_the_protocol(void **state)
{
    ends(*state, HELLO "request\nline \x01\xff not json\nhang\n", "measure_protocol");
}

static void an_oversize_line_breaks_the_protocol(void **state)
{
    ends(*state, HELLO "request\nfill 1200000\nhang\n", "measure_protocol");
}

static void a_gap_in_seq_breaks_the_protocol(void **state)
{
    ends(*state, HELLO "request\nline {\"t\":\"log\",\"seq\":9,\"at_ns\":@NS,\"text\":\"\"}\nhang\n",
         "measure_protocol");
}

static void a_second_result_breaks_the_protocol(void **state)
{
    ends(*state, HELLO "request\n" RESULT RESULT "hang\n", "measure_protocol");
}

static void an_end_without_result_is_a_crash_even_with_status_0(void **state)
{
    ends(*state, HELLO "request\n" LOG("x") "exit 0\n", "measure_crashed");
}

static void another_backend_than_the_command_line_says_is_refused(void **state)
{
    ends(*state,
         "line "
         "{\"t\":\"hello\",\"seq\":@SEQ,\"at_ns\":@NS,\"protocol\":2,\"build\":\"b\",\"backend\":\"cuda\",\"pid\":@PID}"
         "\nhang\n",
         "measure_protocol");
}

static void a_hang_before_hello_is_a_timeout_of_start(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.phase[0] = 100;
    ends(bench, "hang\n", "measure_timeout");
    assert_non_null(strstr(bench->end.error.message, "Phase start"));
}

static void each_phase_has_its_own_time(void **state)
{
    struct bench *bench = *state;
    bench->request = one_kernel("");
    bench->start.limits.phase[0] = 10000;
    bench->start.limits.phase[KERNELS] = 150;
    ends(bench, HELLO "request\n" PROGRESS("ceilings") "sleep 200\n" PROGRESS("kernels") PROGRESS("kernels") "hang\n",
         "measure_timeout");
    assert_non_null(strstr(bench->end.error.message, "Phase kernels took more than 150 ms (last step: step)"));
}

static void more_progress_in_a_phase_gives_no_more_time(void **state)
{
    struct bench *bench = *state;
    bench->request = one_kernel("");
    bench->start.limits.phase[KERNELS] = 300;
    /* 5 s of progress: were each line to start the time again, the last phase would come */
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof text, HELLO "request\n");
    for (int i = 0; i < 50; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, PROGRESS("kernels") "sleep 100\n");
    snprintf(text + at, sizeof text - at, PROGRESS("counters") "exit 0\n");
    ends(bench, text, "measure_timeout");
    assert_non_null(strstr(bench->end.error.message, "Phase kernels"));
}

static void the_whole_has_a_limit_too(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.total = 120;
    ends(bench, HELLO "request\nhang\n", "measure_timeout");
    assert_non_null(strstr(bench->end.error.message, "in phase start"));
}

static void term_ends_one_that_ignores_the_end_of_the_stream(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.exit_after_eof = 50;
    bench->stop_at_log = true;
    ends(bench, "ignore-eof\n" HELLO "request\n" LOG("here") "hang\n", "cancelled");
    says(bench, "still there, sending TERM\n");
    says(bench, "ended by signal 15");
}

static void kill_ends_one_that_ignores_term(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.exit_after_eof = 50;
    bench->start.limits.exit_after_term = 50;
    bench->stop_at_log = true;
    ends(bench, "ignore-eof\nignore-term\n" HELLO "request\n" LOG("here") "hang\n", "cancelled");
    says(bench, "sending KILL\n");
    says(bench, "ended by signal 9");
}

static void a_stop_while_progress_comes_ends_it_by_end_of_stream_alone(void **state)
{
    struct bench *bench = *state;
    bench->request = one_kernel("");
    bench->stop_at_progress = true;
    ends(bench, HELLO "request\n" PROGRESS("kernels") "hang\n", "cancelled");
    assert_null(strstr(bench->transcript, "still there"));
}

static void children_go_with_it(void **state)
{
    struct bench *bench = *state;
    ends(bench, HELLO "request\nchild\n" RESULT "exit 0\n", "ok");
    const char *at = strstr(bench->transcript, "s] child ");
    assert_non_null(at);
    pid_t child = (pid_t)strtol(at + strlen("s] child "), NULL, 10);
    assert_true(child > 1);
    assert_true(kill(child, 0) != 0 && errno == ESRCH);
}

static void a_result_stands_when_the_process_does_not_leave(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.exit_after_eof = 50;
    ends(bench, "ignore-eof\n" HELLO "request\n" RESULT "hang\n", "ok");
    says(bench, "sending TERM");
}

static void a_closed_stream_without_exit_is_ended(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.exit_after_eof = 50;
    ends(bench, HELLO "request\nclose\nhang\n", "measure_crashed");
    says(bench, "sending TERM");
}

static void output_is_kept_capped_and_escaped(void **state)
{
    struct bench *bench = *state;
    ends(bench, HELLO "request\nstdout \x1b[31mred\x9b\nflood 3000\n" RESULT, "ok");
    says(bench, "the last 16384 of ");
    says(bench, "noise 3000\n");
    assert_null(strstr(bench->transcript, "noise 1\n"));
}

static void control_bytes_are_written_as_hex(void **state)
{
    struct bench *bench = *state;
    ends(bench, HELLO "request\nstdout \x1b[31mred\x9b é\n" LOG("\\u001b[0m\\u009b") RESULT, "ok");
    says(bench, "\\x1b[31mred\\x9b é\n");
    says(bench, "\\x1b[0m\\xc2\\x9b\n");
}

static void many_log_lines_are_capped_and_counted(void **state)
{
    struct bench *bench = *state;
    size_t size = 4 << 20, at = 0;
    char *text = malloc(size);
    at += (size_t)snprintf(text + at, size - at, "%srequest\n", HELLO);
    for (int i = 0; i < 6000; i++)
        at += (size_t)snprintf(text + at, size - at, LOG("%060d"), i);
    snprintf(text + at, size - at, "%s", RESULT);
    ends(bench, text, "ok");
    free(text);
    assert_true(strlen(bench->transcript) < LIMIT_TRANSCRIPT_BYTES + 1024);
    says(bench, "more lines were dropped");
}

/* ---- a daemon that was stopped itself ---- */

/* Stops this process, as SIGSTOP or a suspended machine does, and lets it go on after so many ms. */
static void stop_us_for(int ms)
{
    pid_t us = getpid(), helper = fork();
    assert_true(helper >= 0);
    if (helper == 0) {
        struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
        kill(us, SIGSTOP);
        nanosleep(&time, NULL);
        kill(us, SIGCONT);
        _exit(0);
    }
    waitpid(helper, NULL, 0); /* we are stopped somewhere in here */
}

static void on_stopper(void *arg)
{
    const struct bench *bench = arg;
    stop_us_for((int)bench->stop_us_ms);
}

static void what_was_said_in_time_counts_however_late_it_is_read(void **state)
{
    struct bench *bench = *state;
    FILE *file = fopen(bench->socket, "we"); /* no socket is needed here: its name serves */
    assert_non_null(file);
    /* more than one read takes, so that the result is not in the first */
    for (int i = 2; i < 90; i++)
        fprintf(file, "{\"t\":\"log\",\"seq\":%d,\"at_ns\":9000000000000000000,\"text\":\"%01000d\"}\n", i, i);
    fputs("{\"t\":\"result\",\"seq\":90,\"at_ns\":9000000000000000000,\"run\":null}\n", file);
    assert_int_equal(fclose(file), 0);
    char text[512];
    snprintf(text, sizeof text, HELLO "request\nfile %s\nexit 0\n", bench->socket);
    script(bench, text);
    bench->start.limits.phase[0] = bench->start.limits.total = 200;
    bench->hold_us_ms = 900; /* less than the loop takes for a stop: the deadline has passed */
    run(bench);
    ended_with(bench, "ok");
}

static void time_in_which_the_daemon_was_stopped_does_not_count(void **state)
{
    struct bench *bench = *state;
    script(bench, HELLO "request\n" LOG("go") "sleep 4200\n" RESULT "exit 0\n");
    bench->start.limits.phase[0] = bench->start.limits.total = 3000;
    bench->stop_us_ms = 3500;
    bench->stop_us = on_stopper;
    run(bench);
    ended_with(bench, "ok");
}

/* ---- between fork and exec ---- */

static bool stop_before_exec;

int __wrap_execve(const char *path, char *const *argv, char *const *env);
int __real_execve(const char *path, char *const *argv, char *const *env);
int __wrap_execve(const char *path, char *const *argv, char *const *env)
{
    if (stop_before_exec)
        raise(SIGSTOP);
    return __real_execve(path, argv, env);
}

static void on_turn(void *arg)
{
    struct bench *bench = arg;
    bench->turns++;
    loop_timer_set(bench->loop, bench->turn, 20);
}

static void one_that_is_stopped_before_exec_does_not_hold_the_loop(void **state)
{
    struct bench *bench = *state;
    script(bench, HELLO "request\n" RESULT);
    bench->start.limits.phase[0] = 400;
    bench->start.limits.exit_after_eof = bench->start.limits.exit_after_term = 100;
    loop_add_timer(bench->loop, 0, on_turn, bench, &bench->turn, NULL);
    stop_before_exec = true;
    run(bench);
    stop_before_exec = false;
    loop_remove(bench->loop, bench->turn);
    ended_with(bench, "measure_timeout");
    says(bench, "signal 9");
    assert_true(bench->turns > 3);
    assert_int_equal(kill(bench->pid, 0), -1);
}

static void a_program_that_cannot_be_run_is_an_error_of_the_start(void **state)
{
    struct bench *bench = *state;
    script(bench, "no program");
    assert_int_equal(chmod(bench->script, 0700), 0);
    bench->start.exec = bench->script;
    run(bench);
    ended_with(bench, "measure_start");
    assert_non_null(strstr(bench->end.error.message, strerror(ENOEXEC)));
}

static void a_missing_program_is_an_error_of_the_start(void **state)
{
    struct bench *bench = *state;
    struct supervise_events events = {bench, on_line, on_ended};
    struct rl_err err = {0};
    bench->start.exec = "/nonexistent/roofline-measure";
    assert_int_equal(supervise_start(bench->loop, &bench->start, &events, &bench->process, &err), -1);
    assert_int_equal(err.code, RL_E_MEASURE_START);
    assert_null(strstr(err.message, "/nonexistent"));
    assert_null(bench->process);
}

static void the_limits_shrink_in_proportion(void **state)
{
    (void)state;
    struct supervise_limits limits;
    supervise_limits_default(&rl_suite_verify, LIMIT_JOB_MS / 10, &limits);
    assert_int_equal(limits.total, LIMIT_JOB_MS / 10);
    assert_int_equal(limits.phase[KERNELS], verify_phases[KERNELS].limit_s * 100);
    assert_int_equal(limits.stuck, LIMIT_STUCK_MS);
    supervise_limits_default(NULL, 1000, &limits);
    assert_int_equal(limits.phase[0], LIMIT_PROBE_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_probe_ends_well),
        CASE(a_run_is_asked_for_by_device_and_kernels),
        CASE(it_starts_with_four_descriptors_and_default_signals),
        CASE(a_process_that_exits_before_hello_has_crashed),
        CASE(a_crash_in_mid_line_names_the_signal),
        CASE(garbage_breaks_the_protocol),
        CASE(an_oversize_line_breaks_the_protocol),
        CASE(a_gap_in_seq_breaks_the_protocol),
        CASE(a_second_result_breaks_the_protocol),
        CASE(an_end_without_result_is_a_crash_even_with_status_0),
        CASE(another_backend_than_the_command_line_says_is_refused),
        CASE(a_hang_before_hello_is_a_timeout_of_start),
        CASE(each_phase_has_its_own_time),
        CASE(more_progress_in_a_phase_gives_no_more_time),
        CASE(the_whole_has_a_limit_too),
        CASE(term_ends_one_that_ignores_the_end_of_the_stream),
        CASE(kill_ends_one_that_ignores_term),
        CASE(a_stop_while_progress_comes_ends_it_by_end_of_stream_alone),
        CASE(children_go_with_it),
        CASE(a_result_stands_when_the_process_does_not_leave),
        CASE(a_closed_stream_without_exit_is_ended),
        CASE(output_is_kept_capped_and_escaped),
        CASE(control_bytes_are_written_as_hex),
        CASE(many_log_lines_are_capped_and_counted),
        CASE(what_was_said_in_time_counts_however_late_it_is_read),
        CASE(time_in_which_the_daemon_was_stopped_does_not_count),
        CASE(one_that_is_stopped_before_exec_does_not_hold_the_loop),
        CASE(a_program_that_cannot_be_run_is_an_error_of_the_start),
        CASE(a_missing_program_is_an_error_of_the_start),
        CASE(the_limits_shrink_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
