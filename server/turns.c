/* See turns.h. */
#include "server/turns.h"

#include <stdlib.h>

#include "server/aside.h"
#include "server/limits.h"

struct turn {
    struct turns *all;
    struct turn *next;
    struct turn_work what;
    struct aside *aside;    /* NULL: it waits */
    void (*end)(void *arg); /* set: let go */
};

struct turns {
    struct loop *loop;
    struct turn *first; /* the oldest */
    unsigned working;
};

static void turn_free(struct turn *turn)
{
    struct turn **at = &turn->all->first;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    aside_free(turn->aside);
    free(turn);
}

static void work(void *arg)
{
    const struct turn *turn = arg;
    turn->what.work(turn->what.arg);
}

static void on_worked(void *arg);

static int start(struct turn *turn, struct rl_err *err)
{
    if (turn->what.fetch(turn->what.arg, err) || aside_start(turn->all->loop, work, on_worked, turn, &turn->aside, err))
        return -1;
    turn->all->working++;
    return 0;
}

static void take_turns(struct turns *turns)
{
    while (turns_have_place(turns)) {
        struct turn *oldest = turns->first;
        struct rl_err err = {0};
        while (oldest && oldest->aside)
            oldest = oldest->next;
        if (!oldest)
            return;
        if (start(oldest, &err)) {
            struct turn_work what = oldest->what;
            turn_free(oldest);
            what.done(what.arg, &err);
        }
    }
}

static void on_worked(void *arg)
{
    struct turn *turn = arg;
    struct turns *turns = turn->all;
    struct turn_work what = turn->what;
    void (*end)(void *arg) = turn->end;
    turns->working--;
    turn_free(turn);
    if (end)
        end(what.arg);
    else
        what.done(what.arg, NULL);
    take_turns(turns);
}

bool turns_have_place(const struct turns *turns)
{
    return turns->working < LIMIT_VIEWS;
}

int turns_ask(struct turns *turns, const struct turn_work *what, struct turn **ret, struct rl_err *err)
{
    struct turn *turn = calloc(1, sizeof(*turn));
    struct turn **last = &turns->first;
    if (!turn)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to wait for a turn");
    *turn = (struct turn){.all = turns, .what = *what};
    while (*last)
        last = &(*last)->next;
    *last = turn;
    if (turns_have_place(turns) && start(turn, err)) {
        turn_free(turn);
        return -1;
    }
    *ret = turn;
    return 0;
}

void turn_let_go(struct turn *turn, void (*end)(void *arg))
{
    void *arg = turn->what.arg;
    if (turn->aside) {
        turn->end = end;
        return;
    }
    turn_free(turn);
    end(arg);
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
        struct turn_work what = turns->first->what;
        void (*end)(void *arg) = turns->first->end;
        turn_free(turns->first);
        if (end)
            end(what.arg);
    }
    free(turns);
}
