/* Lists of runs, newest first, under any filter.
 *
 * Every filter but the dates is a property of series, and those are judged in memory (db/series/cache.c). Then two
 * ways:
 * - scan: down the date index, keeping the runs whose series match. Quick when many do.
 * - merge: a heap holds the newest not yet listed run of each matching series, and each step is an index seek or two. A
 *   series is only looked into once its newest_ms, an upper bound, has reached the top. Quick when few series match or
 *   few are near.
 * When many series match, the first rows are scanned; how many of them matched says how many more rows the page would
 * take, and the series that have runs on both sides of that place how many a merge would look into. The quicker way
 * goes on, and a merge takes over where a scan ended.
 * Of the runs of a label both are done in the same way over the label's own indexes. Withdrawn runs are passed over, as
 * the set in memory says; where they alone are asked for, that set is the list. */
#include "db/runs/list.h"

#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/core/transaction.h"
#include "db/runs/cursor.h"
#include "db/runs/summary.h"
#include "db/series/labels.h"
#include "db/series/memory.h"

static const struct store_scan usual_scan = {.from_series = 64, .rows_per_series = 4, .rows_max = 12000};

static bool is_before(struct store_place a, struct store_place b)
{
    return a.date_ms != b.date_ms ? a.date_ms < b.date_ms : a.id < b.id;
}

/* ---- the heap: heads[0] is the newest ---- */

struct head {
    struct store_place place;
    int64_t series;
    bool exact; /* place is a run's; else no run of the series is newer than place */
};
struct merge {
    struct head *heads;
    size_t count, capacity;
};

static void sift_down(struct merge *merge, size_t at)
{
    for (;;) {
        size_t top = at, left = 2 * at + 1, right = left + 1;
        struct head swap;

        if (left < merge->count && is_before(merge->heads[top].place, merge->heads[left].place))
            top = left;
        if (right < merge->count && is_before(merge->heads[top].place, merge->heads[right].place))
            top = right;
        if (top == at)
            return;
        swap = merge->heads[at];
        merge->heads[at] = merge->heads[top];
        merge->heads[top] = swap;
        at = top;
    }
}

static int add_head(struct merge *merge, struct head head, struct rl_err *err)
{
    if (merge->count == merge->capacity) {
        size_t capacity = merge->capacity == 0 ? 64 : merge->capacity * 2;
        struct head *heads = realloc(merge->heads, capacity * sizeof *heads);

        if (heads == NULL)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a list");
        merge->heads = heads;
        merge->capacity = capacity;
    }
    merge->heads[merge->count++] = head;
    return 0;
}

/* A page in the making. */
struct page {
    const struct store_run_filter *filter;
    struct series_filter series;
    bool hides;            /* withdrawn runs are there and not of it */
    struct store_place at; /* everything not before it is done with */
    struct store_place *places;
    int count, want;
};

static void take(const struct store *store, struct page *page, struct store_place place)
{
    if (!page->hides || !store_is_withdrawn(store, place.id))
        page->places[page->count++] = place;
}

/* Whether it is of the filter and can have a run before page->at and not before since. */
static bool may_have(const struct page *page, const struct series_row *row)
{
    return row->oldest_ms <= page->at.date_ms &&
           (page->filter->since_ms == 0 || row->newest_ms >= page->filter->since_ms) &&
           series_matches(&page->series, row);
}

/* Those that may_have, and whose newest run is not before this date; up to `enough`. */
static int64_t count_heads(const struct store *store, const struct page *page, int64_t newest_ms, int64_t enough)
{
    int64_t count = 0;

    for (size_t i = 0; i < store->series->cache.count && count < enough; i++) {
        const struct series_row *row = &store->series->cache.rows[i];

        count += row->newest_ms >= newest_ms && may_have(page, row);
    }
    return count;
}

static int load_heads(struct store *store, const struct page *page, struct merge *merge, struct rl_err *err)
{
    for (size_t i = 0; i < store->series->cache.count; i++) {
        const struct series_row *row = &store->series->cache.rows[i];
        struct head head = {.series = row->id, .place = {row->newest_ms, INT64_MAX}};

        if (!may_have(page, row))
            continue;
        if (is_before(page->at, head.place))
            head.place = page->at;
        if (add_head(merge, head, err) < 0)
            return -1;
    }
    for (size_t i = merge->count / 2; i-- > 0;)
        sift_down(merge, i);
    return 0;
}

