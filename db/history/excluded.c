/* Runs that a question passes over: how many, what excludes them, and what to ask for instead. Counted by the series in
 * memory, whose words are what filters go by. */
#include "db/history/excluded.h"

#include <stdlib.h>
#include <string.h>

#include "db/core/statement.h"
#include "db/core/text.h"
#include "db/rows/trend_day.h"
#include "db/series/memory.h"
#include "db/series/select.h"
#include "gpu/base/num.h"
#include "gpu/base/time.h"

#define GROUPS_MAX 32
#define COUNT_MAX  1000 /* flagged runs, or those of another method, that are counted in a series */
#define ARENA_MAX  (256u * 1024)

/* What may exclude a run: words of its series, or one of these. */
enum { BY_DATE = SERIES_WORDS, BY_FLAGS, BY_METHOD, BY_WITHDRAWN, BY_COUNT };
#define BIT(by) (1u << (by))

struct group {
    unsigned by; /* bits */
    uint32_t words[SERIES_WORDS];
    int64_t method, runs, oldest_ms, newest_ms;
    bool at_least;
};
struct search {
    struct store *store;
    const struct store_excluded_query *query;
    const char *asked[SERIES_WORDS];
    struct group groups[GROUPS_MAX];
    size_t count;
    struct group more; /* what found no place */
    struct rl_arena *arena;
};

/* ---- counting ---- */

static bool is_alike(const struct group *a, const struct group *b)
{
    if (a->by != b->by || a->method != b->method)
        return false;
    for (int i = 0; i < SERIES_WORDS; i++) {
        if (a->by & BIT(i) && a->words[i] != b->words[i])
            return false;
    }
    return true;
}

static void count_in(struct search *search, const struct group *found)
{
    struct group *group = &search->more;

    if (found->runs == 0)
        return;
    for (size_t i = 0; i < search->count && group == &search->more; i++) {
        if (is_alike(&search->groups[i], found))
            group = &search->groups[i];
    }
    if (group == &search->more && search->count < GROUPS_MAX) {
        group = &search->groups[search->count++];
        *group = *found;
        return;
    }
    group->runs += found->runs;
    group->at_least |= found->at_least;
    group->oldest_ms = group->oldest_ms < found->oldest_ms ? group->oldest_ms : found->oldest_ms;
    group->newest_ms = group->newest_ms > found->newest_ms ? group->newest_ms : found->newest_ms;
}

static bool is_source_asked(const char *asked, const char *source)
{
    if (asked == NULL)
        return strcmp(source, "replayed") != 0;
    return strcmp(asked, "any") == 0 || strcmp(asked, source) == 0;
}

/* Which of the question's words are not the series'. */
static unsigned excluded_by(const struct search *search, const struct series_row *row)
{
    unsigned by = 0;

    for (int i = 0; i < SERIES_WORDS; i++) {
        const char *word = store_series_word(search->store, row, i);
        bool same = i == SERIES_SOURCE ? is_source_asked(search->query->source, word)
                                       : search->asked[i] == NULL || strcmp(search->asked[i], word) == 0;

        by |= same ? 0 : BIT(i);
    }
    return by;
}

static int64_t runs_within(const struct store_excluded_query *query, const struct series_row *row)
{
    int64_t runs = 0, until;

    if (query->until_ms == 0 || (row->oldest_ms >= query->since_ms && row->newest_ms < query->until_ms))
        return row->runs;
    until = rl_time_day(query->until_ms - 1);
    for (uint32_t at = series_first_day(row, rl_time_day(query->since_ms));
         at < row->day_count && row->days[at].day <= until; at++)
        runs += row->days[at].runs;
    return runs;
}

struct seen { /* of a series, what the question could take: its runs, or those of the label */
    int64_t runs, within, oldest_ms, newest_ms;
};

static int see(struct search *search, const struct series_row *row, struct seen *ret, struct rl_err *err)
{
    const struct store_excluded_query *query = search->query;
    struct stmt stmt;
    int rc;

    *ret = (struct seen){row->runs, 0, row->oldest_ms, row->newest_ms};
    if (query->label == NULL) {
        ret->within = runs_within(query, row);
        return 0;
    }
    stmt = stmt_start(search->store, STMT_EXCLUDED_LABELLED);
    stmt_text(&stmt, ":label", query->label);
    stmt_int(&stmt, ":series", row->id);
    stmt_int(&stmt, ":from", query->since_ms);
    stmt_int(&stmt, ":before", query->until_ms == 0 ? INT64_MAX : query->until_ms);
    if ((rc = stmt_step(&stmt, err, "counting the runs of a label")) == 1)
        *ret = (struct seen){sqlite3_column_int64(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1),
                             sqlite3_column_int64(stmt.handle, 2), sqlite3_column_int64(stmt.handle, 3)};
    stmt_end(&stmt);
    return rc < 0 ? -1 : 0;
}

