/* The store: one SQLite file, one connection, one process. Only db/ includes sqlite3.h.
 *
 * Every function that writes does so in one IMMEDIATE transaction and is durable when it returns 0 (WAL,
 * synchronous=FULL); when it returns -1 nothing of it is stored. Text returned in struct rl_buf or in a struct's char*
 * is owned by the caller as said; JSON is appended to the buffer, which is left as it was on failure (RL_E_NO_MEMORY
 * when it would pass its max). Times are ms since 1970 UTC. All text has to be UTF-8; numbers finite: else
 * RL_E_INTERNAL.
 *
 * Besides the errors named below, any function may fail with RL_E_STORE_FULL, _READONLY, _BUSY, _IO or _CORRUPT;
 * err.field is then "database", and no message holds a path. db/SCHEMA.md describes the file.
 */
#ifndef DB_CORE_STORE_H
#define DB_CORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"

struct store; /* opened by db/open.h */

#define STORE_LIMIT_MAX 1000 /* rows of one list; over it, or under 1: RL_E_BAD_FIELD */

#endif
