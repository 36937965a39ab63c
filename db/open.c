/* Opening a database: the guard, the connection's settings, whose file it is, migrations, and checks of the whole. */
#include "db/runs/withdrawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_BUSY_MS         1000
#define LOCK_WAIT_MS         1000
#define LOCK_TRY_MS          20
#define VALUE_MAX_BYTES      (64 * 1024 * 1024) /* of one stored text or blob */
#define WRITABLE_PROBE_BYTES 32768              /* twice that as hex: several pages, so that the log file has to grow */

/* Absolute, without symbolic links, and of a file without hard links: two names of one file must find one lock. NULL
 * with err set. */
char *store_absolute_path(const char *path, struct rl_err *err)
{
    char *real = realpath(path, NULL), *copy, *slash, *directory, *joined = NULL;
    struct stat status;

    if (real != NULL) {
        bool is_file = stat(real, &status) == 0 && S_ISREG(status.st_mode);

        if (is_file && status.st_nlink <= 1)
            return real;
        free(real);
        if (is_file)
            rl_fail(
                err, RL_E_STORE_OPEN, "database",
                "the database's file has %llu names (hard links), and its lock goes by name: two daemons could open "
                "it at once; leave it one name",
                (unsigned long long)status.st_nlink);
        else
            rl_fail(err, RL_E_STORE_OPEN, "database", "the database's name is that of something other than a file");
        return NULL;
    }
    if (errno != ENOENT || path[0] == '\0' || path[strlen(path) - 1] == '/' || lstat(path, &status) == 0) {
        rl_fail(err, RL_E_STORE_OPEN, "database", "the database's name cannot be resolved: %s", strerror(errno));
        return NULL;
    }
    copy = strdup(path);
    if (copy == NULL) {
        rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the database's name");
        return NULL;
    }
    slash = strrchr(copy, '/');
    if (slash != NULL)
        *slash = '\0';
    directory = realpath(slash == NULL ? "." : slash == copy ? "/" : copy, NULL);
    if (directory == NULL)
        rl_fail(err, RL_E_STORE_OPEN, "database", "the database's directory cannot be opened: %s", strerror(errno));
    else if (asprintf(&joined, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory,
                      slash != NULL ? slash + 1 : copy) < 0) {
        joined = NULL;
        rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the database's name");
    }
    free(directory);
    free(copy);
    return joined;
}

bool store_in_log_mode(const char *path)
{
    unsigned char head[20] = {0}; /* 18 and 19: 2 for a write-ahead log (sqlite.org/fileformat2.html) */
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    bool whole = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head;
    close(fd);
    return whole && head[18] == 2 && head[19] == 2;
}

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

static int read_int(struct store *store, const char *sql, int64_t *ret, struct rl_err *err, const char *doing)
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

static int execute(struct store *store, const char *sql, struct rl_err *err, const char *doing)
{
    errno = 0;
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(store, err, doing);
    return 0;
}

/* Decides before anything is written: another program's file is left untouched. */
int store_identify(struct store *store, int newest, bool *ret_fresh, struct rl_err *err)
{
    int64_t application = 0, version = 0, objects = 0;

    if (read_int(store, "PRAGMA application_id", &application, err, "reading the database") < 0 ||
        read_int(store, "PRAGMA user_version", &version, err, "reading the database") < 0 ||
        read_int(store, "SELECT count(*) FROM sqlite_schema", &objects, err, "reading the database") < 0) {
        if (sqlite3_errcode(store->db) == SQLITE_NOTADB)
            return rl_fail(err, RL_E_STORE_OPEN, "database", "the file is no SQLite database");
        return -1;
    }
    *ret_fresh = application == 0 && version == 0 && objects == 0;
    if (*ret_fresh)
        return 0;
    if (application != STORE_APPLICATION_ID || version < 1)
        return rl_fail(err, RL_E_STORE_OPEN, "database",
                       "the file is another program's SQLite database (application_id %lld, user_version %lld)",
                       (long long)application, (long long)version);
    if (version > newest)
        return rl_fail(err, RL_E_STORE_NEWER, "database", "the database has version %lld and this program knows %d",
                       (long long)version, newest);
    store->version = (int)version;
    return 0;
}

