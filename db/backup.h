/* Copies of a database. */
#ifndef DB_BACKUP_H
#define DB_BACKUP_H

#include "db/core/store.h"

/* Copies a database into one new file, while a daemon writes to it too: `target` has its name once it is whole, checked
 * and synced, "TARGET.partial" until then. One that is there already is RL_E_STORE_IO. */
int store_backup(const char *path, const char *target, struct rl_err *err);

/* Leaves "FILE.vN-TIME.backup" beside the database, on disk and whole; until then it is "FILE.vN-TIME.partial", and
 * such parts of earlier, killed migrations are removed first. The connection is open, the lock held, no transaction
 * begun. RL_E_STORE_IO, or what SQLite met. */
int store_back_up(struct store *store, struct rl_err *err);

#endif
