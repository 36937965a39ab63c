/* Whether a database is whole. */
#ifndef DB_CHECK_H
#define DB_CHECK_H

#include "db/core/store.h"

/* PRAGMA integrity_check and foreign_key_check, and that runs, jobs and series agree. Reads the whole file: not for the
 * loop. */
int store_check_integrity(struct store *store, struct rl_err *err);
/* The same of a file that no daemon has open, its log with it: only read, nothing is made beside it. A file that is
 * empty or no rooflined database: RL_E_STORE_OPEN; one that is open: RL_E_STORE_BUSY. One of an older version is told
 * of too. */
struct store_report {
    int version;
    int64_t runs, jobs;
    int64_t newest_run, newest_run_ms; /* by date; 0 without one */
    int64_t newest_job, newest_job_ms; /* by id, when it was accepted */
    bool log;                          /* a write-ahead log stands beside the file and was read with it */
    bool log_missing; /* a store had it open and its log is not there: the newest commits may be lost */
};
int store_check_file(const char *path, struct store_report *ret, struct rl_err *err);

#endif
