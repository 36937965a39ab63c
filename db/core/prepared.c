/* All statements of the store, prepared once. */
#include "db/core/prepared.h"

#include "db/core/error.h"

const struct store_stmt_text store_stmt_texts[STMT_COUNT] = {
#define STMT(symbol, scans, sql) {#symbol, scans, sql},
#include "db/core/statements.def"
#undef STMT
};

int store_prepare_all(struct store *store, struct rl_err *err)
{
    for (int i = 0; i < STMT_COUNT; i++) {
        if (sqlite3_prepare_v3(store->db, store_stmt_texts[i].sql, -1, SQLITE_PREPARE_PERSISTENT, &store->stmts[i],
                               NULL) != SQLITE_OK) {
            if ((sqlite3_errcode(store->db) & 0xff) != SQLITE_ERROR)
                return store_fail(store, err, "reading the schema");
            return rl_fail(err, RL_E_STORE_CORRUPT, "database", "the schema is not that of its version %d: %s",
                           store->version, sqlite3_errmsg(store->db));
        }
    }
    return 0;
}

void store_finalize_all(struct store *store)
{
    for (int i = 0; i < STMT_COUNT; i++) {
        sqlite3_finalize(store->stmts[i]);
        store->stmts[i] = NULL;
    }
}
