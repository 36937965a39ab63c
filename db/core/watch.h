/* Whether an open database's files are still those that the connection has. */
#ifndef DB_CORE_WATCH_H
#define DB_CORE_WATCH_H

#include "db/core/store.h"

#define STORE_BROKEN                                                                                                   \
    "the write-ahead log was cut short: what was stored last may be lost; stop the daemon, keep the files, check them"

/* Takes down which files the log and its index are now. */
void store_watch(struct store *store);
/* Outside of a transaction: whether the database, its log and its index are still the files that the connection has, as
 * long as they were. A log that lost its name is brought into the database and a new one begun; an index that was cut
 * or lost is made anew from the log. RL_E_STORE_IO for what cannot be mended; a database file that was moved away can
 * still be read, but not written. */
int store_in_place(struct store *store, bool to_write, struct rl_err *err);

#endif
