/* Trends: one kernel or ceiling of one device over days. What is asked for and read; db/history/trend_points.c makes
 * points of it.
 */
#include "db/history/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/history/baseline.h"
#include "db/history/excluded.h"
#include "db/history/grow.h"
#include "db/history/trend_points.h"
#include "db/rows/trend_day.h"
#include "db/rows/units.h"
#include "db/series/select.h"
#include "db/series/withdrawn.h"
#include "gpu/base/time.h"
#include "gpu/record/derive/quantile.h"

#define WARM_UP_DAYS 90                 /* before the first point, at most: where its baseline comes from */
#define WARM_UP_RUNS (4 * BASELINE_MAX) /* days with so many are enough: the baseline holds a quarter of them */

enum metric { METRIC_TIME, METRIC_VALUE, METRIC_DRAM_BYTES, METRIC_PER_ASK, METRIC_PERCENT, METRIC_COUNT };
static const struct {
    const char *name, *unit;
    bool of_kernels, of_ceilings;
} metrics[METRIC_COUNT] = {
    [METRIC_TIME] = {"time_s", "s", true, false},
    [METRIC_VALUE] = {"value", "byte/s or flop/s", false, true},
    [METRIC_DRAM_BYTES] = {"dram_bytes", "byte", true, true},
    [METRIC_PER_ASK] = {"dram_per_ask", "1", true, true},
    [METRIC_PERCENT] = {"percent_of_ceiling", "percent", true, false},
};

/* Driver and CUDA version: their words' numbers in one. */
static uint64_t versions_of(const struct series_row *series)
{
    return (uint64_t)series->words[SERIES_DRIVER] << 32 | series->words[SERIES_CUDA];
}

struct trend {
    const struct store_trend_query *query;
    enum metric metric;
    enum rl_state state;
    int64_t unit_id, method_version;
    bool ceiling;
    const char *suite, *sizes;
    struct days days;
    int64_t from; /* the first day that is read */
    struct selection series;
    struct piece *pieces;
    int64_t labelled; /* runs read of a label */
    size_t piece_count, piece_capacity;
    struct sample *samples;
    size_t sample_count, sample_capacity;
    struct accepted accepted;
    struct trend_works works;
};

/* ---- reading ---- */

static double metric_of(const struct trend *trend, const struct trend_entry *entry)
{
    switch (trend->metric) {
    case METRIC_DRAM_BYTES:
        return entry->dram_bytes;
    case METRIC_PER_ASK:
        return entry->dram_per_ask;
    case METRIC_PERCENT:
        return entry->percent_of_ceiling;
    default:
        return entry->value;
    }
}

/* With room for its samples, which are to be added next. */
static int add_piece(struct trend *trend, const struct piece *piece, struct rl_err *err)
{
    if (trend_grow((void **)&trend->pieces, &trend->piece_capacity, trend->piece_count + 1, sizeof *piece, err) < 0 ||
        trend_grow((void **)&trend->samples, &trend->sample_capacity, trend->sample_count + piece->count,
                   sizeof *trend->samples, err) < 0)
        return -1;
    trend->pieces[trend->piece_count++] = *piece;
    return 0;
}

static void add_sample(struct trend *trend, const struct trend_entry *entry, int64_t day, uint64_t versions,
                       int64_t unkept)
{
    trend->samples[trend->sample_count++] =
        (struct sample){.place = {day * TREND_DAY_MS + entry->ms_of_day, entry->run_id},
                        .value = metric_of(trend, entry),
                        .versions = versions,
                        .unkept = (uint32_t)unkept};
}

