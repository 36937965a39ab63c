/* Opening a database, and closing it: the guard, and in which order all that belongs to a store is read. */
#include "db/open.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/core/connect.h"
#include "db/core/deflate.h"
#include "db/core/error.h"
#include "db/core/prepared.h"
#include "db/core/statement.h"
#include "db/core/transaction.h"
#include "db/core/watch.h"
#include "db/file.h"
#include "db/jobs/queue.h"
#include "db/migrate.h"
#include "db/rows/trend_remake.h"
#include "db/series/memory.h"

#define LOCK_WAIT_MS         1000
#define LOCK_TRY_MS          20
#define WRITABLE_PROBE_BYTES 32768 /* twice that as hex: several pages, so that the log file has to grow */

/* Under the lock and before the connection is there: closing a descriptor of the file would drop its locks. */
static bool has_lost_log(const char *path)
{
    struct stat status;
    char *log = NULL;
    bool missing = asprintf(&log, "%s-wal", path) >= 0 && (stat(log, &status) != 0 || status.st_size == 0);

    free(log);
    return missing && store_in_log_mode(path);
}

/* An open file description lock on a file beside the database: SQLite's own locks let a second writer in between
 * transactions, and a lock on the database itself would be lost with SQLite's (closing any descriptor of a file drops a
 * process's POSIX locks on it). */
static int take_guard(struct store *store, bool *ret_no_log, struct rl_err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *name = NULL;

    if (asprintf(&name, "%s-lock", store->path) < 0)
        return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the lock's name");
    store->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    free(name);
    if (store->lock_fd < 0) {
        enum rl_code code = errno == EACCES || errno == EROFS || errno == EPERM ? RL_E_STORE_READONLY
                            : errno == ENOSPC || errno == EDQUOT                ? RL_E_STORE_FULL
                                                                                : RL_E_STORE_OPEN;
        return rl_fail(err, code, "database", "the lock file beside the database cannot be opened: %s",
                       strerror(errno));
    }
    /* A daemon that was killed while it started a process leaves the lock to the child until its exec. */
    for (int waited_ms = 0; fcntl(store->lock_fd, F_OFD_SETLK, &lock) != 0; waited_ms += LOCK_TRY_MS) {
        if ((errno != EAGAIN && errno != EACCES) || waited_ms >= LOCK_WAIT_MS)
            break;
        usleep(LOCK_TRY_MS * 1000);
        errno = EAGAIN;
    }
    if (fcntl(store->lock_fd, F_OFD_SETLK, &lock) == 0) {
        *ret_no_log = has_lost_log(store->path);
        return 0;
    }
    if (errno == EAGAIN || errno == EACCES)
        return rl_fail(err, RL_E_STORE_BUSY, "database", "another rooflined has this database open");
    return rl_fail(err, RL_E_STORE_IO, "database", "the lock file beside the database cannot be locked: %s",
                   strerror(errno));
}

static int load_salt(struct store *store, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_META_GET);
    int rc;

    stmt_text(&stmt, ":key", "cursor_salt");
    rc = stmt_step(&stmt, err, "reading the cursor salt");
    if (rc == 1 && sqlite3_column_bytes(stmt.handle, 0) == (int)sizeof store->cursor_salt - 1) {
        memcpy(store->cursor_salt, sqlite3_column_text(stmt.handle, 0), sizeof store->cursor_salt);
        rc = 0;
    } else if (rc >= 0) {
        rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "the cursor salt is missing or has a wrong length");
    }
    stmt_end(&stmt);
    return rc;
}

