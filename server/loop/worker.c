/* See server/loop/worker.h. */
#include "server/loop/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

struct aside {
    struct loop *loop;
    void (*work)(void *arg);
    void (*done)(void *arg);
    void *arg;
    pthread_t thread;
    bool running;
    int ended_fd; /* an eventfd: written by the thread as its last act */
    struct loop_source *ended;
};

static void *run(void *arg)
{
    struct aside *aside = arg;
    const uint64_t one = 1;
    /* of this thread alone (Linux): the loop goes first where processors are few */
    setpriority(PRIO_PROCESS, 0, 10);
    aside->work(aside->arg);
    (void)!write(aside->ended_fd, &one, sizeof one);
    return NULL;
}

static void on_ended(void *arg, uint32_t events)
{
    struct aside *aside = arg;
    (void)events;
    pthread_join(aside->thread, NULL);
    aside->running = false;
    loop_remove(aside->loop, aside->ended);
    aside->ended = NULL;
    aside->done(aside->arg);
}

static int prepare(struct aside *aside, struct rl_err *err)
{
    aside->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (aside->ended_fd < 0)
        return rl_fail(err, errno == EMFILE || errno == ENFILE ? RL_E_TOO_FEW_DESCRIPTORS : RL_E_NO_MEMORY, NULL,
                       "No descriptor for work beside the loop: %s.", strerror(errno));
    if (loop_add_fd(aside->loop, aside->ended_fd, EPOLLIN, on_ended, aside, &aside->ended, err) != 0)
        return -1;
    int error = pthread_create(&aside->thread, NULL, run, aside);
    if (error != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No thread for work beside the loop: %s.", strerror(error));
    aside->running = true;
    return 0;
}

int aside_start(struct loop *loop, void (*work)(void *arg), void (*done)(void *arg), void *arg, struct aside **ret,
                struct rl_err *err)
{
    struct aside *aside = calloc(1, sizeof *aside);
    if (aside == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for work beside the loop.");
    *aside = (struct aside){.loop = loop, .work = work, .done = done, .arg = arg, .ended_fd = -1};
    if (prepare(aside, err) != 0) {
        aside_free(aside);
        return -1;
    }
    *ret = aside;
    return 0;
}

void aside_free(struct aside *aside)
{
    if (aside == NULL)
        return;
    if (aside->running)
        pthread_join(aside->thread, NULL);
    loop_remove(aside->loop, aside->ended);
    if (aside->ended_fd >= 0)
        close(aside->ended_fd);
    free(aside);
}
