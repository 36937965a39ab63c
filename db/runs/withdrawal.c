/* Runs that somebody withdrew: hidden from lists, history, trends and comparisons, with a reason, until it is taken
 * back. The run itself stays as it is. */
#include "db/runs/withdrawal.h"

#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/rows/trend_remake.h"
#include "db/runs/read.h"
#include "db/series/memory.h"

/* ---- withdrawing and taking back ---- */

/* 1, 0, -1: as stored, by whatever the open transaction did. */
static int is_withdrawn_now(struct store *store, int64_t run_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_WITHDRAWAL_NOW);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading whether a run is withdrawn");
    stmt_end(&stmt);
    return rc;
}

/* Inside a transaction. reason NULL: takes it back. */
static int change(struct store *store, const struct store_withdrawal *asked, struct rl_err *err)
{
    bool back = asked->reason == NULL;
    struct stmt stmt;
    int now;

    if (store_check_run(store, asked->run_id, err) < 0 || (now = is_withdrawn_now(store, asked->run_id, err)) < 0)
        return -1;
    if ((now == 1) != back)
        return rl_fail(err, RL_E_CONFLICT, NULL, "run %lld is %s", (long long)asked->run_id,
                       back ? "not withdrawn" : "withdrawn already");
    stmt = stmt_start(store, back ? STMT_WITHDRAWAL_BACK : STMT_WITHDRAWAL_ADD);
    stmt_int(&stmt, ":id", asked->run_id);
    if (!back)
        stmt_text(&stmt, ":reason", asked->reason);
    stmt_text(&stmt, ":principal", asked->principal);
    stmt_int(&stmt, ":at", asked->now_ms);
    if (stmt_run(&stmt, err, back ? "taking a withdrawal back" : "withdrawing a run") < 0)
        return -1;
    return store_remake_trends(store, err);
}

int store_run_withdraw(struct store *store, const struct store_withdrawal *asked, struct rl_err *err)
{
    if (store_begin(store, err) < 0)
        return -1;
    if (store_end(store, change(store, asked, err), err) < 0)
        return -1;
    store->series->stale = true; /* its day has a run less, or more */
    return 0;
}

int store_run_withdrawn(struct store *store, int64_t run_id, bool *ret, struct rl_err *err)
{
    if (store->series->stale && store_load_series(store, err) < 0)
        return -1;
    *ret = store_is_withdrawn(store, run_id);
    return 0;
}

int store_run_owner(struct store *store, int64_t run_id, char **ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_OWNER);
    char *owner = NULL;
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading whose a run is");
    if (rc == 1 && sqlite3_column_type(stmt.handle, 0) != SQLITE_NULL && (owner = stmt_column_dup(&stmt, 0)) == NULL)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a name");
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)run_id);
    *ret = owner;
    return rc < 0 ? -1 : 0;
}

/* ---- reading ---- */

static void put_text(struct rl_buf *out, const char *member, struct stmt *stmt, int column)
{
    rl_buf_puts(out, member);
    if (sqlite3_column_type(stmt->handle, column) == SQLITE_NULL)
        rl_buf_puts(out, "null");
    else
        json_put_text(out, (const char *)sqlite3_column_text(stmt->handle, column));
}

int store_put_withdrawal(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_WITHDRAWAL_NOW);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading why a run is withdrawn");
    if (rc == 1) {
        put_text(out, ",\"withdrawal\":{\"reason\":", &stmt, 0);
        put_text(out, ",\"principal\":", &stmt, 1);
        rl_buf_puts(out, ",\"at\":");
        json_put_time(out, sqlite3_column_int64(stmt.handle, 2));
        rl_buf_puts(out, "}");
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

/* The columns of WITHDRAWAL_LIST. */
static void put_entry(struct rl_buf *out, struct stmt *stmt, bool *ret_now)
{
    *ret_now = sqlite3_column_type(stmt->handle, 4) == SQLITE_NULL;
    put_text(out, "{\"reason\":", stmt, 0);
    put_text(out, ",\"principal\":", stmt, 1);
    rl_buf_puts(out, ",\"at\":");
    json_put_time(out, sqlite3_column_int64(stmt->handle, 2));
    put_text(out, ",\"back_principal\":", stmt, 3);
    rl_buf_puts(out, ",\"back_at\":");
    if (*ret_now) {
        rl_buf_puts(out, "null,\"why\":{\"back_principal\":\"it was not taken back\",\"back_at\":\"it was not taken "
                         "back\"}}");
        return;
    }
    json_put_time(out, sqlite3_column_int64(stmt->handle, 4));
    rl_buf_puts(out, ",\"why\":{}}");
}

static int put_log(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt;
    bool now = false, any = false;
    int rc;

    if (store_check_run(store, run_id, err) < 0)
        return -1;
    rl_buf_printf(out, "{\"run\":\"%lld\",\"log\":[", (long long)run_id);
    stmt = stmt_start(store, STMT_WITHDRAWAL_LIST);
    stmt_int(&stmt, ":id", run_id);
    while ((rc = stmt_step(&stmt, err, "reading a run's withdrawals")) == 1) {
        rl_buf_puts(out, any ? "," : "");
        any = true;
        put_entry(out, &stmt, &now);
    }
    stmt_end(&stmt);
    rl_buf_puts(out, now ? "],\"withdrawn\":true}" : "],\"withdrawn\":false}");
    return rc;
}

int store_withdrawals_json(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err)
{
    size_t length = out->len;
    int rc;

    if (store_look(store, err) < 0)
        return -1;
    rc = put_log(store, run_id, out, err);
    store_look_end(store);
    return store_finish_text(out, length, rc, err);
}
