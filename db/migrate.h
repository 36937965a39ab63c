/* Migrations: one transaction each, a backup before the first. */
#ifndef DB_MIGRATE_H
#define DB_MIGRATE_H

#include "db/core/store.h"

struct store_migration {
    const char *name;
    const char *sql;
};
/* db/migrations in order, embedded by the build: entry i leads to version i + 1. */
extern const struct store_migration store_migrations[];
extern const int store_migration_count;

struct store_plan {
    const struct store_migration *migrations;
    int count;
    int64_t big_bytes;
};
/* Brings the connected store to the plan's version; fresh: there is nothing to back up. RL_E_STORE_BIG_MIGRATION. */
int store_migrate(struct store *store, bool fresh, const struct store_plan *plan, struct rl_err *err);

#endif
