/* rooflinectl submit and cancel: building the job, following it, showing how it ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "gpu/suites/suites.h"
#include "server/ctl/ctl.h"
#include "server/ctl/suite.h"

#define ANSWER_MAX (64u * 1024u * 1024u)
/* How often an open job is asked for: a course verification takes a few seconds. */
#define POLL_MS 200
/* How long a daemon that was there may be away, restarting, before following ends. */
#define AWAY_MS 15000
#define KEY_MAX 128u
#define SUITE   "verify" /* measured where no other is named */

/* ---- the job ---- */

struct submit_options {
    const char *suite_name, *device, *note, *label, *on_interrupt, *idempotency_key;
    bool wait;
    struct ctl_suite_values suite;
};

static const struct ctl_option submit_table[] = {
    {"suite", "NAME", offsetof(struct submit_options, suite_name),
     CTL_SUBMITTABLE ": what is measured (default: " SUITE ")"},
    {"wait", NULL, offsetof(struct submit_options, wait), "follow the job to its end and print the table"},
    {"device", "ID", offsetof(struct submit_options, device), "a device's id (default: the first)"},
    {"note", "TEXT", offsetof(struct submit_options, note), "free text kept with the job"},
    {"label", "LABEL", offsetof(struct submit_options, label),
     "what the job and its run are for, as a commit or a ticket: up to 64 characters, many runs may share it"},
    {"on-interrupt", "WHAT", offsetof(struct submit_options, on_interrupt),
     "fail or retry, when the daemon or node dies (default: fail)"},
    {"idempotency-key", "KEY", offsetof(struct submit_options, idempotency_key),
     "the same key and job again gives the same job"},
};

static int set(json_t *body, const char *name, json_t *value, struct rl_err *err)
{
    if (value != NULL && json_object_set_new(body, name, value) == 0)
        return 0;
    if (err->code == RL_E_NONE)
        rl_fail(err, RL_E_USAGE, name, "The value of %s is not UTF-8.", name);
    return -1;
}

static const struct rl_suite *suite_of(const char *name, struct rl_err *err)
{
    const struct rl_suite *suite = rl_suite_find(name != NULL ? name : SUITE);
    char names[256];
    if (suite != NULL && suite->submittable)
        return suite;
    ctl_suite_names(true, ", ", names, sizeof names);
    rl_fail(err, RL_E_USAGE, "--suite",
            suite == NULL ? "--suite \"%s\" is not a suite that this client knows. It can submit: %s."
                          : "--suite \"%s\" cannot be submitted: no job measures it. What can be: %s.",
            name, names);
    return NULL;
}

static json_t *job_of(const struct submit_options *options, struct rl_err *err)
{
    const struct rl_suite *suite = suite_of(options->suite_name, err);
    json_t *body = suite != NULL ? json_pack("{s:s}", "suite", suite->name) : NULL;
    const struct {
        const char *name, *value;
    } texts[] = {{"device", options->device},
                 {"note", options->note},
                 {"label", options->label},
                 {"on_interrupt", options->on_interrupt}};
    int failed = body == NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (failed == 0 && texts[i].value != NULL)
            failed = set(body, texts[i].name, json_string(texts[i].value), err);
    if (failed == 0)
        failed = ctl_suite_params(suite, &options->suite, body, err);
    if (failed == 0)
        return body;
    json_decref(body);
    return NULL;
}

static int extend(const struct ctl_line *line, struct ctl_table *ret, struct rl_err *err)
{
    static struct ctl_suite_table table;
    const struct rl_suite *suite = suite_of(ctl_line_value(line, "suite"), err);
    if (suite == NULL)
        return -1;
    ctl_suite_options(suite, offsetof(struct submit_options, suite), &table);
    *ret = (struct ctl_table){table.options, suite->param_count};
    return 0;
}

