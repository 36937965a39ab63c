/* Which series a question is about. */
#include "db/series/select.h"

#include <stdlib.h>
#include <string.h>

#include "db/series/memory.h"
#include "gpu/base/time.h"

static int check_source(const char *source, struct rl_err *err)
{
    if (source == NULL || strcmp(source, "any") == 0 || strcmp(source, "measured") == 0 ||
        strcmp(source, "replayed") == 0 || strcmp(source, "imported") == 0)
        return 0;
    return rl_fail(err, RL_E_BAD_FIELD, "source", "source \"%.100s\" is not one of measured, replayed, imported, any",
                   source);
}

static int add_series(struct selection *selection, size_t *capacity, const struct series_row *row)
{
    if (selection->count == *capacity) {
        size_t bigger = *capacity == 0 ? 64 : *capacity * 2;
        const struct series_row **rows = realloc(selection->rows, bigger * sizeof *rows);

        if (rows == NULL)
            return -1;
        selection->rows = rows;
        *capacity = bigger;
    }
    selection->rows[selection->count++] = row;
    return 0;
}

int store_select(struct store *store, const char *const asked[SERIES_WORDS], int64_t from_ms, int64_t before_ms,
                 struct selection *ret, struct rl_err *err)
{
    const char *words[SERIES_WORDS], *source = asked[SERIES_SOURCE];
    struct series_filter filter;
    size_t capacity = 0;

    *ret = (struct selection){0};
    if (check_source(source, err) < 0)
        return -1;
    if (store->series->stale && store_load_series(store, err) < 0)
        return -1;
    memcpy(words, asked, sizeof words);
    if (source == NULL)
        words[SERIES_SOURCE] = SERIES_NOT_REPLAYED;
    else if (strcmp(source, "any") == 0)
        words[SERIES_SOURCE] = NULL;
    if (!series_pick(&store->series->cache, words, &filter))
        return 0;
    for (size_t i = 0; i < store->series->cache.count; i++) {
        const struct series_row *row = &store->series->cache.rows[i];

        if (!series_matches(&filter, row) || row->newest_ms < from_ms || row->oldest_ms >= before_ms)
            continue;
        if (add_series(ret, &capacity, row) < 0) {
            store_selection_fini(ret);
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a selection of runs");
        }
    }
    return 0;
}

void store_selection_fini(struct selection *selection)
{
    free(selection->rows);
    *selection = (struct selection){0};
}

static int by_id(const void *a, const void *b)
{
    int64_t id = *(const int64_t *)a, other = (*(const struct series_row *const *)b)->id;

    return id < other ? -1 : id > other;
}

const struct series_row *store_selection_find(const struct selection *selection, int64_t id)
{
    const struct series_row **found =
        selection->count == 0 ? NULL : bsearch(&id, selection->rows, selection->count, sizeof *selection->rows, by_id);

    return found != NULL ? *found : NULL;
}

const char *store_series_word(const struct store *store, const struct series_row *row, int word)
{
    return store->series->cache.words.texts[row->words[word]];
}
