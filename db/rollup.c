/* What is kept beside a run's document, in the transaction that stores it: narrow facts and rows for comparisons, and
 * the days of its trends. (The days of its series are counted by triggers of run_fact.)
 *
 * A trend's day keeps the values of its newest ENTRIES_MAX eligible runs in one blob: a trend of a year then is 365
 * rows side by side instead of some hundred thousand, and medians and noise bands are formed of measured values all the
 * same. An entry, 36 bytes, little-endian: ms of the day (uint32), percent of the ceiling and DRAM/ask (float32), run
 * (int64), seconds of a kernel or value of a ceiling (float64), settled DRAM bytes (float64). NaN is unknown. Entries
 * are in the order of (date, run). */
#include "db/rollup.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "record/derive.h"

/* ---- entries ---- */

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

static void day_add(struct trend_day *day, const struct trend_entry *entry)
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
}

static int read_day(struct store *store, const struct trend_key *key, struct trend_day *ret, struct rl_err *err)
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

static int write_day(struct store *store, const struct trend_key *key, const struct trend_day *day, struct rl_err *err)
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

/* ---- a run's narrow rows ---- */

int store_unit_find(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_UNIT_GET);
    int rc;

    stmt_text(&stmt, ":name", name);
    stmt_text(&stmt, ":kind", kind);
    rc = stmt_step(&stmt, err, "looking up a kernel");
    if (rc == 1)
        *ret_id = sqlite3_column_int64(stmt.handle, 0);
    stmt_end(&stmt);
    return rc;
}

int store_unit_put(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err)
{
    struct stmt stmt;
    int rc = store_unit_find(store, name, kind, ret_id, err);

    if (rc != 0)
        return rc < 0 ? -1 : 0;
    stmt = stmt_start(store, STMT_UNIT_ADD);
    stmt_text(&stmt, ":name", name);
    stmt_text(&stmt, ":kind", kind);
    rc = stmt_run(&stmt, err, "storing a kernel's name");
    if (rc == 0)
        *ret_id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

/* Bit i is the i-th of the words. */
static int64_t flag_bits(const struct rl_strings *flags, const char *const *words)
{
    int64_t bits = 0;

    for (int i = 0; words[i] != NULL; i++)
        bits |= (int64_t)rl_strings_has(flags, words[i]) << i;
    return bits;
}

static const char *const run_flags[] = {"shared", "throttled", "driver_changed", NULL};
static const char *const row_flags[] = {"clock_moved",    "throttled",        "not_steady",    "at_floor",
                                        "cache_resident", "writeback_unpaid", "above_ceiling", "unsettled",
                                        "single_launch",  "launches_differ",  "time_derived",  NULL};
#define IMPORT_FLAGS_AT 7 /* those before it are run_row's */

bool store_run_eligible(const struct rl_run *run)
{
    return run->outcome == RL_OK && flag_bits(&run->flags, run_flags) == 0;
}

static void bind_text3(struct stmt *stmt, const char *name, struct rl_text text)
{
    stmt_text(stmt, name, text.why == NULL ? text.value : NULL);
}

static int put_fact(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run, struct rl_err *err)
{
    const struct rl_environment *environment = &run->environment;
    struct stmt stmt = stmt_start(store, STMT_FACT_ADD);

    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":series", series);
    stmt_int(&stmt, ":date", run->finished_at_ms);
    stmt_int(&stmt, ":day", rl_time_day(run->finished_at_ms));
    stmt_int(&stmt, ":eligible", store_run_eligible(run));
    stmt_int(&stmt, ":flags", flag_bits(&run->flags, run_flags));
    stmt_int(&stmt, ":method", environment->method_version);
    if (environment->ecc.why == NULL)
        stmt_int(&stmt, ":ecc", environment->ecc.value);
    bind_text3(&stmt, ":mig", environment->mig);
    stmt_real(&stmt, ":power_limit", environment->power_limit_w);
    bind_text3(&stmt, ":cuda_driver", environment->cuda_driver_version);
    bind_text3(&stmt, ":cubin", environment->cubin);
    stmt_text(&stmt, ":build", environment->build != NULL ? environment->build : "");
    stmt_real(&stmt, ":floor", run->counters.floor_dram_bytes);
    return stmt_run(&stmt, err, "storing a run's facts");
}

