/* Launches with times beside the launches of a counter file: by the function's own name, by shape, by what both print
 * of the template arguments, and at last by order. */
#include "gpu/import/join/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/import/common/note.h"
#include "gpu/import/join/left_out.h"
#include "gpu/import/join/rows.h"
#include "gpu/import/join/timed.h"
#include "gpu/import/text/message.h"
#include "gpu/import/text/spelling.h"
#include "gpu/import/timings/events.h"

static int no_memory(struct import *import)
{
    return rl_fail(import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
}

struct counted { /* a group of the counter file */
    struct import_group *group;
    const char *key;
    size_t base_len;
};

struct matching {
    struct import *import;
    struct import_table *table;
    struct import_timed *timed;
    size_t timed_count;
    struct counted *counted;
    size_t counted_count;
    size_t by_order; /* timed groups that whole names did not tell */
};

/* By the function's own name, then by shape where both sides have it. */
static int compare_base(const char *one, size_t one_len, const char *two, size_t two_len)
{
    int order = strncmp(one, two, one_len < two_len ? one_len : two_len);
    return order != 0 ? order : (one_len > two_len) - (one_len < two_len);
}

static int by_base_timed(const void *a, const void *b)
{
    const struct import_timed *one = a, *two = b;
    int order = compare_base(one->key, one->base_len, two->key, two->base_len);
    if (order == 0)
        order = import_compare_shapes(&one->group, &two->group);
    if (order == 0)
        order = strcmp(one->key, two->key);
    return order != 0 ? order : import_by_first_event(a, b);
}

static int by_base_counted(const void *a, const void *b)
{
    const struct counted *one = a, *two = b;
    int order = compare_base(one->key, one->base_len, two->key, two->base_len);
    if (order == 0)
        order = import_compare_shapes(one->group, two->group);
    if (order == 0)
        order = strcmp(one->key, two->key);
    return order != 0 ? order
                      : (one->group->first->line > two->group->first->line) -
                            (one->group->first->line < two->group->first->line);
}

static int by_key_counted(const void *a, const void *b)
{
    const struct counted *one = a, *two = b;
    int order = strcmp(one->key, two->key);
    return order != 0 ? order
                      : (one->group->first->line > two->group->first->line) -
                            (one->group->first->line < two->group->first->line);
}

static int give(struct matching *m, struct import_timed *timed, struct import_group *group)
{
    timed->found = rl_arena_array(m->import->arena, 1, sizeof(struct import_group *));
    if (timed->found == NULL)
        return no_memory(m->import);
    timed->found[0] = group;
    timed->found_len = 1;
    return 0;
}

/* Those of one base name and shape whose whole names agree on one launch group, and on which no other does. Both sides
 * are sorted by key. */
static int match_keys(struct matching *m, struct import_timed *timed, size_t timed_count, struct counted *counted,
                      size_t counted_count, bool *used)
{
    for (size_t t = 0, c = 0; t < timed_count && c < counted_count;) {
        int order = strcmp(timed[t].key, counted[c].key);
        if (order != 0) {
            t += order < 0;
            c += order > 0;
            continue;
        }
        bool alone = (c + 1 == counted_count || strcmp(counted[c].key, counted[c + 1].key) != 0);
        size_t first = t;
        for (; t < timed_count && strcmp(timed[t].key, counted[c].key) == 0; t++)
            if (alone && give(m, &timed[t], counted[c].group) != 0)
                return -1;
        used[c] = used[c] || (alone && t > first);
        while (c + 1 < counted_count && strcmp(counted[c].key, counted[c + 1].key) == 0)
            c++;
        c++;
    }
    return 0;
}

struct in_order { /* a launch of either side */
    size_t place;
    struct import_timed *timed;
    size_t event; /* among the timed group's */
    struct import_group *group;
};

static int by_place(const void *a, const void *b)
{
    const struct in_order *one = a, *two = b;
    return (one->place > two->place) - (one->place < two->place);
}

/* The launches of both sides that are left, in order: the n-th is the n-th, and again for each iteration. */
static int match_order(struct matching *m, struct in_order *events, size_t event_count, struct in_order *launches,
                       size_t launch_count)
{
    char *why = rl_arena_printf(m->import->arena,
                                "%zu launches of its name and shape are timed and %zu counted, by names that tell them "
                                "apart in neither way",
                                event_count, launch_count);
    qsort(events, event_count, sizeof *events, by_place);
    qsort(launches, launch_count, sizeof *launches, by_place);
    if (why == NULL)
        return no_memory(m->import);
    for (size_t i = 0; i < event_count; i++) {
        struct import_timed *timed = events[i].timed;
        if (event_count % launch_count != 0) {
            timed->why = why;
            continue;
        }
        if (timed->found == NULL)
            timed->found = rl_arena_array(m->import->arena, timed->group.count, sizeof(struct import_group *));
        if (timed->found == NULL)
            return no_memory(m->import);
        m->by_order += timed->found_len == 0;
        timed->found[events[i].event] = launches[i % launch_count].group;
        timed->found_len = timed->group.count;
    }
    return 0;
}

/* What whole names did not tell, of one base name and shape. */
static int match_rest(struct matching *m, struct import_timed *timed, size_t timed_count, struct counted *counted,
                      size_t counted_count, const bool *used)
{
    size_t events = 0, launches = 0, left = 0, one = 0;
    for (size_t t = 0; t < timed_count; t++)
        events += timed[t].found_len == 0 ? timed[t].group.count : 0;
    for (size_t c = 0; c < counted_count; c++) {
        launches += used[c] ? 0 : counted[c].group->count;
        left += !used[c];
        one = used[c] ? one : c;
    }
    for (size_t t = 0; t < timed_count && left <= 1; t++) {
        if (timed[t].found_len > 0)
            continue;
        if (left == 0)
            timed[t].why = "those of its base name and shape have other template arguments";
        else if (events % launches != 0 && timed[t].key[timed[t].base_len] != '\0' &&
                 counted[one].key[counted[one].base_len] != '\0')
            timed[t].why = "the one of its base name and shape has other template arguments and another number of "
                           "launches";
        else if (give(m, &timed[t], counted[one].group) != 0)
            return -1;
        else
            m->by_order++;
    }
    if (events == 0 || left <= 1)
        return 0;
    struct in_order *mine = rl_arena_array(m->import->arena, events, sizeof *mine),
                    *its = rl_arena_array(m->import->arena, launches, sizeof *its);
    if (mine == NULL || its == NULL)
        return no_memory(m->import);
    events = launches = 0;
    for (size_t t = 0; t < timed_count; t++)
        for (size_t e = 0; timed[t].found_len == 0 && e < timed[t].group.count; e++)
            mine[events++] = (struct in_order){timed[t].events[e], &timed[t], e, NULL};
    for (size_t c = 0; c < counted_count; c++)
        for (const struct import_launch *l = used[c] ? NULL : counted[c].group->first; l != NULL; l = l->next_in_group)
            its[launches++] = (struct in_order){l->line, NULL, 0, counted[c].group};
    return match_order(m, mine, events, its, launches);
}

static bool same_base(const struct import_timed *timed, const struct counted *counted)
{
    return compare_base(timed->key, timed->base_len, counted->key, counted->base_len) == 0;
}

static bool shapes_fit(const struct import_group *one, const struct import_group *two)
{
    return !one->has_dims || !two->has_dims || import_compare_shapes(one, two) == 0;
}

/* By key, of one base name and of every shape: a copy, since later timed groups of that base name need the shapes' own
 * order. */
static struct counted *sort_by_key(struct matching *m, const struct counted *counted, size_t count)
{
    struct counted *sorted = rl_arena_array(m->import->arena, count, sizeof *sorted);
    if (sorted == NULL)
        return NULL;
    memcpy(sorted, counted, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_key_counted);
    return sorted;
}

/* Timed groups from t on and counted ones from c on that have one base name and shape. */
static int match_run(struct matching *m, size_t t, size_t *t_end, size_t c, size_t *c_end)
{
    struct import_timed *timed = &m->timed[t];
    struct counted *counted = &m->counted[c];
    while (*t_end < m->timed_count && same_base(&m->timed[*t_end], counted) &&
           import_compare_shapes(&m->timed[*t_end].group, &timed->group) == 0)
        ++*t_end;
    while (*c_end < m->counted_count && same_base(timed, &m->counted[*c_end]) &&
           shapes_fit(&timed->group, m->counted[*c_end].group))
        ++*c_end;
    bool *used = rl_arena_array(m->import->arena, *c_end - c, sizeof *used);
    if (!timed->group.has_dims && counted->group->has_dims)
        counted = sort_by_key(m, counted, *c_end - c);
    if (used == NULL || counted == NULL)
        return no_memory(m->import);
    if (match_keys(m, timed, *t_end - t, counted, *c_end - c, used) != 0)
        return -1;
    return match_rest(m, timed, *t_end - t, counted, *c_end - c, used);
}

/* Both sides sorted by base name and shape, walked together. */
static int match_all(struct matching *m)
{
    qsort(m->timed, m->timed_count, sizeof *m->timed, by_base_timed);
    qsort(m->counted, m->counted_count, sizeof *m->counted, by_base_counted);
    for (size_t t = 0, c = 0; t < m->timed_count;) {
        struct import_timed *timed = &m->timed[t];
        while (c < m->counted_count &&
               compare_base(m->counted[c].key, m->counted[c].base_len, timed->key, timed->base_len) < 0)
            c++;
        size_t fits = c, t_end = t + 1;
        while (fits < m->counted_count && same_base(timed, &m->counted[fits]) &&
               !shapes_fit(&timed->group, m->counted[fits].group))
            fits++;
        if (fits == m->counted_count || !same_base(timed, &m->counted[fits])) {
            timed->why = c < m->counted_count && same_base(timed, &m->counted[c]) ? "launched there in other shapes"
                                                                                  : "not there";
            t++;
            continue;
        }
        size_t c_end = fits;
        if (match_run(m, t, &t_end, fits, &c_end) != 0)
            return -1;
        t = t_end;
    }
    return 0;
}

/* ---- what is made of it ---- */

static int no_launches(struct matching *m)
{
    char names[512] = "";
    size_t count = 0, len = 0;
    qsort(m->timed, m->timed_count, sizeof *m->timed, import_by_first_event);
    for (size_t i = 0; i < m->timed_count; i++) {
        char quoted[IMPORT_QUOTE];
        if (m->timed[i].found_len > 0)
            continue;
        int more = count < IMPORT_NAMES_LISTED
                       ? snprintf(names + len, sizeof names - len, "%s\"%s\" (%s)", count > 0 ? ", " : "",
                                  import_quote(quoted, m->timed[i].group.base), m->timed[i].why)
                       : 0;
        len += more > 0 && (size_t)more < sizeof names - len ? (size_t)more : 0;
        names[len] = '\0';
        count++;
    }
    return count == 0 ? 0 : import_left_out(m->import, names, count, count == m->timed_count);
}

static int add_samples(struct matching *m)
{
    const struct import_events *events = m->import->events;
    for (size_t t = 0; t < m->timed_count; t++)
        for (size_t e = 0; m->timed[t].found_len > 0 && e < m->timed[t].group.count; e++) {
            struct import_group *group = m->timed[t].found[m->timed[t].found_len > 1 ? e : 0];
            if (group->times == NULL)
                group->times = rl_arena_alloc(m->import->arena, sizeof *group->times);
            if (group->times == NULL)
                return no_memory(m->import);
            if (import_events_sample(m->import, group->times, events->items[m->timed[t].events[e]].time_s) != 0)
                return -1;
        }
    return 0;
}

static int make_rows(struct matching *m)
{
    struct import *import = m->import;
    struct import_group **groups = rl_arena_array(import->arena, m->table->group_count, sizeof(struct import_group *));
    size_t count = 0;
    if (groups == NULL)
        return no_memory(import);
    for (size_t i = 0; i < m->table->group_count; i++)
        if (m->table->groups[i].times != NULL)
            groups[count++] = &m->table->groups[i];
    if (import_rows_of(import, m->table, groups, count) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (import_events_times(import, &import->run->rows[i], groups[i]->times) != 0)
            return -1;
    if (m->by_order > 0)
        import_note(import->run,
                    "%zu kernel%s of the timings found %s launches by base name, grid, block and order alone: their "
                    "template arguments are spelled otherwise there",
                    m->by_order, m->by_order == 1 ? "" : "s", m->by_order == 1 ? "its" : "their");
    return 0;
}

int import_events_match(struct import *import, struct import_table *table)
{
    struct matching m = {.import = import, .table = table, .counted_count = table->group_count};
    m.counted = rl_arena_array(import->arena, table->group_count, sizeof *m.counted);
    if (m.counted == NULL)
        return no_memory(import);
    for (size_t i = 0; i < table->group_count; i++) {
        char *key = import_name_key(import->arena, table->groups[i].name);
        if (key == NULL)
            return no_memory(import);
        m.counted[i] = (struct counted){.group = &table->groups[i], .key = key, .base_len = strcspn(key, "<")};
    }
    if (import_events_group(import, &m.timed, &m.timed_count) != 0 || match_all(&m) != 0 || no_launches(&m) != 0 ||
        add_samples(&m) != 0)
        return -1;
    return make_rows(&m);
}
