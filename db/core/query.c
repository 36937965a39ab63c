/* SQL that is run once, and so is not among the prepared statements. */
#include "db/core/query.h"

#include <errno.h>

#include "db/core/error.h"
#include "db/core/internal.h"

int store_read_int(struct store *store, const char *sql, int64_t *ret, struct rl_err *err, const char *doing)
{
    sqlite3_stmt *stmt = NULL;
    int rc = -1;

    errno = 0;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        store_fail(store, err, doing);
    else {
        *ret = sqlite3_column_int64(stmt, 0);
        rc = 0;
    }
    sqlite3_finalize(stmt);
    return rc;
}

int store_execute(struct store *store, const char *sql, struct rl_err *err, const char *doing)
{
    errno = 0;
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(store, err, doing);
    return 0;
}

int store_set_pragma(struct store *store, const char *set, const char *get, int64_t want, struct rl_err *err)
{
    int64_t got = -1;

    if (store_execute(store, set, err, set) < 0 || store_read_int(store, get, &got, err, get) < 0)
        return -1;
    if (got != want)
        return rl_fail(err, RL_E_INTERNAL, "database", "%s had no effect: it is %lld", set, (long long)got);
    return 0;
}

int store_has_rows(struct store *store, const char *sql, bool *ret, struct rl_err *err, const char *doing)
{
    sqlite3_stmt *stmt = NULL;
    int step, rc = 0;

    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(store, err, doing);
    step = sqlite3_step(stmt);
    if (step == SQLITE_ROW || step == SQLITE_DONE)
        *ret = step == SQLITE_ROW;
    else
        rc = store_fail(store, err, doing);
    sqlite3_finalize(stmt);
    return rc;
}
