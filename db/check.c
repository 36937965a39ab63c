/* Whether a database is whole: of an open store, and of a file that is only read. */
#include "db/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/core/error.h"
#include "db/core/internal.h"
#include "db/core/query.h"
#include "db/file.h"
#include "db/jobs/queue.h"
#include "db/migrate.h"

static int check_job_counts(struct store *store, struct rl_err *err)
{
    int64_t remembered[JOB_STATE_COUNT];
    int rc;

    memcpy(remembered, store->job_counts, sizeof remembered);
    rc = store_load_job_counts(store, err);
    if (rc == 0 && memcmp(remembered, store->job_counts, sizeof remembered) != 0)
        rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "jobs were counted wrongly, or written by another program");
    return rc;
}

/* of run_fact: not withdrawn */
#define SHOWN "run_fact.run_id NOT IN (SELECT w.run_id FROM withdrawal AS w WHERE w.back_at_ms IS NULL)"

static int check_connection(struct store *store, bool newest, struct rl_err *err)
{
    static const struct {
        const char *sql, *wrong;
    } checks[] = {
        {"PRAGMA foreign_key_check", "rows point to rows that are not there"},
        {"SELECT 1 FROM run LEFT JOIN run_document ON run_id = run.id WHERE run_id IS NULL", "a run has no document"},
        {"SELECT 1 FROM run JOIN job ON job.id = run.job_id WHERE job.state <> 'done'", "an unfinished job has a run"},
        {"SELECT 1 FROM run JOIN series ON series.id = series_id WHERE date_ms NOT BETWEEN oldest_ms AND newest_ms",
         "a series does not span its runs"},
        {"SELECT 1 FROM run LEFT JOIN run_fact AS f ON f.run_id = run.id "
         "WHERE (f.series_id, f.date_ms) IS NOT (run.series_id, run.date_ms)",
         "a run has no facts, or another's"},
        {"SELECT 1 FROM (SELECT series_id, day, count(*) AS n FROM run_fact WHERE " SHOWN
         " GROUP BY series_id, day) LEFT JOIN series_day USING (series_id, day) WHERE runs IS NOT n",
         "a day's runs were counted wrongly"},
        {"SELECT 1 WHERE (SELECT coalesce(sum(runs), 0) FROM series_day) <> (SELECT count(*) FROM run_fact "
         "WHERE " SHOWN ")",
         "a day without runs is counted"},
        {"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM trend_stale) AND (SELECT coalesce(sum(runs), 0) FROM trend_day) <> "
         "(SELECT count(*) FROM run_row JOIN run_fact USING (run_id) WHERE eligible = 1 AND " SHOWN ")",
         "a trend's runs were counted wrongly"},
    };
    sqlite3_stmt *stmt = NULL;
    const char *text;
    int rc = 0;

    if (sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        rc = store_fail(store, err, "checking integrity");
    } else {
        text = (const char *)sqlite3_column_text(stmt, 0);
        if (text == NULL || strcmp(text, "ok") != 0)
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "integrity check: %s", text != NULL ? text : "no answer");
    }
    sqlite3_finalize(stmt);
    /* the rest is about tables as the newest version has them */
    for (size_t i = 0; rc == 0 && i < (newest ? sizeof checks / sizeof *checks : 1); i++) {
        bool found = false;

        rc = store_has_rows(store, checks[i].sql, &found, err, "checking integrity");
        if (rc == 0 && found)
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "integrity check: %s", checks[i].wrong);
    }
    return rc;
}

int store_check_integrity(struct store *store, struct rl_err *err)
{
    return check_connection(store, true, err) == 0 ? check_job_counts(store, err) : -1;
}

/* ---- a file ---- */

/* "file:PATH?immutable=1" with what a URI gives a meaning to escaped; NULL when memory ran out. */
static char *immutable_uri(const char *path)
{
    static const char head[] = "file:", tail[] = "?immutable=1";
    char *uri = malloc(sizeof head + 3 * strlen(path) + sizeof tail), *to = uri;

    if (uri == NULL)
        return NULL;
    to += snprintf(to, sizeof head, "%s", head);
    for (; *path != '\0'; path++)
        if (*path == '%' || *path == '?' || *path == '#')
            to += snprintf(to, 4, "%%%02X", (unsigned)*path);
        else
            *to++ = *path;
    snprintf(to, sizeof tail, "%s", tail);
    return uri;
}

/* Without its log a file is opened as one that never changes: SQLite would else make a log and an index for it. With a
 * log, without SQLite's locks and with the log's index in memory: a lock would need the right to write, the index a
 * file. Our own lock keeps a daemon away meanwhile; what another program does shows by the files' times. */
