/* Writing all of it: in parts, past signals, and to nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "gpu/base/io.h"

#define SIZE    (1024u * 1024u) /* many times what a pipe holds */
#define SIGNALS 5

static sem_t interrupted;

static void on_alarm(int number)
{
    (void)number;
    sem_post(&interrupted);
}

struct reader {
    int fd;
    char *data;
    size_t len;
};

/* Reads nothing before some signals have come: by then a write has ended after a part, and others after nothing. */
static void *read_late(void *arg)
{
    struct reader *reader = arg;
    ssize_t got;
    for (int i = 0; i < SIGNALS; i++)
        while (sem_wait(&interrupted) != 0)
            continue;
    while (reader->len < SIZE + 1 && (got = read(reader->fd, reader->data + reader->len, SIZE + 1 - reader->len)) > 0)
        reader->len += (size_t)got;
    return NULL;
}

static void all_is_written_in_parts_and_past_signals(void **state)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART: calls end with EINTR */
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    char *data = malloc(SIZE);
    struct reader reader = {.data = malloc(SIZE + 1)};
    sigset_t alarm;
    pthread_t thread;
    int ends[2];
    (void)state;
    assert_true(data != NULL && reader.data != NULL);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (char)(i * 2654435761u >> 24);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sem_init(&interrupted, 0, 0), 0);
    reader.fd = ends[0];
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* in the reader for good: signals are the writer's */
    assert_int_equal(pthread_create(&thread, NULL, read_late, &reader), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    int rc = rl_write_all(ends[1], data, SIZE);
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < SIGNALS; i++) /* when it ended too soon */
        sem_post(&interrupted);
    close(ends[1]);
    pthread_join(thread, NULL);
    assert_int_equal(rc, 0);
    assert_int_equal(reader.len, SIZE);
    assert_memory_equal(reader.data, data, SIZE);
    close(ends[0]);
    sem_destroy(&interrupted);
    free(reader.data);
    free(data);
}

static void nothing_is_all_of_nothing(void **state)
{
    (void)state;
    assert_int_equal(rl_write_all(-1, "", 0), 0);
}

static void what_cannot_be_written_is_told(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(rl_write_all(-1, "x", 1), -1);
    assert_int_equal(errno, EBADF);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(rl_write_all(ends[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    close(ends[1]);
}

/* The first half goes, the second does not. */
static void a_file_that_is_full(void **state)
{
    struct rlimit before, half = {SIZE / 2, RLIM_INFINITY};
    char name[] = "/tmp/io-test-XXXXXX";
    char *data = calloc(1, SIZE);
    int fd = mkstemp(name);
    (void)state;
    assert_true(fd >= 0 && data != NULL);
    unlink(name);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    half.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &half), 0);
    int rc = rl_write_all(fd, data, SIZE);
    int why = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(rc, -1);
    assert_int_equal(why, EFBIG);
    assert_int_equal(lseek(fd, 0, SEEK_END), SIZE / 2);
    close(fd);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_written_in_parts_and_past_signals),
        cmocka_unit_test(nothing_is_all_of_nothing),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(a_file_that_is_full),
    };
    return cmocka_run_group_tests_name("base: writing", tests, NULL, NULL);
}
