/* The copy of a database that a migration leaves beside it. It has another name until it is whole and on disk: a killed
 * VACUUM INTO leaves a file that opens as an empty database. */
#include "db/store_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"

#define PARTIAL ".partial"

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
        rc = rl_fail(err, cause.code, "database",
                     "the backup before the migration could not be written (SQLite error %d)",
                     sqlite3_extended_errcode(store->db));
    }
    sqlite3_finalize(stmt);
    return rc;
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
    if (sync_file(partial, 0) < 0 || rename(partial, backup) < 0) {
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
