/* What is kept in memory of an open store, as committed: the series, the withdrawn runs, the devices' names. */
#ifndef DB_SERIES_MEMORY_H
#define DB_SERIES_MEMORY_H

#include "db/core/internal.h"
#include "db/series/cache.h"
#include "db/series/withdrawn.h"

struct store_series_new {
    int64_t id, date_ms;
    const char *words[SERIES_WORDS]; /* the run's: alive until the transaction ends */
};

struct series_memory {
    struct series_cache cache;
    struct withdrawn_set withdrawn; /* read with the series */
    bool stale;                     /* memory ran out, or runs went: both to be read anew */
    char **device_names;            /* by the number of the device's word in the series; NULL: not read yet */
    size_t device_name_count;
    struct store_series_new stored; /* what the open transaction does to it; id 0: nothing */
};
/* Reads all of it anew; the first time also has it kept in step with every transaction from then on. On -1 it is stale,
 * or not there at all. */
int store_load_series(struct store *store, struct rl_err *err);
void store_free_series(struct store *store); /* accepts a store that has none */

#endif
