/* Making trends' days anew from the rows of their runs: after a migration, and when runs were deleted. */
#include "db/rows/trend_remake.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "db/core/statement.h"
#include "db/core/transaction.h"
#include "db/rows/trend_day.h"
#include "db/rows/units.h"

struct remade {
    struct trend_key key;
    struct trend_day day;
};
struct remade_days {
    struct remade *items;
    size_t count, capacity;
};

static bool is_of(const struct trend_key *a, const struct trend_key *b)
{
    return a->unit_id == b->unit_id && a->state == b->state && a->work_id == b->work_id &&
           a->profiler_time == b->profiler_time;
}

/* Rows come run by run in one order: the wanted one mostly stands right after the last. */
static struct remade *find_remade(struct remade_days *days, const struct trend_key *key, size_t *hint)
{
    for (size_t i = 0; i < days->count; i++) {
        size_t at = (*hint + i) % days->count;

        if (is_of(&days->items[at].key, key)) {
            *hint = at + 1;
            return &days->items[at];
        }
    }
    if (days->count == days->capacity) {
        size_t capacity = days->capacity == 0 ? 32 : days->capacity * 2;
        struct remade *items = realloc(days->items, capacity * sizeof *items);

        if (items == NULL)
            return NULL;
        days->items = items;
        days->capacity = capacity;
    }
    days->items[days->count] = (struct remade){.key = *key};
    return &days->items[days->count++];
}

static double column_or_nan(struct stmt *stmt, int column)
{
    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt->handle, column);
}

/* The columns of TREND_SOURCE. */
static int take_source(struct remade_days *days, struct stmt *stmt, struct trend_key key, size_t *hint,
                       struct rl_err *err)
{
    struct trend_entry entry = {.run_id = sqlite3_column_int64(stmt->handle, 0),
                                .ms_of_day = (uint32_t)(sqlite3_column_int64(stmt->handle, 1) - key.day * TREND_DAY_MS),
                                .value = column_or_nan(stmt, 4),
                                .dram_bytes = column_or_nan(stmt, 5),
                                .dram_per_ask = column_or_nan(stmt, 6),
                                .percent_of_ceiling = column_or_nan(stmt, 7)};
    struct remade *remade;

    key.unit_id = sqlite3_column_int64(stmt->handle, 2);
    key.work_id = sqlite3_column_int64(stmt->handle, 8);
    key.profiler_time = sqlite3_column_int(stmt->handle, 9) != 0;
    if (store_state_from_name((const char *)sqlite3_column_text(stmt->handle, 3), &key.state) < 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a run's row has an unknown state");
    remade = find_remade(days, &key, hint);
    if (remade == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a day of trends");
    trend_day_add(&remade->day, &entry);
    return 0;
}

static int clear_day(struct store *store, const struct trend_key *key, enum store_stmt id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, id);

    stmt_int(&stmt, ":series", key->series_id);
    stmt_int(&stmt, ":method", key->method_version);
    stmt_int(&stmt, ":day", key->day);
    return stmt_run(&stmt, err, "clearing a day of trends");
}

static int remake_day(struct store *store, const struct trend_key *key, struct rl_err *err)
{
    struct remade_days days = {0};
    struct stmt stmt;
    size_t hint = 0;
    int rc;

    if (clear_day(store, key, STMT_TREND_CLEAR, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_TREND_SOURCE);
    stmt_int(&stmt, ":series", key->series_id);
    stmt_int(&stmt, ":method", key->method_version);
    stmt_int(&stmt, ":from", key->day * TREND_DAY_MS);
    stmt_int(&stmt, ":to", key->day * TREND_DAY_MS + TREND_DAY_MS - 1);
    while ((rc = stmt_step(&stmt, err, "reading a day's runs")) == 1) {
        if ((rc = take_source(&days, &stmt, *key, &hint, err)) < 0)
            break;
    }
    stmt_end(&stmt);
    for (size_t i = 0; rc == 0 && i < days.count; i++)
        rc = trend_day_write(store, &days.items[i].key, &days.items[i].day, err);
    free(days.items);
    return rc == 0 ? clear_day(store, key, STMT_STALE_DELETE, err) : -1;
}

/* 1 a day is stale, 0 none, -1 */
static int next_stale(struct store *store, struct trend_key *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_STALE_FIRST);
    int rc = stmt_step(&stmt, err, "looking for stale trends");

    if (rc == 1)
        *ret = (struct trend_key){.series_id = sqlite3_column_int64(stmt.handle, 0),
                                  .method_version = sqlite3_column_int64(stmt.handle, 1),
                                  .day = sqlite3_column_int64(stmt.handle, 2)};
    stmt_end(&stmt);
    return rc;
}

int store_remake_trends(struct store *store, struct rl_err *err)
{
    struct trend_key key;
    int rc;

    assert(!sqlite3_get_autocommit(store->db));
    while ((rc = next_stale(store, &key, err)) == 1) {
        if (remake_day(store, &key, err) < 0)
            return -1;
    }
    return rc;
}

int store_mend_trends(struct store *store, struct rl_err *err)
{
    struct trend_key key;
    int stale = next_stale(store, &key, err);

    if (stale <= 0)
        return stale;
    if (store_begin(store, err) < 0)
        return -1;
    return store_end(store, store_remake_trends(store, err), err);
}