struct narrow {
    struct trend_key key;
    int64_t launches;
    struct rl_real time_s, value, sm_hz, memory_hz, dram, settled, per_ask, percent;
    struct rl_count ask_bytes;
    int64_t flags;
    const char *bound;
};

static double real_or_nan(struct rl_real real)
{
    return rl_is_known(real) ? real.value : NAN;
}

static int put_narrow(struct store *store, int64_t run_id, const struct narrow *row, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_ROW_ADD);

    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", row->key.unit_id);
    stmt_text(&stmt, ":state", rl_state_name(row->key.state));
    stmt_int(&stmt, ":launches", row->launches);
    stmt_real(&stmt, ":time", row->time_s);
    stmt_real(&stmt, ":value", row->value);
    stmt_real(&stmt, ":sm_hz", row->sm_hz);
    stmt_real(&stmt, ":memory_hz", row->memory_hz);
    if (row->ask_bytes.why == NULL)
        stmt_int(&stmt, ":ask", row->ask_bytes.value);
    stmt_real(&stmt, ":dram", row->dram);
    stmt_real(&stmt, ":settled", row->settled);
    stmt_real(&stmt, ":per_ask", row->per_ask);
    stmt_real(&stmt, ":percent", row->percent);
    stmt_int(&stmt, ":flags", row->flags & ((1 << IMPORT_FLAGS_AT) - 1));
    stmt_text(&stmt, ":bound", row->bound);
    if (stmt_run(&stmt, err, "storing a run's rows") < 0)
        return -1;
    if (row->flags >> IMPORT_FLAGS_AT == 0)
        return 0;
    stmt = stmt_start(store, STMT_ROW_IMPORT_ADD);
    stmt_int(&stmt, ":id", run_id);
    stmt_int(&stmt, ":unit", row->key.unit_id);
    stmt_text(&stmt, ":state", rl_state_name(row->key.state));
    stmt_int(&stmt, ":flags", row->flags >> IMPORT_FLAGS_AT);
    return stmt_run(&stmt, err, "storing the flags of an import's row");
}

static int add_to_trend(struct store *store, int64_t run_id, int64_t date_ms, const struct narrow *row, bool ceiling,
                        struct rl_err *err)
{
    struct trend_entry entry = {.ms_of_day = (uint32_t)(date_ms - row->key.day * TREND_DAY_MS),
                                .run_id = run_id,
                                .percent_of_ceiling = real_or_nan(row->percent),
                                .dram_per_ask = real_or_nan(row->per_ask),
                                .value = real_or_nan(ceiling ? row->value : row->time_s),
                                .dram_bytes = real_or_nan(ceiling ? row->dram : row->settled)};
    struct trend_day day;

    if (read_day(store, &row->key, &day, err) < 0)
        return -1;
    day_add(&day, &entry);
    return write_day(store, &row->key, &day, err);
}

static int put_row(struct store *store, int64_t run_id, const struct rl_run *run, struct narrow *row, bool ceiling,
                   struct rl_err *err)
{
    if (put_narrow(store, run_id, row, err) < 0)
        return -1;
    return store_run_eligible(run) ? add_to_trend(store, run_id, run->finished_at_ms, row, ceiling, err) : 0;
}

/* An import may bring one kernel several times; narrow rows have the first, the document all. */
static bool is_repeated_row(const struct rl_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(run->rows[i].kernel, run->rows[index].kernel) == 0)
            return true;
    }
    return false;
}

