/* See import_judge.h. */
#include "server/import_judge.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

struct import_judge {
    struct loop *loop;
    void (*done)(void *arg, const struct import_judged *judged);
    void *arg;
    pthread_t thread;
    bool running;
    int ended_fd; /* an eventfd: written by the thread as its last act */
    struct loop_source *ended;
    /* the thread's until then */
    char *lines;
    size_t len;
    struct import_expected expected;
    struct import_expected_file files[IMPORT_JUDGE_FILES];
    char sha256[IMPORT_JUDGE_FILES][65];
    struct rl_run *run;
    struct run_samples samples;
    struct import_judged judged;
};

static void *judge(void *arg)
{
    struct import_judge *j = arg;
    const uint64_t one = 1;
    /* of this thread alone (Linux): the loop goes first where processors are few */
    setpriority(PRIO_PROCESS, 0, 10);
    j->judged.rc = import_accept(j->lines, j->len, &j->expected, &j->run, &j->samples, &j->judged.err);
    if (j->judged.rc == 0)
        j->judged.rc = run_stored_make(j->run, &j->samples, &j->judged.stored, &j->judged.err);
    /* here, not by the loop: megabytes take milliseconds to give back */
    free(j->lines);
    j->lines = NULL;
    (void)!write(j->ended_fd, &one, sizeof one);
    return NULL;
}

static void on_ended(void *arg, uint32_t events)
{
    struct import_judge *j = arg;
    (void)events;
    pthread_join(j->thread, NULL);
    j->running = false;
    loop_remove(j->loop, j->ended);
    j->ended = NULL;
    j->done(j->arg, &j->judged);
}

int import_judge_start(struct loop *loop, char *lines, size_t len, const struct import_expected *expected,
                       void (*done)(void *arg, const struct import_judged *judged), void *arg,
                       struct import_judge **ret, struct rl_err *err)
{
    struct import_judge *j = expected->file_count <= IMPORT_JUDGE_FILES ? calloc(1, sizeof *j) : NULL;
    if (j == NULL) {
        free(lines);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for an import.");
    }
    *j = (struct import_judge){.loop = loop, .done = done, .arg = arg, .lines = lines, .len = len};
    j->expected = (struct import_expected){j->files, expected->file_count, expected->now_ms};
    for (size_t i = 0; i < expected->file_count; i++) {
        snprintf(j->sha256[i], sizeof j->sha256[i], "%s", expected->files[i].sha256);
        j->files[i] = (struct import_expected_file){expected->files[i].kind, expected->files[i].bytes, j->sha256[i]};
    }
    j->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool watched = j->ended_fd >= 0 && loop_add_fd(loop, j->ended_fd, EPOLLIN, on_ended, j, &j->ended, err) == 0;
    j->running = watched && pthread_create(&j->thread, NULL, judge, j) == 0;
    if (!j->running) {
        import_judge_free(j);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No thread for an import.");
    }
    *ret = j;
    return 0;
}

void import_judge_free(struct import_judge *j)
{
    if (j == NULL)
        return;
    if (j->running)
        pthread_join(j->thread, NULL);
    loop_remove(j->loop, j->ended);
    if (j->ended_fd >= 0)
        close(j->ended_fd);
    run_stored_fini(&j->judged.stored);
    run_samples_free(&j->samples);
    rl_run_free(j->run);
    free(j->lines);
    free(j);
}
