/* See server/loop/work_queue.h. */
#include "server/loop/work_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/limits/limits.h"
#include "server/loop/worker.h"

struct work_queue {
    struct loop *loop;
    struct work_item *first; /* the oldest */
    unsigned working;        /* on a worker thread */
    uint64_t round;          /* of the one that began last */
    struct loop_source *here;
};

static bool have_place(const struct work_queue *queue)
{
    return queue->working < LIMIT_VIEWS;
}

/* Each caller has one turn a round: its first in the round that is under way or the next, each further one a round
 * later (start-time fair queueing, Goyal, Vin and Chen 1996, with all work of weight one). */
static uint64_t round_of(const struct work_queue *queue, const struct work_item *item)
{
    uint64_t round = queue->round;
    for (const struct work_item *other = queue->first; other; other = other->next)
        if (other->round > round && !strcmp(other->share, item->share))
            round = other->round;
    return round + 1;
}

/* Of those that wait, the oldest of the earliest round. */
static struct work_item *next_item(const struct work_queue *queue, bool here)
{
    struct work_item *next = NULL;
    for (struct work_item *item = queue->first; item; item = item->next)
        if (!item->worker && !item->what.work == here && (!next || item->round < next->round))
            next = item;
    return next;
}

static void leave(struct work_item *item)
{
    struct work_item **at = &item->queue->first;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    worker_free(item->worker);
    item->worker = NULL;
    item->next = NULL;
    item->asked = false;
}

static void begins(struct work_item *item)
{
    if (item->round > item->queue->round)
        item->queue->round = item->round;
    item->failed = false;
}

static void work(void *arg)
{
    work_queue_run_here(arg);
}

static void on_worked(void *arg);

static int start(struct work_item *item, struct rl_err *err)
{
    begins(item);
    if (item->what.fetch(item->what.arg, err) ||
        worker_start(item->queue->loop, work, on_worked, item, &item->worker, err))
        return -1;
    item->queue->working++;
    return 0;
}

static void drop(struct work_item *item)
{
    if (item->what.drop)
        item->what.drop(item->what.arg);
}

static void failed(struct work_item *item)
{
    leave(item);
    item->failed = true;
    drop(item);
    item->ready(item->ready_arg);
}

static void start_next(struct work_queue *queue)
{
    struct work_item *next;
    while (have_place(queue) && (next = next_item(queue, false)))
        if (start(next, &next->err))
            failed(next);
}

static void on_here(void *arg)
{
    struct work_queue *queue = arg;
    struct work_item *item = next_item(queue, true);
    if (!item)
        return;
    begins(item);
    if (item->what.fetch(item->what.arg, &item->err)) {
        failed(item);
    } else {
        leave(item);
        item->ready(item->ready_arg);
    }
    if (next_item(queue, true))
        loop_timer_set(queue->loop, queue->here, 0);
}

static void on_worked(void *arg)
{
    struct work_item *item = arg;
    struct work_queue *queue = item->queue;
    queue->working--;
    leave(item);
    if (item->abandoned)
        item->what.free(item->what.arg);
    else
        item->ready(item->ready_arg);
    start_next(queue);
}

void work_item_init(struct work_item *item, struct work_queue *queue, const char *share, struct work_steps what)
{
    *item = (struct work_item){.queue = queue, .what = what};
    snprintf(item->share, sizeof(item->share), "%s", share);
}

int work_item_result(const struct work_item *item, struct rl_err *err)
{
    if (!item->failed)
        return 0;
    *err = item->err;
    return -1;
}

void work_queue_run_here(struct work_item *item)
{
    item->failed = item->what.work(item->what.arg, &item->err) != 0;
}

int work_queue_wait(void *arg, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err)
{
    struct work_item *item = arg;
    struct work_item **last = &item->queue->first;
    item->round = round_of(item->queue, item);
    while (*last)
        last = &(*last)->next;
    *last = item;
    item->asked = true;
    item->ready = ready;
    item->ready_arg = ready_arg;
    if (!item->what.work) {
        loop_timer_set(item->queue->loop, item->queue->here, 0);
        return 0;
    }
    if (!have_place(item->queue)) {
        drop(item); /* many that wait are not to need much memory */
        return 0;
    }
    if (start(item, err) == 0)
        return 0;
    leave(item);
    return -1;
}

void work_queue_leave(void *arg)
{
    struct work_item *item = arg;
    if (item->worker) {
        item->abandoned = true;
        return;
    }
    if (item->asked)
        leave(item);
    item->what.free(item->what.arg);
}

struct work_queue *work_queue_new(struct loop *loop, struct rl_err *err)
{
    struct work_queue *queue = calloc(1, sizeof(*queue));
    if (!queue) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the work queue");
        return NULL;
    }
    queue->loop = loop;
    if (!loop_add_timer(loop, -1, on_here, queue, &queue->here, err))
        return queue;
    free(queue);
    return NULL;
}

void work_queue_free(struct work_queue *queue)
{
    if (!queue)
        return;
    while (queue->first) {
        struct work_item *item = queue->first;
        leave(item);
        if (item->abandoned)
            item->what.free(item->what.arg);
    }
    loop_remove(queue->loop, queue->here);
    free(queue);
}
