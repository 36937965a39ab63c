/* See aside.h. */
#include "server/aside.h"

#include <pthread.h>
#include <stdlib.h>
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

int aside_start(struct loop *loop, void (*work)(void *arg), void (*done)(void *arg), void *arg, struct aside **ret,
                struct rl_err *err)
{
    struct aside *aside = calloc(1, sizeof *aside);
    if (aside == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for work beside the loop.");
    *aside = (struct aside){.loop = loop, .work = work, .done = done, .arg = arg};
    aside->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool watched =
        aside->ended_fd >= 0 && loop_add_fd(loop, aside->ended_fd, EPOLLIN, on_ended, aside, &aside->ended, err) == 0;
    aside->running = watched && pthread_create(&aside->thread, NULL, run, aside) == 0;
    if (!aside->running) {
        aside_free(aside);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No thread for work beside the loop.");
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
