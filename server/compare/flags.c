/* What the flags of rows and missing counters mean for a comparison, in words. Rules: server/compare/compare.h. */
#include <string.h>

#include "gpu/base/num.h"

#include "server/compare/internal.h"

#define SHOWN (sizeof((struct compare_named *)0)->rows / sizeof((struct compare_named *)0)->rows[0])

struct kind {
    unsigned flag; /* 0: rows that mix the states */
    const char *name, *meaning;
};
static const struct kind of_mixed_rows = {
    0, "mixed", "bytes of cold launches beside times of warm ones, which are shown and not judged"};

/* The kind that is told at this place, from 1 on, after the mixed rows; false: there are no more. */
static bool kind_at(unsigned rank, struct kind *ret)
{
    for (unsigned i = 0; i < RL_ROW_FLAG_COUNT; i++)
        if (rl_row_flags[i].rank == rank) {
            *ret = (struct kind){1u << i, rl_row_flags[i].id, rl_row_flags[i].judged};
            return true;
        }
    return false;
}

struct found { /* the runs' rows of one kind */
    size_t count[2];
    struct compare_named named;
};

void compare_name(struct compare_named *named, const char *name, enum rl_state state)
{
    for (size_t i = 0; i < named->shown; i++)
        if (named->rows[i].state == state && strcmp(named->rows[i].name, name) == 0)
            return;
    if (named->shown == SHOWN) {
        named->more = true;
        return;
    }
    named->rows[named->shown].name = name;
    named->rows[named->shown++].state = state;
}

static void find(const struct kind *kind, const char *name, enum rl_state state, unsigned flags, size_t side,
                 struct found *found)
{
    bool mixed = state >= RL_STATE_COUNT; /* of these only that is said */
    if (kind->flag == 0 ? !mixed : mixed || (flags & kind->flag) == 0)
        return;
    found->count[side]++;
    compare_name(&found->named, name, state);
}

/* "vector_add warm, transpose_naive warm and others" */
const char *compare_named_words(const struct compare_named *named, struct rl_arena *arena)
{
    const char *text = "";
    char name[COMPARE_NAME_SHOWN];
    for (size_t i = 0; text != NULL && i < named->shown; i++)
        text = rl_arena_printf(arena, "%s%s%s %s", text, i > 0 ? ", " : "",
                               compare_short_name(named->rows[i].name, name), rl_state_name(named->rows[i].state));
    return text != NULL && named->more ? rl_arena_printf(arena, "%s and others", text) : text;
}

/* "3 rows of base's runs and 10 of head's are"; a side that has none is not said */
static const char *sides_words(const size_t count[2], struct rl_arena *arena)
{
    if (count[0] > 0 && count[1] > 0)
        return rl_arena_printf(arena, "%zu %s of base's runs and %zu of head's are", count[0],
                               count[0] == 1 ? "row" : "rows", count[1]);
    size_t side = count[0] > 0 ? 0 : 1;
    return rl_arena_printf(arena, "%zu %s of %s's runs %s", count[side], count[side] == 1 ? "row" : "rows",
                           side == 0 ? "base" : "head", count[side] == 1 ? "is" : "are");
}

static int warn(const struct kind *kind, const struct found *found, struct compare_result *result)
{
    struct rl_arena *arena = result->arena;
    const char *rows = compare_named_words(&found->named, arena), *sides = sides_words(found->count, arena);
    if (rows == NULL || sides == NULL)
        return -1;
    return compare_say(result->warnings, &result->warning_count, kind->name,
                       rl_arena_printf(arena, "%zu", found->count[0]), rl_arena_printf(arena, "%zu", found->count[1]),
                       rl_arena_printf(arena, "%s %s (%s): %s.", sides, kind->name, rows, kind->meaning));
}

static bool is_counted(const struct compare_run *run)
{
    for (size_t i = 0; i < run->draw_count; i++)
        if (rl_is_known(run->draws[i].dram_bytes))
            return true;
    return false;
}

/* "2 of 3 runs of base have no DRAM bytes"; a side whose runs all have them is not said */
static const char *counters_words(const size_t timed[2], const size_t all[2], struct rl_arena *arena)
{
    if (timed[0] > 0 && timed[1] > 0)
        return rl_arena_printf(arena, "%zu of %zu run%s of base and %zu of %zu of head have no DRAM bytes", timed[0],
                               all[0], rl_plural(all[0]), timed[1], all[1]);
    size_t side = timed[0] > 0 ? 0 : 1;
    const char *name = side == 0 ? "base" : "head";
    if (timed[side] == all[side])
        return rl_arena_printf(arena, "No run of %s has DRAM bytes", name);
    return rl_arena_printf(arena, "%zu of %zu runs of %s %s no DRAM bytes", timed[side], all[side], name,
                           timed[side] == 1 ? "has" : "have");
}

static int warn_of_counters(const struct chosen *const sides[2], struct compare_result *result)
{
    struct rl_arena *arena = result->arena;
    size_t timed[2] = {0, 0};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->count; i++)
            timed[s] += !is_counted(sides[s]->runs[i]);
    if (timed[0] + timed[1] == 0)
        return 0;
    bool some = timed[0] < sides[0]->count && timed[1] < sides[1]->count;
    const char *words = counters_words(timed, (const size_t[2]){sides[0]->count, sides[1]->count}, arena);
    if (words == NULL)
        return -1;
    return compare_say(result->warnings, &result->warning_count, "counters",
                       rl_arena_printf(arena, "%zu without", timed[0]), rl_arena_printf(arena, "%zu without", timed[1]),
                       rl_arena_printf(arena, "%s: %s.", words,
                                       some ? "bytes are judged on the others" : "bytes cannot be judged, only times"));
}

static int warn_of_kind(const struct kind *kind, const struct chosen *const sides[2], struct compare_result *result)
{
    struct found found = {.count = {0, 0}};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->count; i++) {
            const struct compare_run *run = sides[s]->runs[i];
            for (size_t d = 0; d < run->draw_count; d++)
                find(kind, run->draws[d].kernel, run->draws[d].state, run->draws[d].flags, s, &found);
            for (size_t c = 0; c < run->ceiling_count; c++)
                find(kind, run->ceilings[c].name, run->ceilings[c].state, run->ceilings[c].flags, s, &found);
        }
    return found.count[0] + found.count[1] > 0 ? warn(kind, &found, result) : 0;
}

int compare_flag_warnings(const struct chosen *base, const struct chosen *head, struct compare_result *result)
{
    const struct chosen *const sides[2] = {base, head};
    struct kind kind = of_mixed_rows;
    unsigned rank = 0;
    do
        if (warn_of_kind(&kind, sides, result) != 0)
            return -1;
    while (kind_at(++rank, &kind));
    return warn_of_counters(sides, result);
}
