/* The points of a trend, each beside the noise band of what came before it. */
#include "db/history/trend_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/text.h"
#include "db/history/baseline.h"
#include "db/history/grow.h"
#include "db/rows/trend_day.h"
#include "db/series/memory.h"
#include "gpu/base/num.h"
#include "gpu/record/derive/quantile.h"

#define CHANGE_MIN 0.01 /* a smaller one is never held against a run (DESIGN section 7) */

#define GROUPS_MAX 1024 /* drivers, CUDA versions and works of one device on one day: somebody tries many sizes */

struct point { /* the runs of a day, or of its part, of one work under one driver and CUDA version */
    uint64_t versions;
    uint32_t series;
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

static void put_point(struct store *store, struct rl_buf *out, const struct point *point, uint32_t series,
                      const struct baseline *baseline, const struct rl_band *band, bool outside)
{
    const char *driver = store->series->cache.words.texts[point->versions >> 32];
    const char *cuda = store->series->cache.words.texts[point->versions & UINT32_MAX];
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
    rl_buf_puts(out, point->accepted ? ",\"accepted\":true,\"series\":" : ",\"accepted\":false,\"series\":");
    json_put_int(out, series);
    rl_buf_puts(out, ",\"why\":{");
    before = out->len;
    json_put_versions_why(out, driver, cuda);
    if (point->used == 0)
        rl_buf_printf(out,
                      "%s\"median\":\"not known in these runs\",\"min\":\"not known in these runs\",\"max\":\"not "
                      "known in these runs\"",
                      out->len > before ? "," : "");
    if (band == NULL)
        rl_buf_printf(out, "%s\"band\":\"%zu baseline run%s before it, and %d are needed\"",
                      out->len > before ? "," : "", baseline->count, rl_plural(baseline->count), BASELINE_MIN);
    if (band == NULL || point->used == 0)
        rl_buf_printf(out, "%s\"outside\":\"there is no %s\"", out->len > before ? "," : "",
                      band == NULL ? "band" : "value");
    rl_buf_puts(out, "}}");
}

/* The point of the sample's driver, CUDA and work among those of the day, a new one if need be. */
static struct point *point_of(struct point *points, size_t *count, const struct sample *sample, int64_t day)
{
    struct point *point;

    for (size_t i = 0; i < *count; i++) {
        if (points[i].versions == sample->versions && points[i].series == sample->series)
            return &points[i];
    }
    if (*count == GROUPS_MAX)
        return NULL;
    point = &points[(*count)++];
    point->series = sample->series;
    point->versions = sample->versions; /* member by member: its values need no zeroes */
    point->day = day;
    point->newest_run = point->runs = 0;
    point->used = point->seen = 0;
    point->accepted = false;
    return point;
}

static int too_many(struct rl_err *err)
{
    return rl_fail(err, RL_E_TOO_LARGE, "driver",
                   "a day has runs of more than %d drivers and works: ask for one driver", GROUPS_MAX);
}

/* Samples come oldest first; a point keeps the values of the newest TREND_ENTRIES_MAX. */
static int gather(struct point *points, size_t *count, const struct sample *samples, size_t sample_count, int64_t day,
                  struct rl_err *err)
{
    for (size_t i = 0; i < sample_count; i++) {
        struct point *point = point_of(points, count, &samples[i], day);

        if (point == NULL)
            return too_many(err);
        point->runs += 1 + (int64_t)samples[i].unkept;
        point->newest_run = samples[i].place.id;
        if (!isnan(samples[i].value))
            point->values[point->seen++ % TREND_ENTRIES_MAX] = samples[i].value;
    }
    return 0;
}

/* A day whole, without bringing all its samples into one order: a point needs its newest ones only. */
#define TAILS_MAX 16 /* pieces of one point that this is quicker for, and room */

struct tail {
    const struct sample *first, *end; /* what is left of a piece */
};

static void take_newest(struct point *point, struct tail *tails, size_t count)
{
    while (count > 0 && point->seen < TREND_ENTRIES_MAX) {
        size_t newest = 0;
        double value;

        for (size_t i = 1; i < count; i++) {
            if (place_order(&tails[i].end[-1].place, &tails[newest].end[-1].place) > 0)
                newest = i;
        }
        value = (--tails[newest].end)->value;
        if (!isnan(value))
            point->values[point->seen++] = value;
        if (tails[newest].end == tails[newest].first)
            tails[newest] = tails[--count];
    }
}

/* Pieces by their oldest sample, which is the order of the points. */
static void sort_tails(struct tail *tails, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct tail tail = tails[i];
        size_t at = i;

        for (; at > 0 && place_order(&tails[at - 1].first->place, &tail.first->place) > 0; at--)
            tails[at] = tails[at - 1];
        tails[at] = tail;
    }
}