/* The columns of TREND_RANGE. */
static int take_piece(struct trend *trend, struct stmt *stmt, uint64_t versions, struct rl_err *err)
{
    const unsigned char *blob = sqlite3_column_blob(stmt->handle, 2);
    size_t count = (size_t)sqlite3_column_bytes(stmt->handle, 2) / TREND_ENTRY_BYTES;
    struct piece piece = {.day = sqlite3_column_int64(stmt->handle, 0),
                          .work_id = sqlite3_column_int64(stmt->handle, 3),
                          .profiler_time = sqlite3_column_int(stmt->handle, 4) != 0,
                          .first = trend->sample_count,
                          .count = count};

    if (add_piece(trend, &piece, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct trend_entry entry;

        trend_entry_decode(blob + i * TREND_ENTRY_BYTES, &entry);
        add_sample(trend, &entry, piece.day, versions,
                   i == 0 ? sqlite3_column_int64(stmt->handle, 1) - (int64_t)count : 0);
    }
    return 0;
}

static int read_series(struct store *store, struct trend *trend, const struct series_row *series, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_TREND_RANGE);
    int rc;

    stmt_int(&stmt, ":series", series->id);
    stmt_int(&stmt, ":method", trend->method_version);
    stmt_int(&stmt, ":unit", trend->unit_id);
    stmt_text(&stmt, ":state", rl_state_name(trend->state));
    stmt_int(&stmt, ":from", trend->from);
    stmt_int(&stmt, ":to", trend->days.until - 1);
    while ((rc = stmt_step(&stmt, err, "reading a trend")) == 1) {
        if ((rc = take_piece(trend, &stmt, versions_of(series), err)) < 0)
            break;
    }
    stmt_end(&stmt);
    return rc;
}

/* ---- of a label, whose days nothing keeps: made of its runs, as trend_day's lines are ---- */

struct label_day { /* of one work */
    struct piece piece;
    struct trend_day runs;
};
struct label_days { /* of the day that is being read */
    struct label_day *items;
    size_t count, capacity;
};

/* The day is whole: its works become pieces. */
static int take_days(struct trend *trend, struct label_days *days, uint64_t versions, struct rl_err *err)
{
    for (size_t k = 0; k < days->count; k++) {
        const struct trend_day *day = &days->items[k].runs;
        struct piece piece = days->items[k].piece;

        piece.first = trend->sample_count;
        piece.count = (size_t)day->count;
        if (add_piece(trend, &piece, err) < 0)
            return -1;
        for (int i = 0; i < day->count; i++)
            add_sample(trend, &day->entries[i], piece.day, versions, i == 0 ? day->runs - day->count : 0);
    }
    days->count = 0;
    return 0;
}

/* That of the work, begun when there is none yet; NULL when memory ran out. */
static struct trend_day *day_of(struct label_days *days, const struct piece *piece, struct rl_err *err)
{
    for (size_t k = 0; k < days->count; k++) {
        const struct piece *other = &days->items[k].piece;

        if (other->work_id == piece->work_id && other->profiler_time == piece->profiler_time)
            return &days->items[k].runs;
    }
    if (trend_grow((void **)&days->items, &days->capacity, days->count + 1, sizeof *days->items, err) < 0)
        return NULL;
    days->items[days->count] = (struct label_day){.piece = *piece};
    return &days->items[days->count++].runs;
}

static double real_at(const struct stmt *stmt, int column)
{
    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt->handle, column);
}

/* The columns of TREND_LABELLED. */
static struct trend_entry entry_of(const struct trend *trend, const struct stmt *stmt, int64_t day)
{
    return (struct trend_entry){.ms_of_day = (uint32_t)(sqlite3_column_int64(stmt->handle, 0) - day * TREND_DAY_MS),
                                .run_id = sqlite3_column_int64(stmt->handle, 1),
                                .value = real_at(stmt, trend->ceiling ? 3 : 2),
                                .dram_bytes = real_at(stmt, trend->ceiling ? 4 : 5),
                                .dram_per_ask = real_at(stmt, 6),
                                .percent_of_ceiling = real_at(stmt, 7)};
}

static int take_labelled(struct trend *trend, struct stmt *stmt, struct label_days *days, uint64_t versions,
                         struct rl_err *err)
{
    const struct piece piece = {.day = sqlite3_column_int64(stmt->handle, 8),
                                .work_id = sqlite3_column_int64(stmt->handle, 9),
                                .profiler_time = sqlite3_column_int(stmt->handle, 10) != 0};
    struct trend_entry entry = entry_of(trend, stmt, piece.day);
    struct trend_day *day;

