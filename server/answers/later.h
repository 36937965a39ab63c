/* What answers are made of, and when: at once on the loop, or of much on a worker thread, in turn
 * (server/loop/work_queue.h), while the client waits. */
#ifndef SERVER_ANSWERS_LATER_H
#define SERVER_ANSWERS_LATER_H

#include "db/core/store.h"
#include "server/loop/work_queue.h"
#include "server/request/http.h"

struct answers { /* borrowed */
    struct store *store;
    struct work_queue *queue;
    bool shutting_down; /* the server cannot be stopped with a connection that waits: nothing is made later then */
};

/* Makes the answer of work that is done, whose item arg is; work_item_result comes first. */
typedef int answer_of_item(void *item, struct http_answer *answer, struct rl_err *err);
/* The answer of an item that has not asked yet, when its turn is over. */
struct http_later answer_later(struct work_item *item, answer_of_item *answer_of);
/* Answers by an item: of much in answer->later, which has the item from now on (not while the daemon shuts down:
 * RL_E_SHUTTING_DOWN), else now. The item is freed by its own free when it is not needed any more, also on -1. */
int answer_by_item(const struct answers *answers, struct work_item *item, bool is_much, answer_of_item *answer_of,
                   struct http_answer *answer, struct rl_err *err);

#endif
