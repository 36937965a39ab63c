/* One use of a prepared statement: binding, stepping, ending. */
#include "db/core/statement.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/error.h"
#include "db/core/prepared.h"
#include "db/core/watch.h"
#include "gpu/base/num.h"

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
