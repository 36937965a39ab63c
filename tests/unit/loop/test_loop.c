/* The event loop: order of timers, removal from inside callbacks, descriptors, the prepare hook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "server/loop/loop.h"
#include "server/loop/worker.h"

struct bench {
    struct loop *loop;
    struct loop_source *a, *b, *c;
    char order[64];
    int pipe_a[2], pipe_b[2];
    int calls;
};

static void note(struct bench *bench, char letter)
{
    size_t len = strlen(bench->order);
    assert_true(len + 1 < sizeof bench->order);
    bench->order[len] = letter;
}

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_int_equal(loop_new(&bench->loop, NULL), 0);
    assert_int_equal(pipe(bench->pipe_a), 0);
    assert_int_equal(pipe(bench->pipe_b), 0);
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    loop_free(bench->loop);
    for (int i = 0; i < 2; i++) {
        close(bench->pipe_a[i]);
        close(bench->pipe_b[i]);
    }
    free(bench);
    return 0;
}

static void fire_a(void *arg)
{
    note(arg, 'a');
}
static void fire_b(void *arg)
{
    note(arg, 'b');
}
static void fire_stop(void *arg)
{
    struct bench *bench = arg;
    note(bench, '.');
    loop_stop(bench->loop);
}

static void timers_fire_when_due_and_once(void **state)
{
    struct bench *bench = *state;
    int64_t before = rl_monotonic_ns();
    loop_add_timer(bench->loop, 20, fire_b, bench, &bench->b, NULL);
    loop_add_timer(bench->loop, 1, fire_a, bench, &bench->a, NULL);
    loop_add_timer(bench->loop, 40, fire_stop, bench, &bench->c, NULL);
    assert_int_equal(loop_run(bench->loop, NULL), 0);
    assert_string_equal(bench->order, "ab.");
    assert_true(rl_monotonic_ns() - before >= 40 * INT64_C(1000000)); /* never early */
}

static void a_disarmed_timer_stays_silent_until_set(void **state)
{
    struct bench *bench = *state;
    loop_add_timer(bench->loop, -1, fire_a, bench, &bench->a, NULL);
    loop_add_timer(bench->loop, 1, fire_b, bench, &bench->b, NULL);
    loop_add_timer(bench->loop, 15, fire_stop, bench, &bench->c, NULL);
    loop_timer_set(bench->loop, bench->b, -1);
    loop_run(bench->loop, NULL);
    assert_string_equal(bench->order, ".");
    loop_timer_set(bench->loop, bench->a, 0);
    loop_timer_set(bench->loop, bench->c, 5);
    loop_run(bench->loop, NULL);
    assert_string_equal(bench->order, ".a.");
}

static void rearm_thrice(void *arg)
{
    struct bench *bench = arg;
    note(bench, 'r');
    if (++bench->calls < 3)
        loop_timer_set(bench->loop, bench->a, 0);
    else
        loop_stop(bench->loop);
}

static void a_timer_may_rearm_itself(void **state)
{
    struct bench *bench = *state;
    loop_add_timer(bench->loop, 0, rearm_thrice, bench, &bench->a, NULL);
    loop_run(bench->loop, NULL);
    assert_string_equal(bench->order, "rrr");
}

static void remove_self_and_other(void *arg)
{
    struct bench *bench = arg;
    note(bench, 'x');
    loop_remove(bench->loop, bench->a);
    loop_remove(bench->loop, bench->b);
    loop_remove(bench->loop, bench->b); /* twice is harmless */
}

static void a_timer_may_remove_itself_and_another_due_one(void **state)
{
    struct bench *bench = *state;
    loop_add_timer(bench->loop, 0, fire_b, bench, &bench->b, NULL);
    loop_add_timer(bench->loop, 0, remove_self_and_other, bench, &bench->a, NULL); /* newer: comes first */
    loop_add_timer(bench->loop, 15, fire_stop, bench, &bench->c, NULL);
    loop_run(bench->loop, NULL);
    assert_string_equal(bench->order, "x.");
}

static void ready_removes_both(void *arg, uint32_t events)
{
    struct bench *bench = arg;
    assert_true(events & EPOLLIN);
    note(bench, 'i');
    loop_remove(bench->loop, bench->a);
    loop_remove(bench->loop, bench->b);
    loop_remove(bench->loop, NULL);
}

static void one_ready_descriptor_may_remove_another_of_the_same_wait(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(write(bench->pipe_a[1], "x", 1), 1);
    assert_int_equal(write(bench->pipe_b[1], "x", 1), 1);
    loop_add_fd(bench->loop, bench->pipe_a[0], EPOLLIN, ready_removes_both, bench, &bench->a, NULL);
    loop_add_fd(bench->loop, bench->pipe_b[0], EPOLLIN, ready_removes_both, bench, &bench->b, NULL);
    loop_add_timer(bench->loop, 15, fire_stop, bench, &bench->c, NULL);
    loop_run(bench->loop, NULL);
    assert_string_equal(bench->order, "i."); /* level-triggered data is left unread, and nobody is told of it again */
}

static int64_t prepare(void *arg)
{
    struct bench *bench = arg;
    if (++bench->calls == 3)
        loop_stop(bench->loop);
    return 0;
}

static void prepare_is_asked_before_each_wait_and_may_stop(void **state)
{
    struct bench *bench = *state;
    loop_set_prepare(bench->loop, prepare, bench);
    loop_run(bench->loop, NULL);
    assert_int_equal(bench->calls, 3);
}

static void a_bad_descriptor_is_an_error_and_leaves_nothing(void **state)
{
    struct bench *bench = *state;
    struct rl_err err = {0};
    assert_int_equal(loop_add_fd(bench->loop, -1, EPOLLIN, ready_removes_both, bench, &bench->a, &err), -1);
    assert_int_equal(err.code, RL_E_INTERNAL);
    assert_null(bench->a);
}

static void work_a(void *arg)
{
    note(arg, 'w');
}

static void done_stops(void *arg)
{
    struct bench *bench = arg;
    note(bench, 'd');
    loop_stop(bench->loop);
}

static void work_on_a_thread_says_why_it_cannot_start(void **state)
{
    struct bench *bench = *state;
    struct worker *worker = NULL;
    struct rlimit allowed, none;
    struct rl_err err = {0};

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &allowed), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = allowed.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(worker_start(bench->loop, work_a, done_stops, bench, &worker, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &allowed), 0);
    assert_int_equal(err.code, RL_E_TOO_FEW_DESCRIPTORS);
    assert_non_null(strstr(err.message, strerror(EMFILE)));
    assert_null(worker);
    assert_int_equal(worker_start(bench->loop, work_a, done_stops, bench, &worker, &err), 0);
    assert_int_equal(loop_run(bench->loop, &err), 0);
    assert_string_equal(bench->order, "wd");
    worker_free(worker);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(timers_fire_when_due_and_once),
        CASE(a_disarmed_timer_stays_silent_until_set),
        CASE(a_timer_may_rearm_itself),
        CASE(a_timer_may_remove_itself_and_another_due_one),
        CASE(one_ready_descriptor_may_remove_another_of_the_same_wait),
        CASE(prepare_is_asked_before_each_wait_and_may_stop),
        CASE(a_bad_descriptor_is_an_error_and_leaves_nothing),
        CASE(work_on_a_thread_says_why_it_cannot_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
