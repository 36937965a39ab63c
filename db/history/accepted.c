/* Accepted changes: which runs begin a new baseline, and what was said of them. */
#include "db/history/accepted.h"

#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/series/memory.h"
#include "db/series/select.h"
#include "gpu/base/time.h"

static int oldest_first(const void *a, const void *b)
{
    return place_order(&((const struct accepted_change *)a)->place, &((const struct accepted_change *)b)->place);
}

static int add(struct accepted *accepted, struct accepted_change change, struct rl_err *err)
{
    if (accepted->count == accepted->capacity) {
        size_t capacity = accepted->capacity == 0 ? 16 : accepted->capacity * 2;
        struct accepted_change *items = realloc(accepted->items, capacity * sizeof *items);

        if (items == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
        accepted->items = items;
        accepted->capacity = capacity;
    }
    accepted->items[accepted->count++] = change;
    return 0;
}

void accepted_fini(struct accepted *accepted)
{
    free(accepted->items);
    *accepted = (struct accepted){0};
}

int accepted_read(struct store *store, const struct accepted_query *query, struct accepted *ret, struct rl_err *err)
{
    const char *source = query->source;
    const char *words[SERIES_WORDS] = {[SERIES_DEVICE] = query->device,
                                       [SERIES_SUITE] = query->suite,
                                       [SERIES_SIZES] = query->sizes,
                                       [SERIES_SOURCE] = source == NULL               ? SERIES_NOT_REPLAYED
                                                         : strcmp(source, "any") == 0 ? NULL
                                                                                      : source};
    struct accepted accepted = {0};
    struct series_filter filter;
    struct stmt stmt;
    int rc;

    *ret = accepted;
    if (!series_pick(&store->series->cache, words, &filter))
        return 0;
    stmt = stmt_start(store, STMT_ACCEPTED_OF);
    stmt_int(&stmt, ":unit", query->unit_id);
    stmt_text(&stmt, ":state", rl_state_name(query->state));
    while ((rc = stmt_step(&stmt, err, "reading accepted changes")) == 1) {
        const struct series_row *row = series_by_id(&store->series->cache, sqlite3_column_int64(stmt.handle, 2));
        struct store_place place = {sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1)};

        if (row == NULL || !series_matches(&filter, row) || store_is_withdrawn(store, place.id))
            continue;
        rc = add(&accepted, (struct accepted_change){place, row}, err);
        if (rc < 0)
            break;
    }
    stmt_end(&stmt);
    if (rc < 0) {
        accepted_fini(&accepted);
        return -1;
    }
    if (accepted.count > 0)
        qsort(accepted.items, accepted.count, sizeof *accepted.items, oldest_first);
    *ret = accepted;
    return 0;
}

static int put_note(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_NOTE_GET);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a note");
    if (rc == 1) {
        rl_buf_puts(out, ",\"note\":");
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 1));
        rl_buf_puts(out, ",\"principal\":");
        json_put_text(out, (const char *)sqlite3_column_text(stmt.handle, 2));
    }
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "run %lld has an accepted change and no note",
                       (long long)run_id);
    return rc < 0 ? -1 : 0;
}

int accepted_put(struct store *store, const struct accepted *accepted, struct days days, struct rl_buf *out,
                 struct rl_err *err)
{
    const char *between = "";

    for (size_t i = 0; i < accepted->count; i++) {
        const struct accepted_change *change = &accepted->items[i];
        const char *driver = store_series_word(store, change->series, SERIES_DRIVER);
        const char *cuda = store_series_word(store, change->series, SERIES_CUDA);
        int64_t day = rl_time_day(change->place.date_ms);

        if (day < days.since || day >= days.until)
            continue;
        rl_buf_printf(out, "%s{\"run\":\"%lld\",\"date\":", between, (long long)change->place.id);
        between = ",";
        json_put_time(out, change->place.date_ms);
        rl_buf_puts(out, ",\"day\":");
        json_put_day(out, day);
        rl_buf_puts(out, ",");
        json_put_version(out, "driver", driver);
        rl_buf_puts(out, ",");
        json_put_version(out, "cuda", cuda);
        if (put_note(store, change->place.id, out, err) < 0)
            return -1;
        rl_buf_puts(out, ",\"why\":{");
        json_put_versions_why(out, driver, cuda);
        rl_buf_puts(out, "}}");
    }
    return 0;
}
