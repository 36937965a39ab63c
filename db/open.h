/* Opening a database, and closing it. */
#ifndef DB_OPEN_H
#define DB_OPEN_H

#include "db/core/store.h"

#define STORE_MIGRATE_AT_START_MAX_BYTES (1000LL * 1000 * 1000)

/* Opens or creates. A newer file is RL_E_STORE_NEWER; an older one is migrated (backup first by VACUUM INTO beside it,
 * "FILE.vN-TIME.backup" once it is whole and synced, ".partial" until then; a migration removes an earlier one's part)
 * when it is below 1 GB or allow_big, else RL_E_STORE_BIG_MIGRATION. A file that another process holds:
 * RL_E_STORE_BUSY, for another daemon after a second (a lock on "FILE-lock", kept until store_close or the process's
 * end). A file of another program, or no database at all: RL_E_STORE_OPEN, the file untouched. The sqlite3 command line
 * may read while the store is open. */
int store_open(const char *path, bool allow_big, struct store **ret, struct rl_err *err);
void store_close(struct store *store); /* accepts NULL */
/* Whether a write would work now: some pages are really written to the log, in a transaction that is rolled back. For
 * /readyz. */
int store_check_writable(struct store *store, struct rl_err *err);

int store_schema_version(const struct store *store);
/* At the start: the file was open when it was last written, and its log is not there. What stood in it alone is lost.
 */
bool store_lost_log(const struct store *store);
/* Looks whether the database's files are in place, as each write does. 1: something was wrong and has been mended, with
 * a sentence in err (its code is RL_E_STORE_IO); 0; -1: it cannot be mended. */
int store_look_after(struct store *store, struct rl_err *err);
const char *store_path(const struct store *store); /* of its file: absolute, without symbolic links */

/* store_open with another list of migrations and another size from which a migration needs leave, for tests of
 * migrating. */
struct store_plan;
int store_open_with(const char *path, const struct store_plan *plan, struct store **ret, struct rl_err *err);

#endif
