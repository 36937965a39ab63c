/* Which series a question is about. */
#ifndef DB_SERIES_SELECT_H
#define DB_SERIES_SELECT_H

#include "db/core/store.h"
#include "db/series/cache.h"

/* Of a question's source: NULL is "measured or imported"; "any", or one of the three words. Else RL_E_BAD_FIELD. */
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

#endif
