/* Trends' days as they are stored. */
#ifndef DB_ROWS_TREND_DAY_H
#define DB_ROWS_TREND_DAY_H

#include "db/core/store.h"
#include "gpu/record/run.h"

#define TREND_ENTRIES_MAX 24 /* one an hour, and a row that fits its page (WITHOUT ROWID: about 1000 bytes) */
#define TREND_ENTRY_BYTES 36
#define TREND_DAY_MS      86400000LL

struct trend_key {
    int64_t series_id, method_version, unit_id, day, work_id;
    enum rl_state state;
    bool profiler_time; /* times are a profiler's durations, not those of events */
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
/* Counts the run, and keeps its entry unless it is older than all of a full day's; then the oldest goes. */
void trend_day_add(struct trend_day *day, const struct trend_entry *entry);
/* A day that is not stored has no runs. RL_E_STORE_CORRUPT. */
int trend_day_read(struct store *store, const struct trend_key *key, struct trend_day *ret, struct rl_err *err);
int trend_day_write(struct store *store, const struct trend_key *key, const struct trend_day *day, struct rl_err *err);

#endif
