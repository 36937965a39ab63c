/* rooflinectl jobs, runs, show, transcript, devices, ready: what there is, for people or as the daemon's JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/ctl/ctl.h"

#define ANSWER_MAX (64u * 1024u * 1024u)

int ctl_print_answer(struct ctl_http *http, const char *path, struct rl_err *err)
{
    struct rl_buf answer;
    rl_buf_init(&answer, ANSWER_MAX);
    int result = ctl_http_send(http, "GET", path, NULL, NULL, &answer, NULL, err);
    if (result == 0)
        result = ctl_print(&answer, err);
    rl_buf_free(&answer);
    return result;
}

static void say_more(const json_t *list)
{
    if (json_is_string(json_object_get(list, "next")))
        fputs(CTL_PROGRAM ": there are older ones; --limit gives more, up to 200\n", stderr);
}

static void print_job(const json_t *job)
{
    const json_t *error = json_object_get(job, "error"), *run = json_object_get(job, "run");
    const char *outcome = json_string_value(json_object_get(job, "outcome"));
    bool not_ok = outcome != NULL && strcmp(outcome, "ok") != 0;
    printf("%-6s %-11s %-24s %-7s %s %s ", ctl_member(job, "id"), ctl_member(job, "state"),
           ctl_member(job, "created_at"), ctl_member(job, "sizes"), ctl_cell(json_object_get(job, "device"), 40),
           ctl_cell(json_object_get(job, "label"), 16));
    if (json_is_string(run))
        printf("run %s%s%s\n", ctl_text(run), not_ok ? ", " : "", not_ok ? ctl_member(job, "outcome") : "");
    else if (json_is_object(error))
        printf("%s: %s\n", ctl_member(error, "code"), ctl_member(error, "message"));
    else
        printf("%s\n", json_is_true(json_object_get(job, "cancel_requested")) ? "being cancelled" : "");
    ctl_print_whole(json_object_get(job, "label"), 16);
}

int ctl_jobs(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    struct rl_buf path;
    json_t *list = NULL;
    int result;
    rl_buf_init(&path, 4096);
    rl_buf_puts(&path, "/api/v1/jobs");
    ctl_query(&path, "state", options->state);
    ctl_query(&path, "label", options->label);
    ctl_query(&path, "limit", options->limit);
    if (path.failed) {
        result = rl_fail(err, RL_E_USAGE, NULL, "The filters are too long.");
    } else if (options->json) {
        result = ctl_print_answer(http, path.data, err);
    } else if ((result = ctl_http_get_json(http, path.data, &list, err)) == 0) {
        size_t i;
        json_t *job;
        printf("%-6s %-11s %-24s %-7s %-40s %-16s %s\n", "JOB", "STATE", "CREATED", "SIZES", "DEVICE", "LABEL",
               "RESULT");
        json_array_foreach(json_object_get(list, "items"), i, job) print_job(job);
        say_more(list);
    }
    json_decref(list);
    rl_buf_free(&path);
    return result;
}

/* A rate in units of 10^9, "-" when unknown, into text. */
static const char *giga(const json_t *value, char *text, size_t size)
{
    if (json_is_number(value))
        snprintf(text, size, "%.1f", json_number_value(value) / 1e9);
    else
        snprintf(text, size, "-");
    return text;
}

static void print_run(const json_t *run)
{
    char copy[32], fma[32];
    printf("%-6s %-24s %-9s %-8s %-14s %-7s %s %9s %10s  %s %s", ctl_member(run, "id"), ctl_member(run, "date"),
           ctl_member(run, "source"), ctl_member(run, "outcome"), ctl_member(run, "counters"), ctl_member(run, "sizes"),
           ctl_cell(json_object_get(run, "driver"), 15),
           giga(json_object_get(run, "dram_copy_byte_per_s"), copy, sizeof copy),
           giga(json_object_get(run, "fp32_fma_flop_per_s"), fma, sizeof fma),
           ctl_cell(json_object_get(run, "label"), 16), ctl_member(json_object_get(run, "device"), "name"));
    if (json_is_true(json_object_get(run, "withdrawn")))
        printf(", withdrawn: %s", ctl_member(json_object_get(run, "withdrawal"), "reason"));
    puts("");
    ctl_print_whole(json_object_get(run, "label"), 16);
}

