/* From runs to rows: the draws of each row or ceiling, and the spread of those that history has. */
#include <string.h>

#include "db/same/work.h"
#include "server/compare/internal.h"

struct row_key {
    const char *name;
    enum rl_state state;
    uint32_t hash;
};

/* ---- which row ---- */

static uint32_t hash_of(const char *name, enum rl_state state)
{
    uint32_t hash = 2166136261u ^ (uint32_t)state; /* FNV-1a */
    for (const unsigned char *at = (const unsigned char *)name; *at != '\0'; at++)
        hash = (hash ^ *at) * 16777619u;
    return hash;
}

/* The slot that has this row, or the free one where it belongs. */
static uint32_t *slot_of(const struct gathered *all, const struct row_key *key)
{
    for (size_t at = key->hash;; at++) {
        uint32_t *slot = &all->slots[at & all->mask];
        if (*slot == 0)
            return slot;
        const struct row_key *there = &all->keys[*slot - 1];
        if (there->hash == key->hash && there->state == key->state && !strcmp(there->name, key->name))
            return slot;
    }
}

/* *ret is the row's index. -1: there are COMPARE_ROWS_MAX others. */
static int find_or_add(struct gathered *all, const char *name, enum rl_state state, uint32_t *ret)
{
    struct row_key key = {name, state, hash_of(name, state)};
    uint32_t *slot = slot_of(all, &key);
    if (*slot == 0) {
        if (all->count == COMPARE_ROWS_MAX)
            return -1;
        all->keys[all->count++] = key;
        *slot = (uint32_t)all->count;
    }
    *ret = *slot - 1;
    return 0;
}

static int prepare(struct gathered *all, size_t draws, struct rl_arena *arena)
{
    size_t most = draws < COMPARE_ROWS_MAX ? draws : COMPARE_ROWS_MAX, slots = 16;
    while (slots < 2 * most)
        slots *= 2;
    all->keys = rl_arena_array(arena, most + 1, sizeof *all->keys);
    all->slots = rl_arena_array(arena, slots, sizeof *all->slots);
    all->mask = slots - 1;
    return all->keys == NULL || all->slots == NULL ? -1 : 0;
}

/* ---- its draws ---- */

static void add_time(struct draws *draws, const struct rl_real *time, const struct compare_draw *draw, const char *why)
{
    if (compare_is_positive(time)) {
        draws->log_time[draws->n] = log(time->value);
        draws->draw[draws->n++] = draw;
    } else if (draws->time_why == NULL) {
        draws->time_why = why != NULL ? why : time->why != NULL ? time->why : "it is not a positive number";
    }
}

static void add_bytes(struct draws *draws, const struct rl_real *bytes, unsigned flags)
{
    if (rl_is_known(*bytes) && isfinite(bytes->value) && bytes->value >= 0) {
        draws->bytes_flags[draws->bytes_n] = flags;
        draws->bytes[draws->bytes_n++] = bytes->value;
    } else if (draws->bytes_why == NULL) {
        draws->bytes_why = bytes->why != NULL ? bytes->why : "it is negative or not finite";
    }
}

/* The time that may be judged. */
static struct rl_real time_of(const struct compare_draw *draw, bool named)
{
    if (draw->flags & RL_ROW_TIME_DERIVED)
        return rl_unknown("its time follows from bytes, a percentage and the ceiling: nobody measured it");
    if ((draw->flags & RL_ROW_THROTTLED) && !named)
        return rl_unknown("the row was throttled");
    return draw->time_s;
}

static size_t count_of(const struct gathered *all, const struct compare_run *run)
{
    return all->ceilings ? run->ceiling_count : run->draw_count;
}

/* Each draw's row, in the order of the draws; a draw that mixes the states has none. -1: too many rows. */
static int find_rows(struct gathered *all, const struct compare_run *run, uint32_t *of)
{
    for (size_t i = 0; i < count_of(all, run); i++) {
        const char *name = all->ceilings ? run->ceilings[i].name : run->draws[i].kernel;
        enum rl_state state = all->ceilings ? run->ceilings[i].state : run->draws[i].state;
        if ((all->ceilings || state < RL_STATE_COUNT) && find_or_add(all, name, state, &of[i]) != 0)
            return -1;
    }
    return 0;
}

/* Of runs that come newest first. -1 when memory ran out. */
static int add_run(struct gathered *all, const struct compare_run *run, const uint32_t *of, bool named, bool head,
                   struct rl_arena *arena)
{
    for (size_t i = 0; !all->ceilings && i < run->draw_count; i++) {
        const struct compare_draw *draw = &run->draws[i];
        if (draw->state >= RL_STATE_COUNT)
            continue;
        struct draws *draws = head ? &all->items[of[i]].head : &all->items[of[i]].base;
        int taken = compare_take_work(draws, run, &draw->work, &draw->launch, arena);
        if (taken < 0)
            return -1;
        if (taken == 0)
            continue;
        struct rl_real time = time_of(draw, named);
        add_time(draws, &time, draw, NULL);
        add_bytes(draws, &draw->dram_bytes, draw->flags);
    }
    for (size_t i = 0; all->ceilings && i < run->ceiling_count; i++) {
        const struct compare_ceiling_draw *ceiling = &run->ceilings[i];
        struct draws *draws = head ? &all->items[of[i]].head : &all->items[of[i]].base;
        int taken = compare_take_work(draws, run, &ceiling->work, &ceiling->launch, arena);
        if (taken < 0)
            return -1;
        struct rl_real time = ceiling->value;
        if (compare_is_positive(&time))
            time.value = 1 / time.value;
        if (taken > 0)
            add_time(draws, &time, NULL, NULL);
    }
    return 0;
}