static void count_series(struct search *search, const struct series_row *row, const struct seen *seen, unsigned by)
{
    struct group found = {.by = by, .oldest_ms = seen->oldest_ms, .newest_ms = seen->newest_ms};

    memcpy(found.words, row->words, sizeof found.words);
    if (by != 0) {
        found.runs = seen->within;
        count_in(search, &found);
    }
    if (search->query->until_ms == 0)
        return;
    found.by = by | BIT(BY_DATE);
    found.runs = seen->runs - seen->within;
    count_in(search, &found);
}

static int count_facts(struct search *search, const struct series_row *row, enum store_stmt id, int64_t method,
                       unsigned by, struct rl_err *err)
{
    struct group found = {.by = by, .method = method};
    struct stmt stmt = stmt_start(search->store, id);
    int rc;

    stmt_int(&stmt, ":series", row->id);
    if (id == STMT_EXCLUDED_METHOD)
        stmt_int(&stmt, ":method", method);
    stmt_int(&stmt, ":from", search->query->since_ms);
    stmt_int(&stmt, ":before", search->query->until_ms);
    stmt_int(&stmt, ":most", COUNT_MAX);
    if (search->query->label != NULL)
        stmt_text(&stmt, ":label", search->query->label);
    while ((rc = stmt_step(&stmt, err, "counting runs that a trend does not take")) == 1)
        found.runs++;
    found.at_least = found.runs == COUNT_MAX;
    stmt_end(&stmt);
    count_in(search, &found);
    return rc < 0 ? -1 : 0;
}

/* Of a series that the question takes: its flagged runs, and those of other methods. */
static int count_within(struct search *search, const struct series_row *row, struct rl_err *err)
{
    if (row->newest_ms < search->query->since_ms || row->oldest_ms >= search->query->until_ms)
        return 0;
    if (count_facts(search, row, STMT_EXCLUDED_FLAGGED, 0, BIT(BY_FLAGS), err) < 0)
        return -1;
    for (int64_t below = INT64_MAX;;) {
        struct stmt stmt = stmt_start(search->store, STMT_DRAW_METHOD_BELOW);
        int rc;

        stmt_int(&stmt, ":series", row->id);
        stmt_int(&stmt, ":below", below);
        rc = stmt_step(&stmt, err, "looking for a method's version");
        below = rc == 1 ? sqlite3_column_int64(stmt.handle, 0) : below;
        stmt_end(&stmt);
        if (rc != 1)
            return rc;
        if (below != search->query->method_version &&
            count_facts(search, row, STMT_EXCLUDED_METHOD, below, BIT(BY_METHOD), err) < 0)
            return -1;
    }
}

static int has_label(struct search *search, int64_t run, struct rl_err *err)
{
    struct stmt stmt;
    int rc;

    if (search->query->label == NULL)
        return 1;
    stmt = stmt_start(search->store, STMT_RUN_HAS_LABEL);
    stmt_int(&stmt, ":id", run);
    stmt_text(&stmt, ":label", search->query->label);
    rc = stmt_step(&stmt, err, "reading a run's label");
    stmt_end(&stmt);
    return rc;
}

/* Of a series that the question takes but for that. */
static int count_withdrawn(struct search *search, const struct series_row *row, struct rl_err *err)
{
    const struct store_excluded_query *query = search->query;
    const struct withdrawn_set *set = &search->store->series->withdrawn;
    struct group found = {.by = BIT(BY_WITHDRAWN), .oldest_ms = INT64_MAX, .newest_ms = INT64_MIN};

    for (size_t i = 0; i < set->count; i++) {
        int64_t date_ms = set->runs[i].date_ms;
        int rc;

        if (set->runs[i].series_id != row->id || date_ms < query->since_ms ||
            (query->until_ms != 0 && date_ms >= query->until_ms))
            continue;
        if ((rc = has_label(search, set->runs[i].run_id, err)) < 0)
            return -1;
        found.runs += rc;
        found.oldest_ms = date_ms < found.oldest_ms ? date_ms : found.oldest_ms;
        found.newest_ms = date_ms > found.newest_ms ? date_ms : found.newest_ms;
    }
    count_in(search, &found);
    return 0;
}

