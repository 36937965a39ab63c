/* Where a run stands among others: by its date, then by its id. */
#ifndef DB_SERIES_PLACE_H
#define DB_SERIES_PLACE_H

#include <stdint.h>

struct store_place { /* of a run in lists: newest first */
    int64_t date_ms, id;
};

/* Oldest first: below 0, 0, above 0. Here because a trend asks it a hundred thousand times. */
static inline int place_order(const struct store_place *x, const struct store_place *y)
{
    if (x->date_ms != y->date_ms)
        return x->date_ms < y->date_ms ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

#endif
