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

struct jobs_options {
    const char *label, *state, *limit;
};

static const struct ctl_option jobs_table[] = {
    {"label", "LABEL", offsetof(struct jobs_options, label), "jobs with this label"},
    {"state", "STATE", offsetof(struct jobs_options, state),
     "queued, running, done, failed, cancelled or interrupted (default: all)"},
    {"limit", "N", offsetof(struct jobs_options, limit), "at most N rows, up to 200 (default 50)"},
};

static int run_jobs(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct jobs_options *options = call->values;
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
    } else if (call->common->json) {
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

const struct ctl_command ctl_command_jobs = {
    .name = "jobs",
    .what = "list jobs, newest first",
    .values_size = sizeof(struct jobs_options),
    .own = CTL_TABLE(jobs_table),
    .run = run_jobs,
};

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

struct runs_options {
    struct ctl_filters filters;
    const char *limit;
};

static const struct ctl_option runs_table[] = {
    {"limit", "N", offsetof(struct runs_options, limit), "at most N rows, up to 200 (default 50)"},
};

static int run_runs(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct runs_options *options = call->values;
    struct rl_buf path;
    json_t *list = NULL;
    int result;
    rl_buf_init(&path, 8192);
    rl_buf_puts(&path, "/api/v1/runs");
    ctl_query_filters(&path, &options->filters);
    ctl_query(&path, "limit", options->limit);
    if (path.failed) {
        result = rl_fail(err, RL_E_USAGE, NULL, "The filters are too long.");
    } else if (call->common->json) {
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

const struct ctl_command ctl_command_runs = {
    .name = "runs",
    .what = "list runs, newest first",
    .values_size = sizeof(struct runs_options),
    .own = CTL_TABLE(runs_table),
    .with = {ctl_filter_options, CTL_FILTER_COUNT},
    .run = run_runs,
};

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
int ctl_show_tables(struct ctl_http *http, const char *id, const char *state, struct rl_err *err)
{
    static const char *const states[] = {"warm", "cold", "mixed"};
    char path[96];
    json_t *run = NULL;
    int result = 0;
    bool any = false;
    if (state != NULL) {
        struct rl_buf query;
        rl_buf_init(&query, 4096);
        rl_buf_printf(&query, "/api/v1/runs/%s/table", id);
        ctl_query(&query, "state", state);
        result = query.failed ? rl_fail(err, RL_E_USAGE, "--state", "The value of --state is too long.")
                              : ctl_print_answer(http, query.data, err);
        rl_buf_free(&query);
        return result;
    }
    snprintf(path, sizeof path, "/api/v1/runs/%.24s", id);
    if (ctl_http_get_json(http, path, &run, err) != 0)
        return -1;
    for (size_t i = 0; result == 0 && i < sizeof states / sizeof states[0]; i++) {
        if (!has_state(run, states[i]))
            continue;
        snprintf(path, sizeof path, "/api/v1/runs/%.24s/table?state=%s", id, states[i]);
        if (any)
            puts("");
        any = true;
        result = ctl_print_answer(http, path, err);
    }
    if (result == 0 && !any) { /* a run without rows has its ceilings, and the reason */
        snprintf(path, sizeof path, "/api/v1/runs/%.24s/table", id);
        result = ctl_print_answer(http, path, err);
    }
    json_decref(run);
    return result;
}

struct show_options {
    const char *state;
    bool table, csv;
};

static const struct ctl_option show_table[] = {
    {"state", "STATE", offsetof(struct show_options, state), "warm, cold or mixed (default: all there are)"},
    {"table", NULL, offsetof(struct show_options, table), "the ten-row table (default)"},
    {"csv", NULL, offsetof(struct show_options, csv), "CSV, one line per kernel and cache state"},
};

static int run_show(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct show_options *options = call->values;
    char path[64];
    if (call->common->json + options->csv + options->table > 1)
        return rl_fail(err, RL_E_USAGE, NULL, "Only one of --table, --json and --csv can be printed.");
    if (!call->common->json && !options->csv)
        return ctl_show_tables(http, call->argument, options->state, err);
    if (options->state != NULL)
        return rl_fail(err, RL_E_USAGE, "--state", "--state belongs to the table; JSON and CSV hold every state.");
    snprintf(path, sizeof path, "/api/v1/runs/%.24s%s", call->argument, options->csv ? ".csv" : "");
    return ctl_print_answer(http, path, err);
}

const struct ctl_command ctl_command_show = {
    .name = "show",
    .argument = "RUN",
    .what = "a run as table, JSON or CSV",
    .values_size = sizeof(struct show_options),
    .own = CTL_TABLE(show_table),
    .run = run_show,
};

static int run_transcript(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/api/v1/jobs/%.24s/transcript", call->argument);
    return ctl_print_answer(http, path, err);
}

const struct ctl_command ctl_command_transcript = {
    .name = "transcript",
    .argument = "JOB",
    .what = "what the measuring process of a job logged",
    .plain = true,
    .run = run_transcript,
};

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

static int run_devices(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    json_t *list = NULL;
    size_t i;
    json_t *device;
    if (call->common->json)
        return ctl_print_answer(http, "/api/v1/devices", err);
    if (ctl_http_get_json(http, "/api/v1/devices", &list, err) != 0)
        return -1;
    print_devices_head();
    json_array_foreach(json_object_get(list, "items"), i, device) print_device(device);
    json_decref(list);
    return 0;
}

const struct ctl_command ctl_command_devices = {
    .name = "devices",
    .what = "list devices and what is possible on each",
    .run = run_devices,
};

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

static int run_ready(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
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
    if (result == 0 && call->common->json)
        result = ctl_print(&text, err);
    if (result == 0 && !call->common->json) {
        if (json_array_size(json_object_get(answer, "devices")) > 0)
            print_devices_head();
        json_array_foreach(json_object_get(answer, "devices"), i, device) print_device(device);
    }
    if (result == 0 && status != 200)
        result = not_ready(answer, err);
    else if (result == 0 && !call->common->json)
        puts("ready");
    json_decref(answer);
    rl_buf_free(&text);
    return result;
}

const struct ctl_command ctl_command_ready = {
    .name = "ready",
    .what = "whether a job would be measured now; exits 0 if so",
    .run = run_ready,
};
