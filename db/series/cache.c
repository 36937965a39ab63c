/* The series in memory: a list's filter is judged here, without a query, and a run's series is found in no time. */
#include "db/series/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- filters ---- */

bool series_pick(const struct series_cache *cache, const char *const words[SERIES_WORDS], struct series_filter *ret)
{
    struct series_filter filter = {0};

    for (int i = 0; i < SERIES_WORDS; i++) {
        if (words[i] == NULL)
            continue;
        if (i == SERIES_SOURCE && strcmp(words[i], SERIES_NOT_REPLAYED) == 0) {
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
    return filter->not_source == 0 || filter->not_source != row->words[SERIES_SOURCE];
}
