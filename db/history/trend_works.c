/* See db/history/trend_works.h. */
#include "db/history/trend_works.h"

#include <stdlib.h>

#include "db/core/text.h"
#include "db/history/grow.h"
#include "db/rows/work.h"

#define ARENA_MAX (16u * 1024 * 1024)

struct trend_work { /* as it was read */
    int64_t work_id;
    struct store_work work;
};

/* ---- which series ---- */

static bool takes(const struct trend_series *series, const struct store_work *work, bool profiler_time)
{
    return series->profiler_time == profiler_time && !work_is_other(&series->known, work);
}

/* NULL: none takes it. */
static struct trend_series *last_that_takes(struct trend_works *works, const struct store_work *work,
                                            bool profiler_time)
{
    struct trend_series *last = NULL;

    for (size_t i = 0; i < works->series_count; i++) {
        struct trend_series *series = &works->series[i];

        if ((last == NULL || series->came > last->came) && takes(series, work, profiler_time))
            last = series;
    }
    return last;
}

static struct trend_series *begin(struct trend_works *works, const struct store_work *work, bool profiler_time,
                                  struct rl_err *err)
{
    struct trend_series *series;

    if (works->series_count == TREND_SERIES_MAX) {
        rl_fail(err, RL_E_TOO_LARGE, "since",
                "the runs of this trend are of more than %d different works: ask for fewer days", TREND_SERIES_MAX);
        return NULL;
    }
    if (trend_grow((void **)&works->series, &works->series_capacity, works->series_count + 1, sizeof *works->series,
                   err) < 0)
        return NULL;
    series = &works->series[works->series_count++];
    *series = (struct trend_series){.known = *work, .profiler_time = profiler_time};
    return series;
}

/* Valid until the next is read; NULL when it could not be. */
static const struct store_work *read_work(struct store *store, struct trend_works *works, int64_t work_id,
                                          struct rl_err *err)
{
    struct trend_work item = {.work_id = work_id};

    /* from the end: a new work mostly stays for a while */
    for (size_t i = works->count; i > 0; i--)
        if (works->items[i - 1].work_id == work_id)
            return &works->items[i - 1].work;
    if (works->arena == NULL && (works->arena = rl_arena_new(ARENA_MAX)) == NULL) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
        return NULL;
    }
    if (store_work_get(store, work_id, works->arena, &item.work, err) < 0 ||
        trend_grow((void **)&works->items, &works->capacity, works->count + 1, sizeof item, err) < 0)
        return NULL;
    works->items[works->count] = item;
    return &works->items[works->count++].work;
}

int trend_works_find(struct store *store, struct trend_works *works, int64_t work_id, bool profiler_time, uint32_t *ret,
                     struct rl_err *err)
{
    const struct store_work *work = read_work(store, works, work_id, err);
    struct trend_series *series;

    if (work == NULL)
        return -1;
    profiler_time = profiler_time && works->of_times;
    series = last_that_takes(works, work, profiler_time);
    if (series == NULL && (series = begin(works, work, profiler_time, err)) == NULL)
        return -1;
    work_learn(&series->known, work);
    series->came = ++works->asked;
    *ret = (uint32_t)(series - works->series);
    return 0;
}

uint32_t trend_works_number(struct trend_works *works, uint32_t series)
{
    struct trend_series *one = &works->series[series];

    if (one->number == 0) {
        one->before = works->last_number;
        one->number = works->last_number + 1;
        works->last_number = one->number;
    }
    return one->number;
}

/* ---- as text ---- */

/* Sentences are written into a buffer of their own, to be put as JSON text. */
static void say_count(struct rl_buf *text, const char *name, int64_t value, const char **between)
{
    if (value < 0)
        return;
    rl_buf_printf(text, "%s%s %lld", *between, name, (long long)value);
    *between = ", ";
}

static void say_work(struct rl_buf *text, const struct store_work *work)
{
    const char *between = "";

    rl_buf_puts(text, "Work of a launch: ");
    say_count(text, "flop", work->flop, &between);
    say_count(text, "asked bytes", work->ask_bytes, &between);
    if (work->dims != NULL)
        rl_buf_printf(text, "%sdims %s", between, work->dims);
    else if (between[0] == '\0')
        rl_buf_puts(text, "not known in these runs");
    rl_buf_puts(text, ".");
}

