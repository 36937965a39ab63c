/* The store from within: its connection, its prepared statements, and what the rooms above keep in it. Nothing outside
 * db/ and its own tests includes this, and with it sqlite3.h. */
#ifndef DB_CORE_INTERNAL_H
#define DB_CORE_INTERNAL_H

#include <sqlite3.h>

#include "db/core/store.h"

enum store_stmt {
#define STMT(symbol, scans, sql) STMT_##symbol,
#include "db/core/statements.def"
#undef STMT
    STMT_COUNT
};

struct store_file { /* ino 0: not there */
    uint64_t device, ino;
    int64_t bytes;
};

struct series_memory; /* db/series/memory.h */
struct store_scan;    /* db/runs/list.h */

struct store {
    sqlite3 *db; /* NULL: not connected again yet (db/core/watch.c) */
    sqlite3_stmt *stmts[STMT_COUNT];
    char *path; /* absolute */
    int lock_fd;
    int version;
    char cursor_salt[33];
    struct store_file file, log, index; /* as they were last looked at */
    struct rl_err lost;                 /* why stmt_start found them out of place */
    bool marked, lost_log, broken;      /* the mark is set; found at the start; the log was cut: no more writes */
    char mended[160];                   /* what store_in_place has mended and nobody has asked for yet */

    int64_t *job_counts;          /* by enum job_state, as committed: this process is the only writer */
    struct series_memory *series; /* as committed */
    void (*ended)(struct store *store, bool committed); /* called when a transaction has ended; NULL: nobody wants it */
    const struct store_scan *scan;                      /* of lists; NULL: as usual */
};

#endif
