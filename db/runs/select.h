/* What the files of history share: which series, which days, and how both are written. Private to db/. */
#ifndef DB_RUNS_SELECT_H
#define DB_RUNS_SELECT_H

#include "db/history/history.h"
#include "db/history/rollup.h"

enum {
    SERIES_DEVICE,
    SERIES_DRIVER,
    SERIES_CUDA,
    SERIES_SUITE,
    SERIES_SIZES,
    SERIES_SOURCE,
    SERIES_COUNTERS,
    SERIES_OUTCOME
};

struct selection {
    const struct series_row **rows; /* in the order of their ids; valid until something is stored */
    size_t count;
};
/* The series with these words (NULL: any; no source: all but replayed) that may have runs in [from_ms, before_ms). */
int store_select(struct store *store, const char *const words[SERIES_WORDS], int64_t from_ms, int64_t before_ms,
                 struct selection *ret, struct rl_err *err);
void store_selection_fini(struct selection *selection);
const struct series_row *store_selection_find(const struct selection *selection, int64_t id); /* NULL: not selected */
const char *store_series_word(const struct store *store, const struct series_row *row, int word);

struct days { /* UTC days since 1970: [since, until) */
    int64_t since, until;
};
int store_days_asked(int64_t since_ms, int64_t until_ms, int64_t now_ms, struct days *ret, struct rl_err *err);

void json_put_day(struct rl_buf *out, int64_t day);
/* {"id","name"}; RL_E_NOT_FOUND. */
int json_put_device(struct store *store, const char *id, struct rl_buf *out, struct rl_err *err);
/* "member":"version", or null when it is "". */
void json_put_version(struct rl_buf *out, const char *member, const char *version);
/* The items of "excluded". Inside of store_look where method_version is asked for. */
int json_put_excluded(struct store *store, const struct store_excluded_query *query, struct rl_buf *out,
                      struct rl_err *err);
void json_put_versions_why(struct rl_buf *out, const char *driver, const char *cuda); /* members of a why */

#endif