static int gather_day(struct point *points, size_t *count, struct tail *tails, size_t tail_count, int64_t day,
                      struct rl_err *err)
{
    struct tail own[TAILS_MAX];

    sort_tails(tails, tail_count);
    for (size_t i = 0; i < tail_count; i++) {
        if (point_of(points, count, tails[i].first, day) == NULL)
            return too_many(err);
    }
    for (size_t i = 0; i < *count; i++) {
        const struct store_place *newest = NULL;
        size_t owned = 0;

        for (size_t k = 0; k < tail_count; k++) {
            const struct tail *tail = &tails[k];

            if (tail->first->versions != points[i].versions || tail->first->series != points[i].series)
                continue;
            own[owned++] = *tail;
            points[i].runs += (int64_t)tail->first->unkept + (tail->end - tail->first);
            if (newest == NULL || place_order(&tail->end[-1].place, newest) > 0)
                newest = &tail->end[-1].place;
        }
        points[i].newest_run = newest->id;
        take_newest(&points[i], own, owned);
    }
    return 0;
}

struct writer { /* of points */
    struct store *store;
    const struct trend_points *trend;
    struct rl_buf *out;
    struct baseline **baselines; /* of each series; NULL: it had no point yet */
    size_t accepted_at;
    struct sample *day; /* all of a day, in order, where that is needed */
    size_t day_capacity;
    struct point points[GROUPS_MAX];
    bool any;
};