static int put_kernel(struct store *store, int64_t run_id, struct trend_key key, const struct rl_run *run,
                      const struct rl_row *from, struct rl_err *err)
{
    if (store_unit_put(store, from->kernel, "kernel", &key.unit_id, err) < 0)
        return -1;
    for (int state = 0; state < RL_ROW_STATES; state++) {
        const struct rl_row_state *s = &from->state[state];
        struct narrow row = {.key = key,
                             .launches = s->time_s.launches,
                             .time_s = s->time_s.median,
                             .value = rl_unknown("no ceiling"),
                             .sm_hz = s->sm_hz,
                             .memory_hz = s->memory_hz,
                             .ask_bytes = from->ask_bytes,
                             .dram = s->bytes.dram,
                             .settled = rl_dram_owed(run, from, (enum rl_state)state),
                             .per_ask = s->dram_per_ask,
                             .percent = s->percent_of_ceiling,
                             .flags = flag_bits(&s->flags, row_flags),
                             .bound = s->bound.why == NULL ? s->bound.value : NULL};

        row.key.state = (enum rl_state)state;
        if (s->present && put_row(store, run_id, run, &row, false, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_repeated_ceiling(const struct rl_run *run, size_t index)
{
    const struct rl_ceiling *ceiling = &run->ceilings[index];

    return rl_run_ceiling(run, ceiling->name, ceiling->state) != ceiling; /* that finds the first */
}

static int put_ceiling(struct store *store, int64_t run_id, struct trend_key key, const struct rl_run *run,
                       const struct rl_ceiling *from, struct rl_err *err)
{
    struct narrow row = {.launches = from->time_s.launches,
                         .time_s = from->time_s.median,
                         .value = from->value,
                         .sm_hz = from->sm_hz,
                         .memory_hz = from->memory_hz,
                         .ask_bytes = from->work,
                         .dram = from->dram,
                         .settled = rl_unknown("not counted for ceilings"),
                         .per_ask = from->dram_per_ask,
                         .percent = rl_unknown("a ceiling itself"),
                         .flags = flag_bits(&from->flags, row_flags)};

    if (from->unit == NULL || strcmp(from->unit, "byte_per_s") != 0)
        row.ask_bytes = (struct rl_count){0, "work in flop"};
    key.state = from->state;
    if (store_unit_put(store, from->name, "ceiling", &key.unit_id, err) < 0)
        return -1;
    row.key = key;
    return put_row(store, run_id, run, &row, true, err);
}

int store_insert_history(struct store *store, int64_t run_id, int64_t series, const struct rl_run *run,
                         struct rl_err *err)
{
    struct trend_key key = {.series_id = series,
                            .method_version = run->environment.method_version,
                            .day = rl_time_day(run->finished_at_ms)};

    if (put_fact(store, run_id, series, run, err) < 0)
        return -1;
    for (size_t i = 0; i < run->row_count; i++) {
        if (!is_repeated_row(run, i) && put_kernel(store, run_id, key, run, &run->rows[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < run->ceiling_count; i++) {
        if (!is_repeated_ceiling(run, i) && put_ceiling(store, run_id, key, run, &run->ceilings[i], err) < 0)
            return -1;
    }
    return 0;
}

/* ---- making days anew ---- */

struct remade {
    struct trend_key key;
    struct trend_day day;
};
struct remade_days {
    struct remade *items;
    size_t count, capacity;
};

/* Rows come run by run in one order: the wanted one mostly stands right after the last. */
static struct remade *find_remade(struct remade_days *days, const struct trend_key *key, size_t *hint)
{
    for (size_t i = 0; i < days->count; i++) {
        size_t at = (*hint + i) % days->count;

        if (days->items[at].key.unit_id == key->unit_id && days->items[at].key.state == key->state) {
            *hint = at + 1;
            return &days->items[at];
        }
    }
    if (days->count == days->capacity) {
        size_t capacity = days->capacity == 0 ? 32 : days->capacity * 2;
        struct remade *items = realloc(days->items, capacity * sizeof *items);

        if (items == NULL)
            return NULL;
        days->items = items;
        days->capacity = capacity;
    }
    days->items[days->count] = (struct remade){.key = *key};
    return &days->items[days->count++];
}

static double column_or_nan(struct stmt *stmt, int column)
{
    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt->handle, column);
}

int store_state_from_name(const char *name, enum rl_state *ret)
{
    for (int state = 0; state < RL_ROW_STATES; state++) {
        if (name != NULL && strcmp(name, rl_state_name((enum rl_state)state)) == 0) {
            *ret = (enum rl_state)state;
            return 0;
        }
    }
    return -1;
}

/* The columns of TREND_SOURCE. */
static int take_source(struct remade_days *days, struct stmt *stmt, struct trend_key key, size_t *hint,
                       struct rl_err *err)
{
    struct trend_entry entry = {.run_id = sqlite3_column_int64(stmt->handle, 0),
                                .ms_of_day = (uint32_t)(sqlite3_column_int64(stmt->handle, 1) - key.day * TREND_DAY_MS),
                                .value = column_or_nan(stmt, 4),
                                .dram_bytes = column_or_nan(stmt, 5),
                                .dram_per_ask = column_or_nan(stmt, 6),
                                .percent_of_ceiling = column_or_nan(stmt, 7)};
    struct remade *remade;

    key.unit_id = sqlite3_column_int64(stmt->handle, 2);
    if (store_state_from_name((const char *)sqlite3_column_text(stmt->handle, 3), &key.state) < 0)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a run's row has an unknown state");
    remade = find_remade(days, &key, hint);
    if (remade == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a day of trends");
    day_add(&remade->day, &entry);
    return 0;
}

static int clear_day(struct store *store, const struct trend_key *key, enum store_stmt id, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, id);

    stmt_int(&stmt, ":series", key->series_id);
    stmt_int(&stmt, ":method", key->method_version);
    stmt_int(&stmt, ":day", key->day);
    return stmt_run(&stmt, err, "clearing a day of trends");
}

static int remake_day(struct store *store, const struct trend_key *key, struct rl_err *err)
{
    struct remade_days days = {0};
    struct stmt stmt;
    size_t hint = 0;
    int rc;

    if (clear_day(store, key, STMT_TREND_CLEAR, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_TREND_SOURCE);
    stmt_int(&stmt, ":series", key->series_id);
    stmt_int(&stmt, ":method", key->method_version);
    stmt_int(&stmt, ":from", key->day * TREND_DAY_MS);
    stmt_int(&stmt, ":to", key->day * TREND_DAY_MS + TREND_DAY_MS - 1);
    while ((rc = stmt_step(&stmt, err, "reading a day's runs")) == 1) {
        if ((rc = take_source(&days, &stmt, *key, &hint, err)) < 0)
            break;
    }
    stmt_end(&stmt);
    for (size_t i = 0; rc == 0 && i < days.count; i++)
        rc = write_day(store, &days.items[i].key, &days.items[i].day, err);
    free(days.items);
    return rc == 0 ? clear_day(store, key, STMT_STALE_DELETE, err) : -1;
}

/* 1 a day is stale, 0 none, -1 */
static int next_stale(struct store *store, struct trend_key *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_STALE_FIRST);
    int rc = stmt_step(&stmt, err, "looking for stale trends");

    if (rc == 1)
        *ret = (struct trend_key){.series_id = sqlite3_column_int64(stmt.handle, 0),
                                  .method_version = sqlite3_column_int64(stmt.handle, 1),
                                  .day = sqlite3_column_int64(stmt.handle, 2)};
    stmt_end(&stmt);
    return rc;
}

int store_remake_trends(struct store *store, struct rl_err *err)
{
    struct trend_key key;
    int rc;

    assert(!sqlite3_get_autocommit(store->db));
    while ((rc = next_stale(store, &key, err)) == 1) {
        if (remake_day(store, &key, err) < 0)
            return -1;
    }
    return rc;
}

int store_mend_trends(struct store *store, struct rl_err *err)
{
    struct trend_key key;
    int stale = next_stale(store, &key, err);

    if (stale <= 0)
        return stale;
    if (store_begin(store, err) < 0)
        return -1;
    return store_end(store, store_remake_trends(store, err), err);
}
