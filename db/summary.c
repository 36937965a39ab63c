/* A run as lists show it. */
#include "db/store_internal.h"

#include <string.h>

static void put_member(struct rl_buf *out, const char *member, const char *text)
{
    rl_buf_printf(out, ",\"%s\":", member);
    if (text == NULL || text[0] == '\0') /* series stores an unknown version as '' */
        rl_buf_puts(out, "null");
    else
        json_put_text(out, text);
}

static const char *column(struct stmt *stmt, int index)
{
    return (const char *)sqlite3_column_text(stmt->handle, index);
}

static void put_real(struct rl_buf *out, const char *member, struct stmt *stmt, int index)
{
    rl_buf_printf(out, ",\"%s\":", member);
    if (sqlite3_column_type(stmt->handle, index) == SQLITE_NULL)
        rl_buf_puts(out, "null");
    else
        json_put_real(out, sqlite3_column_double(stmt->handle, index), 17);
}

/* The columns of RUN_SUMMARY. */
static void put_summary(struct rl_buf *out, int64_t id, struct stmt *stmt)
{
    const char *why = column(stmt, 6);

    rl_buf_printf(out, "{\"id\":\"%lld\",\"job\":", (long long)id);
    if (sqlite3_column_type(stmt->handle, 0) == SQLITE_NULL)
        rl_buf_puts(out, "null");
    else
        rl_buf_printf(out, "\"%lld\"", (long long)sqlite3_column_int64(stmt->handle, 0));
    rl_buf_puts(out, ",\"date\":");
    json_put_time(out, sqlite3_column_int64(stmt->handle, 1));
    rl_buf_puts(out, ",\"device\":{\"id\":");
    json_put_text(out, column(stmt, 7));
    put_member(out, "name", column(stmt, 8));
    rl_buf_puts(out, "}");
    put_member(out, "driver", column(stmt, 9));
    put_member(out, "cuda", column(stmt, 10));
    put_member(out, "suite", column(stmt, 11));
    put_member(out, "sizes", column(stmt, 12));
    put_member(out, "source", column(stmt, 13));
    put_member(out, "outcome", column(stmt, 14));
    put_member(out, "counters", column(stmt, 15));
    rl_buf_puts(out, ",\"recorded_at\":");
    if (sqlite3_column_type(stmt->handle, 2) == SQLITE_NULL)
        rl_buf_puts(out, "null");
    else
        json_put_time(out, sqlite3_column_int64(stmt->handle, 2));
    put_real(out, "dram_copy_byte_per_s", stmt, 3);
    put_real(out, "fp32_fma_flop_per_s", stmt, 4);
    put_real(out, "ridge_flop_per_byte", stmt, 5);
    rl_buf_printf(out, ",\"why\":%s}", why != NULL ? why : "{}");
}

int store_put_summary(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_SUMMARY);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a run's summary");
    if (rc == 1)
        put_summary(out, run_id, &stmt);
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "run %lld is listed and not there", (long long)run_id);
    return rc < 0 ? -1 : 0;
}
