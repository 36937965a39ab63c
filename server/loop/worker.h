/* Worker threads: what takes longer than a handler may hold the loop is done on a thread of its own. Such work
 * touches what its argument owns and nothing else; the store, the sockets and the loop itself stay the loop's. */
#ifndef SERVER_LOOP_WORKER_H
#define SERVER_LOOP_WORKER_H

#include "gpu/base/err.h"
#include "server/loop/loop.h"

struct worker;

/* work is called once, on a thread that gives way to the loop where processors are few; done once after it, from the
 * loop, and may free the worker. arg is the work's alone until done. On -1 neither is called: RL_E_TOO_FEW_DESCRIPTORS,
 * RL_E_NO_MEMORY (also for a thread), or what loop_add_fd says. */
int worker_start(struct loop *loop, void (*work)(void *arg), void (*done)(void *arg), void *arg, struct worker **ret,
                 struct rl_err *err);
void worker_free(struct worker *worker); /* accepts NULL; waits for work that has not ended, whose done is not called */

#endif
