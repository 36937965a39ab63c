/* Launches with times: grouped by name and shape, and rows of them alone. */
#include "gpu/import/join/timed.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/import/join/rows.h"
#include "gpu/import/text/names.h"
#include "gpu/import/text/spelling.h"
#include "gpu/import/timings/events.h"
#include "gpu/record/derive/quantile.h"

static int no_memory(struct import *import)
{
    return rl_fail(import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
}

/* ---- by name and shape ---- */

static int compare_dims(bool one_has, const int64_t *one, bool two_has, const int64_t *two)
{
    if (one_has != two_has)
        return one_has ? 1 : -1;
    for (int i = 0; i < 3; i++)
        if (one[i] != two[i])
            return one[i] < two[i] ? -1 : 1;
    return 0;
}

int import_compare_shapes(const struct import_group *a, const struct import_group *b)
{
    int grid = compare_dims(a->has_dims, a->grid, b->has_dims, b->grid);
    return grid != 0 ? grid : compare_dims(a->has_dims, a->block, b->has_dims, b->block);
}

struct place { /* of an event, for sorting */
    const struct import_event *event;
    size_t at;
};

static int by_kernel(const void *a, const void *b)
{
    const struct place *one = a, *two = b;
    const struct import_event *e = one->event, *f = two->event;
    int order = e->name == f->name ? 0 : strcmp(e->name, f->name);
    if (order == 0)
        order = compare_dims(e->has_dims, e->grid, f->has_dims, f->grid);
    if (order == 0)
        order = compare_dims(e->has_dims, e->block, f->has_dims, f->block);
    return order != 0 ? order : (one->at > two->at) - (one->at < two->at);
}

int import_by_first_event(const void *a, const void *b)
{
    const struct import_timed *one = a, *two = b;
    return (one->events[0] > two->events[0]) - (one->events[0] < two->events[0]);
}

static int begin_timed(struct import *import, struct import_timed *timed, const struct import_event *event,
                       size_t *events)
{
    *timed = (struct import_timed){.group = {.name = event->name, .has_dims = event->has_dims}, .events = events};
    memcpy(timed->group.grid, event->grid, sizeof event->grid);
    memcpy(timed->group.block, event->block, sizeof event->block);
    timed->group.base = import_base_name(import->arena, event->name);
    timed->key = import_name_key(import->arena, event->name);
    if (timed->key == NULL || timed->group.base == NULL)
        return no_memory(import);
    timed->base_len = strcspn(timed->key, "<");
    return 0;
}

int import_events_group(struct import *import, struct import_timed **ret, size_t *ret_count)
{
    const struct import_events *events = import->events;
    struct place *places = rl_arena_array(import->arena, events->count, sizeof *places);
    size_t *order = rl_arena_array(import->arena, events->count, sizeof *order), count = 0, of_one = 0;
    if (places == NULL || order == NULL)
        return no_memory(import);
    for (size_t i = 0; i < events->count; i++)
        places[i] = (struct place){&events->items[i], i};
    qsort(places, events->count, sizeof *places, by_kernel);
    for (size_t i = 0; i < events->count; i++) {
        struct place one = places[i], before = places[i > 0 ? i - 1 : 0];
        one.at = before.at = 0;
        count += i == 0 || by_kernel(&before, &one) != 0;
        order[i] = places[i].at;
    }
    struct import_timed *timed = rl_arena_array(import->arena, count, sizeof *timed);
    if (timed == NULL)
        return no_memory(import);
    count = 0;
    for (size_t i = 0; i < events->count; i++) {
        struct place one = places[i], before = places[i > 0 ? i - 1 : 0];
        one.at = before.at = 0;
        if (i == 0 || by_kernel(&before, &one) != 0) {
            of_one = i;
            if (begin_timed(import, &timed[count++], places[i].event, order + of_one) != 0)
                return -1;
        }
        timed[count - 1].group.count++;
    }
    qsort(timed, count, sizeof *timed, import_by_first_event);
    *ret = timed;
    *ret_count = count;
    return 0;
}

/* ---- times of a row ---- */

int import_events_sample(struct import *import, struct import_samples *samples, double time_s)
{
    if (time_s <= 0)
        return 0;
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity > 0 ? 2 * samples->capacity : 16;
        double *values = rl_arena_array(import->arena, capacity, sizeof *values);
        if (values == NULL)
            return no_memory(import);
        if (samples->count > 0)
            memcpy(values, samples->values, samples->count * sizeof *values);
        samples->values = values;
        samples->capacity = capacity;
    }
    samples->values[samples->count++] = time_s;
    return 0;
}

int import_events_times(struct import *import, struct rl_row *row, const struct import_samples *samples)
{
    const char *times = import->request->fields.times;
    struct rl_row_state *s = &row->state[times != NULL && strcmp(times, "cold") == 0 ? RL_COLD : RL_WARM];
    s->present = true;
    s->attempts = 1;
    s->time_s.launches = 1;
    s->time_s.stop = (struct rl_text){NULL, "the launches of a file are as many as there are"};
    if (samples->count == 0) {
        s->time_s.median = s->time_s.p25 = s->time_s.p75 = s->time_s.min = s->time_s.std_error =
            rl_unknown("the timings give this kernel's launches a duration of 0");
        return 0;
    }
    return rl_times_from_samples(samples->values, samples->count, &s->time_s) == 0 ? 0 : no_memory(import);
}

/* ---- rows of events alone ---- */

int import_events_rows(struct import *import)
{
    struct import_timed *timed = NULL;
    struct import_table made = {.arena = import->arena, .name = import->events->file->name};
    if (import_events_group(import, &timed, &made.group_count) != 0)
        return -1;
    struct import_group **groups = rl_arena_array(import->arena, made.group_count, sizeof(struct import_group *));
    made.groups = rl_arena_array(import->arena, made.group_count, sizeof *made.groups);
    if (made.groups == NULL || groups == NULL)
        return no_memory(import);
    for (size_t i = 0; i < made.group_count; i++) {
        made.groups[i] = timed[i].group;
        groups[i] = &made.groups[i];
    }
    if (import_rows_of(import, &made, groups, made.group_count) != 0)
        return -1;
    import->row_group = NULL; /* these are no launches of a counter file */
    for (size_t i = 0; i < made.group_count; i++) {
        struct rl_row *row = &import->run->rows[i];
        struct import_samples samples = {0};
        for (size_t e = 0; e < timed[i].group.count; e++)
            if (import_events_sample(import, &samples, import->events->items[timed[i].events[e]].time_s) != 0)
                return -1;
        if (import_events_times(import, row, &samples) != 0)
            return -1;
        if (timed[i].group.has_dims) {
            memcpy(row->launch.grid, timed[i].group.grid, sizeof row->launch.grid);
            memcpy(row->launch.block, timed[i].group.block, sizeof row->launch.block);
            row->launch.dims_why = NULL;
        }
    }
    return 0;
}
