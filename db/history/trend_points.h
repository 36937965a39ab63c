/* A trend's runs as they were read, and its points as text. */
#ifndef DB_HISTORY_TREND_POINTS_H
#define DB_HISTORY_TREND_POINTS_H

#include "db/history/accepted.h"
#include "db/history/trend_works.h"
#include "db/series/place.h"

struct sample { /* one run in a trend */
    struct store_place place;
    double value; /* NaN: unknown */
    uint64_t versions;
    uint32_t unkept; /* older runs of its line of trend_day, of which only the number is known */
    uint32_t series; /* db/history/trend_works.h */
};
struct piece { /* a line of trend_day */
    int64_t day, work_id;
    size_t first, count; /* samples */
    bool profiler_time;
    struct store_place newest; /* of its samples */
};
struct trend_points {
    const struct piece
        *pieces; /* by day and newest sample, from some days before `since` on, where the first baseline comes from */
    size_t piece_count;
    const struct sample *samples; /* of a piece side by side, oldest first */
    const struct accepted *accepted;
    struct trend_works *works; /* has the samples' series, and gives them their numbers */
    int64_t since;             /* the first day with points */
};
/* Appends the points, oldest first, with commas between. RL_E_TOO_LARGE, field driver. */
int trend_points_put(struct store *store, const struct trend_points *trend, struct rl_buf *out, struct rl_err *err);

#endif