static int baseline_of(struct writer *writer, uint32_t series, struct baseline **ret, struct rl_err *err)
{
    if (writer->baselines[series] == NULL) {
        writer->baselines[series] = calloc(1, sizeof **writer->baselines);
        if (writer->baselines[series] == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
    }
    *ret = writer->baselines[series];
    return 0;
}

#define EVERY_SERIES UINT32_MAX /* of an accepted change whose run is not in the trend */

/* The part of a day from an accepted change on, or before one. */
struct part {
    bool accepted;
    uint32_t series; /* of the accepted run */
};

static void drop_baselines(struct writer *writer, uint32_t series)
{
    for (size_t i = 0; i < writer->trend->works->series_count; i++) {
        if ((series == EVERY_SERIES || i == series) && writer->baselines[i] != NULL)
            *writer->baselines[i] = (struct baseline){0};
    }
}

/* The first point that begins at the accepted change; groups when there is none. */
static size_t accepted_point(const struct writer *writer, size_t groups, struct part part)
{
    size_t at = 0;

    while (part.accepted && at < groups && part.series != EVERY_SERIES && writer->points[at].series != part.series)
        at++;
    return part.accepted ? at : groups;
}

/* The first of the writer's points are those of a day, or of its part before or after an accepted change: one for each
 * driver, CUDA and work. The band is that of the runs of the same work before them all. */
static int take_points(struct writer *writer, size_t groups, int64_t day, struct part part, struct rl_err *err)
{
    struct baseline *baselines[GROUPS_MAX];
    struct rl_band bands[GROUPS_MAX];
    bool outside[GROUPS_MAX];
    double middle[GROUPS_MAX];
    size_t begins = accepted_point(writer, groups, part);

    for (size_t i = 0; i < groups; i++) {
        struct point *point = &writer->points[i];
        bool has_band, again = i > 0 && point->series == point[-1].series;

        if (baseline_of(writer, point->series, &baselines[i], err) < 0)
            return -1;
        has_band = baselines[i]->count >= BASELINE_MIN;
        bands[i] = !has_band ? (struct rl_band){0} : again ? bands[i - 1] : baseline_band(baselines[i]);
        point->used = point->seen < TREND_ENTRIES_MAX ? point->seen : TREND_ENTRIES_MAX;
        baseline_sort(point->values, point->used);
        middle[i] = point->used > 0 ? quantile_of(point, 0.5) : NAN;
        outside[i] = has_band && (middle[i] < bands[i].low || middle[i] > bands[i].high);
        point->accepted = i == begins;
        if (day < writer->trend->since)
            continue;
        rl_buf_puts(writer->out, writer->any ? "," : "");
        writer->any = true;
        put_point(writer->store, writer->out, point, trend_works_number(writer->trend->works, point->series),
                  baselines[i], has_band ? &bands[i] : NULL, outside[i]);
    }
    for (size_t i = 0; i < groups; i++) {
        const struct point *point = &writer->points[i];

        if (!outside[i] || bands[i].median <= 0 || fabs(middle[i] - bands[i].median) < CHANGE_MIN * bands[i].median)
            baseline_add(baselines[i], point->values, point->used);
    }
    return 0;
}

static int take_slice(struct writer *writer, const struct sample *samples, size_t count, int64_t day, struct part part,
                      struct rl_err *err)
{
    size_t groups = 0;

    if (gather(writer->points, &groups, samples, count, day, err) < 0)
        return -1;
    return take_points(writer, groups, day, part, err);
}

static int take_day(struct writer *writer, const struct sample *samples, size_t count, int64_t day, struct rl_err *err)
{
    const struct accepted *changes = writer->trend->accepted;
    struct part part = {false, EVERY_SERIES};
    size_t from = 0;

    for (size_t i = 0; i < count; i++) {
        bool passed = false, every = false;

        while (writer->accepted_at < changes->count &&
               place_order(&changes->items[writer->accepted_at].place, &samples[i].place) <= 0) {
            every = every || place_order(&changes->items[writer->accepted_at].place, &samples[i].place) != 0;
            writer->accepted_at++;
            passed = true;
        }
        if (!passed)
            continue;
        if (i > from && take_slice(writer, samples + from, i - from, day, part, err) < 0)
            return -1;
        part = (struct part){true, every ? EVERY_SERIES : samples[i].series};
        drop_baselines(writer, part.series);
        from = i;
    }
    return take_slice(writer, samples + from, count - from, day, part, err);
}

/* Both oldest first. No branch on what is measured, as in db/history/baseline.c: runs of several series alternate at
 * random. */
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

/* The pieces of one day. */
static int take_pieces(struct writer *writer, const struct piece *pieces, size_t count, struct rl_err *err)
{
    const struct trend_points *trend = writer->trend;
    const struct accepted_change *next =
        writer->accepted_at < trend->accepted->count ? &trend->accepted->items[writer->accepted_at] : NULL;
    bool divided = false;
    struct tail tails[TAILS_MAX];
    size_t samples = 0, groups = 0;

    for (size_t i = 0; i < count; i++) {
        struct tail tail = {trend->samples + pieces[i].first, trend->samples + pieces[i].first + pieces[i].count};

        divided = divided || (next != NULL && place_order(&next->place, &tail.end[-1].place) <= 0);
        if (i < TAILS_MAX)
            tails[i] = tail;
    }
    if (!divided && count <= TAILS_MAX) {
        if (gather_day(writer->points, &groups, tails, count, pieces->day, err) < 0)
            return -1;
        return take_points(writer, groups, pieces->day, (struct part){false, EVERY_SERIES}, err);
    }
    for (size_t i = 0; i < count; i++) {
        if (trend_grow((void **)&writer->day, &writer->day_capacity, samples + pieces[i].count, sizeof *writer->day,
                       err) < 0)
            return -1;
        merge_samples(writer->day, samples, trend->samples + pieces[i].first, pieces[i].count);
        samples += pieces[i].count;
    }
    return take_day(writer, writer->day, samples, pieces->day, err);
}

int trend_points_put(struct store *store, const struct trend_points *trend, struct rl_buf *out, struct rl_err *err)
{
    struct writer *writer = calloc(1, sizeof *writer);
    size_t count;
    int rc = 0;

    if (writer != NULL) {
        *writer = (struct writer){.store = store, .trend = trend, .out = out};
        writer->baselines = calloc(trend->works->series_count + 1, sizeof *writer->baselines);
    }
    if (writer == NULL || writer->baselines == NULL)
        rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
    for (size_t i = 0; rc == 0 && i < trend->piece_count; i += count) {
        for (count = 1; i + count < trend->piece_count && trend->pieces[i + count].day == trend->pieces[i].day;)
            count++;
        rc = take_pieces(writer, &trend->pieces[i], count, err);
    }
    for (size_t i = 0; writer != NULL && writer->baselines != NULL && i < trend->works->series_count; i++)
        free(writer->baselines[i]);
    if (writer != NULL) {
        free(writer->baselines);
        free(writer->day);
    }
    free(writer);
    return rc;
}