static void say_count_change(struct rl_buf *text, const char *name, int64_t is, int64_t was, const char **between)
{
    rl_buf_printf(text, "%s%s %lld instead of %lld", *between, name, (long long)is, (long long)was);
    *between = ", ";
}

static void say_change(struct rl_buf *text, const struct trend_series *is, const struct trend_series *was)
{
    const char *between = "";

    if (work_is_other(&is->known, &was->known)) {
        rl_buf_printf(text, "Other work than series %u, and not held against it: ", (unsigned)was->number);
        if (work_differs_in(&is->known, &was->known, WORK_FLOP))
            say_count_change(text, "flop", is->known.flop, was->known.flop, &between);
        if (work_differs_in(&is->known, &was->known, WORK_ASK_BYTES))
            say_count_change(text, "asked bytes", is->known.ask_bytes, was->known.ask_bytes, &between);
        if (work_differs_in(&is->known, &was->known, WORK_DIMS))
            rl_buf_printf(text, "%sdims %s instead of %s", between, is->known.dims, was->known.dims);
        rl_buf_puts(text, ".");
    } else {
        say_work(text, &is->known);
    }
    if (is->profiler_time != was->profiler_time)
        rl_buf_printf(text, " Its times are %s, which are never held against %s (series %u).",
                      is->profiler_time ? "a profiler's durations" : "those of events",
                      is->profiler_time ? "those of events" : "a profiler's durations", (unsigned)was->number);
}

static const struct trend_series *of_number(const struct trend_works *works, uint32_t number)
{
    for (size_t i = 0; i < works->series_count; i++) {
        if (number != 0 && works->series[i].number == number)
            return &works->series[i];
    }
    return NULL;
}

static void put_known(struct rl_buf *out, const char *member, int64_t value)
{
    rl_buf_printf(out, ",\"%s\":", member);
    if (value < 0)
        rl_buf_puts(out, "null");
    else
        json_put_int(out, value);
}

static void put_one(const struct trend_works *works, const struct trend_series *series, struct rl_buf *out)
{
    static const char unknown[] = "not known in these runs";
    const struct store_work *known = &series->known;
    const struct trend_series *before = of_number(works, series->before);
    const char *between = "";
    struct rl_buf text;

    rl_buf_init(&text, 1u << 20);
    if (before != NULL)
        say_change(&text, series, before);
    else
        say_work(&text, known);
    if (before == NULL && series->profiler_time)
        rl_buf_puts(&text, " Its times are a profiler's durations, which are never held against those of events.");
    rl_buf_printf(out, "{\"number\":%u", (unsigned)series->number);
    put_known(out, "flop", known->flop);
    put_known(out, "ask_bytes", known->ask_bytes);
    rl_buf_puts(out, ",\"dims\":");
    if (known->dims != NULL)
        json_put_text(out, known->dims);
    else
        rl_buf_puts(out, "null");
    rl_buf_printf(out, ",\"times\":\"%s\",\"sentence\":",
                  !works->of_times        ? "any"
                  : series->profiler_time ? "profiler"
                                          : "events");
    json_put_text(out, text.data);
    out->failed = out->failed || text.failed;
    rl_buf_free(&text);
    rl_buf_puts(out, ",\"why\":{");
    for (enum work_member member = WORK_FLOP; member < WORK_MEMBERS; member++) {
        static const char *const names[] = {"flop", "ask_bytes", "dims"};

        if (work_knows(known, member))
            continue;
        rl_buf_printf(out, "%s\"%s\":\"%s\"", between, names[member], unknown);
        between = ",";
    }
    rl_buf_puts(out, "}}");
}

void trend_works_put(const struct trend_works *works, struct rl_buf *out)
{
    for (uint32_t number = 1; number <= works->last_number; number++) {
        const struct trend_series *series = of_number(works, number);

        rl_buf_puts(out, number > 1 ? "," : "");
        if (series != NULL)
            put_one(works, series, out);
    }
}

void trend_works_fini(struct trend_works *works)
{
    free(works->items);
    free(works->series);
    rl_arena_free(works->arena);
    *works = (struct trend_works){0};
}
