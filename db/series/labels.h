/* Labels: what a run was made for, in its sender's own words. */
#ifndef DB_SERIES_LABELS_H
#define DB_SERIES_LABELS_H

#include <stddef.h>

#include "db/core/store.h"

struct store_label_common {             /* what the ok runs of a label have in common; NULL where they differ */
    const char *device, *suite, *sizes; /* the store's until something is stored */
    size_t devices, suites, size_names; /* 0: no such run; 1; more: they differ */
};
/* source as in db/series/select.h. No such run is no error: the counts are 0. */
int store_label_find(struct store *store, const char *label, const char *source, struct store_label_common *ret,
                     struct rl_err *err);

/* Whether the run has this label: 1, 0, -1. */
int store_has_label(struct store *store, int64_t run_id, const char *label, struct rl_err *err);

#endif
