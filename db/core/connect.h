/* The connection and its settings. */
#ifndef DB_CORE_CONNECT_H
#define DB_CORE_CONNECT_H

#include "db/core/store.h"

#define STORE_BUSY_MS 50 /* only a stray command line tool can make us wait: then a clear error, soon */

int store_connect(struct store *store, struct rl_err *err);     /* opens the file and sets what no PRAGMA does */
int store_set_pragmas(struct store *store, struct rl_err *err); /* and the rest: a log, synced at each commit */

#endif
