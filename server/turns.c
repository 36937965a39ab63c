/* See turns.h. */
#include "server/turns.h"

#include <stdlib.h>

#include "server/aside.h"
#include "server/limits.h"

struct turns {
    struct loop *loop;
    struct turn *first; /* the oldest */
    unsigned working;
};

static bool have_place(const struct turns *turns)
{
    return turns->working < LIMIT_VIEWS;
}

static void leave(struct turn *turn)
{
    struct turn **at = &turn->turns->first;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    aside_free(turn->aside);
    turn->aside = NULL;
    turn->next = NULL;
    turn->asked = false;
}

static void work(void *arg)
{
    turn_here(arg);
}

static void on_worked(void *arg);

static int start(struct turn *turn, struct rl_err *err)
{
    if (turn->what.fetch(turn->what.arg, err) ||
        aside_start(turn->turns->loop, work, on_worked, turn, &turn->aside, err))
        return -1;
    turn->turns->working++;
    return 0;
}

static void take_turns(struct turns *turns)
{
    while (have_place(turns)) {
        struct turn *oldest = turns->first;
        while (oldest && oldest->aside)
            oldest = oldest->next;
        if (!oldest)
            return;
        if (start(oldest, &oldest->err)) {
            leave(oldest);
            oldest->failed = true;
            oldest->what.drop(oldest->what.arg);
            oldest->ready(oldest->ready_arg);
        }
    }
}

static void on_worked(void *arg)
{
    struct turn *turn = arg;
    struct turns *turns = turn->turns;
    turns->working--;
    leave(turn);
    if (turn->let_go)
        turn->what.free(turn->what.arg);
    else
        turn->ready(turn->ready_arg);
    take_turns(turns);
}

void turn_here(struct turn *turn)
{
    turn->failed = turn->what.work(turn->what.arg, &turn->err) != 0;
}

int turn_wait(void *arg, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err)
{
    struct turn *turn = arg;
    struct turn **last = &turn->turns->first;
    while (*last)
        last = &(*last)->next;
    *last = turn;
    turn->asked = true;
    turn->ready = ready;
    turn->ready_arg = ready_arg;
    if (!have_place(turn->turns)) {
        turn->what.drop(turn->what.arg); /* many that wait are not to need much memory */
        return 0;
    }
    if (start(turn, err) == 0)
        return 0;
    leave(turn);
    return -1;
}

void turn_end(void *arg)
{
    struct turn *turn = arg;
    if (turn->aside) {
        turn->let_go = true;
        return;
    }
    if (turn->asked)
        leave(turn);
    turn->what.free(turn->what.arg);
}

struct turns *turns_new(struct loop *loop)
{
    struct turns *turns = calloc(1, sizeof(*turns));
    if (turns)
        turns->loop = loop;
    return turns;
}

void turns_free(struct turns *turns)
{
    if (!turns)
        return;
    while (turns->first) {
        struct turn *turn = turns->first;
        leave(turn);
        if (turn->let_go)
            turn->what.free(turn->what.arg);
    }
    free(turns);
}