static int elsewhere(const struct ctl_line *line, const char *name, size_t len, struct rl_err *err)
{
    const struct rl_suite *other = ctl_suite_with(name, len);
    const char *suite = ctl_line_value(line, "suite");
    if (other == NULL)
        return 0;
    return rl_fail(err, RL_E_USAGE, NULL, "The suite %s has no option --%.*s: it is one of %s (--suite %s).",
                   suite != NULL ? suite : SUITE, (int)len, name, other->name, other->name);
}

/* The suite's title, help and options, and the other suites' names. */
static void print_suite(const struct rl_suite *suite)
{
    struct ctl_suite_table table;
    bool others = false;
    ctl_suite_options(suite, 0, &table);
    printf("\nOptions of submit with --suite %s (%s): %s\n", suite->name, suite->title, suite->help);
    ctl_print_table((struct ctl_table){table.options, suite->param_count});
    for (size_t i = 0; i < rl_suite_count; i++) {
        if (!rl_suites[i]->submittable || rl_suites[i] == suite)
            continue;
        printf("%s%s", others ? ", " : "\nOther suites (submit --suite NAME --help): ", rl_suites[i]->name);
        others = true;
    }
    if (others)
        puts("");
}

/* The name was looked at by extend, but where help is of all commands. */
static void help(const struct ctl_line *line)
{
    struct rl_err err = {0};
    const struct rl_suite *suite = suite_of(ctl_line_value(line, "suite"), &err);
    print_suite(suite != NULL ? suite : rl_suite_find(SUITE));
}

static int check_key(const char *key, struct rl_err *err)
{
    size_t len = key != NULL ? strlen(key) : 1;
    bool good = len >= 1 && len <= KEY_MAX;
    for (size_t i = 0; key != NULL && i < len; i++)
        good = good && key[i] >= ' ' && key[i] < 0x7f;
    return good ? 0
                : rl_fail(err, RL_E_USAGE, "--idempotency-key",
                          "An idempotency key has 1 to %u printable ASCII characters.", KEY_MAX);
}

/* ---- following ---- */

struct follow {
    bool terminal; /* progress on one line of it */
    int64_t started_ns;
    char shown[220]; /* newest plain line */
    bool line_open;  /* the terminal's line has something on it */
};

static void clear_line(struct follow *follow)
{
    if (follow->line_open)
        fputs("\r\033[K", stderr);
    follow->line_open = false;
}

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* One line, never wider than the terminal: bar, count, phase and step, seconds; the bar takes what is left. */
static void show_bar(struct follow *follow, long long done, long long total, const char *words)
{
    char tail[256];
    double seconds = (double)(rl_monotonic_ns() - follow->started_ns) / 1e9;
    size_t width = terminal_width() - 1; /* the last column wraps on some terminals */
    int len = total > 0 ? snprintf(tail, sizeof tail, " %lld/%lld %s %.1f s", done, total, words, seconds)
                        : snprintf(tail, sizeof tail, "%s %.1f s", words, seconds);
    size_t used = len > 0 && (size_t)len < sizeof tail ? (size_t)len : sizeof tail - 1;
    size_t bar = total > 0 && width > used + 12 ? width - used - 2 : 0;
    bar = bar > 40 ? 40 : bar;
    fputs("\r\033[K", stderr);
    if (bar > 0) {
        size_t full = (size_t)((double)bar * (double)done / (double)total);
        fputc('[', stderr);
        for (size_t i = 0; i < bar; i++)
            fputc(i < full ? '#' : '.', stderr);
        fputc(']', stderr);
        width -= bar + 2;
    }
    fprintf(stderr, "%.*s", (int)width, tail);
    fflush(stderr);
    follow->line_open = true;
}

static void show_plain(struct follow *follow, const char *line)
{
    if (strcmp(line, follow->shown) == 0)
        return;
    snprintf(follow->shown, sizeof follow->shown, "%s", line);
    fprintf(stderr, "%s\n", line);
}

