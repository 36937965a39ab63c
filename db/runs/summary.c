/* A run as lists show it. */
#include "db/runs/summary.h"

#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/runs/withdrawal.h"
#include "db/series/devices.h"
#include "db/series/memory.h"

static void put_member(struct rl_buf *out, const char *member, const char *text)
{
    rl_buf_puts(out, member);
    if (text == NULL || text[0] == '\0') /* series stores an unknown version as '' */
        rl_buf_puts(out, "null");
    else
        json_put_text(out, text);
}

static void put_real(struct rl_buf *out, const char *member, struct stmt *stmt, int index)
{
    rl_buf_puts(out, member);
    if (sqlite3_column_type(stmt->handle, index) == SQLITE_NULL)
        rl_buf_puts(out, "null");
    else
        json_put_real(out, sqlite3_column_double(stmt->handle, index), 17);
}

/* A word of the series: an unknown version is ''. */
static void put_word(struct store *store, struct rl_buf *out, const char *member, const struct series_row *series,
                     int at)
{
    put_member(out, member, store->series->cache.words.texts[series->words[at]]);
}

static void put_series(struct store *store, struct rl_buf *out, const struct series_row *series, const char *name)
{
    rl_buf_puts(out, ",\"device\":{\"id\":");
    json_put_text(out, store->series->cache.words.texts[series->words[SERIES_DEVICE]]);
    put_member(out, ",\"name\":", name);
    rl_buf_puts(out, "}");
    put_word(store, out, ",\"driver\":", series, SERIES_DRIVER);
    put_word(store, out, ",\"cuda\":", series, SERIES_CUDA);
    put_word(store, out, ",\"suite\":", series, SERIES_SUITE);
    put_word(store, out, ",\"sizes\":", series, SERIES_SIZES);
    put_word(store, out, ",\"source\":", series, SERIES_SOURCE);
    put_word(store, out, ",\"outcome\":", series, SERIES_OUTCOME);
    put_word(store, out, ",\"counters\":", series, SERIES_COUNTERS);
}

#define NO_LABEL "\"label\":\"none was given\""

/* why: the stored reasons, an object that is not empty, or NULL. */
static void put_why(struct rl_buf *out, const char *why, bool has_label)
{
    rl_buf_puts(out, ",\"why\":");
    if (has_label) {
        rl_buf_puts(out, why != NULL ? why : "{}");
        return;
    }
    rl_buf_puts(out, "{" NO_LABEL);
    rl_buf_puts(out, why != NULL ? "," : "}");
    rl_buf_puts(out, why != NULL ? why + 1 : ""); /* behind its opening brace */
}

/* The columns of RUN_SUMMARY. */
static int put_summary(struct store *store, struct rl_buf *out, int64_t id, struct stmt *stmt, struct rl_err *err)
{
    const struct series_row *series = series_by_id(&store->series->cache, sqlite3_column_int64(stmt->handle, 7));
    const char *why = (const char *)sqlite3_column_text(stmt->handle, 6), *name;
    const char *label = (const char *)sqlite3_column_text(stmt->handle, 8);
    bool withdrawn = store_is_withdrawn(store, id);

    if (series == NULL)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "the series of run %lld is not there", (long long)id);
    if (store_device_name(store, series->words[SERIES_DEVICE], &name, err) < 0)
        return -1;
    rl_buf_puts(out, "{\"id\":\"");
    json_put_int(out, id);
    if (sqlite3_column_type(stmt->handle, 0) == SQLITE_NULL) {
        rl_buf_puts(out, "\",\"job\":null");
    } else {
        rl_buf_puts(out, "\",\"job\":\"");
        json_put_int(out, sqlite3_column_int64(stmt->handle, 0));
        rl_buf_puts(out, "\"");
    }
    rl_buf_puts(out, ",\"date\":");
    json_put_time(out, sqlite3_column_int64(stmt->handle, 1));
    put_series(store, out, series, name);
    put_member(out, ",\"label\":", label);
    rl_buf_puts(out, withdrawn ? ",\"withdrawn\":true" : ",\"withdrawn\":false");
    if (withdrawn && store_put_withdrawal(store, id, out, err) < 0)
        return -1;
    rl_buf_puts(out, ",\"recorded_at\":");
    if (sqlite3_column_type(stmt->handle, 2) == SQLITE_NULL)
        rl_buf_puts(out, "null");
    else
        json_put_time(out, sqlite3_column_int64(stmt->handle, 2));
    put_real(out, ",\"dram_copy_byte_per_s\":", stmt, 3);
    put_real(out, ",\"fp32_fma_flop_per_s\":", stmt, 4);
    put_real(out, ",\"ridge_flop_per_byte\":", stmt, 5);
    put_why(out, why, label != NULL);
    rl_buf_puts(out, "}");
    return 0;
}

int store_put_summary(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_SUMMARY);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a run's summary");
    if (rc == 1)
        rc = put_summary(store, out, run_id, &stmt, err);
    else if (rc == 0)
        rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "run %lld is listed and not there", (long long)run_id);
    stmt_end(&stmt);
    return rc;
}
