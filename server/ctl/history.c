/* rooflinectl history, trend, note: what many runs say together, and what people say about one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/escape.h"
#include "server/ctl/ctl.h"

#define ANSWER_MAX  (64u * 1024u * 1024u)
#define FILTERS_MAX 12u
#define KEY_MAX     1024u /* a device's id has up to 256 characters, and a key that is cut would be another's too */

struct filter {
    const char *name, *value;
};

/* Asks for path with filters: prints the answer as it is under --json, else *ret is it; NULL: printed. */
static int ask(struct ctl_http *http, const struct ctl_call *call, const char *path, const struct filter *filters,
               size_t count, json_t **ret, struct rl_err *err)
{
    struct rl_buf address;
    int result;
    *ret = NULL;
    rl_buf_init(&address, 8192);
    rl_buf_puts(&address, path);
    for (size_t i = 0; i < count; i++)
        ctl_query(&address, filters[i].name, filters[i].value);
    if (address.failed)
        result = rl_fail(err, RL_E_USAGE, NULL, "The filters are too long.");
    else if (call->common->json)
        result = ctl_print_answer(http, address.data, err);
    else
        result = ctl_http_get_json(http, address.data, ret, err);
    rl_buf_free(&address);
    return result;
}

/* ---- the sources of what stands together in one cell or point, which the answer does not say of each ---- */

/* Under which a day's runs of one device with one driver and CUDA version stand in the map of sources. */
static const char *key_of(const json_t *device, const json_t *versions, const json_t *day, char text[KEY_MAX])
{
    const char *words[] = {
        json_string_value(json_object_get(device, "id")), json_string_value(json_object_get(versions, "driver")),
        json_string_value(json_object_get(versions, "cuda")), json_string_value(json_object_get(day, "day"))};
    size_t at = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && at < KEY_MAX; i++)
        at += (size_t)snprintf(text + at, KEY_MAX - at, "%s\n", words[i] != NULL ? words[i] : "");
    return text;
}

static void add_source(json_t *map, const char *key, const char *source)
{
    const char *there = json_string_value(json_object_get(map, key));
    if (there != NULL && strstr(there, source) != NULL)
        return; /* points of other work stand under one key */
    json_object_set_new(map, key, there != NULL ? json_sprintf("%s,%s", there, source) : json_string(source));
}

static void add_sources(json_t *map, const json_t *answer, const char *source)
{
    char key[KEY_MAX];
    size_t i, k;
    json_t *item, *cell;
    const json_t *device = json_object_get(answer, "device");
    json_array_foreach(json_object_get(answer, "points"), i, item)
        add_source(map, key_of(device, item, item, key), source);
    json_array_foreach(json_object_get(answer, "rows"), i, item)
        json_array_foreach(json_object_get(item, "cells"), k, cell)
            add_source(map, key_of(json_object_get(item, "device"), item, cell, key), source);
}

/* Asks once more for each source that the answer may hold. *ret: from key_of to sources with commas between; left NULL
 * when the answer is of one source. */
static int sources_of(struct ctl_http *http, const struct ctl_call *call, const char *path,
                      const struct filter *filters, size_t count, const json_t *answer, json_t **ret,
                      struct rl_err *err)
{
    static const char *const names[] = {"measured", "imported", "replayed"};
    const char *of = json_string_value(json_object_get(answer, "source"));
    struct filter one[FILTERS_MAX];
    size_t wanted = of == NULL ? 0 : strcmp(of, "any") == 0 ? 3 : strchr(of, ',') != NULL ? 2 : 0;
    if (wanted == 0)
        return 0;
    *ret = json_object();
    for (size_t n = 0; n < wanted; n++) {
        json_t *part;
        for (size_t i = 0; i < count; i++)
            one[i] = strcmp(filters[i].name, "source") == 0 ? (struct filter){"source", names[n]} : filters[i];
        if (ask(http, call, path, one, count, &part, err) != 0)
            return -1;
        add_sources(*ret, part, names[n]);
        json_decref(part);
    }
    return 0;
}

