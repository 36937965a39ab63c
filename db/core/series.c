/* The series in memory: a list's filter is judged here, without a query, and a run's series is found in no time.
 *
 * They are few beside the runs (a new one comes with a new driver, device or kind of outcome), only this process writes
 * them, and they never go: so they are read once and then kept in step, each after the commit that stored it. So are
 * the counts of their days, 8 bytes each: the matrix of a year is answered from memory in the time that its text takes
 * (read from the file, 18 thousand lines took 6 ms more; 2026-11-29). */
#include "db/core/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/series.h"
#include "db/runs/withdrawn.h"
#include "gpu/base/time.h"

/* ---- words: each text once, compared by number ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* The slot of the word, or the free one where it belongs; the table always has one. */
static uint32_t *find_slot(const struct series_words *words, const char *text)
{
    size_t mask = words->slot_count - 1;

    for (size_t at = hash_of(text) & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &words->slots[at];

        if (*slot == 0 || strcmp(words->texts[*slot], text) == 0)
            return slot;
    }
}

static int grow_words(struct series_words *words)
{
    struct series_words bigger = *words;

    bigger.slot_count = words->slot_count == 0 ? 256 : words->slot_count * 2;
    bigger.slots = calloc(bigger.slot_count, sizeof *bigger.slots);
    bigger.texts = realloc(words->texts, bigger.slot_count * sizeof *bigger.texts);
    if (bigger.texts != NULL)
        words->texts = bigger.texts;
    if (bigger.slots == NULL || bigger.texts == NULL) {
        free(bigger.slots);
        return -1;
    }
    for (uint32_t i = 1; i <= bigger.count; i++)
        *find_slot(&bigger, bigger.texts[i]) = i;
    free(words->slots);
    *words = bigger;
    return 0;
}

static uint32_t find_word(const struct series_words *words, const char *text)
{
    return words->slot_count == 0 ? 0 : *find_slot(words, text);
}

static uint32_t add_word(struct series_words *words, const char *text)
{
    uint32_t *slot;
    char *copy;

    if (words->slot_count / 2 <= words->count + 1 && grow_words(words) < 0)
        return 0;
    slot = find_slot(words, text);
    if (*slot == 0) {
        copy = strdup(text);
        if (copy == NULL)
            return 0;
        words->texts[++words->count] = copy;
        *slot = words->count;
    }
    return *slot;
}

/* ---- rows ---- */

void series_fini(struct series_cache *cache)
{
    for (uint32_t i = 1; i <= cache->words.count; i++)
        free(cache->words.texts[i]);
    for (size_t i = 0; i < cache->count; i++)
        free(cache->rows[i].days);
    free(cache->words.texts);
    free(cache->words.slots);
    free(cache->rows);
    memset(cache, 0, sizeof *cache);
}

/* Rows are in the order of their ids: SQLite gives a new one the largest. NULL when it is not there. */
const struct series_row *series_by_id(const struct series_cache *cache, int64_t id)
{
    size_t low = 0, high = cache->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cache->rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cache->count && cache->rows[low].id == id ? &cache->rows[low] : NULL;
}