static void show(struct follow *follow, const json_t *job)
{
    char words[160], line[220];
    const json_t *progress = json_object_get(job, "progress");
    long long done = json_integer_value(json_object_get(progress, "done"));
    long long total = json_integer_value(json_object_get(progress, "total"));
    bool known = json_is_object(progress);
    snprintf(words, sizeof words, "%s%s%.80s", known ? ctl_member(progress, "phase") : ctl_member(job, "state"),
             known ? ": " : "", known ? ctl_member(progress, "what") : "");
    if (follow->terminal) {
        show_bar(follow, done, total, words);
        return;
    }
    /* by phase, not by step: a log is to be read */
    if (known)
        snprintf(line, sizeof line, "job %s: %s", ctl_member(job, "id"), ctl_member(progress, "phase"));
    else
        snprintf(line, sizeof line, "job %s: %s", ctl_member(job, "id"), ctl_member(job, "state"));
    show_plain(follow, line);
}

static bool is_open(const json_t *job)
{
    const char *state = json_string_value(json_object_get(job, "state"));
    return state != NULL && (strcmp(state, "queued") == 0 || strcmp(state, "running") == 0);
}

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL); /* Ctrl-C ends it early, which is what is wanted */
}

/* Polls until the job has ended. 0 with *job replaced; CTL_EXIT_INTERRUPT after Ctrl-C; -1 when the daemon stays away.
 */
static int follow_job(struct ctl_http *http, json_t **job, struct rl_err *err)
{
    struct follow follow = {.terminal = isatty(STDERR_FILENO) == 1, .started_ns = rl_monotonic_ns()};
    char path[64];
    int64_t away_ns = 0;
    snprintf(path, sizeof path, "/api/v1/jobs/%.24s", ctl_member(*job, "id"));
    show(&follow, *job);
    while (is_open(*job) && !ctl_interrupted()) {
        json_t *newer = NULL;
        struct rl_err why = {0};
        sleep_ms(POLL_MS);
        if (ctl_http_get_json(http, path, &newer, &why) == 0) {
            json_decref(*job);
            *job = newer;
            away_ns = 0;
            show(&follow, *job);
        } else if (!ctl_interrupted()) {
            int64_t now = rl_monotonic_ns();
            away_ns = away_ns == 0 ? now : away_ns;
            bool may_come_back = why.code == RL_E_UNREACHABLE || why.code == RL_E_SHUTTING_DOWN;
            if (!may_come_back || now - away_ns > AWAY_MS * INT64_C(1000000)) {
                clear_line(&follow);
                *err = why;
                return -1;
            }
        }
    }
    clear_line(&follow);
    return is_open(*job) ? CTL_EXIT_INTERRUPT : 0;
}

/* ---- the end ---- */

static int print_tables(struct ctl_http *http, const json_t *job, struct rl_err *err)
{
    struct rl_buf table;
    char path[96];
    size_t i;
    json_t *state;
    int result = 0;
    rl_buf_init(&table, ANSWER_MAX);
    json_array_foreach(json_object_get(job, "cache"), i, state)
    {
        snprintf(path, sizeof path, "/api/v1/runs/%.24s/table?state=%.8s", ctl_member(job, "run"), ctl_text(state));
        if (i > 0)
            puts("");
        if (ctl_http_send(http, "GET", path, NULL, NULL, &table, NULL, err) != 0 || ctl_print(&table, err) != 0) {
            result = -1;
            break;
        }
    }
    rl_buf_free(&table);
    return result;
}

