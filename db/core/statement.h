/* One use of a prepared statement. */
#ifndef DB_CORE_STATEMENT_H
#define DB_CORE_STATEMENT_H

#include "db/core/internal.h"
#include "gpu/record/run.h"

/* One use of a prepared statement. Binding errors stick and come out of the next step, so that binds need no checks.
 * Not reentrant: a statement is in use from stmt_start to stmt_end. */
struct stmt {
    struct store *store;
    sqlite3_stmt *handle;
    enum store_stmt id;
    const char *bad; /* the first bind that failed, else NULL */
    bool lost;       /* the database's files are out of place: store->lost says why */
};
struct stmt stmt_start(struct store *store, enum store_stmt id);
void stmt_int(struct stmt *stmt, const char *name, int64_t value);
/* NULL binds NULL. The text is copied. Text that is no UTF-8 is refused. */
void stmt_text(struct stmt *stmt, const char *name, const char *text);
void stmt_blob(struct stmt *stmt, const char *name, const void *data,
               size_t size); /* copied; size 0 is an empty blob */
/* An unknown value binds NULL; a value that is not finite is refused (SQLite would store NaN as NULL). */
void stmt_real(struct stmt *stmt, const char *name, struct rl_real value);
int stmt_step(struct stmt *stmt, struct rl_err *err, const char *doing); /* 1 row, 0 no more, -1 error */
void stmt_end(struct stmt *stmt);
int stmt_run(struct stmt *stmt, struct rl_err *err, const char *doing); /* steps to the end and ends; 0 or -1 */
/* The column as an owned copy; "" when NULL. NULL when memory ran out. */
char *stmt_column_dup(struct stmt *stmt, int column);

#endif
