/* The series as a table in memory. Words are in the order of the series table's columns. */
#ifndef DB_SERIES_CACHE_H
#define DB_SERIES_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#define SERIES_WORDS        8
#define SERIES_NOT_REPLAYED "measured,imported" /* what a filter may ask for in the source's place */

struct series_words {
    char **texts; /* 1 to count */
    uint32_t *slots;
    size_t slot_count; /* a power of two */
    uint32_t count;
};
struct series_day {
    int32_t day; /* UTC, since 1970 */
    uint32_t runs;
};
struct series_row {
    int64_t id, oldest_ms, newest_ms;
    int64_t runs; /* of all days */
    uint32_t words[SERIES_WORDS];
    uint32_t day_count, day_capacity;
    struct series_day *days; /* ascending */
};
struct series_cache {
    struct series_words words;
    struct series_row *rows; /* by id */
    size_t count, capacity;
};
struct series_filter {
    uint32_t words[SERIES_WORDS]; /* 0: any */
    uint32_t not_source;          /* 0: none */
    bool any;                     /* some word is asked for */
};

/* A zeroed cache is an empty one. 0, or -1 when memory ran out. Ids have to come in ascending order. */
int series_add(struct series_cache *cache, int64_t id, const char *const words[SERIES_WORDS], int64_t oldest_ms,
               int64_t newest_ms);
/* So many more runs on that day. 0, or -1 when memory ran out. */
int series_add_day(struct series_row *row, int64_t day, int64_t runs);
/* The first of the row's days that is not before this one; its day_count when there is none. */
uint32_t series_first_day(const struct series_row *row, int64_t day);
void series_fini(struct series_cache *cache);
const struct series_row *series_by_id(const struct series_cache *cache, int64_t id); /* NULL when it is not there */
/* The filter of these words, NULL for any; false when some word is in no series, and so nothing matches. */
bool series_pick(const struct series_cache *cache, const char *const words[SERIES_WORDS], struct series_filter *ret);
bool series_matches(const struct series_filter *filter, const struct series_row *row);

#endif
