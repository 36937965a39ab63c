/* The matrix of history: for each device, driver and CUDA version, the UTC days that have runs, and of which kind.
 *
 * Cells come from the days that the series in memory have (db/series/cache.c). The few series of a row are added up in
 * one array over the asked days, from which the row is written in order. */
#include "db/history/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/history/answers.h"
#include "db/history/excluded.h"
#include "db/rows/trend_day.h"
#include "db/series/devices.h"
#include "db/series/select.h"
#include "db/series/withdrawn.h"
#include "gpu/base/time.h"

#define DAY_TEXT 19 /* {"day":"2026-11-29" */

struct day {
    uint32_t runs[2]; /* timed only, counter-backed: of the row being written; 0 in between */
    char text[DAY_TEXT];
};
struct matrix {
    const char *label; /* NULL: any */
    struct days days;
    struct day *day;         /* of the asked days */
    struct selection series; /* by row */
    int64_t cells;
};

static int same_row(const struct series_row *a, const struct series_row *b)
{
    return memcmp(a->words, b->words, 3 * sizeof a->words[0]);
}

/* By device, driver and CUDA in the order in which these words came first. */
static int compare_rows(const void *a, const void *b)
{
    const struct series_row *x = *(const struct series_row *const *)a, *y = *(const struct series_row *const *)b;

    for (int i = SERIES_DEVICE; i <= SERIES_CUDA; i++) {
        if (x->words[i] != y->words[i])
            return x->words[i] < y->words[i] ? -1 : 1;
    }
    return x->id < y->id ? -1 : 1;
}

/* Counts the series' runs of the label, which its days do not. 1 when it has some in the asked days, 0, -1. */
static int add_labelled(struct store *store, struct matrix *matrix, const struct series_row *series, bool backed,
                        struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_LABEL_DATES);
    int rc, any = 0;

    stmt_text(&stmt, ":label", matrix->label);
    stmt_int(&stmt, ":series", series->id);
    stmt_int(&stmt, ":from", matrix->days.since * TREND_DAY_MS);
    stmt_int(&stmt, ":before", matrix->days.until * TREND_DAY_MS);
    while ((rc = stmt_step(&stmt, err, "counting a label's runs")) == 1) {
        if (store_is_withdrawn(store, sqlite3_column_int64(stmt.handle, 1)))
            continue;
        matrix->day[rl_time_day(sqlite3_column_int64(stmt.handle, 0)) - matrix->days.since].runs[backed]++;
        any = 1;
    }
    stmt_end(&stmt);
    return rc < 0 ? -1 : any;
}

/* Adds the series' days: 0 when it has none of the asked ones, else 1; -1. */
static int add_days(struct store *store, struct matrix *matrix, const struct series_row *series, struct rl_err *err)
{
    bool backed = strcmp(store_series_word(store, series, SERIES_COUNTERS), "counter-backed") == 0;
    uint32_t first, at;

    if (matrix->label != NULL)
        return add_labelled(store, matrix, series, backed, err);
    first = at = series_first_day(series, matrix->days.since);
    for (; at < series->day_count && series->days[at].day < matrix->days.until; at++)
        matrix->day[series->days[at].day - matrix->days.since].runs[backed] += series->days[at].runs;
    return at > first;
}

#define BACKED ",\"counters\":\"counter-backed\",\"counter_backed\":"
#define TIMED  ",\"counters\":\"timed-only\",\"counter_backed\":"
#define ONLY   ",\"timed_only\":"

/* no printf: it took most of the answer's time */
static void put_cell(struct rl_buf *out, const struct day *day)
{
    rl_buf_add(out, day->text, DAY_TEXT);
    if (day->runs[1] > 0)
        rl_buf_add(out, BACKED, sizeof BACKED - 1);
    else
        rl_buf_add(out, TIMED, sizeof TIMED - 1);
    json_put_int(out, day->runs[1]);
    rl_buf_add(out, ONLY, sizeof ONLY - 1);
    json_put_int(out, day->runs[0]);
    rl_buf_add(out, "}", 1);
}

/* The days added up so far, which are 0 again afterwards. */
static int put_cells(struct matrix *matrix, struct rl_buf *out, struct rl_err *err)
{
    const char *between = "";

    for (int64_t at = 0; at < matrix->days.until - matrix->days.since; at++) {
        struct day *day = &matrix->day[at];

        if (day->runs[0] == 0 && day->runs[1] == 0)
            continue;
        if (++matrix->cells > STORE_MATRIX_CELLS_MAX)
            return rl_fail(err, RL_E_TOO_LARGE, "since",
                           "the matrix has more than %d cells: ask for one device, or for fewer days",
                           STORE_MATRIX_CELLS_MAX);
        rl_buf_puts(out, between);
        between = ",";
        put_cell(out, day);
        day->runs[0] = day->runs[1] = 0;
    }
    return 0;
}