int ctl_runs(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    const struct {
        const char *name, *value;
    } filters[] = {{"device", options->device},      {"driver", options->driver},   {"cuda", options->cuda},
                   {"suite", options->suite},        {"sizes", options->sizes},     {"source", options->source},
                   {"counters", options->counters},  {"outcome", options->outcome}, {"since", options->since},
                   {"until", options->until},        {"limit", options->limit},     {"label", options->label},
                   {"withdrawn", options->withdrawn}};
    struct rl_buf path;
    json_t *list = NULL;
    int result;
    rl_buf_init(&path, 8192);
    rl_buf_puts(&path, "/api/v1/runs");
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        ctl_query(&path, filters[i].name, filters[i].value);
    if (path.failed) {
        result = rl_fail(err, RL_E_USAGE, NULL, "The filters are too long.");
    } else if (options->json) {
        result = ctl_print_answer(http, path.data, err);
    } else if ((result = ctl_http_get_json(http, path.data, &list, err)) == 0) {
        size_t i;
        json_t *run;
        printf("%-6s %-24s %-9s %-8s %-14s %-7s %-15s %9s %10s  %-16s %s\n", "RUN", "DATE", "SOURCE", "OUTCOME",
               "COUNTERS", "SIZES", "DRIVER", "COPY GB/s", "FMA GFLOP/s", "LABEL", "DEVICE");
        json_array_foreach(json_object_get(list, "items"), i, run) print_run(run);
        say_more(list);
    }
    json_decref(list);
    rl_buf_free(&path);
    return result;
}

static bool has_state(const json_t *run, const char *state)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "kernels"), i, row)
    {
        if (json_object_get(row, state) != NULL)
            return true;
    }
    return false;
}

/* The table of one state, or of each state that the run has. */
static int show_tables(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    static const char *const states[] = {"warm", "cold", "mixed"};
    char path[96];
    json_t *run = NULL;
    int result = 0;
    bool any = false;
    if (options->state != NULL) {
        struct rl_buf query;
        rl_buf_init(&query, 4096);
        rl_buf_printf(&query, "/api/v1/runs/%s/table", options->argument);
        ctl_query(&query, "state", options->state);
        result = query.failed ? rl_fail(err, RL_E_USAGE, "--state", "The value of --state is too long.")
                              : ctl_print_answer(http, query.data, err);
        rl_buf_free(&query);
        return result;
    }
    snprintf(path, sizeof path, "/api/v1/runs/%.24s", options->argument);
    if (ctl_http_get_json(http, path, &run, err) != 0)
        return -1;
    for (size_t i = 0; result == 0 && i < sizeof states / sizeof states[0]; i++) {
        if (!has_state(run, states[i]))
            continue;
        snprintf(path, sizeof path, "/api/v1/runs/%.24s/table?state=%s", options->argument, states[i]);
        if (any)
            puts("");
        any = true;
        result = ctl_print_answer(http, path, err);
    }
    if (result == 0 && !any) { /* a run without rows has its ceilings, and the reason */
        snprintf(path, sizeof path, "/api/v1/runs/%.24s/table", options->argument);
        result = ctl_print_answer(http, path, err);
    }
    json_decref(run);
    return result;
}

int ctl_show(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    char path[64];
    if (!options->json && !options->csv)
        return show_tables(http, options, err);
    if (options->state != NULL)
        return rl_fail(err, RL_E_USAGE, "--state", "--state belongs to the table; JSON and CSV hold every state.");
    snprintf(path, sizeof path, "/api/v1/runs/%.24s%s", options->argument, options->csv ? ".csv" : "");
    return ctl_print_answer(http, path, err);
}

