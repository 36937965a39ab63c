/* The two ways in which runs come and go without a job: imports, and retention. */
#include "db/history/history.h"
#include "db/history/rollup.h"

#include <string.h>

/* ---- imports ---- */

/* Another label than the run's would be dropped without a word. */
static int check_label(struct store *store, int64_t run_id, const char *label, struct rl_err *err)
{
    struct stmt stmt;
    int rc;

    if (label == NULL)
        return 0;
    stmt = stmt_start(store, STMT_RUN_LABEL);
    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "reading a run's label");
    if (rc == 1) {
        const char *has = (const char *)sqlite3_column_text(stmt.handle, 0);

        rc = 0;
        if (has == NULL)
            rc = rl_fail(err, RL_E_CONFLICT, "label",
                         "these files are run %lld already, which has no label, and a run's label never changes: send "
                         "them without one",
                         (long long)run_id);
        else if (strcmp(has, label) != 0)
            rc = rl_fail(err, RL_E_CONFLICT, "label",
                         "these files are run %lld already, whose label is \"%s\", and a run's label never changes: "
                         "send them with that one or without any",
                         (long long)run_id, has);
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

int store_import_find(struct store *store, const char *sha256, const char *label, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_IMPORT_GET);
    int64_t id = 0;
    int rc;

    stmt_text(&stmt, ":sha256", sha256);
    rc = stmt_step(&stmt, err, "looking up an import");
    if (rc == 1)
        id = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    if (rc < 0 || (id != 0 && check_label(store, id, label, err) < 0))
        return -1;
    *ret_id = id;
    return 0;
}

static int add_key(struct store *store, const char *sha256, int64_t run_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_IMPORT_ADD);

    stmt_text(&stmt, ":sha256", sha256);
    stmt_int(&stmt, ":id", run_id);
    return stmt_run(&stmt, err, "storing an import");
}

static int insert_import(struct store *store, const struct store_run_new *run, const struct store_import_key *key,
                         int64_t *ret_id, struct rl_err *err)
{
    if (store_insert_run(store, 0, run, ret_id, err) < 0 || add_key(store, key->record, *ret_id, err) < 0)
        return -1;
    return add_key(store, key->request, *ret_id, err);
}

int store_import_run(struct store *store, const struct store_run_new *run, const struct store_import_key *key,
                     int64_t *ret_id, bool *ret_existing, struct rl_err *err)
{
    int64_t known = 0, id = 0;
    int rc;

    if (run->run->source != RL_IMPORTED || strlen(key->request) != 64 || strlen(key->record) != 64)
        return rl_fail(err, RL_E_INTERNAL, NULL, "an import's source is \"%s\" and its hashes have %zu and %zu digits",
                       rl_source_name(run->run->source), strlen(key->request), strlen(key->record));
    if (store_begin(store, err) < 0)
        return -1;
    rc = store_import_find(store, key->request, run->label, &known, err);
    if (rc == 0 && known == 0) {
        rc = store_import_find(store, key->record, run->label, &known, err);
        if (rc == 0)
            rc = known == 0 ? insert_import(store, run, key, &id, err) : add_key(store, key->request, known, err);
    }
    if (store_end(store, rc, err) < 0)
        return -1;
    *ret_id = known != 0 ? known : id;
    *ret_existing = known != 0;
    return 0;
}

/* ---- retention ---- */

/* Inside a transaction. What only points to the run goes with it. */
static int retire(struct store *store, int64_t run_id, const char *reason, int64_t now_ms, struct rl_err *err)
{
    static const enum store_stmt steps[] = {STMT_SAMPLE_DELETE, STMT_DOCUMENT_DELETE, STMT_RUN_DELETE};
    struct stmt stmt = stmt_start(store, STMT_RUN_EXISTS);
    int rc;

    stmt_int(&stmt, ":id", run_id);
    rc = stmt_step(&stmt, err, "looking up a run");
    stmt_end(&stmt);
    if (rc <= 0)
        return rc < 0 ? -1 : rl_fail(err, RL_E_RUN_NOT_FOUND, NULL, "there is no run %lld", (long long)run_id);
    stmt = stmt_start(store, STMT_RETIRED_ADD);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":now", now_ms);
    stmt_text(&stmt, ":reason", reason);
    if (stmt_run(&stmt, err, "naming a run for retention") < 0)
        return -1;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        stmt = stmt_start(store, steps[i]);
        stmt_int(&stmt, ":id", run_id);
        if (stmt_run(&stmt, err, "deleting a run") < 0)
            return -1;
    }
    return store_remake_trends(store, err);
}

int store_run_retire(struct store *store, int64_t run_id, const char *reason, int64_t now_ms, struct rl_err *err)
{
    if (store_begin(store, err) < 0)
        return -1;
    if (store_end(store, retire(store, run_id, reason, now_ms, err), err) < 0)
        return -1;
    store->series_stale = true; /* its day has a run less */
    return 0;
}
