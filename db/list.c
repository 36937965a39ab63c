/* Lists of runs, newest first, under any filter.
 *
 * Every filter but the dates is a property of series. The runs of a series lie in (date, id) order in one index, so the
 * list is a merge: a heap holds the newest not yet listed run of each matching series, and each step is an index seek or two.
 * A series is only looked into once its newest_ms, an upper bound, has reached the top: a page near the head of a
 * thousand series touches a few. Costs are series + rows, whatever the number of runs. */
#include "db/store_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"

struct place { /* in the order of lists; a list goes down from one */
    int64_t date_ms, id;
};

static bool is_before(struct place a, struct place b)
{
    return a.date_ms != b.date_ms ? a.date_ms < b.date_ms : a.id < b.id;
}

/* ---- cursors: where a page ended, and a checksum over that, the filter and the database's salt ---- */

#define CURSOR_MAC 32
#define CURSOR_LENGTH (16 + 16 + CURSOR_MAC)

static void add_field(struct rl_buf *text, const char *value)
{
    if (value == NULL)
        rl_buf_puts(text, "-,");
    else
        rl_buf_printf(text, "%zu:%s,", strlen(value), value);
}

static int cursor_write(struct store *store, const struct store_run_filter *filter, struct place place,
                        char ret[CURSOR_LENGTH + 1], struct rl_err *err)
{
    struct rl_buf text;
    char hex[65];

    rl_buf_init(&text, 64 * 1024);
    add_field(&text, store->cursor_salt);
    add_field(&text, filter->device);
    add_field(&text, filter->driver);
    add_field(&text, filter->cuda);
    add_field(&text, filter->suite);
    add_field(&text, filter->sizes);
    add_field(&text, filter->source);
    add_field(&text, filter->counters);
    add_field(&text, filter->outcome);
    rl_buf_printf(&text, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, filter->since_ms, filter->until_ms, place.date_ms,
                  place.id);
    if (text.failed) {
        rl_buf_free(&text);
        return rl_fail(err, RL_E_BAD_REQUEST, NULL, "the filter is too long");
    }
    rl_sha256_hex(text.data, text.len, hex);
    rl_buf_free(&text);
    snprintf(ret, CURSOR_LENGTH + 1, "%016" PRIx64 "%016" PRIx64 "%.*s", (uint64_t)place.date_ms, (uint64_t)place.id,
             CURSOR_MAC, hex);
    return 0;
}

static uint64_t parse_hex16(const char *text)
{
    uint64_t value = 0;

    for (int i = 0; i < 16; i++) {
        const char *digit = strchr("0123456789abcdef", text[i]);

        value = value << 4 | (uint64_t)(digit != NULL ? digit - "0123456789abcdef" : 0);
    }
    return value;
}

static int cursor_read(struct store *store, const struct store_run_filter *filter, struct place *ret, struct rl_err *err)
{
    struct place place;
    char again[CURSOR_LENGTH + 1];

    if (strlen(filter->cursor) == CURSOR_LENGTH) {
        place.date_ms = (int64_t)parse_hex16(filter->cursor);
        place.id = (int64_t)parse_hex16(filter->cursor + 16);
        if (cursor_write(store, filter, place, again, err) < 0)
            return -1;
        if (strcmp(again, filter->cursor) == 0) { /* also refuses what parse_hex16 let pass */
            *ret = place;
            return 0;
        }
    }
    return rl_fail(err, RL_E_BAD_CURSOR, "cursor", "the cursor was not given by this list with this filter");
}

/* ---- the heap: heads[0] is the newest ---- */

struct head {
    struct place place;
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

/* All series of the filter that can have a run before `start` and not before since. */
static int load_series(struct store *store, const struct store_run_filter *filter, struct place start, struct merge *merge,
                       struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, filter->device != NULL ? STMT_SERIES_OF_DEVICE : STMT_SERIES_ALL);
    int rc;

