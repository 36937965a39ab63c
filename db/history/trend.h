/* Trends: the points of one kernel or ceiling on one device, each beside the noise band of what came before it. Which
 * runs are eligible says db/history/observations.h. */
#ifndef DB_HISTORY_TREND_H
#define DB_HISTORY_TREND_H

#include "db/core/store.h"

#define STORE_TREND_LABEL_RUNS 10000
#define STORE_TREND_METRICS                                                                                            \
    "time_s, dram_bytes, dram_per_ask, percent_of_ceiling of kernels; value, dram_bytes of ceilings"

struct store_trend_query {
    const char *device, *kernel; /* needed; kernel is the id of a kernel or a ceiling: unknown is RL_E_NOT_FOUND; where
                                  * both have the name, the one that the metric is of, else that has runs here, else the
                                  * kernel */
    const char *state;           /* "warm", "cold", "mixed" */
    const char *metric;          /* NULL: time_s of a kernel, value of a ceiling */
    const char *suite, *sizes;   /* NULL: verify, course */
    const char *source;          /* NULL: measured and imported */
    const char *driver, *cuda;   /* NULL: any */
    const char *label; /* NULL: any. Else points and bands are of these runs alone; more than STORE_TREND_LABEL_RUNS of
                        * them are RL_E_TOO_LARGE */
    int64_t method_version;             /* 0: RL_METHOD_VERSION */
    int64_t since_ms, until_ms, now_ms; /* as in the matrix */
};
/* A point is the eligible runs of a UTC day under one driver and CUDA version; its value is the median of the newest 24
 * of them ("used"). The noise band before a point: median +- 3 x 1.4826 x MAD of the baseline runs of the newest
 * days before it (5 to 128 runs, from at most 90 days before `since`). Baseline runs are all since the last accepted
 * change, but those of points outside of their band by at least 1 percent of its median: a change has to be accepted
 * before it becomes the baseline. Numbers have nine digits. accepted: the accepted changes of these days, oldest first,
 * with the whole note; runs of the source asked for.
 * {"device":{"id","name"},"kernel","state","metric","unit","suite","sizes","source","label"?,"method_version","since",
 *  "until","accepted":[{"run","date","day","driver","cuda","note","principal","why":{}}],
 *  "points":[{"day","driver","cuda","newest_run","runs","used","median","min","max",
 *  "band":{"low","median","high","runs"}|null,"outside":bool|null,"accepted":bool,"series":1,"why":{}}],"series":[{"number":1,"flop","ask_bytes",
 *  "dims","times":"events"|"profiler"|"any","sentence","why":{}}],"excluded":[…]}
 * Points of other work (flop, asked bytes or dims that both know and that differ) are of another series, as are times
 * that are a profiler's durations: a point's band is that of its own series. A change that was accepted begins the
 * series of its run anew. excluded: {"runs","at_least","filters","ask","sentence","why":{}}, store_excluded_find. */
int store_history_trend(struct store *store, const struct store_trend_query *query, struct rl_buf *out,
                        struct rl_err *err);

#endif
