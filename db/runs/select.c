/* Which series a history is about. */
#include "db/runs/select.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/base/time.h"

static int check_source(const char *source, struct rl_err *err)
{
    if (source == NULL || strcmp(source, "any") == 0 || strcmp(source, "measured") == 0 ||
        strcmp(source, "replayed") == 0 || strcmp(source, "imported") == 0)
        return 0;
    return rl_fail(err, RL_E_BAD_FIELD, "source", "source \"%.100s\" is not one of measured, replayed, imported, any",
                   source);
}

static int add_series(struct selection *selection, size_t *capacity, const struct series_row *row)
{
    if (selection->count == *capacity) {
        size_t bigger = *capacity == 0 ? 64 : *capacity * 2;
        const struct series_row **rows = realloc(selection->rows, bigger * sizeof *rows);

        if (rows == NULL)
            return -1;
        selection->rows = rows;
        *capacity = bigger;
    }
    selection->rows[selection->count++] = row;
    return 0;
}

int store_select(struct store *store, const char *const asked[SERIES_WORDS], int64_t from_ms, int64_t before_ms,
                 struct selection *ret, struct rl_err *err)
{
    const char *words[SERIES_WORDS], *source = asked[SERIES_SOURCE];
    struct series_filter filter;
    size_t capacity = 0;

    *ret = (struct selection){0};
    if (check_source(source, err) < 0)
        return -1;
    if (store->series_stale && store_load_series(store, err) < 0)
        return -1;
    memcpy(words, asked, sizeof words);
    if (source == NULL)
        words[SERIES_SOURCE] = SERIES_NOT_REPLAYED;
    else if (strcmp(source, "any") == 0)
        words[SERIES_SOURCE] = NULL;
    if (!series_pick(&store->series, words, &filter))
        return 0;
    for (size_t i = 0; i < store->series.count; i++) {
        const struct series_row *row = &store->series.rows[i];

        if (!series_matches(&filter, row) || row->newest_ms < from_ms || row->oldest_ms >= before_ms)
            continue;
        if (add_series(ret, &capacity, row) < 0) {
            store_selection_fini(ret);
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a selection of runs");
        }
    }
    return 0;
}

void store_selection_fini(struct selection *selection)
{
    free(selection->rows);
    *selection = (struct selection){0};
}

static int by_id(const void *a, const void *b)
{
    int64_t id = *(const int64_t *)a, other = (*(const struct series_row *const *)b)->id;

    return id < other ? -1 : id > other;
}

const struct series_row *store_selection_find(const struct selection *selection, int64_t id)
{
    const struct series_row **found =
        selection->count == 0 ? NULL : bsearch(&id, selection->rows, selection->count, sizeof *selection->rows, by_id);

    return found != NULL ? *found : NULL;
}

const char *store_series_word(const struct store *store, const struct series_row *row, int word)
{
    return store->series.words.texts[row->words[word]];
}

int store_days_asked(int64_t since_ms, int64_t until_ms, int64_t now_ms, struct days *ret, struct rl_err *err)
{
    struct days days = {.until = rl_time_day(until_ms != 0 ? until_ms - 1 : now_ms) + 1};

    if (until_ms == 0 && since_ms != 0 && rl_time_day(since_ms) >= days.until)
        days.until = rl_time_day(since_ms) + 1;
    days.since = since_ms != 0 ? rl_time_day(since_ms) : days.until - STORE_HISTORY_DAYS_DEFAULT;
    if (days.since >= days.until)
        return rl_fail(err, RL_E_BAD_FIELD, "until", "until is not after since");
    if (days.until - days.since > STORE_HISTORY_DAYS_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "since", "since and until are %lld days apart and %d is the limit",
                       (long long)(days.until - days.since), STORE_HISTORY_DAYS_MAX);
    *ret = days;
    return 0;
}

void json_put_day(struct rl_buf *out, int64_t day)
{
    char text[RL_TIME_TEXT];

    rl_time_format(day * TREND_DAY_MS, text);
    rl_buf_puts(out, "\"");
    rl_buf_add(out, text, 10);
    rl_buf_puts(out, "\"");
}

int json_put_device(struct store *store, const char *id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DEVICE_NAME);
    int rc;

    stmt_text(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a device's name");
    rl_buf_puts(out, "{\"id\":");
    json_put_text(out, id);
    rl_buf_puts(out, ",\"name\":");
    json_put_text(out, rc == 1 ? (const char *)sqlite3_column_text(stmt.handle, 0) : "");
    rl_buf_puts(out, "}");
    stmt_end(&stmt);
    if (rc == 0)
        return rl_fail(err, RL_E_NOT_FOUND, "device", "no device \"%.100s\" is known", id);
    return rc < 0 ? -1 : 0;
}

void json_put_version(struct rl_buf *out, const char *member, const char *version)
{
    rl_buf_puts(out, "\"");
    rl_buf_puts(out, member);
    rl_buf_puts(out, "\":");
    if (version[0] == '\0')
        rl_buf_puts(out, "null");
    else
        json_put_text(out, version);
}

void json_put_versions_why(struct rl_buf *out, const char *driver, const char *cuda)
{
    rl_buf_puts(out, driver[0] == '\0' ? "\"driver\":\"not known in these runs\"" : "");
    rl_buf_puts(out, driver[0] == '\0' && cuda[0] == '\0' ? "," : "");
    rl_buf_puts(out, cuda[0] == '\0' ? "\"cuda\":\"not known in these runs\"" : "");
}
