/* Lists of runs, newest first, under any filter. */
#ifndef DB_RUNS_LIST_H
#define DB_RUNS_LIST_H

#include "db/core/store.h"
#include "db/series/place.h"

struct store_run_filter { /* NULL or 0 members do not filter; counters: "counter-backed" or "timed-only" */
    /* outcome, source: "any" is the same as NULL. cuda is the CUDA runtime's version. An unknown word in sizes, source,
     * counters or outcome is RL_E_BAD_FIELD; an unknown device, driver, cuda or suite gives an empty list. driver and
     * cuda may be "": runs whose version is not known. source may be "measured,imported": what history is about. */
    const char *device, *driver, *cuda, *suite, *sizes, *source, *counters, *outcome;
    const char *label;          /* an unknown one gives an empty list */
    const char *withdrawn;      /* NULL or "false": without the withdrawn ones; "true": these alone; "any" */
    int64_t since_ms, until_ms; /* inclusive, exclusive; 0: none */
    const char *cursor;         /* opaque text of an earlier answer; bound to the filter: else RL_E_BAD_CURSOR */
    int limit;
};
/* {"items":[summary…],"next":cursor|null}, newest first by (date, id). A summary: id, job, date, device{id,name},
 * driver, cuda, suite, sizes, source, outcome, counters, label, withdrawn, recorded_at, dram_copy_byte_per_s,
 * fp32_fma_flop_per_s, ridge_flop_per_byte, why{}: the reason of each member that is null; of a withdrawn one also
 * withdrawal{reason,principal,at}. date is the run's finished_at; the two ceilings are the warm ones. */
int store_run_list(struct store *store, const struct store_run_filter *filter, struct rl_buf *out, struct rl_err *err);

/* ---- for those who walk along a list ---- */

/* Resolves "any" and refuses words and limits that cannot be. */
int store_filter_check(const struct store_run_filter *asked, struct store_run_filter *ret, struct rl_err *err);
/* Where a list of this filter starts: runs before this place. RL_E_BAD_CURSOR. */
int store_filter_start(struct store *store, const struct store_run_filter *filter, struct store_place *ret,
                       struct rl_err *err);
/* The next runs of a checked filter. Its cursor and limit are not looked at. */
int store_find_places(struct store *store, const struct store_run_filter *filter, struct store_place before,
                      struct store_place *places, int want, int *ret_count, struct rl_err *err);

struct store_scan {          /* when a list scans before it merges */
    int64_t from_series;     /* fewer are merged at once */
    int64_t rows_per_series; /* rows scanned in the time that one series takes to be looked into */
    int64_t rows_max;
};

#endif
