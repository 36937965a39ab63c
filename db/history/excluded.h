/* What a question passes over. */
#ifndef DB_HISTORY_EXCLUDED_H
#define DB_HISTORY_EXCLUDED_H

#include "db/core/store.h"
#include "gpu/base/buf.h"

/* Runs of a device, and of a driver where one is asked for, that a question does not take, by what excludes them. */
struct store_excluded {
    int64_t runs;
    bool at_least;       /* not all were counted */
    const char *filters; /* what excludes them: "suite, sizes" */
    const char *ask;     /* the parameters that take them: "suite=import&sizes=other"; NULL: none does */
    const char *sentence;
};

#define STORE_EXCLUDED_MAX 8
struct store_excluded_query {
    const char *device, *driver, *cuda, *suite, *sizes, *source; /* NULL: any; of source: measured and imported */
    const char *label;                                           /* NULL: any; else only its runs are counted */
    int64_t since_ms, until_ms;                                  /* of the runs' dates; 0: any */
    bool cuda_in_side;                                           /* cuda is no parameter of the question */
    bool without_outcomes;  /* runs that no question takes, by their outcome or withdrawn, are said otherwise */
    int64_t method_version; /* 0: any; else eligible runs of other methods, and flagged ones, are counted too */
};
/* Those with the most runs, at most STORE_EXCLUDED_MAX; texts and array are in arena. Runs of other devices only where
 * the device has none of this driver. Reads from memory but for a look into two indexes a series; of a label its runs
 * are counted in the database, series by series. */
int store_excluded_find(struct store *store, const struct store_excluded_query *query, struct rl_arena *arena,
                        struct store_excluded **ret, size_t *ret_count, struct rl_err *err);

/* The items of "excluded". Inside of store_look where method_version is asked for. */
int json_put_excluded(struct store *store, const struct store_excluded_query *query, struct rl_buf *out,
                      struct rl_err *err);

#endif