static int too_many(const struct gathered *all, struct rl_err *err)
{
    if (all->ceilings)
        return rl_fail(err, RL_E_TOO_LARGE, NULL, "The runs have more than %d different ceilings; compare fewer runs.",
                       COMPARE_ROWS_MAX);
    return rl_fail(err, RL_E_TOO_LARGE, "kernel",
                   "The runs have more than %d different rows (kernels x cache states); compare fewer runs, or some "
                   "kernels of them with kernel.",
                   COMPARE_ROWS_MAX);
}

int compare_gather(struct gathered *all, const struct chosen *base, const struct chosen *head, struct rl_arena *arena,
                   struct rl_err *err)
{
    const struct chosen *sides[2] = {base, head};
    size_t draws = 0, at = 0;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->count; i++)
            draws += count_of(all, sides[s]->runs[i]);
    uint32_t *of = rl_arena_array(arena, draws + 1, sizeof *of);
    if (of == NULL || prepare(all, draws, arena) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare %zu draws.", draws);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->count; at += count_of(all, sides[s]->runs[i++]))
            if (find_rows(all, sides[s]->runs[i], of + at) != 0)
                return too_many(all, err);
    all->items = rl_arena_array(arena, all->count + 1, sizeof *all->items);
    if (all->items == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare %zu rows.", all->count);
    for (size_t i = 0; i < all->count; i++) {
        all->items[i].name = all->keys[i].name;
        all->items[i].state = all->keys[i].state;
    }
    at = 0;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->count; at += count_of(all, sides[s]->runs[i++]))
            if (add_run(all, sides[s]->runs[i], of + at, sides[s]->named, s == 1, arena) != 0)
                return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare %zu rows.", all->count);
    return 0;
}

/* ---- spread of single draws, from history ---- */

struct pasts {                      /* the draws of each row, as lists of indices + 1 into history; 0 ends one */
    uint32_t *first, *last, *after; /* of a row; of a row; of a draw */
};

/* What makes a draw of history one of another kind than the row's. */
static unsigned kind_of(const struct draws *side, bool bytes)
{
    unsigned flags = bytes ? (side->bytes_n > 0 ? side->bytes_flags[0] : 0)
                           : (side->n > 0 && side->draw[0] != NULL ? side->draw[0]->flags : 0);
    return flags & (bytes ? RL_ROW_BYTES_DERIVED : RL_ROW_PROFILER_TIME);
}

static bool is_like(const struct subject *subject, const struct compare_past *past, unsigned kind, bool bytes)
{
    if ((past->flags & (bytes ? RL_ROW_BYTES_DERIVED : RL_ROW_PROFILER_TIME)) != kind)
        return false;
    return past->work == NULL || ((subject->base.model == NULL || !work_is_other(past->work, &subject->base.work)) &&
                                  (subject->head.model == NULL || !work_is_other(past->work, &subject->head.work)));
}

static void spread_of(struct subject *subject, const struct compare_history *history, const struct pasts *pasts,
                      uint32_t first, bool bytes)
{
    double values[COMPARE_HISTORY_MAX];
    int64_t groups[COMPARE_HISTORY_MAX];
    size_t n = 0;
    bool in_base = (bytes ? subject->base.bytes_n : subject->base.n) > 0;
    unsigned kind = kind_of(in_base ? &subject->base : &subject->head, bytes);
    for (uint32_t at = first; at != 0 && n < COMPARE_HISTORY_MAX; at = pasts->after[at - 1]) {
        const struct compare_past *past = &history->draws[at - 1];
        const struct rl_real *value = bytes ? &past->dram_bytes : &past->time_s;
        if (!is_like(subject, past, kind, bytes))
            continue;
        if (bytes ? !rl_is_known(*value) || !isfinite(value->value) : !compare_is_positive(value))
            continue;
        values[n] = bytes ? value->value : log(value->value);
        groups[n++] = past->group;
    }
    struct stats_item *item = bytes ? &subject->bytes : &subject->time;
    *(bytes ? &subject->past_bytes : &subject->past_times) = n;
    if (n >= COMPARE_HISTORY_MIN)
        item->spread = stats_pooled_sd(values, groups, n, &item->spread_df);
}

int compare_use_history(struct gathered *all, const struct compare_history *history, struct rl_arena *arena)
{
    struct pasts pasts = {rl_arena_array(arena, all->count + 1, sizeof(uint32_t)),
                          rl_arena_array(arena, all->count + 1, sizeof(uint32_t)),
                          rl_arena_array(arena, history->count + 1, sizeof(uint32_t))};
    if (pasts.first == NULL || pasts.last == NULL || pasts.after == NULL)
        return -1;
    for (size_t i = 0; i < history->count; i++) {
        const struct compare_past *past = &history->draws[i];
        struct row_key key = {past->name, past->state, hash_of(past->name, past->state)};
        uint32_t row = *slot_of(all, &key);
        if (row-- == 0)
            continue;
        *(pasts.last[row] == 0 ? &pasts.first[row] : &pasts.after[pasts.last[row] - 1]) = (uint32_t)i + 1;
        pasts.last[row] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < all->count; i++) {
        spread_of(&all->items[i], history, &pasts, pasts.first[i], false);
        spread_of(&all->items[i], history, &pasts, pasts.first[i], true);
    }
    return 0;
}
