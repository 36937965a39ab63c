/* Which runs are withdrawn now, in memory: every list, observation and trend asks it of each run. */
#include "db/series/withdrawn.h"

#include <stdlib.h>

#include "db/core/statement.h"
#include "db/series/memory.h"

void store_forget_withdrawn(struct store *store)
{
    free(store->series->withdrawn.runs);
    store->series->withdrawn = (struct withdrawn_set){0};
}

int store_load_withdrawn(struct store *store, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_WITHDRAWN_LOAD);
    struct withdrawn_set set = {0};
    size_t capacity = 0;
    int rc;

    while ((rc = stmt_step(&stmt, err, "reading which runs are withdrawn")) == 1) {
        if (set.count == capacity) {
            size_t bigger = capacity == 0 ? 16 : capacity * 2;
            struct withdrawn_run *runs = realloc(set.runs, bigger * sizeof *runs);

            if (runs == NULL) {
                rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the withdrawn runs");
                break;
            }
            set.runs = runs;
            capacity = bigger;
        }
        set.runs[set.count++] =
            (struct withdrawn_run){sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1),
                                   sqlite3_column_int64(stmt.handle, 2)};
    }
    stmt_end(&stmt);
    store_forget_withdrawn(store);
    if (rc == 0)
        store->series->withdrawn = set;
    else
        free(set.runs);
    return rc;
}

static int by_run(const void *a, const void *b)
{
    int64_t x = ((const struct withdrawn_run *)a)->run_id, y = ((const struct withdrawn_run *)b)->run_id;

    return x < y ? -1 : x > y;
}

bool store_is_withdrawn(const struct store *store, int64_t run_id)
{
    const struct withdrawn_set *set = &store->series->withdrawn;

    return set->count > 0 &&
           bsearch(&(struct withdrawn_run){.run_id = run_id}, set->runs, set->count, sizeof *set->runs, by_run) != NULL;
}
