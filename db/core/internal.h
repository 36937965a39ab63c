/* What the files of db/ share: the connection, prepared statements, transactions, JSON text. Nothing outside db/ and
 * its own tests includes this, and with it sqlite3.h. */
#ifndef DB_CORE_INTERNAL_H
#define DB_CORE_INTERNAL_H

#include <sqlite3.h>

#include "db/core/series.h"
#include "db/core/store.h"

#define STORE_APPLICATION_ID 0x524C4442 /* "RLDB" */
#define STORE_BUSY_MS        50         /* only a stray command line tool can make us wait: then a clear error, soon */
#define STORE_TIME_MIN_MS    (-62135596800000LL) /* 0001-01-01, 9999-12-31: what rl_time_format can print */
#define STORE_TIME_MAX_MS    253402300799999LL

enum store_stmt {
#define STMT(symbol, scans, sql) STMT_##symbol,
#include "db/core/statements.def"
#undef STMT
    STMT_COUNT
};
struct store_stmt_text {
    const char *name, *scans, *sql;
};
extern const struct store_stmt_text store_stmt_texts[STMT_COUNT];

struct store_migration {
    const char *name;
    const char *sql;
};
/* db/migrations in order, embedded by the build: entry i leads to version i + 1. */
extern const struct store_migration store_migrations[];
extern const int store_migration_count;

struct store_series_new {
    int64_t id, date_ms;
    const char *words[SERIES_WORDS]; /* the run's: alive until the transaction ends */
};

struct store_scan {          /* when a list scans before it merges (db/runs/list.c) */
    int64_t from_series;     /* fewer are merged at once */
    int64_t rows_per_series; /* rows scanned in the time that one series takes to be looked into */
    int64_t rows_max;
};
struct withdrawn_run { /* a run that is withdrawn now */
    int64_t run_id, series_id, date_ms;
};
struct withdrawn_set {
    struct withdrawn_run *runs; /* by run_id */
    size_t count;
};
#define STORE_SCAN_DEFAULT ((struct store_scan){.from_series = 64, .rows_per_series = 4, .rows_max = 12000})

struct store_file { /* ino 0: not there */
    uint64_t device, ino;
    int64_t bytes;
};
#define STORE_BROKEN                                                                                                   \
    "the write-ahead log was cut short: what was stored last may be lost; stop the daemon, keep the files, check them"

struct store {
    sqlite3 *db; /* NULL: not connected again yet (watch.c) */
    sqlite3_stmt *stmts[STMT_COUNT];
    char *path; /* absolute */
    int lock_fd;
    int version;
    int64_t job_counts[JOB_STATE_COUNT]; /* as committed: this process is the only writer */
    char cursor_salt[33];
    struct store_file file, log, index; /* as they were last looked at */
    struct rl_err lost;                 /* why stmt_start found them out of place */
    bool marked, lost_log, broken;      /* the mark is set; found at the start; the log was cut: no more writes */
    char mended[160];                   /* what store_in_place has mended and nobody has asked for yet */
    struct series_cache series;         /* as committed */
    struct withdrawn_set withdrawn;     /* as committed; read with the series */
    bool series_stale;                  /* memory ran out, or runs went: both to be read anew */
    struct store_scan scan;
    char **device_names; /* by the number of the device's word in the series; NULL: not read yet */
    size_t device_name_count;
    struct store_series_new stored; /* what the open transaction does to it; id 0: nothing */
};

/* store_open with another list of migrations and another size from which a migration needs leave, for tests of
 * migrating. */
struct store_plan {
    const struct store_migration *migrations;
    int count;
    int64_t big_bytes;
};
int store_open_with(const char *path, const struct store_plan *plan, struct store **ret, struct rl_err *err);
/* Leaves "FILE.vN-TIME.backup" beside the database, on disk and whole; until then it is "FILE.vN-TIME.partial", and
 * such parts of earlier, killed migrations are removed first. The connection is open, the lock held, no transaction
 * begun. RL_E_STORE_IO, or what SQLite met. */
