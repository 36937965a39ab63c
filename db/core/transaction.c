/* Transactions, and one view for all statements of an answer. */
#include "db/core/transaction.h"

#include <assert.h>

#include "db/core/statement.h"
#include "db/core/watch.h"

int store_look(struct store *store, struct rl_err *err)
{
    struct stmt stmt;

    if (store_in_place(store, false, err) < 0)
        return -1;
    assert(sqlite3_get_autocommit(store->db));
    stmt = stmt_start(store, STMT_LOOK);
    return stmt_run(&stmt, err, "starting to read");
}

void store_look_end(struct store *store)
{
    struct stmt stmt;

    if (store->db == NULL || sqlite3_get_autocommit(store->db)) /* an I/O error may have ended it already */
        return;
    stmt = stmt_start(store, STMT_COMMIT); /* of nothing: cannot fail */
    stmt_run(&stmt, NULL, "ending a read");
}

int store_begin(struct store *store, struct rl_err *err)
{
    struct stmt stmt;

    if (store_in_place(store, true, err) < 0)
        return -1;
    assert(sqlite3_get_autocommit(store->db));
    stmt = stmt_start(store, STMT_BEGIN);
    return stmt_run(&stmt, err, "starting a transaction");
}

int store_end(struct store *store, int rc, struct rl_err *err)
{
    struct stmt stmt;

    if (rc == 0) {
        stmt = stmt_start(store, STMT_COMMIT);
        rc = stmt_run(&stmt, err, "committing");
        if (rc == 0) {
            if (store->ended != NULL)
                store->ended(store, true);
            return 0;
        }
    }
    if (store->ended != NULL)
        store->ended(store, false);
    /* A full disk or an I/O error may have rolled back already. */
    if (store->db != NULL && !sqlite3_get_autocommit(store->db)) {
        stmt = stmt_start(store, STMT_ROLLBACK);
        stmt_run(&stmt, NULL, "rolling back");
    }
    return rc;
}