    if (++trend->labelled > STORE_TREND_LABEL_RUNS)
        return rl_fail(err, RL_E_TOO_LARGE, "label", "more than %d runs of this label are in these days: ask for fewer",
                       STORE_TREND_LABEL_RUNS);
    if (days->count > 0 && days->items[0].piece.day != piece.day && take_days(trend, days, versions, err) < 0)
        return -1;
    if ((day = day_of(days, &piece, err)) == NULL)
        return -1;
    trend_day_add(day, &entry);
    return 0;
}

static int read_labelled(struct store *store, struct trend *trend, const struct series_row *series, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_TREND_LABELLED);
    struct label_days days = {0};
    int rc;

    stmt_text(&stmt, ":label", trend->query->label);
    stmt_int(&stmt, ":series", series->id);
    stmt_int(&stmt, ":method", trend->method_version);
    stmt_int(&stmt, ":unit", trend->unit_id);
    stmt_text(&stmt, ":state", rl_state_name(trend->state));
    stmt_int(&stmt, ":from", trend->from * TREND_DAY_MS);
    stmt_int(&stmt, ":before", trend->days.until * TREND_DAY_MS);
    while ((rc = stmt_step(&stmt, err, "reading a label's trend")) == 1) {
        if (store_is_withdrawn(store, sqlite3_column_int64(stmt.handle, 1)))
            continue;
        if ((rc = take_labelled(trend, &stmt, &days, versions_of(series), err)) < 0)
            break;
    }
    stmt_end(&stmt);
    if (rc == 0)
        rc = take_days(trend, &days, versions_of(series), err);
    free(days.items);
    return rc;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    return place_order(&x->newest, &y->newest);
}

/* Gives the samples their series, oldest day first. */
static int find_works(struct store *store, struct trend *trend, struct rl_err *err)
{
    trend->works.of_times = trend->metric == METRIC_TIME || trend->metric == METRIC_PERCENT;
    for (size_t i = 0; i < trend->piece_count; i++) {
        const struct piece *piece = &trend->pieces[i];
        uint32_t series;

        if (trend_works_find(store, &trend->works, piece->work_id, piece->profiler_time, &series, err) < 0)
            return -1;
        for (size_t k = 0; k < piece->count; k++)
            trend->samples[piece->first + k].series = series;
    }
    return 0;
}

static int64_t warm_up_from(const struct trend *trend)
{
    int64_t kept[WARM_UP_DAYS] = {0}, first = trend->days.since - WARM_UP_DAYS, runs = 0;
    int back = 0;

    for (size_t i = 0; i < trend->series.count; i++) {
        const struct series_row *series = trend->series.rows[i];

        for (uint32_t at = series_first_day(series, first);
             at < series->day_count && series->days[at].day < trend->days.since; at++) {
            uint32_t count = series->days[at].runs;

            kept[series->days[at].day - first] += count < TREND_ENTRIES_MAX ? count : TREND_ENTRIES_MAX;
        }
    }
    while (back < WARM_UP_DAYS && runs < WARM_UP_RUNS)
        runs += kept[WARM_UP_DAYS - ++back];
    return trend->days.since - back;
}