/* In the file itself, so that a copy of it alone says so. What cannot be written now is not worth refusing to open. */
static void mark_open(struct store *store, bool open)
{
    struct stmt stmt;
    int rc;

    if (store_begin(store, NULL) < 0)
        return;
    stmt = stmt_start(store, open ? STMT_META_PUT : STMT_META_DELETE);
    stmt_text(&stmt, ":key", STORE_OPEN_MARK);
    rc = stmt_run(&stmt, NULL, "marking the database");
    store->marked = store_end(store, rc, NULL) == 0 && open;
    if (store->marked)
        sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static int read_mark(struct store *store, bool *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_META_GET);
    int rc;

    stmt_text(&stmt, ":key", STORE_OPEN_MARK);
    rc = stmt_step(&stmt, err, "reading the database");
    stmt_end(&stmt);
    *ret = rc == 1;
    return rc < 0 ? -1 : 0;
}

int store_open_with(const char *path, const struct store_plan *plan, struct store **ret, struct rl_err *err)
{
    struct store *store = calloc(1, sizeof *store);
    bool fresh = false;

    if (store == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the store");
    store->lock_fd = -1;
    store->path = store_absolute_path(path, err);
    bool no_log = false, marked = false;
    if (store->path == NULL || take_guard(store, &no_log, err) < 0 || store_connect(store, err) < 0 ||
        store_identify(store, plan->count, &fresh, err) < 0 || store_set_pragmas(store, err) < 0 ||
        store_add_functions(store, err) < 0 || store_migrate(store, fresh, plan, err) < 0 ||
        store_prepare_all(store, err) < 0 || load_salt(store, err) < 0 || store_load_job_counts(store, err) < 0 ||
        store_load_series(store, err) < 0 || store_mend_trends(store, err) < 0 || read_mark(store, &marked, err) < 0) {
        store_close(store);
        return -1;
    }
    sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
    store->lost_log = no_log && marked;
    mark_open(store, true);
    store_watch(store);
    *ret = store;
    return 0;
}

int store_open(const char *path, bool allow_big, struct store **ret, struct rl_err *err)
{
    struct store_plan plan = {.migrations = store_migrations,
                              .count = store_migration_count,
                              .big_bytes = allow_big ? INT64_MAX : STORE_MIGRATE_AT_START_MAX_BYTES};

    return store_open_with(path, &plan, ret, err);
}

void store_close(struct store *store)
{
    int rc;

    if (store == NULL)
        return;
    if (store->marked)
        mark_open(store, false);
    store_finalize_all(store);
    rc = sqlite3_close(store->db); /* checkpoints, so that what stays is one file */
    assert(rc == SQLITE_OK);       /* a statement outside the table is left open */
    (void)rc;
    if (store->lock_fd >= 0)
        close(store->lock_fd); /* the lock file stays: unlinking it would let two daemons lock two files */
    store_free_series(store);
    free(store->job_counts);
    free(store->path);
    free(store);
}

bool store_lost_log(const struct store *store)
{
    return store->lost_log;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

int store_schema_version(const struct store *store)
{
    return store->version;
}

int store_check_writable(struct store *store, struct rl_err *err)
{
    struct stmt stmt;
    int rc, flushed;

    if (store_begin(store, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_META_FILL);
    stmt_int(&stmt, ":bytes", WRITABLE_PROBE_BYTES);
    rc = stmt_run(&stmt, err, "trying a write");
    /* Without this the pages would only be written at the commit that never comes. */
    if (rc == 0) {
        errno = 0;
        flushed = sqlite3_db_cacheflush(store->db);
        if (flushed != SQLITE_OK)
            rc = store_fail_code(store, flushed, sqlite3_errstr(flushed), err, "trying a write");
    }
    if (!sqlite3_get_autocommit(store->db)) {
        stmt = stmt_start(store, STMT_ROLLBACK);
        if (stmt_run(&stmt, rc == 0 ? err : NULL, "rolling back") < 0)
            rc = -1;
    }
    return rc;
}

int store_look_after(struct store *store, struct rl_err *err)
{
    if (store_in_place(store, true, err) < 0)
        return -1;
    if (store->mended[0] == '\0')
        return 0;
    rl_fail(err, RL_E_STORE_IO, "database", "%s", store->mended);
    store->mended[0] = '\0';
    return 1;
}