/* "-" where the runs came between the requests. */
static const char *sources_at(const json_t *map, const json_t *answer, const json_t *device, const json_t *versions,
                              const json_t *day)
{
    char key[KEY_MAX];
    return map == NULL ? ctl_member(answer, "source") : ctl_member(map, key_of(device, versions, day, key));
}

static void print_cells(const json_t *matrix, const json_t *sources, const json_t *row)
{
    size_t i;
    json_t *cell;
    const json_t *device = json_object_get(row, "device");
    json_array_foreach(json_object_get(row, "cells"), i, cell)
    {
        printf("%-10s  %s %-8s %7lld %7lld  %-17s  %s\n", ctl_member(cell, "day"),
               ctl_cell(json_object_get(row, "driver"), 15), ctl_member(row, "cuda"),
               (long long)json_integer_value(json_object_get(cell, "counter_backed")),
               (long long)json_integer_value(json_object_get(cell, "timed_only")),
               sources_at(sources, matrix, device, row, cell), ctl_member(device, "name"));
    }
}

/* Runs that the question passes over, each with what to ask for instead. */
static void say_excluded(const json_t *answer)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(answer, "excluded"), i, item)
        fprintf(stderr, "rooflinectl: not among these: %s\n", ctl_member(item, "sentence"));
}

static void print_matrix(const json_t *matrix, const json_t *sources)
{
    const json_t *rows = json_object_get(matrix, "rows");
    json_t *row;
    size_t i;
    printf("%-10s  %-15s %-8s %7s %7s  %-17s  %s\n", "DAY", "DRIVER", "CUDA", "COUNTED", "TIMED", "SOURCE", "DEVICE");
    json_array_foreach(rows, i, row) print_cells(matrix, sources, row);
    if (json_array_size(rows) == 0)
        fprintf(stderr, "rooflinectl: no run in these days\n");
    say_excluded(matrix);
}

struct history_options {
    const char *device, *label, *source, *since, *until;
};

static const struct ctl_option history_table[] = {
    {"device", "ID", offsetof(struct history_options, device), "a device's id (default: all)"},
    {"label", "LABEL", offsetof(struct history_options, label), "runs with this label"},
    {"source", "SOURCE", offsetof(struct history_options, source),
     "measured, replayed, imported or any (default: measured and imported)"},
    {"since", "TIME", offsetof(struct history_options, since),
     "RFC 3339 or a date, inclusive (default: 365 days before --until)"},
    {"until", "TIME", offsetof(struct history_options, until), "RFC 3339 or a date, exclusive (default: now)"},
};

static int run_history(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct history_options *options = call->values;
    const struct filter filters[] = {{"device", options->device},
                                     {"source", options->source},
                                     {"label", options->label},
                                     {"since", options->since},
                                     {"until", options->until}};
    const size_t count = sizeof filters / sizeof filters[0];
    json_t *matrix, *sources = NULL;
    if (ask(http, call, "/api/v1/history", filters, count, &matrix, err) != 0)
        return -1;
    int result = sources_of(http, call, "/api/v1/history", filters, count, matrix, &sources, err);
    if (result == 0 && matrix != NULL)
        print_matrix(matrix, sources);
    json_decref(sources);
    json_decref(matrix);
    return result;
}

const struct ctl_command ctl_command_history = {
    .name = "history",
    .what = "devices, drivers and CUDA versions by day",
    .values_size = sizeof(struct history_options),
    .own = CTL_TABLE(history_table),
    .run = run_history,
};

/* A number as text, "-" when unknown; of bytes and rates every digit before the point: 201334784, not 2.01335e+08. */
static const char *number(const json_t *value, char text[32])
{
    double number = json_number_value(value);
    if (json_is_number(value))
        snprintf(text, 32, number >= 1e6 && number < 1e18 ? "%.0f" : "%.6g", number);
    else
        snprintf(text, 32, "-");
    return text;
}

