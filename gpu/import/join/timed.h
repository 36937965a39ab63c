/* Launches with times, by kernel and shape. */
#ifndef GPU_IMPORT_JOIN_TIMED_H
#define GPU_IMPORT_JOIN_TIMED_H

#include <stddef.h>

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

struct import_samples { /* seconds, of the import's arena */
    double *values;
    size_t count, capacity;
};
struct import_timed {            /* launches of one name and shape */
    struct import_group group;   /* name, base, shape and number */
    const char *key;             /* import_name_key of the name */
    size_t base_len;             /* of the function's own name in it */
    size_t *events;              /* their places among the events, ascending */
    struct import_group **found; /* of a counter file: one for all of them, or one for each */
    size_t found_len;            /* 0: none was found, for this reason */
    const char *why;
};
/* The events by name and shape, in the order of their first launches; of the import's arena. */
int import_events_group(struct import *import, struct import_timed **ret, size_t *ret_count);
int import_by_first_event(const void *a, const void *b); /* of two struct import_timed, for qsort */
/* Below, at or above 0 as a's grid and block come before, with or behind b's; those without a shape come last. */
int import_compare_shapes(const struct import_group *a, const struct import_group *b);
/* Adds a time to the samples; 0 is none. */
int import_events_sample(struct import *import, struct import_samples *samples, double time_s);
/* The samples' statistics as the row's times. */
int import_events_times(struct import *import, struct rl_row *row, const struct import_samples *samples);
/* Rows of the events alone: by name, grid and block. */
int import_events_rows(struct import *import);

#endif