/* Other devices: only where this one has no run of the driver at all. */
static int count_all(struct search *search, bool other_devices, bool *ret_any, struct rl_err *err)
{
    const struct series_cache *cache = &search->store->series->cache;
    const unsigned never = BIT(SERIES_DRIVER) | (other_devices ? 0 : BIT(SERIES_DEVICE));

    *ret_any = false;
    for (size_t i = 0; i < cache->count; i++) {
        const struct series_row *row = &cache->rows[i];
        unsigned by = excluded_by(search, row);
        struct seen seen;

        if (by & never)
            continue;
        if (by == 0 && !search->query->without_outcomes && count_withdrawn(search, row, err) < 0)
            return -1;
        if (row->runs == 0)
            continue;
        if (see(search, row, &seen, err) < 0)
            return -1;
        if (seen.runs == 0)
            continue;
        *ret_any = true;
        if (by == BIT(SERIES_OUTCOME) && search->query->without_outcomes)
            continue;
        count_series(search, row, &seen, by);
        if (by == 0 && search->query->method_version != 0 && count_within(search, row, err) < 0)
            return -1;
    }
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->runs != y->runs)
        return x->runs > y->runs ? -1 : 1;
    return x->by < y->by ? -1 : x->by > y->by;
}

/* ---- in words ---- */

static const char *const names[BY_COUNT] = {
    [SERIES_DEVICE] = "device",     [SERIES_DRIVER] = "driver",     [SERIES_CUDA] = "cuda",
    [SERIES_SUITE] = "suite",       [SERIES_SIZES] = "sizes",       [SERIES_SOURCE] = "source",
    [SERIES_COUNTERS] = "counters", [SERIES_OUTCOME] = "outcome",   [BY_DATE] = "date",
    [BY_FLAGS] = "flags",           [BY_METHOD] = "method_version", [BY_WITHDRAWN] = "withdrawn",
};

static void put_escaped(struct rl_buf *text, const char *value)
{
    static const char digits[] = "0123456789ABCDEF";

    for (const unsigned char *at = (const unsigned char *)value; *at != '\0'; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                     strchr("-._~", *at) != NULL;

        if (plain)
            rl_buf_add(text, at, 1);
        else
            rl_buf_add(text, (const char[]){'%', digits[*at >> 4], digits[*at & 15]}, 3);
    }
}

static void put_date(struct rl_buf *text, int64_t ms)
{
    char date[RL_TIME_TEXT];

    rl_time_format(ms, date);
    rl_buf_add(text, date, 10);
}

static const char *word_of(const struct search *search, const struct group *group, int word)
{
    const char *text = search->store->series->cache.words.texts[group->words[word]];

    return text[0] != '\0' ? text : "unknown";
}

/* The parameters that take such runs: nothing when none does. */
static void put_ask(const struct search *search, const struct group *group, struct rl_buf *text)
{
    for (int i = 0; i < BY_COUNT; i++) {
        if (!(group->by & BIT(i)) || i == SERIES_OUTCOME || i == BY_FLAGS || i == BY_WITHDRAWN ||
            (i == SERIES_CUDA && search->query->cuda_in_side))
            continue;
        rl_buf_puts(text, text->len > 0 ? "&" : "");
        if (i == BY_DATE) {
            rl_buf_puts(text, "since=");
            put_date(text, group->oldest_ms);
            rl_buf_puts(text, "&until=");
            put_date(text, group->newest_ms + TREND_DAY_MS);
        } else if (i == BY_METHOD) {
            rl_buf_printf(text, "method_version=%lld", (long long)group->method);
        } else {
            rl_buf_printf(text, "%s=", names[i]);
            put_escaped(text, word_of(search, group, i));
        }
    }
}

static void put_filters(const struct group *group, struct rl_buf *text)
{
    for (int i = 0; i < BY_COUNT; i++) {
        if (group->by & BIT(i))
            rl_buf_printf(text, "%s%s", text->len > 0 ? ", " : "", names[i]);
    }
}

/* "of suite import, of sizes other" */
static void put_what(const struct search *search, const struct group *group, struct rl_buf *text)
{
    const char *between = "";

    for (int i = 0; i < SERIES_WORDS; i++) {
        if (!(group->by & BIT(i)))
            continue;
        rl_buf_printf(text, i == SERIES_SOURCE ? "%s%s" : "%sof ", between, word_of(search, group, i));
        if (i != SERIES_SOURCE)
            rl_buf_printf(text, "%s %s", i == SERIES_CUDA ? "CUDA" : names[i], word_of(search, group, i));
        between = ", ";
    }
    if (group->by & BIT(BY_DATE))
        rl_buf_printf(text, "%sof other days than those asked for", between);
    if (group->by & BIT(BY_FLAGS))
        rl_buf_printf(text, "%sflagged shared, throttled or driver_changed", between);
    if (group->by & BIT(BY_WITHDRAWN))
        rl_buf_printf(text, "%swithdrawn", between);
    if (group->by & BIT(BY_METHOD))
        rl_buf_printf(text, "%smeasured by method %lld", between, (long long)group->method);
}