static int set_pragma(struct store *store, const char *set, const char *get, int64_t want, struct rl_err *err)
{
    int64_t got = -1;

    if (execute(store, set, err, set) < 0 || read_int(store, get, &got, err, get) < 0)
        return -1;
    if (got != want)
        return rl_fail(err, RL_E_INTERNAL, "database", "%s had no effect: it is %lld", set, (long long)got);
    return 0;
}

int store_set_pragmas(struct store *store, struct rl_err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *mode = NULL;
    int rc = 0;

    /* A result costs minutes of a GPU: FULL, so that what was acknowledged survives power loss. */
    if (set_pragma(store, "PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", 1, err) < 0 ||
        set_pragma(store, "PRAGMA recursive_triggers = ON", "PRAGMA recursive_triggers", 1, err) < 0 ||
        set_pragma(store, "PRAGMA synchronous = FULL", "PRAGMA synchronous", 2, err) < 0 ||
        set_pragma(store, "PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", 1, err) < 0 ||
        set_pragma(store, "PRAGMA temp_store = MEMORY", "PRAGMA temp_store", 2, err) < 0 ||
        set_pragma(store, "PRAGMA cache_size = -32768", "PRAGMA cache_size", -32768, err) < 0 ||
        execute(store, "PRAGMA mmap_size = 0", err, "configuring the connection") < 0)
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

static int migrate_one(struct store *store, const struct store_migration *migration, int version, struct rl_err *err)
{
    char numbers[96]; /* a PRAGMA takes no bound parameters */
    bool dangling = false;

    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID,
             version);
    if (execute(store, "BEGIN IMMEDIATE", err, "starting a migration") < 0)
        return -1;
    if (execute(store, migration->sql, err, migration->name) < 0 || execute(store, numbers, err, migration->name) < 0 ||
        store_has_rows(store, "PRAGMA foreign_key_check", &dangling, err, migration->name) < 0)
        goto fail;
    if (dangling) {
        rl_fail(err, RL_E_STORE_CORRUPT, "database", "%s would leave rows that point nowhere", migration->name);
        goto fail;
    }
    if (execute(store, "COMMIT", err, migration->name) < 0)
        goto fail;
    store->version = version;
    return 0;
fail:
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

static int migrate(struct store *store, bool fresh, const struct store_plan *plan, struct rl_err *err)
{
    int64_t pages = 0, page_bytes = 0;

    if (store->version == plan->count)
        return 0;
    if (read_int(store, "PRAGMA page_count", &pages, err, "reading the database") < 0 ||
        read_int(store, "PRAGMA page_size", &page_bytes, err, "reading the database") < 0)
        return -1;
    if (pages * page_bytes >= plan->big_bytes)
        return rl_fail(err, RL_E_STORE_BIG_MIGRATION, "database",
                       "the database has version %d and %lld bytes: its migration to version %d takes long and is not "
                       "made at start",
                       store->version, (long long)(pages * page_bytes), plan->count);
    if (!fresh && store_back_up(store, err) < 0)
        return -1;
    /* A table that others point to can only be replaced while nobody looks; each migration ends with a check of all
     * foreign keys. */
    if (set_pragma(store, "PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys", 0, err) < 0)
        return -1;
    while (store->version < plan->count) {
        if (migrate_one(store, &plan->migrations[store->version], store->version + 1, err) < 0)
            return -1;
    }
    return set_pragma(store, "PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", 1, err);
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
    store->scan = STORE_SCAN_DEFAULT;
    store->path = store_absolute_path(path, err);
    bool no_log = false, marked = false;
    if (store->path == NULL || take_guard(store, &no_log, err) < 0 || store_connect(store, err) < 0 ||
        store_identify(store, plan->count, &fresh, err) < 0 || store_set_pragmas(store, err) < 0 ||
        store_add_functions(store, err) < 0 || migrate(store, fresh, plan, err) < 0 ||
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
    series_fini(&store->series);
    store_forget_withdrawn(store);
    store_forget_device_names(store);
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