int store_back_up(struct store *store, struct rl_err *err);

/* ---- open.c ---- */
/* Absolute, without symbolic links; NULL with err set for what is no file, or has hard links. One that is not there has
 * its name too. */
char *store_absolute_path(const char *path, struct rl_err *err);
/* Whose file it is; *ret_fresh: nobody's yet. Sets store->version. Writes nothing. */
int store_identify(struct store *store, int newest, bool *ret_fresh, struct rl_err *err);
int store_has_rows(struct store *store, const char *sql, bool *ret, struct rl_err *err, const char *doing);
/* In meta, and at once in the file itself, as long as a store is open: the newest commits may then stand in the log
 * alone. A file in log mode that has it and no log is a copy without its log, or has lost it. */
#define STORE_OPEN_MARK "open"
int store_connect(struct store *store, struct rl_err *err);     /* opens the file and sets what no PRAGMA does */
int store_set_pragmas(struct store *store, struct rl_err *err); /* and the rest: a log, synced at each commit */
bool store_in_log_mode(const char *path);                       /* by the file's header; a VACUUM INTO copy is not */

/* ---- watch.c ---- */
/* Takes down which files the log and its index are now. */
void store_watch(struct store *store);
/* Outside of a transaction: whether the database, its log and its index are still the files that the connection has, as
 * long as they were. A log that lost its name is brought into the database and a new one begun; an index that was cut
 * or lost is made anew from the log. RL_E_STORE_IO for what cannot be mended; a database file that was moved away can
 * still be read, but not written. */
int store_in_place(struct store *store, bool to_write, struct rl_err *err);

/* ---- db/core/statement.c ---- */
/* Fills err from the connection's last error, by its extended code; `doing` says what failed: "storing a job". */
int store_fail(struct store *store, struct rl_err *err, const char *doing);
/* The same for a code that is not, or no longer, the connection's; to be called while errno is the failed call's. */
int store_fail_code(struct store *store, int rc, const char *message, struct rl_err *err, const char *doing);
int store_prepare_all(struct store *store, struct rl_err *err);
void store_finalize_all(struct store *store);

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

/* One view for all statements of an answer; without it each takes and gives back the file's locks, which costs as much
 * as finding a row. Not inside of a transaction. Every store_look that returned 0 needs its store_look_end. */
int store_look(struct store *store, struct rl_err *err);
void store_look_end(struct store *store);
int store_begin(struct store *store, struct rl_err *err);
/* Commits when rc is 0; when rc is not, or the commit fails, rolls back. Returns rc, or -1. */
int store_end(struct store *store, int rc, struct rl_err *err);

/* ---- text.c: JSON without a tree ---- */
void json_put_text(struct rl_buf *out, const char *text); /* a JSON string */
void json_put_real(struct rl_buf *out, double value, int digits);
void json_put_int(struct rl_buf *out, int64_t value);
/* Nine significant digits, at most one unit of the ninth off: ten times quicker than printf. */
void json_put_nine(struct rl_buf *out, double value);
void json_put_time(struct rl_buf *out, int64_t ms);
/* Ends an answer whose first byte is at `length`: when rc is not 0 or the buffer overflowed, cuts it back to there. */
int store_finish_text(struct rl_buf *out, size_t length, int rc, struct rl_err *err);

/* ---- db/core/deflate.c: deflated text ---- */
/* Level 6 takes 1.2 ms for the 61 kB of a whole run and leaves 11.8 kB; level 9 leaves 11.6 (2026-11-29). */
#define PACK_LEVEL 6
struct packed {
    unsigned char *data; /* free() */
    size_t size;
};
int store_pack(const void *data, size_t size, struct packed *ret, struct rl_err *err);
/* A text that gets a head of at most 65535 bytes later: deflates it; then both as one stream, as store_pack would make.
 * -1 when memory ran out. */