    if (filter->device != NULL)
        stmt_text(&stmt, ":device", filter->device);
    stmt_text(&stmt, ":driver", filter->driver);
    stmt_text(&stmt, ":cuda", filter->cuda);
    stmt_text(&stmt, ":suite", filter->suite);
    stmt_text(&stmt, ":sizes", filter->sizes);
    stmt_text(&stmt, ":source", filter->source);
    stmt_text(&stmt, ":counters", filter->counters);
    stmt_text(&stmt, ":outcome", filter->outcome);
    while ((rc = stmt_step(&stmt, err, "choosing series")) == 1) {
        int64_t oldest = sqlite3_column_int64(stmt.handle, 1);
        struct head head = {.series = sqlite3_column_int64(stmt.handle, 0),
                            .place = {sqlite3_column_int64(stmt.handle, 2), INT64_MAX}};

        if (oldest > start.date_ms || (filter->since_ms != 0 && head.place.date_ms < filter->since_ms))
            continue;
        if (is_before(start, head.place))
            head.place = start;
        if ((rc = add_head(merge, head, err)) < 0)
            break;
    }
    stmt_end(&stmt);
    for (size_t i = merge->count / 2; i-- > 0;)
        sift_down(merge, i);
    return rc < 0 ? -1 : 0;
}

/* One index seek: 1 when there is a run, put into *ret; 0; -1. */
static int seek(struct store *store, enum store_stmt id, const struct head *from, struct place *ret, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, id);
    int rc;

    stmt_int(&stmt, ":series", from->series);
    stmt_int(&stmt, ":date", from->place.date_ms);
    if (id == STMT_RUN_SAME_DATE_IN_SERIES)
        stmt_int(&stmt, ":id", from->place.id);
    rc = stmt_step(&stmt, err, "listing runs");
    if (rc == 1)
        *ret = (struct place){sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1)};
    stmt_end(&stmt);
    return rc;
}

/* Moves the top to the series' newest run before its place, or out when there is none. */
static int advance(struct store *store, struct merge *merge, struct rl_err *err)
{
    struct head *top = &merge->heads[0];
    struct place found = {0};
    int rc = seek(store, STMT_RUN_SAME_DATE_IN_SERIES, top, &found, err);

    if (rc == 0)
        rc = seek(store, STMT_RUN_EARLIER_IN_SERIES, top, &found, err);
    if (rc == 1) {
        top->place = found;
        top->exact = true;
    } else if (rc == 0) {
        *top = merge->heads[--merge->count];
    }
    sift_down(merge, 0);
    return rc < 0 ? -1 : 0;
}

static int list_merged(struct store *store, const struct store_run_filter *filter, struct place start, struct place *places,
                       int want, int *ret_count, struct rl_err *err)
{
    struct merge merge = {0};
    int count = 0, rc = load_series(store, filter, start, &merge, err);

    while (rc == 0 && count < want && merge.count > 0) {
        const struct head *top = &merge.heads[0];

        if (filter->since_ms != 0 && top->place.date_ms < filter->since_ms)
            break;
        if (top->exact)
            places[count++] = top->place;
        if (count < want)
            rc = advance(store, &merge, err);
    }
    free(merge.heads);
    *ret_count = count;
    return rc;
}

/* Adds what the statement gives, up to want in all. */
static int collect(struct stmt *stmt, struct place *places, int want, int *count, struct rl_err *err)
{
    int rc;

    stmt_int(stmt, ":limit", want - *count);
    while ((rc = stmt_step(stmt, err, "listing runs")) == 1 && *count < want)
        places[(*count)++] = (struct place){sqlite3_column_int64(stmt->handle, 0), sqlite3_column_int64(stmt->handle, 1)};
    stmt_end(stmt);
    return rc < 0 ? -1 : 0;
}

