/* Trends' days as they are stored, and the narrow rows beside a run's document. Private to db/ and its tests. */
#ifndef DB_ROLLUP_H
#define DB_ROLLUP_H

#include "db/store_internal.h"

#define TREND_ENTRIES_MAX 24 /* one an hour, and a row that fits its page (WITHOUT ROWID: about 1000 bytes) */
#define TREND_ENTRY_BYTES 36
#define TREND_DAY_MS      86400000LL

struct trend_key {
    int64_t series_id, method_version, unit_id, day;
    enum rl_state state;
};
struct trend_entry { /* NaN: unknown */
    uint32_t ms_of_day;
    int64_t run_id;
    double value; /* seconds of a kernel; the value of a ceiling */
    double dram_bytes, dram_per_ask, percent_of_ceiling;
};
struct trend_day {
    int64_t runs; /* eligible ones; the newest of them are below, oldest first */
    int count;
    struct trend_entry entries[TREND_ENTRIES_MAX];
};

void trend_entry_decode(const unsigned char *at, struct trend_entry *ret);

/* kind is "kernel" or "ceiling". 1 found, 0 not, -1. */
int store_unit_find(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err);
int store_unit_put(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err);
int store_state_from_name(const char *name, enum rl_state *ret);
/* Outcome ok, and neither shared nor throttled nor with a driver that changed under it. */
bool store_run_eligible(const struct rl_run *run);
/* Inside a transaction: makes the days of trend_stale anew from the runs' rows. */
int store_remake_trends(struct store *store, struct rl_err *err);

#endif