/* Prints how an ended job ended; the exit code, or -1 with err. */
static int show_end(struct ctl_http *http, const struct ctl_call *call, const json_t *job, struct rl_err *err)
{
    const char *state = json_string_value(json_object_get(job, "state"));
    const char *outcome = json_string_value(json_object_get(job, "outcome"));
    if (call->common->json)
        json_dumpf(job, stdout, JSON_INDENT(2));
    if (call->common->json)
        puts("");
    if (state != NULL && strcmp(state, "done") == 0) {
        if (!call->common->json && print_tables(http, job, err) != 0)
            return -1;
        bool good = outcome != NULL && strcmp(outcome, "ok") == 0;
        if (!good)
            fprintf(stderr, CTL_PROGRAM ": the run is %s: rooflinectl show %s --json says why\n",
                    ctl_member(job, "outcome"), ctl_member(job, "run"));
        return good ? 0 : CTL_EXIT_NOT_OK;
    }
    const json_t *error = json_object_get(job, "error");
    const char *id = json_string_value(json_object_get(error, "code"));
    enum rl_code code = id != NULL ? rl_code_from_id(id) : RL_E_NONE;
    return rl_fail(err, code != RL_E_NONE ? code : RL_E_INTERNAL, NULL, "Job %s is %s: %s", ctl_member(job, "id"),
                   ctl_member(job, "state"), ctl_member(error, "message"));
}

static int post(struct ctl_http *http, const struct submit_options *options, json_t **ret, struct rl_err *err)
{
    struct rl_buf answer;
    json_t *body = job_of(options, err);
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (text == NULL)
        return err->code != RL_E_NONE ? -1 : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the job.");
    rl_buf_init(&answer, ANSWER_MAX);
    int result = ctl_http_send(http, "POST", "/api/v1/jobs", text, options->idempotency_key, &answer, NULL, err);
    free(text);
    if (result == 0)
        result = ctl_http_parse(http, &answer, ret, err);
    rl_buf_free(&answer);
    return result;
}

static int run_submit(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    const struct submit_options *options = call->values;
    json_t *job = NULL;
    if (check_key(options->idempotency_key, err) != 0 || post(http, options, &job, err) != 0)
        return -1;
    int code;
    if (options->wait) {
        ctl_catch_interrupt();
        code = follow_job(http, &job, err);
        if (code == CTL_EXIT_INTERRUPT)
            fprintf(stderr, CTL_PROGRAM ": job %s goes on; to end it: rooflinectl cancel %s\n", ctl_member(job, "id"),
                    ctl_member(job, "id"));
        else if (code == 0)
            code = show_end(http, call, job, err);
    } else {
        code = 0;
        if (call->common->json)
            json_dumpf(job, stdout, JSON_INDENT(2));
        else
            printf("job %s %s on %s", ctl_member(job, "id"), ctl_member(job, "state"), ctl_member(job, "device"));
        puts("");
    }
    json_decref(job);
    return code;
}

const struct ctl_command ctl_command_submit = {
    .name = "submit",
    .what = "queue a measurement; with --wait, follow it and print its table",
    .values_size = sizeof(struct submit_options),
    .own = CTL_TABLE(submit_table),
    .last = "Ctrl-C during submit --wait leaves the job running and says how to cancel it.",
    .extend = extend,
    .elsewhere = elsewhere,
    .ever = ctl_suite_any_option,
    .help = help,
    .run = run_submit,
};

static int run_cancel(struct ctl_http *http, const struct ctl_call *call, struct rl_err *err)
{
    struct rl_buf answer;
    char path[64];
    rl_buf_init(&answer, ANSWER_MAX);
    snprintf(path, sizeof path, "/api/v1/jobs/%.24s", call->argument);
    int result = ctl_http_send(http, "DELETE", path, NULL, NULL, &answer, NULL, err);
    json_t *job = NULL;
    if (result == 0 && (result = ctl_http_parse(http, &answer, &job, err)) == 0) {
        if (is_open(job))
            printf("job %s will be cancelled once its measuring process is gone\n", call->argument);
        else
            printf("job %s %s\n", call->argument, ctl_member(job, "state"));
        json_decref(job);
    }
    rl_buf_free(&answer);
    return result;
}

const struct ctl_command ctl_command_cancel = {
    .name = "cancel",
    .argument = "JOB",
    .what = "cancel a job",
    .plain = true,
    .run = run_cancel,
};