static int list_all(struct store *store, const struct store_run_filter *filter, struct place start, struct place *places,
                    int want, int *ret_count, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_RUN_SAME_DATE);

    *ret_count = 0;
    if (filter->since_ms != 0 && start.date_ms < filter->since_ms)
        return 0;
    stmt_int(&stmt, ":date", start.date_ms);
    stmt_int(&stmt, ":id", start.id);
    if (collect(&stmt, places, want, ret_count, err) < 0)
        return -1;
    stmt = stmt_start(store, STMT_RUN_EARLIER);
    stmt_int(&stmt, ":since", filter->since_ms != 0 ? filter->since_ms : INT64_MIN);
    stmt_int(&stmt, ":date", start.date_ms);
    return collect(&stmt, places, want, ret_count, err);
}

/* ---- the answer ---- */

static const char *unless_any(const char *value) { return value != NULL && strcmp(value, "any") == 0 ? NULL : value; }

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

static int check_filter(const struct store_run_filter *filter, struct rl_err *err)
{
    static const char *const sizes[] = {"course", "scaled", NULL};
    static const char *const sources[] = {"measured", "replayed", "imported", NULL};
    static const char *const counters[] = {"counter-backed", "timed-only", NULL};
    static const char *const outcomes[] = {"ok", "refused", "partial", NULL};

    if (filter->limit < 1 || filter->limit > STORE_LIMIT_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "limit", "limit is %d and has to be 1 to %d", filter->limit, STORE_LIMIT_MAX);
    if (check_word("sizes", filter->sizes, sizes, err) < 0 || check_word("source", filter->source, sources, err) < 0 ||
        check_word("counters", filter->counters, counters, err) < 0 ||
        check_word("outcome", filter->outcome, outcomes, err) < 0)
        return -1;
    return 0;
}

static bool picks_series(const struct store_run_filter *filter)
{
    return filter->device != NULL || filter->driver != NULL || filter->cuda != NULL || filter->suite != NULL ||
           filter->sizes != NULL || filter->source != NULL || filter->counters != NULL || filter->outcome != NULL;
}

static int put_page(struct store *store, const struct store_run_filter *filter, const struct place *places, int count,
                    struct rl_buf *out, struct rl_err *err)
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
    if (cursor_write(store, filter, places[rows - 1], cursor, err) < 0)
        return -1;
    rl_buf_printf(out, "],\"next\":\"%s\"}", cursor);
    return 0;
}

static int find_places(struct store *store, const struct store_run_filter *filter, struct place *places, int want,
                       int *ret_count, struct rl_err *err)
{
    struct place start = {INT64_MAX, INT64_MAX};

    if (filter->cursor != NULL) {
        if (cursor_read(store, filter, &start, err) < 0)
            return -1;
    } else if (filter->until_ms != 0) {
        start = (struct place){filter->until_ms, 0};
    }
    return (picks_series(filter) ? list_merged : list_all)(store, filter, start, places, want, ret_count, err);
}

int store_run_list(struct store *store, const struct store_run_filter *asked, struct rl_buf *out, struct rl_err *err)
{
    struct store_run_filter filter = *asked;
    struct place *places;
    size_t length = out->len;
    int count = 0, rc;

    filter.source = unless_any(asked->source);
    filter.outcome = unless_any(asked->outcome);
    if (check_filter(&filter, err) < 0)
        return -1;
    places = calloc((size_t)filter.limit + 1, sizeof *places);
    if (places == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a list");
    rc = find_places(store, &filter, places, filter.limit + 1, &count, err);
    if (rc == 0)
        rc = put_page(store, &filter, places, count, out, err);
    free(places);
    return store_finish_text(out, length, rc, err);
}

int64_t store_run_newest(struct store *store)
{
    struct store_run_filter filter = {.outcome = "ok", .limit = 1};
    struct place place = {0};
    int count = 0;

    if (find_places(store, &filter, &place, 1, &count, NULL) < 0)
        return 0;
    return count == 1 ? place.id : 0;
}
