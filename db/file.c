/* The database's file: its name, and whose it is. */
#include "db/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/core/internal.h"
#include "db/core/query.h"

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

/* Decides before anything is written: another program's file is left untouched. */
int store_identify(struct store *store, int newest, bool *ret_fresh, struct rl_err *err)
{
    int64_t application = 0, version = 0, objects = 0;

    if (store_read_int(store, "PRAGMA application_id", &application, err, "reading the database") < 0 ||
        store_read_int(store, "PRAGMA user_version", &version, err, "reading the database") < 0 ||
        store_read_int(store, "SELECT count(*) FROM sqlite_schema", &objects, err, "reading the database") < 0) {
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
