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

struct worker {
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
    struct worker *worker = arg;
    const uint64_t one = 1;
    /* of this thread alone (Linux): the loop goes first where processors are few */
    setpriority(PRIO_PROCESS, 0, 10);
    worker->work(worker->arg);
    (void)!write(worker->ended_fd, &one, sizeof one);
    return NULL;
}

static void on_ended(void *arg, uint32_t events)
{
    struct worker *worker = arg;
    (void)events;
    pthread_join(worker->thread, NULL);
    worker->running = false;
    loop_remove(worker->loop, worker->ended);
    worker->ended = NULL;
    worker->done(worker->arg);
}

static int prepare(struct worker *worker, struct rl_err *err)
{
    worker->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->ended_fd < 0)
        return rl_fail(err, errno == EMFILE || errno == ENFILE ? RL_E_TOO_FEW_DESCRIPTORS : RL_E_NO_MEMORY, NULL,
                       "No descriptor for work beside the loop: %s.", strerror(errno));
    if (loop_add_fd(worker->loop, worker->ended_fd, EPOLLIN, on_ended, worker, &worker->ended, err) != 0)
        return -1;
    int error = pthread_create(&worker->thread, NULL, run, worker);
    if (error != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No thread for work beside the loop: %s.", strerror(error));
    worker->running = true;
    return 0;
}

int worker_start(struct loop *loop, void (*work)(void *arg), void (*done)(void *arg), void *arg, struct worker **ret,
                 struct rl_err *err)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for work beside the loop.");
    *worker = (struct worker){.loop = loop, .work = work, .done = done, .arg = arg, .ended_fd = -1};
    if (prepare(worker, err) != 0) {
        worker_free(worker);
        return -1;
    }
    *ret = worker;
    return 0;
}

void worker_free(struct worker *worker)
{
    if (worker == NULL)
        return;
    if (worker->running)
        pthread_join(worker->thread, NULL);
    loop_remove(worker->loop, worker->ended);
    if (worker->ended_fd >= 0)
        close(worker->ended_fd);
    free(worker);
}
