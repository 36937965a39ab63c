/* The series of a trend: points of other work, or of times taken in another way, are never in one band.
 *
 * A day's work belongs to the series that it is no other work than (db/same/work.h); of several to the one that came
 * last, whichever it belonged to before; that one then knows what either knows. So work that tells the series apart
 * always goes on with its own, and rows that do not know what tells them apart go on with what was there just before.
 * Of the works of one day the one with the newest run comes last: that does not depend on how the days were read. */
#ifndef DB_HISTORY_TREND_WORKS_H
#define DB_HISTORY_TREND_WORKS_H

#include "db/core/store.h"
#include "db/same/work.h"
#include "gpu/base/buf.h"

#define TREND_SERIES_MAX 1024 /* of one trend */

struct trend_series {
    struct store_work known;
    bool profiler_time;
    uint32_t number; /* in the answer, from 1; 0: without a point so far */
    uint32_t before; /* the number before, which its sentence compares it with */
    uint64_t came;   /* the works that had been asked for when it came last */
};
struct trend_work;
struct trend_works { /* zeroed: none */
    bool of_times;   /* the metric is one that depends on how times were taken */
    struct trend_work *items;
    size_t count, capacity;
    struct trend_series *series;
    size_t series_count, series_capacity;
    uint64_t asked;       /* works so far */
    uint32_t last_number; /* given */
    struct rl_arena *arena;
};

/* The series, from 0, of a day with this work; to be asked for every one, oldest first. RL_E_TOO_LARGE above
 * TREND_SERIES_MAX. */
int trend_works_find(struct store *store, struct trend_works *works, int64_t work_id, bool profiler_time, uint32_t *ret,
                     struct rl_err *err);
/* The number of a series that has a point, given in the order of the points. */
uint32_t trend_works_number(struct trend_works *works, uint32_t series);
/* Appends the numbered ones as items of a list. */
void trend_works_put(const struct trend_works *works, struct rl_buf *out);
void trend_works_fini(struct trend_works *works);

#endif