/* One index seek: 1 when there is a run, put into *ret; 0; -1. */
static int seek(struct store *store, const char *label, bool same_date, const struct head *from,
                struct store_place *ret, struct rl_err *err)
{
    struct stmt stmt =
        stmt_start(store, label == NULL ? (same_date ? STMT_RUN_SAME_DATE_IN_SERIES : STMT_RUN_EARLIER_IN_SERIES)
                                        : (same_date ? STMT_LABEL_SAME_DATE_IN_SERIES : STMT_LABEL_EARLIER_IN_SERIES));
    int rc;

    if (label != NULL)
        stmt_text(&stmt, ":label", label);
    stmt_int(&stmt, ":series", from->series);
    stmt_int(&stmt, ":date", from->place.date_ms);
    if (same_date)
        stmt_int(&stmt, ":id", from->place.id);
    rc = stmt_step(&stmt, err, "listing runs");
    if (rc == 1)
        *ret = (struct store_place){sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1)};
    stmt_end(&stmt);
    return rc;
}

/* Moves the top to the series' newest run before its place, or out when there is none. */
static int advance(struct store *store, const char *label, struct merge *merge, struct rl_err *err)
{
    struct head *top = &merge->heads[0];
    struct store_place found = {0};
    int rc = 0;

    if (top->place.id > 1) /* until= is a date and id 0: nothing is before it on that date */
        rc = seek(store, label, true, top, &found, err);
    if (rc == 0)
        rc = seek(store, label, false, top, &found, err);
    if (rc == 1) {
        top->place = found;
        top->exact = true;
    } else if (rc == 0) {
        *top = merge->heads[--merge->count];
    }
    sift_down(merge, 0);
    return rc < 0 ? -1 : 0;
}