static int open_to_read(struct store *store, bool log, struct rl_err *err)
{
    char *uri = log ? NULL : immutable_uri(store->path);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (log ? 0 : SQLITE_OPEN_URI), rc;

    if (!log && uri == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory to open the database");
    errno = 0;
    rc = sqlite3_open_v2(log ? store->path : uri, &store->db, flags, log ? "unix-none" : NULL);
    free(uri);
    if (rc != SQLITE_OK)
        return store->db == NULL ? rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for a connection")
                                 : store_fail(store, err, "opening the database");
    /* the log is to be there as it was when the connection closes */
    if (sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK ||
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
        sqlite3_exec(store->db,
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON", NULL,
                     NULL, NULL) != SQLITE_OK)
        return store_fail(store, err, "opening the database");
    return 0;
}

/* The lock that a daemon holds, shared, where its file is there: none is made. */
static int lock_to_read(struct store *store, struct rl_err *err)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    char *name = NULL;

    if (asprintf(&name, "%s-lock", store->path) < 0)
        return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the lock's name");
    store->lock_fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int error = store->lock_fd < 0 ? errno : 0;
    free(name);
    if (error == ENOENT) /* no daemon has had it open */
        return 0;
    if (error != 0)
        return rl_fail(err, RL_E_STORE_OPEN, "database",
                       "whether a rooflined has this database open cannot be seen: the lock file beside it cannot be "
                       "opened: %s; check it as the user that rooflined runs as",
                       strerror(error));
    if (fcntl(store->lock_fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return rl_fail(err, RL_E_STORE_BUSY, "database",
                       "a rooflined has this database open; stop it, or make a backup of it and check that");
    return rl_fail(err, RL_E_STORE_IO, "database", "the lock file beside the database cannot be locked: %s",
                   strerror(errno));
}

/* Two integers of one row; no row: 0 and 0. */
static int read_two(struct store *store, const char *sql, int64_t *ret_a, int64_t *ret_b, struct rl_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int step = SQLITE_ERROR;

    *ret_a = *ret_b = 0;
    errno = 0;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK)
        step = sqlite3_step(stmt);
    if (step == SQLITE_ROW) {
        *ret_a = sqlite3_column_int64(stmt, 0);
        *ret_b = sqlite3_column_int64(stmt, 1);
    } else if (step != SQLITE_DONE) {
        store_fail(store, err, "counting");
    }
    sqlite3_finalize(stmt);
    return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : -1;
}

static int report(struct store *store, bool log, struct store_report *ret, struct rl_err *err)
{
    bool fresh = false, marked = false;

    if (store_identify(store, store_migration_count, &fresh, err) < 0)
        return -1;
    if (fresh)
        return rl_fail(err, RL_E_STORE_OPEN, "database", "the file is an SQLite database without a table in it");
    ret->version = store->version;
    ret->log = log;
    if (check_connection(store, store->version == store_migration_count, err) < 0 ||
        read_two(store, "SELECT count(*), 0 FROM run", &ret->runs, &ret->newest_run, err) < 0 ||
        read_two(store, "SELECT count(*), 0 FROM job", &ret->jobs, &ret->newest_job, err) < 0 ||
        read_two(store, "SELECT id, date_ms FROM run ORDER BY date_ms DESC, id DESC LIMIT 1", &ret->newest_run,
                 &ret->newest_run_ms, err) < 0 ||
        read_two(store, "SELECT id, created_at_ms FROM job ORDER BY id DESC LIMIT 1", &ret->newest_job,
                 &ret->newest_job_ms, err) < 0 ||
        store_has_rows(store, "SELECT 1 FROM meta WHERE key = '" STORE_OPEN_MARK "'", &marked, err, "checking") < 0)
        return -1;
    ret->log_missing = marked && !log && store_in_log_mode(store->path);
    return 0;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int check_file(struct store *store, struct store_report *ret, struct rl_err *err)
{
    struct stat before = {0}, log_before = {0}, after = {0}, log_after = {0};
    char *log = NULL;
    int rc;

    if (lock_to_read(store, err) < 0)
        return -1;
    if (stat(store->path, &before) != 0)
        return rl_fail(err, RL_E_STORE_OPEN, "database", "the database cannot be looked at: %s", strerror(errno));
    if (before.st_size == 0)
        return rl_fail(err, RL_E_STORE_OPEN, "database",
                       "the file is empty: it is no database, or one whose content is lost");
    if (asprintf(&log, "%s-wal", store->path) < 0)
        return rl_fail(err, RL_E_NO_MEMORY, "database", "no memory to check the database");
    bool has_log = stat(log, &log_before) == 0 && log_before.st_size > 0;
    rc = open_to_read(store, has_log, err) < 0 ? -1 : report(store, has_log, ret, err);
    bool unchanged = stat(store->path, &after) == 0 && same(&before, &after) &&
                     (!has_log || (stat(log, &log_after) == 0 && same(&log_before, &log_after)));
    free(log);
    if (!unchanged)
        return rl_fail(err, RL_E_STORE_BUSY, "database", "another program wrote to the database while it was checked");
    return rc;
}

int store_check_file(const char *path, struct store_report *ret, struct rl_err *err)
{
    struct store store = {.lock_fd = -1};
    int rc;

    *ret = (struct store_report){0};
    store.path = store_absolute_path(path, err);
    rc = store.path == NULL ? -1 : check_file(&store, ret, err);
    sqlite3_close(store.db);
    if (store.lock_fd >= 0)
        close(store.lock_fd);
    free(store.path);
    return rc;
}
