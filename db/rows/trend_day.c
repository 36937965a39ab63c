/* A trend's day as it is stored: the values of its newest TREND_ENTRIES_MAX eligible runs in one blob. A trend of a
 * year then is 365 rows side by side instead of some hundred thousand, and medians and noise bands are formed of
 * measured values all the same. An entry, 36 bytes, little-endian: ms of the day (uint32), percent of the ceiling and
 * DRAM/ask (float32), run (int64), seconds of a kernel or value of a ceiling (float64), settled DRAM bytes (float64).
 * NaN is unknown. Entries are in the order of (date, run). */
#include "db/rows/trend_day.h"

#include <endian.h>
#include <string.h>

#include "db/core/statement.h"

static uint32_t float_bits(double value)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static double bits_float(uint32_t bits)
{
    float narrow;

    memcpy(&narrow, &bits, sizeof narrow);
    return (double)narrow;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double bits_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void put32(unsigned char *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}
static void put64(unsigned char *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof value);
}
static uint32_t get32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return le32toh(value);
}
static uint64_t get64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

static void encode(const struct trend_entry *entry, unsigned char *at)
{
    put32(at, entry->ms_of_day);
    put32(at + 4, float_bits(entry->percent_of_ceiling));
    put32(at + 8, float_bits(entry->dram_per_ask));
    put64(at + 12, (uint64_t)entry->run_id);
    put64(at + 20, double_bits(entry->value));
    put64(at + 28, double_bits(entry->dram_bytes));
}

void trend_entry_decode(const unsigned char *at, struct trend_entry *ret)
{
    *ret = (struct trend_entry){.ms_of_day = get32(at),
                                .percent_of_ceiling = bits_float(get32(at + 4)),
                                .dram_per_ask = bits_float(get32(at + 8)),
                                .run_id = (int64_t)get64(at + 12),
                                .value = bits_double(get64(at + 20)),
                                .dram_bytes = bits_double(get64(at + 28))};
}

static bool entry_before(const struct trend_entry *a, const struct trend_entry *b)
{
    return a->ms_of_day != b->ms_of_day ? a->ms_of_day < b->ms_of_day : a->run_id < b->run_id;
}

void trend_day_add(struct trend_day *day, const struct trend_entry *entry)
{
    int at = day->count;

    day->runs++;
    while (at > 0 && entry_before(entry, &day->entries[at - 1]))
        at--;
    if (day->count < TREND_ENTRIES_MAX) {
        memmove(&day->entries[at + 1], &day->entries[at], (size_t)(day->count - at) * sizeof *entry);
        day->count++;
    } else if (at == 0) {
        return; /* older than all that are kept */
    } else {
        at--;
        memmove(&day->entries[0], &day->entries[1], (size_t)at * sizeof *entry);
    }
    day->entries[at] = *entry;
}

static void bind_key(struct stmt *stmt, const struct trend_key *key)
{
    stmt_int(stmt, ":series", key->series_id);
    stmt_int(stmt, ":method", key->method_version);
    stmt_int(stmt, ":unit", key->unit_id);
    stmt_text(stmt, ":state", rl_state_name(key->state));
    stmt_int(stmt, ":day", key->day);
    stmt_int(stmt, ":work", key->work_id);
    stmt_int(stmt, ":profiler", key->profiler_time);
}

int trend_day_read(struct store *store, const struct trend_key *key, struct trend_day *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_TREND_GET);
    int rc;

    *ret = (struct trend_day){0};
    bind_key(&stmt, key);
    rc = stmt_step(&stmt, err, "reading a trend");
    if (rc == 1) {
        const unsigned char *blob = sqlite3_column_blob(stmt.handle, 1);

        ret->runs = sqlite3_column_int64(stmt.handle, 0);
        ret->count = sqlite3_column_bytes(stmt.handle, 1) / TREND_ENTRY_BYTES;
        if (blob == NULL || ret->count > TREND_ENTRIES_MAX)
            rc = rl_fail(err, RL_E_STORE_CORRUPT, "database", "a trend's day has %d entries", ret->count);
        for (int i = 0; rc == 1 && i < ret->count; i++)
            trend_entry_decode(blob + i * TREND_ENTRY_BYTES, &ret->entries[i]);
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

int trend_day_write(struct store *store, const struct trend_key *key, const struct trend_day *day, struct rl_err *err)
{
    unsigned char blob[TREND_ENTRIES_MAX * TREND_ENTRY_BYTES];
    struct stmt stmt = stmt_start(store, STMT_TREND_PUT);

    for (int i = 0; i < day->count; i++)
        encode(&day->entries[i], blob + i * TREND_ENTRY_BYTES);
    bind_key(&stmt, key);
    stmt_int(&stmt, ":runs", day->runs);
    stmt_blob(&stmt, ":newest", blob, (size_t)day->count * TREND_ENTRY_BYTES);
    return stmt_run(&stmt, err, "storing a trend");
}
