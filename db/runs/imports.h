/* Imports: runs that come without a job, each once. */
#ifndef DB_RUNS_IMPORTS_H
#define DB_RUNS_IMPORTS_H

#include "db/core/store.h"
#include "db/runs/insert.h"

struct store_import_key { /* SHA-256, 64 hex digits each */
    const char *request;  /* of the files and fields that were sent */
    const char *record;   /* of what came of them */
};
/* Stores an imported run (run->source is RL_IMPORTED: else RL_E_INTERNAL), job null. Where either of the key is known,
 * answers the existing run and *ret_existing, and stores only that this request is that run too; a label that is not
 * that run's is RL_E_CONFLICT, since no run's label ever changes. */
int store_import_run(struct store *store, const struct store_run_new *run, const struct store_import_key *key,
                     int64_t *ret_id, bool *ret_existing, struct rl_err *err);
/* The run of a request or record: before work is spent on it. 0 when there is none. label: as asked, or NULL; another
 * than the run's is RL_E_CONFLICT. */
int store_import_find(struct store *store, const char *sha256, const char *label, int64_t *ret_id, struct rl_err *err);

#endif
