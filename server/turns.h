/* Work beside the loop (aside.h) that takes memory, of which LIMIT_VIEWS are done at once and the others wait, in the
 * order that they asked: making tables, CSVs, exports and comparisons of large runs. */
#ifndef SERVER_TURNS_H
#define SERVER_TURNS_H

#include <stdbool.h>

#include "base/err.h"
#include "server/loop.h"

struct turns;
struct turn;
struct turn_work {
    /* On the loop, when its turn has come: fetches what work needs and should not be held by those that wait. */
    int (*fetch)(void *arg, struct rl_err *err);
    void (*work)(void *arg); /* beside the loop: arg is its alone meanwhile */
    /* On the loop, once, after work; or, err not NULL, when its turn came and fetch failed or work could not start. The
     * turn is over. */
    void (*done)(void *arg, const struct rl_err *err);
    void *arg;
};

struct turns *turns_new(struct loop *loop); /* NULL when memory ran out */
/* Accepts NULL. Waits for what is being done, and lets go of it and of what waits; done is not called. */
void turns_free(struct turns *turns);
bool turns_have_place(const struct turns *turns); /* work that asks now need not wait */
/* *ret is valid until done is called or turn_let_go. On -1 (fetch's errors, aside_start's, RL_E_NO_MEMORY) nothing is
 * called later. */
int turns_ask(struct turns *turns, const struct turn_work *work, struct turn **ret, struct rl_err *err);
/* done is not called any more; instead end is, with the work's arg: at once, or after work that has begun. */
void turn_let_go(struct turn *turn, void (*end)(void *arg));

#endif
