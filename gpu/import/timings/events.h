/* Launches with times, one by one. */
#ifndef GPU_IMPORT_TIMINGS_EVENTS_H
#define GPU_IMPORT_TIMINGS_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/message.h"

struct import_event {
    const char *name; /* of the import's arena; equal names are one pointer */
    bool has_dims;
    int64_t grid[3], block[3];
    double time_s; /* 0: the file has none */
    double order;  /* ascending in the order of launching */
    double start;  /* breaks ties */
};
struct import_events {
    struct import *import;
    const struct import_file *file;
    struct import_event *items;
    size_t count, capacity;
    json_t *names; /* index of each name in name_list */
    const char **name_list;
    size_t name_count, name_capacity;
    size_t copies, sets, timeless; /* memory copies and sets; kernels without a duration */
    int64_t device;                /* of the first kernel; -1: none yet, or not told */
};
struct import_events *import_events_new(struct import *import, const struct import_file *file);
void import_events_free(struct import_events *events); /* accepts NULL */
/* Copies event, its name too. Refuses a second device. */
int import_events_add(struct import_events *events, const struct import_place *at, const struct import_event *event,
                      int64_t device);
/* Notes what was not used, and refuses a file without kernels. Sorts. */
int import_events_finish(struct import_events *events, const char *what);

#endif
