/* Prepared statements, transactions, and what an error of SQLite means to the reader. */
#include "db/core/internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"

const struct store_stmt_text store_stmt_texts[STMT_COUNT] = {
#define STMT(symbol, scans, sql) {#symbol, scans, sql},
#include "db/core/statements.def"
#undef STMT
};

static enum rl_code code_of(int rc, int system_errno)
{
    /* SQLite calls only ENOSPC "full"; a quota and a file size limit are the same to the operator, and so is a
     * shared-memory file that cannot grow. */
    if (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG) {
        if ((rc & 0xff) == SQLITE_IOERR)
            return RL_E_STORE_FULL;
    }
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return RL_E_STORE_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return RL_E_STORE_READONLY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return RL_E_STORE_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return RL_E_STORE_CORRUPT;
    case SQLITE_IOERR:
        return RL_E_STORE_IO;
    case SQLITE_CANTOPEN:
        return system_errno == EACCES || system_errno == EROFS ? RL_E_STORE_READONLY : RL_E_STORE_OPEN;
    case SQLITE_NOMEM:
        return RL_E_NO_MEMORY;
    default:
        return RL_E_INTERNAL;
    }
}

int store_fail_code(struct store *store, int rc, const char *message, struct rl_err *err, const char *doing)
{
    int system_errno = 0;

    if ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN) {
        /* A failed commit leaves sqlite3_system_errno at 0 (3.40); errno is still that of the failed call. */
        system_errno = errno;
        if (sqlite3_system_errno(store->db) != 0)
            system_errno = sqlite3_system_errno(store->db);
    }
    return rl_fail(err, code_of(rc, system_errno), "database", "%s: %s (SQLite error %d, errno %d%s)", doing, message,
                   rc, system_errno, system_errno == EFBIG ? ", the limit of a file's size, RLIMIT_FSIZE" : "");
}

int store_fail(struct store *store, struct rl_err *err, const char *doing)
{
    return store_fail_code(store, sqlite3_extended_errcode(store->db), sqlite3_errmsg(store->db), err, doing);
}

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

struct stmt stmt_start(struct store *store, enum store_stmt id)
{
    struct stmt stmt = {.store = store, .id = id};

    /* Outside of a transaction a statement begins to read by itself, and the index of a log that was cut is no memory.
     */
    if (store->db == NULL || sqlite3_get_autocommit(store->db))
        stmt.lost = store_in_place(store, false, &store->lost) < 0;
    stmt.handle = store->stmts[id];
    assert(!sqlite3_stmt_busy(stmt.handle));
    return stmt;
}

static int parameter(struct stmt *stmt, const char *name)
{
    int index = sqlite3_bind_parameter_index(stmt->handle, name);

    if (index == 0 && stmt->bad == NULL)
        stmt->bad = name;
    return index;
}

static void bound(struct stmt *stmt, const char *name, int rc)
{
    if (rc != SQLITE_OK && stmt->bad == NULL)
        stmt->bad = name;
}

void stmt_int(struct stmt *stmt, const char *name, int64_t value)
{
    bound(stmt, name, sqlite3_bind_int64(stmt->handle, parameter(stmt, name), value));
}

void stmt_text(struct stmt *stmt, const char *name, const char *text)
{
    size_t length;

    if (text == NULL) {
        bound(stmt, name, sqlite3_bind_null(stmt->handle, parameter(stmt, name)));
        return;
    }
    length = strlen(text);
    if (!rl_utf8_valid(text, length)) {
        bound(stmt, name, SQLITE_MISUSE);
        return;
    }
    bound(stmt, name,
          sqlite3_bind_text64(stmt->handle, parameter(stmt, name), text, length, SQLITE_TRANSIENT, SQLITE_UTF8));
}

void stmt_blob(struct stmt *stmt, const char *name, const void *data, size_t size)
{
    int index = parameter(stmt, name);

    bound(stmt, name,
          size == 0 ? sqlite3_bind_zeroblob(stmt->handle, index, 0)
                    : sqlite3_bind_blob64(stmt->handle, index, data, size, SQLITE_TRANSIENT));
}

void stmt_real(struct stmt *stmt, const char *name, struct rl_real value)
{
    if (!rl_is_known(value))
        bound(stmt, name, sqlite3_bind_null(stmt->handle, parameter(stmt, name)));
    else if (!isfinite(value.value))
        bound(stmt, name, SQLITE_MISUSE);
    else
        bound(stmt, name, sqlite3_bind_double(stmt->handle, parameter(stmt, name), value.value));
}

int stmt_step(struct stmt *stmt, struct rl_err *err, const char *doing)
{
    int rc;

    if (stmt->lost) {
        if (err != NULL)
            *err = stmt->store->lost;
        return -1;
    }
    if (stmt->bad != NULL)
        return rl_fail(err, RL_E_INTERNAL, "database", "%s: the value for %s cannot be stored (statement %s)", doing,
                       stmt->bad, store_stmt_texts[stmt->id].name);
    errno = 0; /* for store_fail */
    rc = sqlite3_step(stmt->handle);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    return store_fail(stmt->store, err, doing);
}

void stmt_end(struct stmt *stmt)
{
    if (stmt->handle == NULL)
        return;
    sqlite3_reset(stmt->handle);
    sqlite3_clear_bindings(stmt->handle);
}

int stmt_run(struct stmt *stmt, struct rl_err *err, const char *doing)
{
    int rc;

    do
        rc = stmt_step(stmt, err, doing);
    while (rc == 1);
    stmt_end(stmt);
    return rc;
}

char *stmt_column_dup(struct stmt *stmt, int column)
{
    const unsigned char *text = sqlite3_column_text(stmt->handle, column);

    if (text == NULL && sqlite3_column_type(stmt->handle, column) != SQLITE_NULL)
        return NULL;
    return strdup(text != NULL ? (const char *)text : "");
}

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
            store_note_series(store);
            return 0;
        }
    }
    store->stored.id = 0;
    /* A full disk or an I/O error may have rolled back already. */
    if (store->db != NULL && !sqlite3_get_autocommit(store->db)) {
        stmt = stmt_start(store, STMT_ROLLBACK);
        stmt_run(&stmt, NULL, "rolling back");
    }
    return rc;
}