int store_pack_rest(const char *text, size_t bytes, struct store_document *ret);
int store_pack_join(const char *head, size_t head_len, const struct store_document *rest, struct packed *ret);
/* Appends the text of so many bytes. What does not inflate to exactly these is RL_E_STORE_CORRUPT. */
int store_unpack(const void *data, size_t size, int64_t bytes, struct rl_buf *out, struct rl_err *err);
int store_add_functions(struct store *store, struct rl_err *err); /* deflated(X), inflated(X, BYTES): for migrations */

/* ---- db/runs/document.c ---- */
/* Inside a transaction: writes the document with "id", "job" (0: null) and, unless it is NULL, "label" as its first
 * members. */
int store_put_document(struct store *store, int64_t id, int64_t job_id, const char *label,
                       const struct store_document *document, struct rl_err *err);

/* ---- by subject ---- */
int store_write_device(struct store *store, const struct store_device *device,
                       struct rl_err *err);                                       /* in a transaction */
int store_device_exists(struct store *store, const char *id, struct rl_err *err); /* 1, 0 or -1 */
/* The name of the device with this word in the series, kept in memory; owned by the store until a device is written. */
int store_device_name(struct store *store, uint32_t word, const char **ret, struct rl_err *err);
void store_forget_device_names(struct store *store);
int store_load_job_counts(struct store *store, struct rl_err *err);
int store_load_series(struct store *store, struct rl_err *err);
void store_note_series(struct store *store); /* after a commit: takes `stored` into `series` */
/* Whether the state machine has this step at all (the retry's other conditions apart). */
bool store_job_step_legal(enum job_state from, enum job_state to);
/* Inside a transaction: the facts, rows and trends of a stored run (db/history/rollup.c). */
int store_insert_history(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run,
                         struct rl_err *err);
/* Inside a transaction: the job's note becomes its run's first, its predictions are scored (said.c). */
int store_take_said(struct store *store, int64_t job_id, int64_t run_id, const struct rl_run *run, int64_t now_ms,
                    struct rl_err *err);
/* After opening: makes trends' days anew that a migration or another program's deletion left stale. */
int store_mend_trends(struct store *store, struct rl_err *err);
/* Inside a transaction. job_id 0: none. */
int store_insert_run(struct store *store, int64_t job_id, const struct store_run_new *run, int64_t *ret_id,
                     struct rl_err *err);
/* RL_E_RUN_NOT_FOUND */
int store_check_run(struct store *store, int64_t id, struct rl_err *err);
struct place { /* of a run in lists: newest first by date, then id */
    int64_t date_ms, id;
};
#define CURSOR_LENGTH 64
/* The filter's "any" already resolved to NULL. */
int store_cursor_write(struct store *store, const struct store_run_filter *filter, struct place place,
                       char ret[CURSOR_LENGTH + 1], struct rl_err *err);
int store_cursor_read(struct store *store, const struct store_run_filter *filter, struct place *ret,
                      struct rl_err *err);
/* Resolves "any" and refuses words and limits that cannot be. */
int store_filter_check(const struct store_run_filter *asked, struct store_run_filter *ret, struct rl_err *err);
/* Where a list of this filter starts: runs before this place. RL_E_BAD_CURSOR. */
int store_filter_start(struct store *store, const struct store_run_filter *filter, struct place *ret,
                       struct rl_err *err);
/* The next runs of a checked filter. Its cursor and limit are not looked at. */
int store_find_places(struct store *store, const struct store_run_filter *filter, struct place before,
                      struct place *places, int want, int *ret_count, struct rl_err *err);
/* Whether the run has this label: 1, 0, -1 (db/runs/labels.c). */
int store_has_label(struct store *store, int64_t run_id, const char *label, struct rl_err *err);
/* Appends the summary of a run that exists; the series have to be loaded. */
int store_put_summary(struct store *store, int64_t run_id, struct rl_buf *out, struct rl_err *err);

#endif
