/* The matrix of history: for each device, driver and CUDA version, the UTC days that have runs, and of which kind.
 *
 * Cells come from the days that the series in memory have (series.c). They are there series by series; two counting
 * sorts, by day and then by row, bring them into the answer's order. */
#include "db/select.h"

#include <stdlib.h>
#include <string.h>

struct line {          /* of series_day */
    uint32_t row, day; /* of the matrix; since the first day */
    uint32_t runs;
    bool backed;
};
struct lines {
    struct line *items, *sorted;
    size_t count, capacity;
};
struct matrix {
    struct days days;
    struct selection series;
    uint32_t *row_of;                 /* of each series */
    const struct series_row **of_row; /* a series of each row, for its words */
    uint32_t rows;
    struct lines lines;
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

static int number_rows(struct matrix *matrix, struct rl_err *err)
{
    struct selection *series = &matrix->series;

    matrix->row_of = calloc(series->count + 1, sizeof *matrix->row_of);
    matrix->of_row = calloc(series->count + 1, sizeof *matrix->of_row);
    if (matrix->row_of == NULL || matrix->of_row == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
    if (series->count > 0)
        qsort(series->rows, series->count, sizeof *series->rows, compare_rows);
    for (size_t i = 0; i < series->count; i++) {
        if (i == 0 || same_row(series->rows[i - 1], series->rows[i]) != 0)
            matrix->of_row[matrix->rows++] = series->rows[i];
        matrix->row_of[i] = matrix->rows - 1;
    }
    return 0;
}

static int add_line(struct lines *lines, const struct line *line, struct rl_err *err)
{
    if (lines->count == lines->capacity) {
        size_t capacity = lines->capacity == 0 ? 4096 : lines->capacity * 2;
        struct line *items;

        if (lines->count >= 2 * STORE_MATRIX_CELLS_MAX) /* a cell has at most a few lines */
            return rl_fail(err, RL_E_TOO_LARGE, "since",
                           "the matrix has more than %d cells: ask for one device, or for fewer days",
                           STORE_MATRIX_CELLS_MAX);
        items = realloc(lines->items, capacity * sizeof *items);
        if (items == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
        lines->items = items;
        lines->capacity = capacity;
    }
    lines->items[lines->count++] = *line;
    return 0;
}

static int take_lines(struct store *store, struct matrix *matrix, struct rl_err *err)
{
    for (size_t i = 0; i < matrix->series.count; i++) {
        const struct series_row *series = matrix->series.rows[i];
        struct line line = {.row = matrix->row_of[i],
                            .backed = strcmp(store_series_word(store, series, SERIES_COUNTERS), "counter-backed") == 0};

        for (uint32_t at = series_first_day(series, matrix->days.since);
             at < series->day_count && series->days[at].day < matrix->days.until; at++) {
            line.day = (uint32_t)(series->days[at].day - matrix->days.since);
            line.runs = series->days[at].runs;
            if (add_line(&matrix->lines, &line, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* Stable; keys are below `keys`. */
static int sort_lines(struct lines *lines, bool by_row, size_t keys, struct rl_err *err)
{
    size_t *at = calloc(keys + 1, sizeof *at);
    struct line *sorted = malloc((lines->count + 1) * sizeof *sorted);

    if (at == NULL || sorted == NULL) {
        free(at);
        free(sorted);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
    }
    for (size_t i = 0; i < lines->count; i++)
        at[(by_row ? lines->items[i].row : lines->items[i].day) + 1]++;
    for (size_t key = 0; key < keys; key++)
        at[key + 1] += at[key];
    for (size_t i = 0; i < lines->count; i++)
        sorted[at[by_row ? lines->items[i].row : lines->items[i].day]++] = lines->items[i];
    free(at);
    free(lines->items);
    lines->items = sorted;
    lines->capacity = lines->count + 1;
    return 0;
}

#define BACKED   ",\"counters\":\"counter-backed\",\"counter_backed\":"
#define TIMED    ",\"counters\":\"timed-only\",\"counter_backed\":"
#define ONLY     ",\"timed_only\":"
#define DAY_TEXT 19 /* {"day":"2026-11-29" */

/* The cell that begins with this line, and what follows it. */
static const struct line *put_cell(struct rl_buf *out, const char (*days)[DAY_TEXT], const struct line *line,
                                   const struct line *end)
{
    const struct line *first = line;
    int64_t runs[2] = {0, 0};

    for (; line < end && line->row == first->row && line->day == first->day; line++)
        runs[line->backed] += line->runs;
    /* no printf: it took most of the answer's time */
    rl_buf_add(out, days[first->day], DAY_TEXT);
    if (runs[1] > 0)
        rl_buf_add(out, BACKED, sizeof BACKED - 1);
    else
        rl_buf_add(out, TIMED, sizeof TIMED - 1);
    json_put_int(out, runs[1]);
    rl_buf_add(out, ONLY, sizeof ONLY - 1);
    json_put_int(out, runs[0]);
    rl_buf_add(out, "}", 1);
    return line;
}

static int put_row(struct store *store, const struct matrix *matrix, uint32_t row, struct rl_buf *out,
                   struct rl_err *err)
{
    const struct series_row *series = matrix->of_row[row];
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

static int put_rows(struct store *store, const struct matrix *matrix, const char (*days)[DAY_TEXT], struct rl_buf *out,
                    struct rl_err *err)
{
    const struct line *line = matrix->lines.items, *end = line + matrix->lines.count;
    const char *between = "";

    while (line < end) {
        uint32_t row = line->row;

        rl_buf_puts(out, between);
        between = ",";
        if (put_row(store, matrix, row, out, err) < 0)
            return -1;
        for (bool first = true; line < end && line->row == row; first = false) {
            if (!first)
                rl_buf_puts(out, ",");
            line = put_cell(out, days, line, end);
        }
        rl_buf_puts(out, "]}");
    }
    return 0;
}

static int put_matrix(struct store *store, const struct matrix *matrix, const char *source, struct rl_buf *out,
                      struct rl_err *err)
{
    size_t count = (size_t)(matrix->days.until - matrix->days.since);
    char(*days)[DAY_TEXT] = malloc(count * sizeof *days); /* each text is needed for many cells */
    struct rl_buf text;
    int rc;

    if (days == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
    rl_buf_init(&text, 64);
    for (size_t i = 0; i < count; i++) {
        rl_buf_clear(&text);
        rl_buf_puts(&text, "{\"day\":");
        json_put_day(&text, matrix->days.since + (int64_t)i);
        if (text.len != DAY_TEXT) {
            rl_buf_free(&text);
            free(days);
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the matrix");
        }
        memcpy(days[i], text.data, DAY_TEXT);
    }
    rl_buf_free(&text);
    rl_buf_puts(out, "{\"since\":");
    json_put_day(out, matrix->days.since);
    rl_buf_puts(out, ",\"until\":");
    json_put_day(out, matrix->days.until);
    rl_buf_printf(out, ",\"source\":\"%s\",\"rows\":[", source != NULL ? source : "measured,imported");
    rc = put_rows(store, matrix, days, out, err);
    rl_buf_puts(out, "]}");
    free(days);
    return rc;
}

int store_history_matrix(struct store *store, const struct store_matrix_query *query, struct rl_buf *out,
                         struct rl_err *err)
{
    const char *words[SERIES_WORDS] = {
        [SERIES_DEVICE] = query->device, [SERIES_SOURCE] = query->source, [SERIES_OUTCOME] = "ok"};
    struct matrix matrix = {0};
    size_t length = out->len;
    int rc = -1;

    if (store_days_asked(query->since_ms, query->until_ms, query->now_ms, &matrix.days, err) < 0)
        return -1;
    if (store_select(store, words, matrix.days.since * TREND_DAY_MS, matrix.days.until * TREND_DAY_MS, &matrix.series,
                     err) < 0)
        return -1;
    if (number_rows(&matrix, err) < 0 || take_lines(store, &matrix, err) < 0 ||
        sort_lines(&matrix.lines, false, (size_t)(matrix.days.until - matrix.days.since), err) < 0 ||
        sort_lines(&matrix.lines, true, matrix.rows, err) < 0)
        goto out;
    rc = put_matrix(store, &matrix, query->source, out, err);
out:
    store_selection_fini(&matrix.series);
    free(matrix.row_of);
    free(matrix.of_row);
    free(matrix.lines.items);
    return store_finish_text(out, length, rc, err);
}
