/* Whether the files of an open database are still those that the connection has. SQLite goes on writing into a log that
 * lost its name, which is gone with the process, and reads an index that was cut as memory that is not there (SIGBUS).
 */
#include "db/core/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/core/connect.h"
#include "db/core/deflate.h"
#include "db/core/prepared.h"

#define MOVED              "the database file was moved, deleted or replaced"
#define INDEX_REGION_BYTES 32768 /* of the index's mapping (sqlite.org/walformat.html) */
#define LOG_HEAD_BYTES     32
#define FRAME_HEAD_BYTES   24

static struct store_file look(const struct store *store, const char *suffix, char **ret_path)
{
    struct store_file file = {0};
    struct stat status;
    char *path = NULL;

    if (asprintf(&path, "%s%s", store->path, suffix) < 0)
        path = NULL;
    if (path != NULL && stat(path, &status) == 0)
        file = (struct store_file){status.st_dev, status.st_ino, status.st_size};
    if (ret_path != NULL)
        *ret_path = path;
    else
        free(path);
    return file;
}

static bool other(const struct store_file *was, const struct store_file *is)
{
    return was->ino != 0 && (was->ino != is->ino || was->device != is->device);
}

void store_watch(struct store *store)
{
    store->file = look(store, "", NULL);
    store->log = look(store, "-wal", NULL);
    store->index = look(store, "-shm", NULL);
}

static bool any_busy(struct store *store)
{
    for (sqlite3_stmt *stmt = NULL; (stmt = sqlite3_next_stmt(store->db, stmt)) != NULL;)
        if (sqlite3_stmt_busy(stmt))
            return true;
    return false;
}

/* The bytes that the log has by its index. Its first region is mapped as long as the connection reads at all. */
static int64_t log_bytes(struct store *store)
{
    sqlite3_file *file = NULL;
    volatile void *region = NULL;
    uint32_t frames;
    uint16_t page;

    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == NULL ||
        file->pMethods == NULL || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, INDEX_REGION_BYTES, 0, &region) != SQLITE_OK || region == NULL)
        return 0;
    memcpy(&page, (const char *)region + 14, sizeof page);
    memcpy(&frames, (const char *)region + 16, sizeof frames);
    return frames == 0 ? 0 : LOG_HEAD_BYTES + (int64_t)frames * (FRAME_HEAD_BYTES + (page == 1 ? 65536 : page));
}

static int connect_anew(struct store *store, struct rl_err *err)
{
    struct store_file file = look(store, "", NULL);

    if (other(&store->file, &file)) /* to open it would make an empty one */
        return rl_fail(err, RL_E_STORE_IO, "database", "%s", MOVED);
    if (store_connect(store, err) == 0 && store_set_pragmas(store, err) == 0 && store_add_functions(store, err) == 0 &&
        store_prepare_all(store, err) == 0) {
        sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
        store_watch(store);
        return 0;
    }
    store_finalize_all(store);
    sqlite3_close(store->db);
    store->db = NULL;
    return -1;
}

/* The connection still has both files, whatever their names: all that they hold goes into the database, which is
 * synced, and then they are made anew. */
static int renew(struct store *store, const char *what, struct rl_err *err)
{
    int log = -1, moved = -1, rc;

    errno = 0;
    rc = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_FULL, &log, &moved);
    if (rc != SQLITE_OK || log != moved)
        return rl_fail(
            err, RL_E_STORE_IO, "database",
            "%s was moved, deleted or replaced, and what it holds could not be brought into the database yet "
            "(SQLite error %d)",
            what, rc);
    store_finalize_all(store);
    sqlite3_close(store->db); /* takes away whatever has their names now */
    store->db = NULL;
    snprintf(store->mended, sizeof store->mended, "%s was moved, deleted or replaced: what it held is in the database",
             what);
    return connect_anew(store, err);
}

/* By name, never through a descriptor of ours: closing one would drop SQLite's locks on the file. All zeros is an index
 * that SQLite makes anew from the log. */
static int refill_index(struct store *store, const char *path, struct rl_err *err)
{
    if (truncate(path, 0) != 0 || truncate(path, store->index.bytes) != 0)
        return rl_fail(err, RL_E_STORE_IO, "database", "the log's index was cut short and cannot be made anew: %s",
                       strerror(errno));
    snprintf(store->mended, sizeof store->mended, "the write-ahead log's index was cut short: it is made anew");
    return 0;
}

static int check_log(struct store *store, const struct store_file *log, struct rl_err *err)
{
    if (log->bytes < store->log.bytes && log->bytes < log_bytes(store))
        store->broken = true;
    if (store->broken)
        return rl_fail(err, RL_E_STORE_IO, "database", "%s", STORE_BROKEN);
    store->log = *log;
    return 0;
}

int store_in_place(struct store *store, bool to_write, struct rl_err *err)
{
    int moved = 0, rc = 0;
    char *path;

    if (store->db == NULL)
        return connect_anew(store, err);
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        return to_write ? rl_fail(err, RL_E_STORE_IO, "database", "%s", MOVED) : 0; /* what it held can be read */
    struct store_file log = look(store, "-wal", NULL), index = look(store, "-shm", &path);
    bool cut = store->index.ino != 0 && !other(&store->index, &index) && index.bytes < store->index.bytes;
    if ((cut || other(&store->log, &log) || other(&store->index, &index)) && any_busy(store))
        rc = cut ? rl_fail(err, RL_E_STORE_IO, "database", "the log's index was cut short while it was read") : 0;
    else if (other(&store->log, &log) || other(&store->index, &index))
        rc = renew(store, other(&store->log, &log) ? "the write-ahead log" : "the write-ahead log's index", err);
    else if (cut)
        rc = refill_index(store, path, err);
    else if ((rc = check_log(store, &log, err)) == 0)
        store->index = index;
    free(path);
    return rc;
}
