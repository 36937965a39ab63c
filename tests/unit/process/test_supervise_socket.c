/* Supervision of one measuring process over a socket, behind which a service manager starts it. */
#include "tests/unit/process/supervise_fixture.h"

#include <spawn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* What systemd does with Accept=yes, for one connection. */
static void on_connection(void *arg, uint32_t events)
{
    struct bench *bench = arg;
    (void)events;
    int fd = accept4(bench->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char[]){"fake_measure"}, (char[]){"--protocol"}, (char[]){"--replay"}, bench->script, NULL};
    extern char **environ;
    assert_true(fd > 3);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 3);
    assert_int_equal(posix_spawn(&bench->served, FAKE_MEASURE, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(fd);
}

static void by_socket(struct bench *bench)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", bench->socket);
    bench->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(bench->listen_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(bench->listen_fd, 4), 0);
    assert_int_equal(loop_add_fd(bench->loop, bench->listen_fd, EPOLLIN, on_connection, bench, &bench->listener, NULL),
                     0);
    bench->start.exec = NULL;
    bench->start.replay = NULL;
    bench->start.socket = bench->socket;
}

static void socket_ends(struct bench *bench, const char *text, const char *id)
{
    by_socket(bench);
    script(bench, text);
    run(bench);
    ended_with(bench, id);
}

static void served_is_gone(struct bench *bench)
{
    siginfo_t info = {0};
    assert_int_equal(waitid(P_PID, (id_t)bench->served, &info, WEXITED | WNOHANG), 0);
    assert_int_equal(info.si_pid, bench->served); /* ended() came after its exit, not before */
    bench->served = 0;
}

static void over_a_socket_the_pid_comes_from_the_kernel(void **state)
{
    struct bench *bench = *state;
    socket_ends(bench, HELLO "request\necho\n" RESULT, "ok");
    assert_int_equal(bench->pid, bench->served);
    says(bench, "{\"t\":\"probe\"");
    served_is_gone(bench);
}

static void over_a_socket_another_pid_in_hello_is_refused(void **state)
{
    struct bench *bench = *state;
    socket_ends(bench,
                "line "
                "{\"t\":\"hello\",\"seq\":@SEQ,\"at_ns\":@NS,\"protocol\":2,\"build\":\"b\",\"backend\":\"replay\","
                "\"pid\":1}\nhang\n",
                "measure_protocol");
    served_is_gone(bench);
}

static void over_a_socket_closing_ends_it(void **state)
{
    struct bench *bench = *state;
    bench->stop_at_log = true;
    socket_ends(bench, HELLO "request\n" LOG("here") "hang\n", "cancelled");
    served_is_gone(bench);
}

static void over_a_socket_silence_before_hello_is_a_timeout(void **state)
{
    struct bench *bench = *state;
    bench->start.limits.phase[0] = 100;
    socket_ends(bench, "hang\n", "measure_timeout");
    assert_int_equal(bench->pid, 0);
}

static void over_a_socket_one_that_stays_is_stuck_and_told_once(void **state)
{
    struct bench *bench = *state;
    bench->stop_at_log = true;
    bench->start.limits.exit_after_eof = 50;
    bench->start.limits.stuck = 150;
    bench->after_stuck_ms = 100; /* it leaves after all: no second end */
    socket_ends(bench, "ignore-eof\n" HELLO "request\n" LOG("here") "hang\n", "measure_stuck");
    assert_true(bench->end.stuck);
    served_is_gone(bench);
}

static void a_missing_socket_is_an_error_of_the_start(void **state)
{
    struct bench *bench = *state;
    struct supervise_events events = {bench, on_line, on_ended};
    struct rl_err err = {0};
    bench->start.exec = bench->start.replay = NULL;
    bench->start.socket = bench->socket;
    assert_int_equal(supervise_start(bench->loop, &bench->start, &events, &bench->process, &err), -1);
    assert_int_equal(err.code, RL_E_MEASURE_START);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(over_a_socket_the_pid_comes_from_the_kernel),
        CASE(over_a_socket_another_pid_in_hello_is_refused),
        CASE(over_a_socket_closing_ends_it),
        CASE(over_a_socket_silence_before_hello_is_a_timeout),
        CASE(over_a_socket_one_that_stays_is_stuck_and_told_once),
        CASE(a_missing_socket_is_an_error_of_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