static void print_accepted(const json_t *change)
{
    printf("accepted from run %s of %s on", ctl_member(change, "run"), ctl_member(change, "day"));
    if (json_string_length(json_object_get(change, "note")) > 0)
        printf(": %s", ctl_member(change, "note"));
    puts("");
}

static void print_point(const json_t *trend, const json_t *sources, const json_t *point)
{
    char median[32], low[32], high[32];
    const json_t *band = json_object_get(point, "band");
    const char *mark = json_is_true(json_object_get(point, "accepted"))  ? "  accepted"
                       : json_is_true(json_object_get(point, "outside")) ? "  outside"
                                                                         : "";
    printf("%-10s  %s %-8s %5lld %14s %14s %14s  %s%s\n", ctl_member(point, "day"),
           ctl_cell(json_object_get(point, "driver"), 15), ctl_member(point, "cuda"),
           (long long)json_integer_value(json_object_get(point, "runs")),
           number(json_object_get(point, "median"), median), number(json_object_get(band, "low"), low),
           number(json_object_get(band, "high"), high),
           sources_at(sources, trend, json_object_get(trend, "device"), point, point), mark);
}

struct trend_options {
    const char *sizes, *device, *label, *state, *driver, *cuda, *suite, *source, *since, *until, *kernel, *metric;
};

static const struct ctl_option trend_table[] = {
    {"sizes", "SIZES", offsetof(struct trend_options, sizes),
     "course (default), scaled or other: imports of sizes of their own"},
    {"device", "ID", offsetof(struct trend_options, device), "a device's id; needed"},
    {"label", "LABEL", offsetof(struct trend_options, label), "runs with this label"},
    {"state", "STATE", offsetof(struct trend_options, state),
     "warm (default), cold or mixed: of imports that mix both"},
    {"driver", "VERSION", offsetof(struct trend_options, driver),
     "runs with this driver; unknown: those of which it is not known"},
    {"cuda", "VERSION", offsetof(struct trend_options, cuda),
     "runs with this CUDA version; unknown: those of which it is not known"},
    {"suite", "SUITE", offsetof(struct trend_options, suite), CTL_SUITES " (default: verify)"},
    {"source", "SOURCE", offsetof(struct trend_options, source),
     "measured, replayed, imported or any (default: measured and imported)"},
    {"since", "TIME", offsetof(struct trend_options, since),
     "RFC 3339 or a date, inclusive (default: 365 days before --until)"},
    {"until", "TIME", offsetof(struct trend_options, until), "RFC 3339 or a date, exclusive (default: now)"},
    {"kernel", "ID", offsetof(struct trend_options, kernel), "a kernel's or ceiling's id; needed"},
    {"metric", "METRIC", offsetof(struct trend_options, metric),
     "time_s, dram_bytes, dram_per_ask, percent_of_ceiling, or value of a ceiling (default: time_s, of a ceiling "
     "value)"},
};

/* Whether the same question has points with this state and source. */
static bool has_points(struct ctl_http *http, const struct ctl_call *call, const struct filter *filters, size_t count,
                       const char *state, const char *source)
{
    struct filter other[FILTERS_MAX];
    struct rl_err err = {0};
    json_t *answer = NULL;
    for (size_t i = 0; i < count; i++)
        other[i] = (struct filter){filters[i].name, strcmp(filters[i].name, "state") == 0    ? state
                                                    : strcmp(filters[i].name, "source") == 0 ? source
                                                                                             : filters[i].value};
    bool has = ask(http, call, "/api/v1/trend", other, count, &answer, &err) == 0 &&
               json_array_size(json_object_get(answer, "points")) > 0;
    json_decref(answer);
    return has;
}

