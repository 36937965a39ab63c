/* Trends: one kernel or ceiling of one device over days, each point beside the noise band of what came before it. */
#include "db/accepted.h"
#include "db/baseline.h"
#include "db/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/quantile.h"

#define WARM_UP_DAYS 90 /* before the first point, at most: where its baseline comes from */
#define WARM_UP_RUNS                                                                                                   \
    (4 * BASELINE_MAX)  /* fewer days when these have so many runs: more could not change the baseline                 \
                         * unless most of them were outside of it */
#define CHANGE_MIN 0.01 /* a smaller one is never held against a run (DESIGN section 7) */
#define DIGITS     9

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

struct sample { /* one run in a trend */
    struct place place;
    double value; /* NaN: unknown */
    uint64_t versions;
    int64_t unkept; /* older runs of its series and day, of which only the number is known */
};
struct piece { /* a line of trend_day */
    int64_t day;
    size_t first, count; /* samples */
};
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
    size_t piece_count, piece_capacity;
    struct sample *samples;
    size_t sample_count, sample_capacity;
    struct accepted accepted;
    size_t accepted_at;
};

/* ---- reading ---- */

static int grow(void **items, size_t *capacity, size_t needed, size_t size, struct rl_err *err)
{
    size_t bigger = *capacity == 0 ? 64 : *capacity;
    void *moved;

    if (needed <= *capacity)
        return 0;
    while (bigger < needed)
        bigger *= 2;
    moved = realloc(*items, bigger * size);
    if (moved == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
    *items = moved;
    *capacity = bigger;
    return 0;
}

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

/* The columns of TREND_RANGE. */
static int take_piece(struct trend *trend, struct stmt *stmt, uint64_t versions, struct rl_err *err)
{
    const unsigned char *blob = sqlite3_column_blob(stmt->handle, 2);
    size_t count = (size_t)sqlite3_column_bytes(stmt->handle, 2) / TREND_ENTRY_BYTES;
    struct piece piece = {.day = sqlite3_column_int64(stmt->handle, 0), .first = trend->sample_count, .count = count};

    if (grow((void **)&trend->pieces, &trend->piece_capacity, trend->piece_count + 1, sizeof piece, err) < 0 ||
        grow((void **)&trend->samples, &trend->sample_capacity, trend->sample_count + count, sizeof *trend->samples,
             err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct trend_entry entry;

        trend_entry_decode(blob + i * TREND_ENTRY_BYTES, &entry);
        trend->samples[trend->sample_count++] =
            (struct sample){.place = {piece.day * TREND_DAY_MS + entry.ms_of_day, entry.run_id},
                            .value = metric_of(trend, &entry),
                            .versions = versions,
                            .unkept = i == 0 ? sqlite3_column_int64(stmt->handle, 1) - (int64_t)count : 0};
    }
    trend->pieces[trend->piece_count++] = piece;
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

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    return x->first < y->first ? -1 : 1;
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
    trend->from = warm_up_from(trend);
    for (size_t i = 0; i < trend->series.count; i++) {
        if (read_series(store, trend, trend->series.rows[i], err) < 0)
            return -1;
    }
    if (trend->piece_count > 0)
        qsort(trend->pieces, trend->piece_count, sizeof *trend->pieces, compare_pieces);
    return accepted_read(store,
                         &(struct accepted_query){.device = trend->query->device,
                                                  .suite = trend->suite,
                                                  .sizes = trend->sizes,
                                                  .source = trend->query->source,
                                                  .unit_id = trend->unit_id,
                                                  .state = trend->state},
                         &trend->accepted, err);
}

/* ---- points ---- */

#define GROUPS_MAX 64 /* drivers and CUDA versions of one device on one day */

struct point { /* the runs of a day, or of its part, under one driver and CUDA version */
    uint64_t versions;
    int64_t day, newest_run, runs;
    double values[TREND_ENTRIES_MAX]; /* known ones of its newest runs, in the end ascending */
    size_t used, seen;
    bool accepted;
};

static void put_band(struct rl_buf *out, const struct baseline *baseline, const struct rl_band *band)
{
    rl_buf_puts(out, ",\"band\":{\"low\":");
    json_put_nine(out, band->low);
    rl_buf_puts(out, ",\"median\":");
    json_put_nine(out, band->median);
    rl_buf_puts(out, ",\"high\":");
    json_put_nine(out, band->high);
    rl_buf_puts(out, ",\"runs\":");
    json_put_int(out, (int64_t)baseline->count);
    rl_buf_puts(out, "}");
}

static double quantile_of(const struct point *point, double quantile)
{
    return rl_quantile_sorted(point->values, point->used, quantile);
}

static void put_values(struct rl_buf *out, const struct point *point)
{
    static const struct {
        const char *name;
        double quantile;
    } members[] = {{",\"median\":", 0.5}, {",\"min\":", 0}, {",\"max\":", 1}};

    for (size_t i = 0; i < 3; i++) {
        rl_buf_puts(out, members[i].name);
        if (point->used == 0)
            rl_buf_puts(out, "null");
        else
            json_put_nine(out, quantile_of(point, members[i].quantile));
    }
}

static void put_point(struct store *store, struct rl_buf *out, const struct point *point,
                      const struct baseline *baseline, const struct rl_band *band, bool outside)
{
    const char *driver = store->series.words.texts[point->versions >> 32];
    const char *cuda = store->series.words.texts[point->versions & UINT32_MAX];
    size_t before;

    rl_buf_puts(out, "{\"day\":");
    json_put_day(out, point->day);
    rl_buf_puts(out, ",");
    json_put_version(out, "driver", driver);
    rl_buf_puts(out, ",");
    json_put_version(out, "cuda", cuda);
    rl_buf_puts(out, ",\"newest_run\":\"");
    json_put_int(out, point->newest_run);
    rl_buf_puts(out, "\",\"runs\":");
    json_put_int(out, point->runs);
    rl_buf_puts(out, ",\"used\":");
    json_put_int(out, (int64_t)point->used);
    put_values(out, point);
    if (band != NULL)
        put_band(out, baseline, band);
    else
        rl_buf_puts(out, ",\"band\":null");
    rl_buf_puts(out, band == NULL || point->used == 0 ? ",\"outside\":null"
                     : outside                        ? ",\"outside\":true"
                                                      : ",\"outside\":false");
    rl_buf_puts(out, point->accepted ? ",\"accepted\":true,\"why\":{" : ",\"accepted\":false,\"why\":{");
    before = out->len;
    json_put_versions_why(out, driver, cuda);
    if (point->used == 0)
        rl_buf_printf(out,
                      "%s\"median\":\"not known in these runs\",\"min\":\"not known in these runs\",\"max\":\"not "
                      "known in these runs\"",
                      out->len > before ? "," : "");
    if (band == NULL)
        rl_buf_printf(out, "%s\"band\":\"%zu baseline runs before it, and %d are needed\"",
                      out->len > before ? "," : "", baseline->count, BASELINE_MIN);
    if (band == NULL || point->used == 0)
        rl_buf_printf(out, "%s\"outside\":\"there is no %s\"", out->len > before ? "," : "",
                      band == NULL ? "band" : "value");
    rl_buf_puts(out, "}}");
}

/* The point of the sample's driver and CUDA among those of the day, a new one if need be. */
static struct point *point_of(struct point *points, size_t *count, const struct sample *sample, int64_t day)
{
    struct point *point;

    for (size_t i = 0; i < *count; i++) {
        if (points[i].versions == sample->versions)
            return &points[i];
    }
    if (*count == GROUPS_MAX)
        return NULL;
    point = &points[(*count)++];
    point->versions = sample->versions; /* member by member: its values need no zeroes */
    point->day = day;
    point->newest_run = point->runs = 0;
    point->used = point->seen = 0;
    point->accepted = false;
    return point;
}

/* Samples come oldest first; a point keeps the values of the newest TREND_ENTRIES_MAX. */
static int gather(struct point *points, size_t *count, const struct sample *samples, size_t sample_count, int64_t day,
                  struct rl_err *err)
{
    for (size_t i = 0; i < sample_count; i++) {
        struct point *point = point_of(points, count, &samples[i], day);

        if (point == NULL)
            return rl_fail(err, RL_E_TOO_LARGE, "driver", "a day has runs of more than %d drivers: ask for one of them",
                           GROUPS_MAX);
        point->runs += 1 + samples[i].unkept;
        point->newest_run = samples[i].place.id;
        if (!isnan(samples[i].value))
            point->values[point->seen++ % TREND_ENTRIES_MAX] = samples[i].value;
    }
    for (size_t i = 0; i < *count; i++) {
        points[i].used = points[i].seen < TREND_ENTRIES_MAX ? points[i].seen : TREND_ENTRIES_MAX;
        baseline_sort(points[i].values, points[i].used);
    }
    return 0;
}

struct writer { /* of points */
    struct store *store;
    struct trend *trend;
    struct rl_buf *out;
    struct baseline *baseline;
    struct point points[GROUPS_MAX];
    bool any;
};

/* The samples of a day, or of its part before or after an accepted change, become a point for each driver and CUDA. The
 * band is that of the runs before them all. */
static int take_slice(struct writer *writer, const struct sample *samples, size_t count, int64_t day, bool accepted,
                      struct rl_err *err)
{
    struct baseline *baseline = writer->baseline;
    bool has_band = baseline->count >= BASELINE_MIN;
    struct rl_band band = has_band ? baseline_band(baseline) : (struct rl_band){0};
    bool outside[GROUPS_MAX];
    double middle[GROUPS_MAX];
    size_t groups = 0;

    if (gather(writer->points, &groups, samples, count, day, err) < 0)
        return -1;
    for (size_t i = 0; i < groups; i++) {
        struct point *point = &writer->points[i];

        middle[i] = point->used > 0 ? quantile_of(point, 0.5) : NAN;
        outside[i] = has_band && (middle[i] < band.low || middle[i] > band.high);
        point->accepted = accepted && i == 0;
        if (day < writer->trend->days.since)
            continue;
        rl_buf_puts(writer->out, writer->any ? "," : "");
        writer->any = true;
        put_point(writer->store, writer->out, point, baseline, has_band ? &band : NULL, outside[i]);
    }
    for (size_t i = 0; i < groups; i++) {
        const struct point *point = &writer->points[i];

        if (!outside[i] || band.median <= 0 || fabs(middle[i] - band.median) < CHANGE_MIN * band.median)
            baseline_add(baseline, point->values, point->used);
    }
    return 0;
}

static int take_day(struct writer *writer, const struct sample *samples, size_t count, int64_t day, struct rl_err *err)
{
    struct trend *trend = writer->trend;
    bool accepted = false;
    size_t from = 0;

    for (size_t i = 0; i < count; i++) {
        bool passed = false;

        while (trend->accepted_at < trend->accepted.count &&
               place_order(&trend->accepted.items[trend->accepted_at].place, &samples[i].place) <= 0) {
            trend->accepted_at++;
            passed = true;
        }
        if (!passed)
            continue;
        if (i > from && take_slice(writer, samples + from, i - from, day, accepted, err) < 0)
            return -1;
        *writer->baseline = (struct baseline){0};
        accepted = true;
        from = i;
    }
    return take_slice(writer, samples + from, count - from, day, accepted, err);
}

/* Both oldest first. No branch on what is measured, as in baseline.c: runs of several series alternate at random. */
static void merge_samples(struct sample *into, size_t count, const struct sample *more, size_t more_count)
{
    size_t to = count + more_count;

    while (more_count > 0 && count > 0) {
        const struct sample *old = &into[count - 1], *new = &more[more_count - 1];
        size_t takes_old = (old->place.date_ms > new->place.date_ms) |
                           ((old->place.date_ms == new->place.date_ms) & (old->place.id > new->place.id));

        into[--to] = *(takes_old ? old : new);
        count -= takes_old;
        more_count -= 1 - takes_old;
    }
    memcpy(into, more, more_count * sizeof *more);
}

static int put_points(struct store *store, struct trend *trend, struct rl_buf *out, struct rl_err *err)
{
    struct writer *writer = calloc(1, sizeof *writer);
    struct sample *day = NULL;
    size_t capacity = 0, count = 0;
    int rc = 0;

    if (writer != NULL) {
        *writer = (struct writer){.store = store, .trend = trend, .out = out};
        writer->baseline = calloc(1, sizeof *writer->baseline);
    }
    if (writer == NULL || writer->baseline == NULL)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
    for (size_t i = 0; rc == 0 && i < trend->piece_count; i++) {
        const struct piece *piece = &trend->pieces[i];

        rc = grow((void **)&day, &capacity, count + piece->count, sizeof *day, err);
        if (rc < 0)
            break;
        merge_samples(day, count, trend->samples + piece->first, piece->count);
        count += piece->count;
        if (i + 1 < trend->piece_count && trend->pieces[i + 1].day == piece->day)
            continue;
        rc = take_day(writer, day, count, piece->day, err);
        count = 0;
    }
    free(day);
    if (writer != NULL)
        free(writer->baseline);
    free(writer);
    return rc;
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

static int find_unit(struct store *store, struct trend *trend, struct rl_err *err)
{
    const char *metric = trend->query->metric, *kernel = trend->query->kernel;
    int found = 0;

    if (metric != NULL && find_metric(trend->query, &trend->metric, err) < 0)
        return -1;
    if (metric == NULL || metrics[trend->metric].of_kernels)
        found = store_unit_find(store, kernel, "kernel", &trend->unit_id, err);
    if (found == 0) {
        trend->ceiling = true;
        found = store_unit_find(store, kernel, "ceiling", &trend->unit_id, err);
    }
    if (found < 0)
        return -1;
    if (found == 0)
        return rl_fail(err, RL_E_NOT_FOUND, "kernel", "no run has a kernel or ceiling \"%.100s\"%s", kernel,
                       metric != NULL && !metrics[trend->metric].of_kernels ? " with this metric" : "");
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
    rl_buf_printf(out, ",\"source\":\"%s\",\"method_version\":%lld,\"since\":",
                  query->source != NULL ? query->source : "measured,imported", (long long)trend->method_version);
    json_put_day(out, trend->days.since);
    rl_buf_puts(out, ",\"until\":");
    json_put_day(out, trend->days.until);
    rl_buf_puts(out, ",\"accepted\":[");
    if (accepted_put(store, &trend->accepted, trend->days, out, err) < 0)
        return -1;
    rl_buf_puts(out, "],\"points\":[");
    return 0;
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
        find_unit(store, &trend, err) < 0 ||
        store_select(store, words, (trend.days.since - WARM_UP_DAYS) * TREND_DAY_MS, trend.days.until * TREND_DAY_MS,
                     &trend.series, err) < 0)
        return -1;
    rc = store_look(store, err);
    if (rc == 0) {
        rc = read_trend(store, &trend, err) < 0 || put_head(store, &trend, out, err) < 0 ? -1 : 0;
        store_look_end(store);
    }
    if (rc == 0)
        rc = put_points(store, &trend, out, err);
    rl_buf_puts(out, "]}");
    store_selection_fini(&trend.series);
    free(trend.pieces);
    free(trend.samples);
    accepted_fini(&trend.accepted);
    return store_finish_text(out, length, rc, err);
}
