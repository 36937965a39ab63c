/* Imports: runs that come without a job, each once. */
#include "db/runs/imports.h"

#include <string.h>

#include "db/core/statement.h"
#include "db/core/transaction.h"

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