/* Of a trend without points: with which other state or source it has some. */
static void say_where(struct ctl_http *http, const struct ctl_call *call, const struct filter *filters, size_t count,
                      const json_t *trend)
{
    const struct trend_options *options = call->values;
    static const char *const states[] = {"warm", "cold", "mixed"};
    const char *asked = json_string_value(json_object_get(trend, "state"));
    bool said = false;
    fprintf(stderr, "rooflinectl: no run of suite %s and sizes %s has this row %s in these days; ",
            ctl_member(trend, "suite"), ctl_member(trend, "sizes"), ctl_member(trend, "state"));
    for (size_t i = 0; asked != NULL && i < sizeof states / sizeof states[0]; i++) {
        bool other = strcmp(states[i], asked) != 0;
        bool here = other && has_points(http, call, filters, count, states[i], options->source);
        if (!here && !has_points(http, call, filters, count, states[i], "any"))
            continue;
        fprintf(stderr, "%s --state %s%s", said ? "," : "there are points with", states[i],
                here ? "" : " --source any");
        said = true;
    }
    fputs(said ? "\n" : "nor in another state\n", stderr);
}

/* The sentence of the point's series where another begins; of one series alone only when it says more than its work. */
static void print_series(const json_t *trend, const json_t *point, const json_t *before)
{
    const json_t *all = json_object_get(trend, "series");
    json_int_t number = json_integer_value(json_object_get(point, "series"));
    const json_t *series = json_array_get(all, (size_t)number - 1);
    bool profiler = strcmp(ctl_member(series, "times"), "profiler") == 0;
    if (before != NULL && json_integer_value(json_object_get(before, "series")) == number)
        return;
    if (json_array_size(all) > 1 || profiler)
        printf("series %lld: %s\n", (long long)number, ctl_member(series, "sentence"));
}

static void print_trend(const json_t *trend, const json_t *sources)
{
    const json_t *points = json_object_get(trend, "points");
    json_t *item;
    size_t i;
    printf("%s of %s %s in %s; band: what is usual\n", ctl_member(trend, "metric"), ctl_member(trend, "kernel"),
           ctl_member(trend, "state"), ctl_member(trend, "unit"));
    printf("%-10s  %-15s %-8s %5s %14s %14s %14s  %s\n", "DAY", "DRIVER", "CUDA", "RUNS", "MEDIAN", "BAND FROM", "TO",
           "SOURCE");
    json_array_foreach(points, i, item)
    {
        print_series(trend, item, i > 0 ? json_array_get(points, i - 1) : NULL);
        print_point(trend, sources, item);
    }
    json_array_foreach(json_object_get(trend, "accepted"), i, item) print_accepted(item);
}

static int run_trend(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct trend_options *options = call->values;
    const struct filter filters[] = {
        {"device", options->device}, {"kernel", options->kernel}, {"state", options->state},
        {"metric", options->metric}, {"suite", options->suite},   {"sizes", options->sizes},
        {"source", options->source}, {"driver", options->driver}, {"cuda", options->cuda},
        {"since", options->since},   {"until", options->until},   {"label", options->label}};
    const size_t count = sizeof filters / sizeof filters[0];
    json_t *trend, *sources = NULL;
    if (options->device == NULL || options->kernel == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "trend needs --device and --kernel.");
    if (ask(http, call, "/api/v1/trend", filters, count, &trend, err) != 0)
        return -1;
    int result = sources_of(http, call, "/api/v1/trend", filters, count, trend, &sources, err);
    if (result == 0 && trend != NULL) {
        print_trend(trend, sources);
        if (json_array_size(json_object_get(trend, "points")) == 0)
            say_where(http, call, filters, count, trend);
        say_excluded(trend);
    }
    json_decref(sources);
    json_decref(trend);
    return result;
}

const struct ctl_command ctl_command_trend = {
    .name = "trend",
    .what = "a row of a device over days, with its noise band",
    .values_size = sizeof(struct trend_options),
    .own = CTL_TABLE(trend_table),
    .run = run_trend,
};

