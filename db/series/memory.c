/* The series, the withdrawn runs and the devices' names as they are kept in memory.
 *
 * They are few beside the runs (a new series comes with a new driver, device or kind of outcome), only this process
 * writes them, and series never go: so they are read once and then kept in step, each after the commit that stored it.
 * So are the counts of their days, 8 bytes each: the matrix of a year is answered from memory in the time that its text
 * takes (read from the file, 18 thousand lines took 6 ms more; 2026-11-29). */
#include "db/series/memory.h"

#include <stdlib.h>

#include "db/core/statement.h"
#include "db/series/devices.h"
#include "gpu/base/time.h"

static int load_days(struct store *store, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DAYS_LOAD);
    struct series_row *row = NULL;
    int rc;

    while ((rc = stmt_step(&stmt, err, "reading the days of the series")) == 1) {
        int64_t id = sqlite3_column_int64(stmt.handle, 0);

        if (row == NULL || row->id != id)
            row = (struct series_row *)series_by_id(&store->series->cache, id);
        if (row == NULL)
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "a day is of series %lld, which is not there",
                         (long long)id);
        else if (series_add_day(row, sqlite3_column_int64(stmt.handle, 1), sqlite3_column_int64(stmt.handle, 2)) < 0)
            rc = rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the days of the series");
        if (rc < 0)
            break;
    }
    stmt_end(&stmt);
    return rc;
}

/* After a commit: takes `stored` into the cache. */
static void note_stored(struct store *store)
{
    const struct store_series_new *stored = &store->series->stored;
    struct series_row *row;

    row = (struct series_row *)series_by_id(&store->series->cache, stored->id);
    if (row != NULL) {
        row->oldest_ms = stored->date_ms < row->oldest_ms ? stored->date_ms : row->oldest_ms;
        row->newest_ms = stored->date_ms > row->newest_ms ? stored->date_ms : row->newest_ms;
    } else if (series_add(&store->series->cache, stored->id, stored->words, stored->date_ms, stored->date_ms) == 0) {
        row = &store->series->cache.rows[store->series->cache.count - 1];
    }
    /* Out of memory: the run is stored and may not fail now. The next question reads them anew. */
    if (row == NULL || series_add_day(row, rl_time_day(stored->date_ms), 1) < 0)
        store->series->stale = true;
}

/* store->ended */
static void after_transaction(struct store *store, bool committed)
{
    if (committed && store->series->stored.id != 0)
        note_stored(store);
    store->series->stored.id = 0;
}

int store_load_series(struct store *store, struct rl_err *err)
{
    struct stmt stmt;
    int rc;

    if (store->series == NULL) {
        store->series = calloc(1, sizeof *store->series);
        if (store->series == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the series");
        store->ended = after_transaction;
    }
    stmt = stmt_start(store, STMT_SERIES_LOAD);
    series_fini(&store->series->cache);
    store_forget_device_names(store); /* they go by the words' numbers */
    while ((rc = stmt_step(&stmt, err, "reading the series")) == 1) {
        const char *words[SERIES_WORDS];

        for (int i = 0; i < SERIES_WORDS; i++) {
            words[i] = (const char *)sqlite3_column_text(stmt.handle, 3 + i);
            if (words[i] == NULL)
                words[i] = "";
        }
        if (series_add(&store->series->cache, sqlite3_column_int64(stmt.handle, 0), words,
                       sqlite3_column_int64(stmt.handle, 1), sqlite3_column_int64(stmt.handle, 2)) < 0) {
            rc = rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the series");
            break;
        }
    }
    stmt_end(&stmt);
    if (rc == 0)
        rc = load_days(store, err);
    if (rc == 0)
        rc = store_load_withdrawn(store, err);
    store->series->stale = rc != 0;
    return rc;
}

void store_free_series(struct store *store)
{
    if (store->series == NULL)
        return;
    series_fini(&store->series->cache);
    store_forget_withdrawn(store);
    store_forget_device_names(store);
    free(store->series);
    store->series = NULL;
}
