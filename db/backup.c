/* Copies of a database: the one that a migration leaves beside it, and the one that an operator asks for. A copy has
 * another name until it is whole and on disk: a killed VACUUM INTO leaves a file that opens as an empty database. */
#include "db/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/check.h"
#include "db/core/error.h"
#include "db/core/internal.h"
#include "db/file.h"
#include "db/migrate.h"
#include "gpu/base/time.h"

#define PARTIAL        ".partial"
#define BESIDE_BUSY_MS 10000

/* "FILE.vN-TIME.partial" of the database FILE, or SQLite's journal of it. */
static bool is_partial(const char *name, const char *file)
{
    char time[RL_TIME_TEXT];
    size_t len = strlen(file);
    int64_t ms;

    if (strncmp(name, file, len) != 0 || strncmp(name + len, ".v", 2) != 0)
        return false;
    name += len + 2;
    len = strspn(name, "0123456789");
    if (len == 0 || name[len] != '-' || strlen(name + len + 1) < sizeof time - 1)
        return false;
    name += len + 1;
    memcpy(time, name, sizeof time - 1);
    time[sizeof time - 1] = '\0';
    name += sizeof time - 1;
    return rl_time_parse(time, &ms) == 0 && (strcmp(name, PARTIAL) == 0 || strcmp(name, PARTIAL "-journal") == 0);
}

/* What a migration that was killed has left. The database's lock is held: nobody writes one now. */
static int remove_partials(const char *directory, const char *file)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;
    int rc = entries != NULL ? 0 : -1;

    while (rc == 0 && (errno = 0, entry = readdir(entries)) != NULL)
        if (is_partial(entry->d_name, file))
            rc = unlinkat(dirfd(entries), entry->d_name, 0);
    if (rc == 0 && errno != 0)
        rc = -1;
    if (entries != NULL)
        closedir(entries);
    return rc;
}

static int sync_file(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags), rc;

    if (fd < 0)
        return -1;
    rc = fsync(fd);
    close(fd);
    return rc;
}

static int write_copy(struct store *store, const char *partial, struct rl_err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct rl_err cause; /* SQLite's message may hold the path */
    int rc = 0;

    errno = 0;
    if (sqlite3_prepare_v2(store->db, "VACUUM INTO :name", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_bind_text(stmt, 1, partial, -1, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_DONE) {
        store_fail(store, &cause, "backing up");
        rc = rl_fail(err, cause.code, "database", "the backup could not be written (SQLite error %d)",
                     sqlite3_extended_errcode(store->db));
    }
    sqlite3_finalize(stmt);
    return rc;
}

/* Synced, then named, never over another file. */
static int name_copy(const char *directory, const char *partial, const char *backup, struct rl_err *err)
{
    if (sync_file(partial, 0) < 0 || renameat2(AT_FDCWD, partial, AT_FDCWD, backup, RENAME_NOREPLACE) < 0) {
        rl_fail(err, RL_E_STORE_IO, "database", "the backup could not be synced to disk and named: %s",
                strerror(errno));
        unlink(partial);
        return -1;
    }
    if (sync_file(directory, O_DIRECTORY) < 0)
        return rl_fail(err, RL_E_STORE_IO, "database", "the backup's name could not be synced to disk: %s",
                       strerror(errno));
    return 0;
}

static int make_backup(struct store *store, const char *directory, const char *partial, const char *backup,
                       struct rl_err *err)
{
    if (access(backup, F_OK) == 0)
        return rl_fail(err, RL_E_STORE_IO, "database", "a backup of this time is there already");
    if (remove_partials(directory, strrchr(store->path, '/') + 1) < 0)
        return rl_fail(err, RL_E_STORE_IO, "database",
                       "the part of a backup that a killed migration left (*" PARTIAL ") could not be removed: %s",
                       strerror(errno));
    if (write_copy(store, partial, err) < 0) {
        unlink(partial);
        return -1;
    }
    return name_copy(directory, partial, backup, err);
}

int store_back_up(struct store *store, struct rl_err *err)
{
    char time[RL_TIME_TEXT], *partial = NULL, *backup = NULL, *directory = strdup(store->path);
    int rc;

    rl_time_format(rl_now_ms(), time);
    if (asprintf(&partial, "%s.v%d-%s" PARTIAL, store->path, store->version, time) < 0)
        partial = NULL;
    if (asprintf(&backup, "%s.v%d-%s.backup", store->path, store->version, time) < 0)
        backup = NULL;
    if (directory == NULL || partial == NULL || backup == NULL) {
        rc = rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the backup's name");
    } else {
        *(strrchr(directory, '/') + 1) = '\0';
        rc = make_backup(store, directory, partial, backup, err);
    }
    free(directory);
    free(partial);
    free(backup);
    return rc;
}

/* ---- by hand ---- */

/* A second connection, which only reads: the daemon may have the file open and write to it. */
static int open_beside(struct store *store, struct rl_err *err)
{
    bool fresh = false;

    errno = 0;
    if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                        NULL) != SQLITE_OK)
        return store->db == NULL ? rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for a connection")
                                 : store_fail(store, err, "opening the database");
    if (sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(store->db, BESIDE_BUSY_MS) != SQLITE_OK)
        return store_fail(store, err, "opening the database");
    if (store_identify(store, store_migration_count, &fresh, err) < 0)
        return -1;
    return fresh ? rl_fail(err, RL_E_STORE_OPEN, "database", "the file is no rooflined database: it has no tables") : 0;
}

static int copy_to(struct store *store, const char *target, const char *directory, const char *partial,
                   struct rl_err *err)
{
    struct store_report report;

    if (access(target, F_OK) == 0)
        return rl_fail(err, RL_E_STORE_IO, "backup", "the backup's file is there already; name another one");
    if (unlink(partial) != 0 && errno != ENOENT) /* of one that was killed */
        return rl_fail(err, RL_E_STORE_IO, "backup", "the part of an earlier backup could not be removed: %s",
                       strerror(errno));
    if (open_beside(store, err) < 0)
        return -1;
    if (write_copy(store, partial, err) < 0 || store_check_file(partial, &report, err) < 0) {
        unlink(partial);
        return -1;
    }
    return name_copy(directory, partial, target, err);
}

int store_backup(const char *path, const char *target, struct rl_err *err)
{
    struct store store = {.lock_fd = -1};
    char *partial = NULL, *directory = strdup(target);
    int rc = -1;

    if (asprintf(&partial, "%s" PARTIAL, target) < 0)
        partial = NULL;
    store.path = store_absolute_path(path, err);
    if (directory == NULL || partial == NULL) {
        rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the backup's name");
    } else if (store.path != NULL) {
        char *slash = strrchr(directory, '/');
        if (slash != NULL)
            slash[1] = '\0';
        rc = copy_to(&store, target, slash != NULL ? directory : ".", partial, err);
    }
    sqlite3_close(store.db);
    free(store.path);
    free(directory);
    free(partial);
    return rc;
}
