/* Launches with times: grouped by name and shape, and joined to the launches of a counter file. */
#include "gpu/import/timings/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/common/note.h"

#define EVENTS_MAX 1000000u /* as many samples as statistics are made of */

static int no_memory(struct import *import)
{
    return rl_fail(import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
}

struct import_events *import_events_new(struct import *import, const struct import_file *file)
{
    struct import_events *events = calloc(1, sizeof *events);
    if (events != NULL)
        *events = (struct import_events){.import = import, .file = file, .names = json_object(), .device = -1};
    if (events == NULL || events->names == NULL) {
        import_events_free(events);
        no_memory(import);
        return NULL;
    }
    return events;
}

void import_events_free(struct import_events *events)
{
    if (events == NULL)
        return;
    json_decref(events->names);
    free(events->name_list);
    free(events->items);
    free(events);
}

/* One pointer for equal names. */
static const char *intern(struct import_events *events, const char *name)
{
    const json_t *index = json_object_get(events->names, name);
    if (index != NULL)
        return events->name_list[json_integer_value(index)];
    if (events->name_count == events->name_capacity) {
        size_t capacity = events->name_capacity > 0 ? 2 * events->name_capacity : 64;
        const char **list = reallocarray(events->name_list, capacity, sizeof *list);
        if (list == NULL)
            return NULL;
        events->name_list = list;
        events->name_capacity = capacity;
    }
    const char *copy = rl_arena_strdup(events->import->run->arena, name);
    if (copy == NULL || json_object_set_new(events->names, name, json_integer((json_int_t)events->name_count)) != 0)
        return NULL;
    events->name_list[events->name_count++] = copy;
    return copy;
}

int import_events_add(struct import_events *events, const struct import_place *at, const struct import_event *event,
                      int64_t device)
{
    if (events->count == EVENTS_MAX)
        return import_fail_at(at, RL_E_TOO_LARGE, NULL, "is one of more than %u kernels; record fewer steps",
                              EVENTS_MAX);
    if (device >= 0 && events->device >= 0 && device != events->device)
        return import_fail_at(at, RL_E_IMPORT_DISAGREES, "device",
                              "is %lld, and an earlier kernel's %lld: launches of one GPU make a run; export each by "
                              "itself",
                              (long long)device, (long long)events->device);
    if (events->count == events->capacity) {
        size_t capacity = events->capacity > 0 ? 2 * events->capacity : 1024;
        struct import_event *items = reallocarray(events->items, capacity, sizeof *items);
        if (items == NULL)
            return no_memory(events->import);
        events->items = items;
        events->capacity = capacity;
    }
    struct import_event *made = &events->items[events->count];
    *made = *event;
    made->name = intern(events, event->name);
    if (made->name == NULL)
        return no_memory(events->import);
    events->device = device >= 0 ? device : events->device;
    events->timeless += event->time_s <= 0;
    events->count++;
    return 0;
}

static int by_order(const void *a, const void *b)
{
    const struct import_event *one = a, *two = b;
    if (one->order != two->order)
        return one->order < two->order ? -1 : 1;
    return (one->start > two->start) - (one->start < two->start);
}

int import_events_finish(struct import_events *events, const char *what)
{
    struct rl_run *run = events->import->run;
    struct import_place at = {events->import->err, events->file, 0};
    if (events->count == 0)
        return import_fail_at(&at, RL_E_IMPORT_NOT_TIMINGS, NULL,
                              "has %s: record the GPU too (PyTorch: activities=[ProfilerActivity.CUDA])", what);
    qsort(events->items, events->count, sizeof *events->items, by_order);
    if (events->copies + events->sets > 0)
        import_note(run, "%zu cop%s and %zu memory set%s of the timings are no kernels and were left out",
                    events->copies, events->copies == 1 ? "y" : "ies", events->sets, rl_plural(events->sets));
    if (events->timeless > 0)
        import_note(run, "%zu launch%s of the timings %s a duration of 0 and gave no sample", events->timeless,
                    events->timeless == 1 ? "" : "es", events->timeless == 1 ? "has" : "have");
    return 0;
}
