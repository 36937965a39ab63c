/* Migrations: one transaction each, a backup before the first. */
#include "db/migrate.h"

#include <stdio.h>

#include "db/backup.h"
#include "db/core/internal.h"
#include "db/core/query.h"
#include "db/file.h"

static int migrate_one(struct store *store, const struct store_migration *migration, int version, struct rl_err *err)
{
    char numbers[96]; /* a PRAGMA takes no bound parameters */
    bool dangling = false;

    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID,
             version);
    if (store_execute(store, "BEGIN IMMEDIATE", err, "starting a migration") < 0)
        return -1;
    if (store_execute(store, migration->sql, err, migration->name) < 0 ||
        store_execute(store, numbers, err, migration->name) < 0 ||
        store_has_rows(store, "PRAGMA foreign_key_check", &dangling, err, migration->name) < 0)
        goto fail;
    if (dangling) {
        rl_fail(err, RL_E_STORE_CORRUPT, "database", "%s would leave rows that point nowhere", migration->name);
        goto fail;
    }
    if (store_execute(store, "COMMIT", err, migration->name) < 0)
        goto fail;
    store->version = version;
    return 0;
fail:
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

int store_migrate(struct store *store, bool fresh, const struct store_plan *plan, struct rl_err *err)
{
    int64_t pages = 0, page_bytes = 0;

    if (store->version == plan->count)
        return 0;
    if (store_read_int(store, "PRAGMA page_count", &pages, err, "reading the database") < 0 ||
        store_read_int(store, "PRAGMA page_size", &page_bytes, err, "reading the database") < 0)
        return -1;
    if (pages * page_bytes >= plan->big_bytes)
        return rl_fail(err, RL_E_STORE_BIG_MIGRATION, "database",
                       "the database has version %d and %lld bytes: its migration to version %d takes long and is not "
                       "made at start",
                       store->version, (long long)(pages * page_bytes), plan->count);
    if (!fresh && store_back_up(store, err) < 0)
        return -1;
    /* A table that others point to can only be replaced while nobody looks; each migration ends with a check of all
     * foreign keys. */
    if (store_set_pragma(store, "PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys", 0, err) < 0)
        return -1;
    while (store->version < plan->count) {
        if (migrate_one(store, &plan->migrations[store->version], store->version + 1, err) < 0)
            return -1;
    }
    return store_set_pragma(store, "PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", 1, err);
}
