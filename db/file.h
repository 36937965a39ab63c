/* The database's file: its name, and whose it is. */
#ifndef DB_FILE_H
#define DB_FILE_H

#include "db/core/store.h"

#define STORE_APPLICATION_ID 0x524C4442 /* "RLDB" */

/* In meta, and at once in the file itself, as long as a store is open: the newest commits may then stand in the log
 * alone. A file in log mode that has it and no log is a copy without its log, or has lost it. */
#define STORE_OPEN_MARK "open"

/* Absolute, without symbolic links; NULL with err set for what is no file, or has hard links. One that is not there has
 * its name too. */
char *store_absolute_path(const char *path, struct rl_err *err);
/* Whose file it is; *ret_fresh: nobody's yet. Sets store->version. Writes nothing. */
int store_identify(struct store *store, int newest, bool *ret_fresh, struct rl_err *err);

bool store_in_log_mode(const char *path); /* by the file's header; a VACUUM INTO copy is not */

#endif