int ctl_transcript(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/api/v1/jobs/%.24s/transcript", options->argument);
    return ctl_print_answer(http, path, err);
}

static void print_devices_head(void)
{
    printf("%-40s %-28s %-14s %s\n", "DEVICE", "NAME", "DRIVER", "COUNTERS");
}

static void print_device(const json_t *device)
{
    const json_t *environment = json_object_get(device, "environment"), *counters = json_object_get(device, "counters");
    const json_t *driver = json_object_get(device, "driver_version");
    const json_t *id = json_object_get(device, "id"), *name = json_object_get(device, "name");
    const char *source = json_string_value(json_object_get(device, "source"));
    /* its driver and counters are those of the import that named it first: of another day, perhaps of another machine
     */
    if (source != NULL && strcmp(source, "imported") == 0) {
        printf("%s %s imported; never probed here\n", ctl_cell(id, 40), ctl_cell(name, 28));
        ctl_print_whole(id, 40);
        ctl_print_whole(name, 28);
        return;
    }
    printf("%s %s %s %s", ctl_cell(id, 40), ctl_cell(name, 28),
           ctl_cell(json_is_string(driver) ? driver : json_object_get(environment, "driver_version"), 14),
           ctl_member(counters, "status"));
    if (json_is_string(json_object_get(counters, "why")))
        printf(": %s", ctl_member(counters, "why"));
    if (json_is_true(json_object_get(device, "quarantined")))
        printf(" (quarantined)");
    puts("");
    ctl_print_whole(id, 40);
    ctl_print_whole(name, 28);
}

int ctl_devices(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    json_t *list = NULL;
    size_t i;
    json_t *device;
    if (options->json)
        return ctl_print_answer(http, "/api/v1/devices", err);
    if (ctl_http_get_json(http, "/api/v1/devices", &list, err) != 0)
        return -1;
    print_devices_head();
    json_array_foreach(json_object_get(list, "items"), i, device) print_device(device);
    json_decref(list);
    return 0;
}

/* Why it is not ready, as this program's own error: the exit code is then that of the first reason. */
static int not_ready(const json_t *answer, struct rl_err *err)
{
    const json_t *reasons = json_object_get(answer, "reasons"), *first = json_array_get(reasons, 0);
    const char *id = json_string_value(json_object_get(first, "code"));
    enum rl_code code = id != NULL ? rl_code_from_id(id) : RL_E_NONE;
    size_t i;
    json_t *reason;
    json_array_foreach(reasons, i, reason)
    {
        if (i > 0)
            fprintf(stderr, CTL_PROGRAM ": %s\n", ctl_member(reason, "message"));
    }
    return rl_fail(err, code != RL_E_NONE ? code : RL_E_NO_DEVICE_READY, NULL, "Not ready: %s",
                   first != NULL ? ctl_member(first, "message") : "no reason was given.");
}

int ctl_ready(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err)
{
    struct rl_buf text;
    long status = 0;
    size_t i;
    json_t *device;
    rl_buf_init(&text, ANSWER_MAX);
    int result = ctl_http_send(http, "GET", "/readyz", NULL, NULL, &text, &status, err);
    json_t *answer = NULL;
    if (result == 0)
        result = ctl_http_parse(http, &text, &answer, err);
    if (result == 0 && !json_is_boolean(json_object_get(answer, "ready")))
        result = rl_fail(err, RL_E_UNREACHABLE, NULL, "The answer does not say whether it is ready: is it rooflined?");
    if (result == 0 && options->json)
        result = ctl_print(&text, err);
    if (result == 0 && !options->json) {
        if (json_array_size(json_object_get(answer, "devices")) > 0)
            print_devices_head();
        json_array_foreach(json_object_get(answer, "devices"), i, device) print_device(device);
    }
    if (result == 0 && status != 200)
        result = not_ready(answer, err);
    else if (result == 0 && !options->json)
        puts("ready");
    json_decref(answer);
    rl_buf_free(&text);
    return result;
}