int series_add(struct series_cache *cache, int64_t id, const char *const words[SERIES_WORDS], int64_t oldest_ms,
               int64_t newest_ms)
{
    struct series_row row = {.id = id, .oldest_ms = oldest_ms, .newest_ms = newest_ms};
    struct series_row *rows;

    for (int i = 0; i < SERIES_WORDS; i++) {
        row.words[i] = add_word(&cache->words, words[i]);
        if (row.words[i] == 0)
            return -1;
    }
    if (cache->count == cache->capacity) {
        size_t capacity = cache->capacity == 0 ? 256 : cache->capacity * 2;

        rows = realloc(cache->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return -1;
        cache->rows = rows;
        cache->capacity = capacity;
    }
    assert(cache->count == 0 || cache->rows[cache->count - 1].id < id);
    cache->rows[cache->count++] = row;
    return 0;
}

uint32_t series_first_day(const struct series_row *row, int64_t day)
{
    uint32_t low = 0, high = row->day_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (row->days[middle].day < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int series_add_day(struct series_row *row, int64_t day, int64_t runs)
{
    uint32_t at = series_first_day(row, day);

    if (at < row->day_count && row->days[at].day == day) {
        row->days[at].runs += (uint32_t)runs;
        row->runs += runs;
        return 0;
    }
    if (row->day_count == row->day_capacity) {
        uint32_t capacity = row->day_capacity == 0 ? 4 : row->day_capacity * 2;
        struct series_day *days = realloc(row->days, capacity * sizeof *days);

        if (days == NULL)
            return -1;
        row->days = days;
        row->day_capacity = capacity;
    }
    memmove(&row->days[at + 1], &row->days[at], (row->day_count - at) * sizeof *row->days);
    row->days[at] = (struct series_day){.day = (int32_t)day, .runs = (uint32_t)runs};
    row->day_count++;
    row->runs += runs;
    return 0;
}

static int load_days(struct store *store, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DAYS_LOAD);
    struct series_row *row = NULL;
    int rc;

    while ((rc = stmt_step(&stmt, err, "reading the days of the series")) == 1) {
        int64_t id = sqlite3_column_int64(stmt.handle, 0);

        if (row == NULL || row->id != id)
            row = (struct series_row *)series_by_id(&store->series, id);
        if (row == NULL)
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "a day is of series %lld, which is not there",
                         (long long)id);
        else if (series_add_day(row, sqlite3_column_int64(stmt.handle, 1), sqlite3_column_int64(stmt.handle, 2)) < 0)
            rc = rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the days of the series");
        if (rc < 0)
            break;
    }
    stmt_end(&stmt);
    return rc;
}

int store_load_series(struct store *store, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_SERIES_LOAD);
    int rc;

    series_fini(&store->series);
    store_forget_device_names(store); /* they go by the words' numbers */
    while ((rc = stmt_step(&stmt, err, "reading the series")) == 1) {
        const char *words[SERIES_WORDS];

        for (int i = 0; i < SERIES_WORDS; i++) {
            words[i] = (const char *)sqlite3_column_text(stmt.handle, 3 + i);
            if (words[i] == NULL)
                words[i] = "";
        }
        if (series_add(&store->series, sqlite3_column_int64(stmt.handle, 0), words,
                       sqlite3_column_int64(stmt.handle, 1), sqlite3_column_int64(stmt.handle, 2)) < 0) {
            rc = rl_fail(err, RL_E_NO_MEMORY, "database", "no memory for the series");
            break;
        }
    }
    stmt_end(&stmt);
    if (rc == 0)
        rc = load_days(store, err);
    if (rc == 0)
        rc = store_load_withdrawn(store, err);
    store->series_stale = rc != 0;
    return rc;
}

void store_note_series(struct store *store)
{
    const struct store_series_new *stored = &store->stored;
    struct series_row *row;

    if (stored->id == 0)
        return;
    row = (struct series_row *)series_by_id(&store->series, stored->id);
    if (row != NULL) {
        row->oldest_ms = stored->date_ms < row->oldest_ms ? stored->date_ms : row->oldest_ms;
        row->newest_ms = stored->date_ms > row->newest_ms ? stored->date_ms : row->newest_ms;
    } else if (series_add(&store->series, stored->id, stored->words, stored->date_ms, stored->date_ms) == 0) {
        row = &store->series.rows[store->series.count - 1];
    }
    /* Out of memory: the run is stored and may not fail now. The next question reads them anew. */
    if (row == NULL || series_add_day(row, rl_time_day(stored->date_ms), 1) < 0)
        store->series_stale = true;
    store->stored.id = 0;
}

/* ---- filters ---- */

bool series_pick(const struct series_cache *cache, const char *const words[SERIES_WORDS], struct series_filter *ret)
{
    struct series_filter filter = {0};

    for (int i = 0; i < SERIES_WORDS; i++) {
        if (words[i] == NULL)
            continue;
        if (i == SERIES_SOURCE_AT && strcmp(words[i], SERIES_NOT_REPLAYED) == 0) {
            filter.not_source = find_word(&cache->words, "replayed");
            filter.any = filter.any || filter.not_source != 0;
            continue;
        }
        filter.words[i] = find_word(&cache->words, words[i]);
        if (filter.words[i] == 0)
            return false;
        filter.any = true;
    }
    *ret = filter;
    return true;
}

bool series_matches(const struct series_filter *filter, const struct series_row *row)
{
    for (int i = 0; i < SERIES_WORDS; i++) {
        if (filter->words[i] != 0 && filter->words[i] != row->words[i])
            return false;
    }
    return filter->not_source == 0 || filter->not_source != row->words[SERIES_SOURCE_AT];
}
