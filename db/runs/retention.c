/* Retention: runs that go. */
#include "db/runs/retention.h"

#include "db/core/statement.h"
#include "db/core/transaction.h"
#include "db/rows/trend_remake.h"
#include "db/series/memory.h"

/* Inside a transaction. What only points to the run goes with it. */
static int retire(struct store *store, int64_t run_id, const char *reason, int64_t now_ms, struct rl_err *err)
{
    static const enum store_stmt steps[] = {STMT_SAMPLE_DELETE, STMT_DOCUMENT_DELETE, STMT_RUN_DELETE};
    struct stmt stmt = stmt_start(store, STMT_RUN_EXISTS);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "looking up a run");
    stmt_end(&stmt);
    if (rc <= 0)
        return rc < 0 ? -1 : rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)run_id);
    stmt = stmt_start(store, STMT_RETIRED_ADD);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":now", now_ms);
    stmt_text(&stmt, ":reason", reason);
    if (stmt_run(&stmt, err, "naming a run for retention") < 0)
        return -1;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        stmt = stmt_start(store, steps[i]);
        stmt_int(&stmt, ":id", run_id);
        if (stmt_run(&stmt, err, "deleting a run") < 0)
            return -1;
    }
    return store_remake_trends(store, err);
}

int store_run_retire(struct store *store, int64_t run_id, const char *reason, int64_t now_ms, struct rl_err *err)
{
    if (store_begin(store, err) < 0)
        return -1;
    if (store_end(store, retire(store, run_id, reason, now_ms, err), err) < 0)
        return -1;
    store->series->stale = true; /* its day has a run less */
    return 0;
}