struct note_options {
    const char *text, *accept;
};

static const struct ctl_option note_table[] = {
    {"text", "TEXT", offsetof(struct note_options, text), "the note, in place of the one there"},
    {"accept", "LIST", offsetof(struct note_options, accept),
     "with --text: KERNEL:STATE with commas between, the new baseline of trends"},
};

/* "KERNEL:STATE,KERNEL:STATE" as the body's list. */
static json_t *accepted_of(const char *text, struct rl_err *err)
{
    json_t *list = json_array();
    for (const char *at = text; at != NULL;) {
        size_t len = strcspn(at, ","), name = strcspn(at, ":");
        json_t *item = name > 0 && name + 1 < len
                           ? json_pack("{s:s%, s:s%}", "kernel", at, name, "state", at + name + 1, len - name - 1)
                           : NULL;
        if (json_array_append_new(list, item) != 0) {
            rl_fail(err, RL_E_USAGE, "--accept", "--accept \"%s\" is not a list of KERNEL:STATE.", text);
            json_decref(list);
            return NULL;
        }
        at = at[len] == ',' ? at + len + 1 : NULL;
    }
    return list;
}

static int write_note(struct ctl_http *http, const struct ctl_call *call, const char *path, struct rl_buf *out,
                      struct rl_err *err)
{
    const struct note_options *options = call->values;
    json_t *accepted = options->accept != NULL ? accepted_of(options->accept, err) : json_array();
    if (accepted == NULL)
        return -1;
    json_t *body = json_pack("{s:s, s:o}", "text", options->text, "accepted", accepted);
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (text == NULL)
        return rl_fail(err, RL_E_USAGE, "--text", "The value of --text is not UTF-8.");
    int result = ctl_http_send(http, "PUT", path, text, NULL, out, NULL, err);
    free(text);
    return result;
}

static void print_note(const json_t *note)
{
    const json_t *text = json_object_get(note, "text");
    size_t i;
    json_t *accepted;
    if (json_integer_value(json_object_get(note, "version")) == 0) {
        puts("no note");
        return;
    }
    printf("%s by %s\n", ctl_member(note, "changed_at"), ctl_member(note, "principal"));
    struct rl_buf clean; /* a note may be longer than what ctl_text takes */
    rl_buf_init(&clean, ANSWER_MAX);
    text_escape(&clean, json_string_value(text), json_string_length(text), true);
    if (clean.len > 0)
        puts(clean.data);
    rl_buf_free(&clean);
    json_array_foreach(json_object_get(note, "accepted"), i, accepted)
    {
        printf("accepted: %s %s\n", ctl_member(accepted, "kernel"), ctl_member(accepted, "state"));
    }
}

static int run_note(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct note_options *options = call->values;
    char path[64];
    struct rl_buf out;
    json_t *note = NULL;
    if (options->accept != NULL && options->text == NULL)
        return rl_fail(err, RL_E_USAGE, "--accept", "--accept is written with a note: give --text as well.");
    snprintf(path, sizeof path, "/api/v1/runs/%.24s/note", call->argument);
    rl_buf_init(&out, ANSWER_MAX);
    int result = options->text != NULL ? write_note(http, call, path, &out, err)
                                       : ctl_http_send(http, "GET", path, NULL, NULL, &out, NULL, err);
    if (result == 0)
        result = ctl_http_parse(http, &out, &note, err);
    if (result == 0 && call->common->json)
        result = ctl_print(&out, err);
    else if (result == 0)
        print_note(note);
    json_decref(note);
    rl_buf_free(&out);
    return result;
}

const struct ctl_command ctl_command_note = {
    .name = "note",
    .argument = "RUN",
    .what = "a run's note; with --text, write it",
    .values_size = sizeof(struct note_options),
    .own = CTL_TABLE(note_table),
    .run = run_note,
};
