/* What an error of SQLite means to the reader. */
#include "db/core/error.h"

#include <errno.h>

#include "db/core/internal.h"

static enum rl_code code_of(int rc, int system_errno)
{
    /* SQLite calls only ENOSPC "full"; a quota and a file size limit are the same to the operator, and so is a
     * shared-memory file that cannot grow. */
    if (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG) {
        if ((rc & 0xff) == SQLITE_IOERR)
            return RL_E_STORE_FULL;
    }
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return RL_E_STORE_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return RL_E_STORE_READONLY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return RL_E_STORE_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return RL_E_STORE_CORRUPT;
    case SQLITE_IOERR:
        return RL_E_STORE_IO;
    case SQLITE_CANTOPEN:
        return system_errno == EACCES || system_errno == EROFS ? RL_E_STORE_READONLY : RL_E_STORE_OPEN;
    case SQLITE_NOMEM:
        return RL_E_NO_MEMORY;
    default:
        return RL_E_INTERNAL;
    }
}

int store_fail_code(struct store *store, int rc, const char *message, struct rl_err *err, const char *doing)
{
    int system_errno = 0;

    if ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN) {
        /* A failed commit leaves sqlite3_system_errno at 0 (3.40); errno is still that of the failed call. */
        system_errno = errno;
        if (sqlite3_system_errno(store->db) != 0)
            system_errno = sqlite3_system_errno(store->db);
    }
    return rl_fail(err, code_of(rc, system_errno), "database", "%s: %s (SQLite error %d, errno %d%s)", doing, message,
                   rc, system_errno, system_errno == EFBIG ? ", the limit of a file's size, RLIMIT_FSIZE" : "");
}

int store_fail(struct store *store, struct rl_err *err, const char *doing)
{
    return store_fail_code(store, sqlite3_extended_errcode(store->db), sqlite3_errmsg(store->db), err, doing);
}
