/* See server/loop/work_queue.h. */
#include "server/loop/work_queue.h"

#include <stdlib.h>
#include <string.h>

#include "server/limits.h"
#include "server/loop/worker.h"

struct turns {
    struct loop *loop;
    struct turn *first; /* the oldest */
    unsigned working;   /* beside the loop */
    uint64_t round;     /* of the one that began last */
    struct loop_source *here;
};

static bool have_place(const struct turns *turns)
{
    return turns->working < LIMIT_VIEWS;
}

/* Each caller has one turn a round: its first in the round that is under way or the next, each further one a round
 * later (start-time fair queueing, Goyal, Vin and Chen 1996, with all work of weight one). */
static uint64_t round_of(const struct turns *turns, const struct turn *turn)
{
    uint64_t round = turns->round;
    for (const struct turn *other = turns->first; other; other = other->next)
        if (other->round > round && !strcmp(other->share, turn->share))
            round = other->round;
    return round + 1;
}

/* Of those that wait, the oldest of the earliest round. */
static struct turn *next_turn(const struct turns *turns, bool here)
{
    struct turn *next = NULL;
    for (struct turn *turn = turns->first; turn; turn = turn->next)
        if (!turn->aside && !turn->what.work == here && (!next || turn->round < next->round))
            next = turn;
    return next;
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

static void begins(struct turn *turn)
{
    if (turn->round > turn->turns->round)
        turn->turns->round = turn->round;
    turn->failed = false;
}

static void work(void *arg)
{
    turn_here(arg);
}

static void on_worked(void *arg);

static int start(struct turn *turn, struct rl_err *err)
{
    begins(turn);
    if (turn->what.fetch(turn->what.arg, err) ||
        aside_start(turn->turns->loop, work, on_worked, turn, &turn->aside, err))
        return -1;
    turn->turns->working++;
    return 0;
}

static void drop(struct turn *turn)
{
    if (turn->what.drop)
        turn->what.drop(turn->what.arg);
}

static void failed(struct turn *turn)
{
    leave(turn);
    turn->failed = true;
    drop(turn);
    turn->ready(turn->ready_arg);
}

static void take_turns(struct turns *turns)
{
    struct turn *next;
    while (have_place(turns) && (next = next_turn(turns, false)))
        if (start(next, &next->err))
            failed(next);
}

static void on_here(void *arg)
{
    struct turns *turns = arg;
    struct turn *turn = next_turn(turns, true);
    if (!turn)
        return;
    begins(turn);
    if (turn->what.fetch(turn->what.arg, &turn->err)) {
        failed(turn);
    } else {
        leave(turn);
        turn->ready(turn->ready_arg);
    }
    if (next_turn(turns, true))
        loop_timer_set(turns->loop, turns->here, 0);
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
    turn->round = round_of(turn->turns, turn);
    while (*last)
        last = &(*last)->next;
    *last = turn;
    turn->asked = true;
    turn->ready = ready;
    turn->ready_arg = ready_arg;
    if (!turn->what.work) {
        loop_timer_set(turn->turns->loop, turn->turns->here, 0);
        return 0;
    }
    if (!have_place(turn->turns)) {
        drop(turn); /* many that wait are not to need much memory */
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

struct turns *turns_new(struct loop *loop, struct rl_err *err)
{
    struct turns *turns = calloc(1, sizeof(*turns));
    if (!turns) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for turns");
        return NULL;
    }
    turns->loop = loop;
    if (!loop_add_timer(loop, -1, on_here, turns, &turns->here, err))
        return turns;
    free(turns);
    return NULL;
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
    loop_remove(turns->loop, turns->here);
    free(turns);
}
