/* Work for which a client waits its turn: on a worker thread (server/loop/worker.h), LIMIT_VIEWS at once, what takes
 * memory (tables, CSVs, exports and comparisons of large runs); on the loop, one each time that it goes round, what
 * takes some ms of the store (long lists). The callers take turns, and the work of one caller is done in the order that
 * it asked: who asks for much waits for it, and the others do not. */
#ifndef SERVER_LOOP_WORK_QUEUE_H
#define SERVER_LOOP_WORK_QUEUE_H

#include <stdbool.h>

#include "gpu/base/err.h"
#include "server/loop/loop.h"

struct work_queue;
struct work_steps {
    /* On the loop, when its turn has come: fetches what work needs and should not be held by those that wait; nothing
     * where it is there already. */
    int (*fetch)(void *arg, struct rl_err *err);
    int (*work)(void *arg, struct rl_err *err); /* on a worker thread: arg is its alone meanwhile; NULL: fetch is all */
    void (*drop)(void *arg);                    /* what fetch fetched, of work that did not begin; may be NULL */
    void (*free)(void *arg);
    void *arg; /* holds the turn */
};
#define WORK_SHARE_SIZE 80 /* of a caller's name */
struct work_item {         /* of one client, again and again */
    struct work_queue *queue;
    struct work_steps what;
    char share[WORK_SHARE_SIZE]; /* whose turn it takes: auth_principal's */
    bool failed;                 /* the last one: what fetch or work said, or why work could not start */
    struct rl_err err;
    /* of server/loop/work_queue.c */
    struct work_item *next;
    uint64_t round;
    struct worker *worker; /* NULL: it waits, or has not asked */
    bool asked, abandoned;
    void (*ready)(void *arg);
    void *ready_arg;
};

/* NULL: as loop_add_timer, or RL_E_NO_MEMORY. */
struct work_queue *work_queue_new(struct loop *loop, struct rl_err *err);
/* Accepts NULL. Waits for what is being done, and takes all turns back; ready is not called. */
void work_queue_free(struct work_queue *queue);
/* An item that has not asked yet. share is shorter than WORK_SHARE_SIZE. */
void work_item_init(struct work_item *item, struct work_queue *queue, const char *share, struct work_steps what);
/* Of work that is done: 0, or -1 with its error. */
int work_item_result(const struct work_item *item, struct rl_err *err);
void work_queue_run_here(struct work_item *item); /* work at once, on the loop */
/* The next two take a struct work_item: they are what http_later and http_stream call. ready is called on the loop,
 * once, when the turn is over. On -1 (fetch's errors, worker_start's) nothing is called later. */
int work_queue_wait(void *item, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err);
/* ready is not called any more, and free is: at once, or after work that has begun. */
void work_queue_leave(void *item);

#endif