static int read_trend(struct store *store, struct trend *trend, struct rl_err *err)
{
    bool labelled = trend->query->label != NULL;

    trend->from = labelled ? trend->days.since - WARM_UP_DAYS : warm_up_from(trend);
    for (size_t i = 0; i < trend->series.count; i++) {
        if ((labelled ? read_labelled : read_series)(store, trend, trend->series.rows[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < trend->piece_count; i++) {
        struct piece *piece = &trend->pieces[i];

        piece->newest = trend->samples[piece->first + piece->count - 1].place; /* none is without */
    }
    if (trend->piece_count > 0)
        qsort(trend->pieces, trend->piece_count, sizeof *trend->pieces, compare_pieces);
    if (find_works(store, trend, err) < 0)
        return -1;
    return accepted_read(store,
                         &(struct accepted_query){.device = trend->query->device,
                                                  .suite = trend->suite,
                                                  .sizes = trend->sizes,
                                                  .source = trend->query->source,
                                                  .unit_id = trend->unit_id,
                                                  .state = trend->state},
                         &trend->accepted, err);
}

/* ---- the question ---- */

static int find_metric(const struct store_trend_query *query, enum metric *ret, struct rl_err *err)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (strcmp(query->metric, metrics[i].name) == 0) {
            *ret = (enum metric)i;
            return 0;
        }
    }
    return rl_fail(err, RL_E_BAD_FIELD, "metric", "metric \"%.100s\" is not one of %s", query->metric,
                   STORE_TREND_METRICS);
}

/* 1 when the trend's series have any day of the unit, 0, -1 */
static int has_days(struct store *store, const struct trend *trend, int64_t unit_id, struct rl_err *err)
{
    int found = 0;

    for (size_t i = 0; found == 0 && i < trend->series.count; i++) {
        struct stmt stmt = stmt_start(store, STMT_TREND_ANY);

        stmt_int(&stmt, ":series", trend->series.rows[i]->id);
        stmt_int(&stmt, ":method", trend->method_version);
        stmt_int(&stmt, ":unit", unit_id);
        found = stmt_step(&stmt, err, "looking for a trend");
        stmt_end(&stmt);
    }
    return found;
}

/* An import may have a kernel of a ceiling's name: the ceiling is meant where only that one has days. 1, 0, -1 */
static int is_ceiling(struct store *store, const struct trend *trend, int64_t kernel, int64_t ceiling,
                      struct rl_err *err)
{
    int has = has_days(store, trend, kernel, err);

    return has != 0 ? (has < 0 ? -1 : 0) : has_days(store, trend, ceiling, err);
}

/* Of the series that were selected. */
static int find_unit(struct store *store, struct trend *trend, struct rl_err *err)
{
    const char *metric = trend->query->metric, *kernel = trend->query->kernel;
    int64_t ceiling_id = 0;
    int found = 0, ceiling;

    if (metric != NULL && find_metric(trend->query, &trend->metric, err) < 0)
        return -1;
    if (metric == NULL || metrics[trend->metric].of_kernels)
        found = store_unit_find(store, kernel, "kernel", &trend->unit_id, err);
    ceiling = found < 0 ? -1 : store_unit_find(store, kernel, "ceiling", &ceiling_id, err);
    if (ceiling == 1 && found == 1 && metric != NULL && !metrics[trend->metric].of_ceilings)
        ceiling = 0;
    if (ceiling == 1 && found == 1)
        ceiling = is_ceiling(store, trend, trend->unit_id, ceiling_id, err);
    if (ceiling < 0)
        return -1;
    if (ceiling == 0 && found == 0)
        return rl_fail(err, RL_E_NOT_FOUND, "kernel", "no run has a kernel or ceiling \"%.100s\"%s", kernel,
                       metric != NULL && !metrics[trend->metric].of_kernels ? " with this metric" : "");
    trend->ceiling = ceiling == 1;
    if (trend->ceiling)
        trend->unit_id = ceiling_id;
    if (metric == NULL)
        trend->metric = trend->ceiling ? METRIC_VALUE : METRIC_TIME;
    if (trend->ceiling && !metrics[trend->metric].of_ceilings)
        return rl_fail(err, RL_E_BAD_FIELD, "metric", "a ceiling has no %s; metrics are %s", metric,
                       STORE_TREND_METRICS);
    return 0;
}

static int put_head(struct store *store, const struct trend *trend, struct rl_buf *out, struct rl_err *err)
{
    const struct store_trend_query *query = trend->query;

    rl_buf_puts(out, "{\"device\":");
    if (json_put_device(store, query->device, out, err) < 0)
        return -1;
    rl_buf_puts(out, ",\"kernel\":");
    json_put_text(out, query->kernel);
    rl_buf_printf(out, ",\"state\":\"%s\",\"metric\":\"%s\",\"unit\":\"%s\",\"suite\":", rl_state_name(trend->state),
                  metrics[trend->metric].name, metrics[trend->metric].unit);
    json_put_text(out, trend->suite);
    rl_buf_puts(out, ",\"sizes\":");
    json_put_text(out, trend->sizes);
    rl_buf_printf(out, ",\"source\":\"%s\"", query->source != NULL ? query->source : "measured,imported");
    if (query->label != NULL) {
        rl_buf_puts(out, ",\"label\":");
        json_put_text(out, query->label);
    }
    rl_buf_printf(out, ",\"method_version\":%lld,\"since\":", (long long)trend->method_version);
    json_put_day(out, trend->days.since);
    rl_buf_puts(out, ",\"until\":");
    json_put_day(out, trend->days.until);
    rl_buf_puts(out, ",\"accepted\":[");
    if (accepted_put(store, &trend->accepted, trend->days, out, err) < 0)
        return -1;
    rl_buf_puts(out, "],\"points\":[");
    return 0;
}

static int put_excluded(struct store *store, const struct trend *trend, struct rl_buf *out, struct rl_err *err)
{
    const struct store_trend_query *query = trend->query;
    struct store_excluded_query excluded = {.device = query->device,
                                            .driver = query->driver,
                                            .cuda = query->cuda,
                                            .suite = trend->suite,
                                            .sizes = trend->sizes,
                                            .source = query->source,
                                            .label = query->label,
                                            .since_ms = trend->days.since * TREND_DAY_MS,
                                            .until_ms = trend->days.until * TREND_DAY_MS,
                                            .method_version = trend->method_version};
    int rc = store_look(store, err);

    if (rc == 0) {
        rc = json_put_excluded(store, &excluded, out, err);
        store_look_end(store);
    }
    return rc;
}

int store_history_trend(struct store *store, const struct store_trend_query *query, struct rl_buf *out,
                        struct rl_err *err)
{
    struct trend trend = {.query = query,
                          .suite = query->suite != NULL ? query->suite : "verify",
                          .sizes = query->sizes != NULL ? query->sizes : "course",
                          .method_version = query->method_version != 0 ? query->method_version : RL_METHOD_VERSION};
    const char *words[SERIES_WORDS] = {
        [SERIES_DEVICE] = query->device, [SERIES_DRIVER] = query->driver, [SERIES_CUDA] = query->cuda,
        [SERIES_SUITE] = trend.suite,    [SERIES_SIZES] = trend.sizes,    [SERIES_SOURCE] = query->source,
        [SERIES_OUTCOME] = "ok"};
    size_t length = out->len;
    int rc = -1;

    if (store_state_from_name(query->state, &trend.state) < 0)
        return rl_fail(err, RL_E_BAD_FIELD, "state", "state \"%.100s\" is not one of warm, cold, mixed", query->state);
    if (store_days_asked(query->since_ms, query->until_ms, query->now_ms, &trend.days, err) < 0 ||
        store_select(store, words, (trend.days.since - WARM_UP_DAYS) * TREND_DAY_MS, trend.days.until * TREND_DAY_MS,
                     &trend.series, err) < 0)
        return -1;
    rc = find_unit(store, &trend, err);
    if (rc == 0)
        rc = store_look(store, err);
    if (rc == 0) {
        rc = read_trend(store, &trend, err) < 0 || put_head(store, &trend, out, err) < 0 ? -1 : 0;
        store_look_end(store);
    }
    if (rc == 0)
        rc = trend_points_put(store,
                              &(struct trend_points){.pieces = trend.pieces,
                                                     .piece_count = trend.piece_count,
                                                     .samples = trend.samples,
                                                     .accepted = &trend.accepted,
                                                     .works = &trend.works,
                                                     .since = trend.days.since},
                              out, err);
    rl_buf_puts(out, "],\"series\":[");
    trend_works_put(&trend.works, out);
    rl_buf_puts(out, "],\"excluded\":[");
    if (rc == 0)
        rc = put_excluded(store, &trend, out, err);
    rl_buf_puts(out, "]}");
    trend_works_fini(&trend.works);
    store_selection_fini(&trend.series);
    free(trend.pieces);
    free(trend.samples);
    accepted_fini(&trend.accepted);
    return store_finish_text(out, length, rc, err);
}