static void put_sentence(const struct search *search, const struct group *group, const char *ask, struct rl_buf *text)
{
    bool one = group->runs == 1 && !group->at_least;

    rl_buf_printf(text, "%s%lld run%s %s ", group->at_least ? "at least " : "", (long long)group->runs, one ? "" : "s",
                  one ? "is" : "are");
    if (group->by == 0)
        rl_buf_puts(text, "of other words still");
    put_what(search, group, text);
    if (ask[0] != '\0')
        rl_buf_printf(text, ": ask with %s", ask);
    if (group->by & (BIT(SERIES_OUTCOME) | BIT(BY_FLAGS)))
        rl_buf_puts(text, "; such runs count nowhere unless they are named");
    if (group->by & BIT(BY_WITHDRAWN))
        rl_buf_puts(text, "; such a run counts again once that is taken back");
}

static int put_group(const struct search *search, const struct group *group, struct store_excluded *ret)
{
    struct rl_buf ask, filters, sentence;
    bool good;

    rl_buf_init(&ask, 16384);
    rl_buf_init(&filters, 1024);
    rl_buf_init(&sentence, 32768);
    rl_buf_puts(&ask, "");
    put_ask(search, group, &ask);
    put_filters(group, &filters);
    put_sentence(search, group, ask.len > 0 ? ask.data : "", &sentence);
    *ret = (struct store_excluded){.runs = group->runs,
                                   .at_least = group->at_least,
                                   .filters = rl_arena_strdup(search->arena, filters.len > 0 ? filters.data : "other"),
                                   .ask = ask.len > 0 ? rl_arena_strdup(search->arena, ask.data) : NULL,
                                   .sentence = rl_arena_strdup(search->arena, sentence.data)};
    good = !ask.failed && !filters.failed && !sentence.failed && ret->filters != NULL && ret->sentence != NULL &&
           (ask.len == 0 || ret->ask != NULL);
    rl_buf_free(&ask);
    rl_buf_free(&filters);
    rl_buf_free(&sentence);
    return good ? 0 : -1;
}

int store_excluded_find(struct store *store, const struct store_excluded_query *query, struct rl_arena *arena,
                        struct store_excluded **ret, size_t *ret_count, struct rl_err *err)
{
    struct search search = {.store = store,
                            .query = query,
                            .asked = {[SERIES_DEVICE] = query->device,
                                      [SERIES_DRIVER] = query->driver,
                                      [SERIES_CUDA] = query->cuda,
                                      [SERIES_SUITE] = query->suite,
                                      [SERIES_SIZES] = query->sizes,
                                      [SERIES_OUTCOME] = "ok"},
                            .arena = arena};
    bool any, failed = false;

    if (store->series->stale && store_load_series(store, err) < 0)
        return -1;
    if (count_all(&search, false, &any, err) < 0 ||
        (!any && query->driver != NULL && query->device != NULL && count_all(&search, true, &any, err) < 0))
        return -1;
    qsort(search.groups, search.count, sizeof *search.groups, most_first);
    for (size_t i = STORE_EXCLUDED_MAX - 1; i < search.count; i++)
        search.more.runs += search.groups[i].runs;
    search.count = search.count < STORE_EXCLUDED_MAX - 1 ? search.count : STORE_EXCLUDED_MAX - 1;
    *ret = rl_arena_array(arena, search.count + 1, sizeof **ret);
    for (size_t i = 0; *ret != NULL && i < search.count; i++)
        failed |= put_group(&search, &search.groups[i], &(*ret)[i]) < 0;
    *ret_count = search.count;
    if (*ret != NULL && search.more.runs > 0) {
        search.more.by = 0;
        failed |= put_group(&search, &search.more, &(*ret)[(*ret_count)++]) < 0;
    }
    if (*ret == NULL || failed)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for what a question passes over");
    return 0;
}

int json_put_excluded(struct store *store, const struct store_excluded_query *query, struct rl_buf *out,
                      struct rl_err *err)
{
    struct rl_arena *arena = rl_arena_new(ARENA_MAX);
    struct store_excluded *items;
    size_t count = 0;
    int rc = arena == NULL ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for what a question passes over")
                           : store_excluded_find(store, query, arena, &items, &count, err);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        rl_buf_printf(out, "%s{\"runs\":%lld,\"at_least\":%s,\"filters\":\"%s\",\"ask\":", i > 0 ? "," : "",
                      (long long)items[i].runs, items[i].at_least ? "true" : "false", items[i].filters);
        if (items[i].ask != NULL)
            json_put_text(out, items[i].ask);
        else
            rl_buf_puts(out, "null");
        rl_buf_puts(out, ",\"sentence\":");
        json_put_text(out, items[i].sentence);
        rl_buf_puts(out, items[i].ask != NULL ? ",\"why\":{}}"
                                              : ",\"why\":{\"ask\":\"no parameter of this question takes them\"}}");
    }
    rl_arena_free(arena);
    return rc;
}