static int merge_runs(struct store *store, struct page *page, struct merge *merge, struct rl_err *err)
{
    while (page->count < page->want && merge->count > 0) {
        const struct head *top = &merge->heads[0];

        if (page->filter->since_ms != 0 && top->place.date_ms < page->filter->since_ms)
            break;
        if (top->exact)
            take(store, page, top->place);
        if (page->count < page->want && advance(store, page->filter->label, merge, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the scan ---- */

/* Takes up to *budget rows of the statement; *ret_more when the budget ended it, not the rows or the page. */
static int scan_rows(struct store *store, struct stmt *stmt, struct page *page, int64_t *budget, bool *ret_more,
                     struct rl_err *err)
{
    int rc = 0;

    stmt_int(stmt, ":limit", *budget);
    while (page->count < page->want && (rc = stmt_step(stmt, err, "listing runs")) == 1) {
        const struct series_row *row = NULL;

        page->at = (struct store_place){sqlite3_column_int64(stmt->handle, 0), sqlite3_column_int64(stmt->handle, 1)};
        --*budget;
        if (page->series.any)
            row = series_by_id(&store->series->cache, sqlite3_column_int64(stmt->handle, 2));
        if (!page->series.any || (row != NULL && series_matches(&page->series, row)))
            take(store, page, page->at);
    }
    stmt_end(stmt);
    *ret_more = page->count < page->want && *budget == 0;
    return rc < 0 ? -1 : 0;
}

static int scan(struct store *store, struct page *page, int64_t budget, bool *ret_more, struct rl_err *err)
{
    int64_t since_ms = page->filter->since_ms, date_ms = page->at.date_ms;
    const char *label = page->filter->label;
    struct stmt stmt;

    *ret_more = false;
    if (since_ms != 0 && date_ms < since_ms)
        return 0;
    stmt = stmt_start(store, label != NULL ? STMT_LABEL_SAME_DATE : STMT_RUN_SAME_DATE);
    if (label != NULL)
        stmt_text(&stmt, ":label", label);
    stmt_int(&stmt, ":date", date_ms);
    stmt_int(&stmt, ":id", page->at.id);
    if (scan_rows(store, &stmt, page, &budget, ret_more, err) < 0)
        return -1;
    if (*ret_more || page->count == page->want)
        return 0;
    stmt = stmt_start(store, label != NULL ? STMT_LABEL_EARLIER : STMT_RUN_EARLIER);
    if (label != NULL)
        stmt_text(&stmt, ":label", label);
    stmt_int(&stmt, ":since", since_ms != 0 ? since_ms : INT64_MIN);
    stmt_int(&stmt, ":date", date_ms);
    return scan_rows(store, &stmt, page, &budget, ret_more, err);
}

/* ---- the choice ---- */

/* Scans while that is likely to be quicker. */
static int scan_first(struct store *store, struct page *page, bool *ret_more, struct rl_err *err)
{
    const struct store_scan *limits = store->scan != NULL ? store->scan : &usual_scan;
    int64_t rows = (int64_t)page->want * limits->rows_per_series, needed, merged;

    if (count_heads(store, page, INT64_MIN, limits->from_series) < limits->from_series)
        return 0;
    rows = rows < limits->rows_max ? rows : limits->rows_max;
    if (scan(store, page, rows, ret_more, err) < 0)
        return -1;
    if (!*ret_more)
        return 0;
    needed = rows * (page->want - page->count) / (page->count + 1);
    merged = (count_heads(store, page, page->at.date_ms, limits->rows_max) + page->want - page->count) *
             limits->rows_per_series;
    if (needed > merged || needed > limits->rows_max)
        return 0;
    needed *= 2; /* how many matched was chance */
    return scan(store, page, needed < limits->rows_max ? needed : limits->rows_max, ret_more, err);
}

static int fill_page(struct store *store, struct page *page, struct rl_err *err)
{
    struct merge merge = {0};
    bool more = true;
    int rc;

    if (!page->series.any)
        return scan(store, page, page->hides ? INT64_MAX : page->want, &more, err);
    rc = scan_first(store, page, &more, err);
    if (rc == 0 && more)
        rc = load_heads(store, page, &merge, err);
    if (rc == 0 && more)
        rc = merge_runs(store, page, &merge, err);
    free(merge.heads);
    return rc;
}

/* ---- withdrawn runs alone ---- */

static int newest_first(const void *a, const void *b)
{
    return is_before(*(const struct store_place *)a, *(const struct store_place *)b) ? 1 : -1;
}

/* 1, 0, -1 */
static int is_of(struct store *store, const struct page *page, const struct withdrawn_run *run, struct rl_err *err)
{
    const struct store_run_filter *filter = page->filter;
    const struct series_row *series = series_by_id(&store->series->cache, run->series_id);

    if (!is_before((struct store_place){run->date_ms, run->run_id}, page->at) ||
        (filter->since_ms != 0 && run->date_ms < filter->since_ms) || series == NULL ||
        !series_matches(&page->series, series))
        return 0;
    return filter->label == NULL ? 1 : store_has_label(store, run->run_id, filter->label, err);
}

static int fill_withdrawn(struct store *store, struct page *page, struct rl_err *err)
{
    const struct withdrawn_set *set = &store->series->withdrawn;
    struct store_place *all = calloc(set->count + 1, sizeof *all);
    size_t count = 0;
    int rc = 0;

    if (all == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a list");
    for (size_t i = 0; rc >= 0 && i < set->count; i++) {
        rc = is_of(store, page, &set->runs[i], err);
        if (rc == 1)
            all[count++] = (struct store_place){set->runs[i].date_ms, set->runs[i].run_id};
    }
    if (rc >= 0)
        qsort(all, count, sizeof *all, newest_first);
    for (size_t i = 0; rc >= 0 && i < count && page->count < page->want; i++)
        page->places[page->count++] = all[i];
    free(all);
    return rc < 0 ? -1 : 0;
}

/* ---- the answer ---- */

static const char *unless_any(const char *value)
{
    return value != NULL && strcmp(value, "any") == 0 ? NULL : value;
}

static int check_word(const char *field, const char *value, const char *const *words, struct rl_err *err)
{
    if (value == NULL)
        return 0;
    for (; *words != NULL; words++) {
        if (strcmp(value, *words) == 0)
            return 0;
    }
    return rl_fail(err, RL_E_BAD_FIELD, field, "%s \"%.100s\" is unknown", field, value);
}

int store_filter_check(const struct store_run_filter *asked, struct store_run_filter *ret, struct rl_err *err)
{
    struct store_run_filter resolved = *asked;
    const struct store_run_filter *filter = &resolved;

    static const char *const sizes[] = {"course", "scaled", "other", NULL};
    static const char *const sources[] = {"measured", "replayed", "imported", SERIES_NOT_REPLAYED, NULL};
    static const char *const counters[] = {"counter-backed", "timed-only", NULL};
    static const char *const outcomes[] = {"ok", "refused", "partial", NULL};
    static const char *const withdrawn[] = {"true", "any", NULL};

    resolved.source = unless_any(asked->source);
    resolved.outcome = unless_any(asked->outcome);
    if (asked->withdrawn != NULL && strcmp(asked->withdrawn, "false") == 0)
        resolved.withdrawn = NULL;
    if (filter->limit < 1 || filter->limit > STORE_LIMIT_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "limit", "limit is %d and has to be 1 to %d", filter->limit,
                       STORE_LIMIT_MAX);
    if (check_word("sizes", filter->sizes, sizes, err) < 0 || check_word("source", filter->source, sources, err) < 0 ||
        check_word("counters", filter->counters, counters, err) < 0 ||
        check_word("outcome", filter->outcome, outcomes, err) < 0 ||
        check_word("withdrawn", filter->withdrawn, withdrawn, err) < 0)
        return -1;
    *ret = resolved;
    return 0;
}

static int put_page(struct store *store, const struct store_run_filter *filter, const struct store_place *places,
                    int count, struct rl_buf *out, struct rl_err *err)
{
    int rows = count > filter->limit ? filter->limit : count;
    char cursor[CURSOR_LENGTH + 1];

    rl_buf_puts(out, "{\"items\":[");
    for (int i = 0; i < rows; i++) {
        if (i > 0)
            rl_buf_puts(out, ",");
        if (store_put_summary(store, places[i].id, out, err) < 0)
            return -1;
    }
    if (count <= rows) {
        rl_buf_puts(out, "],\"next\":null}");
        return 0;
    }
    if (store_cursor_write(store, filter, places[rows - 1], cursor, err) < 0)
        return -1;
    rl_buf_printf(out, "],\"next\":\"%s\"}", cursor);
    return 0;
}

int store_filter_start(struct store *store, const struct store_run_filter *filter, struct store_place *ret,
                       struct rl_err *err)
{
    if (filter->cursor != NULL)
        return store_cursor_read(store, filter, ret, err);
    *ret =
        filter->until_ms != 0 ? (struct store_place){filter->until_ms, 0} : (struct store_place){INT64_MAX, INT64_MAX};
    return 0;
}

int store_find_places(struct store *store, const struct store_run_filter *filter, struct store_place before,
                      struct store_place *places, int want, int *ret_count, struct rl_err *err)
{
    const char *const words[SERIES_WORDS] = {filter->device, filter->driver, filter->cuda,     filter->suite,
                                             filter->sizes,  filter->source, filter->counters, filter->outcome};
    struct page page = {.filter = filter, .at = before, .places = places, .want = want};

    *ret_count = 0;
    if (store->series->stale && store_load_series(store, err) < 0)
        return -1;
    if (!series_pick(&store->series->cache, words, &page.series))
        return 0;
    page.hides = filter->withdrawn == NULL && store->series->withdrawn.count > 0;
    if (filter->withdrawn != NULL && strcmp(filter->withdrawn, "true") == 0) {
        if (fill_withdrawn(store, &page, err) < 0)
            return -1;
    } else if (fill_page(store, &page, err) < 0) {
        return -1;
    }
    *ret_count = page.count;
    return 0;
}

int store_run_list(struct store *store, const struct store_run_filter *asked, struct rl_buf *out, struct rl_err *err)
{
    struct store_run_filter filter;
    struct store_place *places, before;
    size_t length = out->len;
    int count = 0, rc;

    if (store_filter_check(asked, &filter, err) < 0 || store_filter_start(store, &filter, &before, err) < 0)
        return -1;
    places = calloc((size_t)filter.limit + 1, sizeof *places);
    if (places == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a list");
    rc = store_look(store, err);
    if (rc == 0) {
        rc = store_find_places(store, &filter, before, places, filter.limit + 1, &count, err);
        if (rc == 0)
            rc = put_page(store, &filter, places, count, out, err);
        store_look_end(store);
    }
    free(places);
    return store_finish_text(out, length, rc, err);
}
