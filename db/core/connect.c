/* The connection and its settings. */
#include "db/core/connect.h"

#include <errno.h>
#include <string.h>

#include "db/core/error.h"
#include "db/core/internal.h"
#include "db/core/query.h"

#define OPEN_BUSY_MS    1000
#define VALUE_MAX_BYTES (64 * 1024 * 1024) /* of one stored text or blob */

int store_connect(struct store *store, struct rl_err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

    errno = 0;
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK) {
        if (store->db == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for a connection");
        return store_fail(store, err, "opening the database");
    }
    if (sqlite3_db_readonly(store->db, "main") == 1) /* SQLite falls back to reading when writing is not allowed */
        return rl_fail(err, RL_E_STORE_READONLY, "database", "the database may be read but not written by this user");
    if (sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL) != SQLITE_OK)
        return store_fail(store, err, "configuring the connection");
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
    sqlite3_busy_timeout(store->db, OPEN_BUSY_MS);
    return 0;
}

int store_set_pragmas(struct store *store, struct rl_err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *mode = NULL;
    int rc = 0;

    /* A result costs minutes of a GPU: FULL, so that what was acknowledged survives power loss. */
    if (store_set_pragma(store, "PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", 1, err) < 0 ||
        store_set_pragma(store, "PRAGMA recursive_triggers = ON", "PRAGMA recursive_triggers", 1, err) < 0 ||
        store_set_pragma(store, "PRAGMA synchronous = FULL", "PRAGMA synchronous", 2, err) < 0 ||
        store_set_pragma(store, "PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", 1, err) < 0 ||
        store_set_pragma(store, "PRAGMA temp_store = MEMORY", "PRAGMA temp_store", 2, err) < 0 ||
        store_set_pragma(store, "PRAGMA cache_size = -32768", "PRAGMA cache_size", -32768, err) < 0 ||
        store_execute(store, "PRAGMA mmap_size = 0", err, "configuring the connection") < 0)
        return -1;
    errno = 0;
    if (sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW)
        rc = store_fail(store, err, "switching to the write-ahead log");
    else {
        mode = (const char *)sqlite3_column_text(stmt, 0);
        if (mode == NULL || strcmp(mode, "wal") != 0)
            rc = rl_fail(err, RL_E_STORE_OPEN, "database",
                         "the file system cannot keep a write-ahead log (mode is \"%s\")", mode != NULL ? mode : "");
    }
    sqlite3_finalize(stmt);
    return rc;
}