/* What the row of this series begins with. */
static int put_row(struct store *store, const struct series_row *series, struct rl_buf *out, struct rl_err *err)
{
    const char *driver = store_series_word(store, series, SERIES_DRIVER);
    const char *cuda = store_series_word(store, series, SERIES_CUDA), *name;

    rl_buf_puts(out, "{\"device\":");
    if (store_device_name(store, series->words[SERIES_DEVICE], &name, err) < 0)
        return -1;
    rl_buf_puts(out, "{\"id\":");
    json_put_text(out, store_series_word(store, series, SERIES_DEVICE));
    rl_buf_puts(out, ",\"name\":");
    json_put_text(out, name);
    rl_buf_puts(out, "}");
    rl_buf_puts(out, ",");
    json_put_version(out, "driver", driver);
    rl_buf_puts(out, ",");
    json_put_version(out, "cuda", cuda);
    rl_buf_puts(out, ",\"why\":{");
    json_put_versions_why(out, driver, cuda);
    rl_buf_puts(out, "},\"cells\":[");
    return 0;
}

static int put_rows(struct store *store, struct matrix *matrix, struct rl_buf *out, struct rl_err *err)
{
    const struct selection *series = &matrix->series;
    const char *between = "";

    for (size_t i = 0; i < series->count;) {
        const struct series_row *first = series->rows[i];
        bool any = false;

        for (; i < series->count && same_row(first, series->rows[i]) == 0; i++) {
            int some = add_days(store, matrix, series->rows[i], err);

            if (some < 0)
                return -1;
            any |= some > 0;
        }
        if (!any)
            continue;
        rl_buf_puts(out, between);
        between = ",";
        if (put_row(store, first, out, err) < 0 || put_cells(matrix, out, err) < 0)
            return -1;
        rl_buf_puts(out, "]}");
    }
    return 0;
}

static int make_days(struct matrix *matrix, struct rl_err *err)
{
    size_t count = (size_t)(matrix->days.until - matrix->days.since);
    struct rl_buf text;
    bool good;

    matrix->day = calloc(count, sizeof *matrix->day);
    if (matrix->day == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
    rl_buf_init(&text, 64);
    good = true;
    for (size_t i = 0; good && i < count; i++) {
        rl_buf_clear(&text);
        rl_buf_puts(&text, "{\"day\":");
        json_put_day(&text, matrix->days.since + (int64_t)i);
        good = text.len == DAY_TEXT;
        if (good)
            memcpy(matrix->day[i].text, text.data, DAY_TEXT);
    }
    rl_buf_free(&text);
    return good ? 0 : rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
}

int store_history_matrix(struct store *store, const struct store_matrix_query *query, struct rl_buf *out,
                         struct rl_err *err)
{
    const char *words[SERIES_WORDS] = {
        [SERIES_DEVICE] = query->device, [SERIES_SOURCE] = query->source, [SERIES_OUTCOME] = "ok"};
    struct matrix matrix = {.label = query->label};
    size_t length = out->len;
    int rc = -1;

    if (store_days_asked(query->since_ms, query->until_ms, query->now_ms, &matrix.days, err) < 0)
        return -1;
    if (store_select(store, words, matrix.days.since * TREND_DAY_MS, matrix.days.until * TREND_DAY_MS, &matrix.series,
                     err) < 0)
        return -1;
    if (matrix.series.count > 0)
        qsort(matrix.series.rows, matrix.series.count, sizeof *matrix.series.rows, compare_rows);
    if (make_days(&matrix, err) < 0)
        goto out;
    rl_buf_puts(out, "{\"since\":");
    json_put_day(out, matrix.days.since);
    rl_buf_puts(out, ",\"until\":");
    json_put_day(out, matrix.days.until);
    rl_buf_printf(out, ",\"source\":\"%s\"", query->source != NULL ? query->source : "measured,imported");
    if (query->label != NULL) {
        rl_buf_puts(out, ",\"label\":");
        json_put_text(out, query->label);
    }
    rl_buf_puts(out, ",\"rows\":[");
    rc = put_rows(store, &matrix, out, err);
    rl_buf_puts(out, "],\"excluded\":[");
    if (rc == 0)
        rc = json_put_excluded(store,
                               &(struct store_excluded_query){.device = query->device,
                                                              .source = query->source,
                                                              .label = query->label,
                                                              .since_ms = matrix.days.since * TREND_DAY_MS,
                                                              .until_ms = matrix.days.until * TREND_DAY_MS},
                               out, err);
    rl_buf_puts(out, "]}");
out:
    store_selection_fini(&matrix.series);
    free(matrix.day);
    return store_finish_text(out, length, rc, err);
}
