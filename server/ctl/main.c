/* rooflinectl: the client. Parses the command line and calls the command. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/ctl/ctl.h"

enum {
    SUBMIT = 1,
    JOBS = 2,
    RUNS = 4,
    SHOW = 8,
    CANCEL = 16,
    DEVICES = 32,
    READY = 64,
    TRANSCRIPT = 128,
    HISTORY = 256,
    TREND = 512,
    COMPARE = 1024,
    NOTE = 2048,
    EXPORT = 4096,
    PREDICTIONS = 8192,
    IMPORT = 16384,
    WITHDRAW = 32768,
    ALL = 65535,
};

static const struct command {
    const char *name;
    unsigned bit;
    const char *argument; /* NULL: takes none */
    const char *what;
    int (*run)(struct ctl_http *http, const struct ctl_options *options, struct rl_err *err);
} commands[] = {
    {"submit", SUBMIT, NULL, "queue a verification; with --wait, follow it and print its table", ctl_submit},
    {"jobs", JOBS, NULL, "list jobs, newest first", ctl_jobs},
    {"cancel", CANCEL, "JOB", "cancel a job", ctl_cancel},
    {"transcript", TRANSCRIPT, "JOB", "what the measuring process of a job logged", ctl_transcript},
    {"runs", RUNS, NULL, "list runs, newest first", ctl_runs},
    {"show", SHOW, "RUN", "a run as table, JSON or CSV", ctl_show},
    {"note", NOTE, "RUN", "a run's note; with --text, write it", ctl_note},
    {"withdraw", WITHDRAW, "RUN",
     "whether a run is withdrawn, and why; with --reason, withdraw it; --back takes that back", ctl_withdraw},
    {"import", IMPORT, NULL, "a run of what another measurement left", ctl_import},
    {"predictions", PREDICTIONS, "RUN", "how a run's predictions came out; with --why, say why one was wrong",
     ctl_predictions},
    {"export", EXPORT, NULL, "a selection of runs, whole, as JSON or CSV", ctl_export},
    {"history", HISTORY, NULL, "devices, drivers and CUDA versions by day", ctl_history},
    {"trend", TREND, NULL, "a row of a device over days, with its noise band", ctl_trend},
    {"compare", COMPARE, "BASE HEAD", "whether HEAD differs from BASE", ctl_compare},
    {"devices", DEVICES, NULL, "list devices and what is possible on each", ctl_devices},
    {"ready", READY, NULL, "whether a job would be measured now; exits 0 if so", ctl_ready},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

#define AT(member) offsetof(struct ctl_options, member)
/* An option that means one thing here and another there has a line for each; all of a name have the same value. */
static const struct option {
    const char *name, *value; /* value NULL: a switch */
    unsigned commands;
    size_t at;
    const char *what;
} options[] = {
    {"url", "URL", ALL, AT(url), "the daemon (default http://127.0.0.1:8049; environment: ROOFLINED_URL)"},
    {"unix", "PATH", ALL, AT(unix_path), "the daemon's Unix socket, instead of --url"},
    {"token-file", "FILE", ALL, AT(token_file), "file whose first line is the token to send"},
    {"timeout", "SECONDS", ALL, AT(timeout), "wait so long for each answer of the daemon (default " CTL_TIMEOUT_S ")"},
    {"json", NULL, ALL & ~(unsigned)(CANCEL | TRANSCRIPT), AT(json), "print the daemon's JSON as it is"},
    {"wait", NULL, SUBMIT, AT(wait), "follow the job to its end and print the table"},
    {"ncu", "FILE", IMPORT, AT(ncu),
     "an Nsight Compute CSV, raw page or long; or its report (.ncu-rep), which a local ncu exports"},
    {"ncu-exec", "PATH", IMPORT, AT(ncu_exec), "the ncu that exports a report (default: ncu in PATH)"},
    {"timings", "FILE", IMPORT, AT(timings),
     "times: JSON Lines of roofline-measure --json, {\"kernel\", \"ms\"} a line, a PyTorch profiler trace, nvbench's "
     "JSON or CSV of nsys stats"},
    {"power", "FILE", IMPORT, AT(power), "a power log of nvidia-smi --query-gpu or dmon, beside the others"},
    {"partial", NULL, IMPORT, AT(partial), "leave kernels of the timings out that find no launch in the counter file"},
    {"power-gpu", "ID", IMPORT, AT(power_gpu), "of a power log of several GPUs: index, UUID or bus id"},
    {"recording", "FILE", IMPORT, AT(recording), "a recording made by roofline-measure --record; alone"},
    {"record", "FILE", IMPORT, AT(record),
     "a published record (deploy/records/t4.json), --date chooses the entry; alone"},
    {"date", "DAY", IMPORT, AT(date), "when it was measured: a day (UTC) or a time, where no file tells it"},
    {"times", "STATE", IMPORT, AT(times), "plain timings: warm (a loop; the default) or cold"},
    {"sizes", "SIZES", SUBMIT, AT(sizes), "course (default) or scaled"},
    {"sizes", "SIZES", IMPORT, AT(sizes),
     "of kernels that have the suite's names: course, scaled or other (default); of a recording: which of two"},
    {"sizes", "SIZES", RUNS | EXPORT, AT(sizes),
     "course, scaled or other: imports of sizes of their own (default: all)"},
    {"sizes", "SIZES", TREND, AT(sizes), "course (default), scaled or other: imports of sizes of their own"},
    {"sizes", "SIZES", COMPARE, AT(sizes),
     "a driver's runs of course, scaled or other sizes (default: those of the runs named, else course)"},
    {"cache", "LIST", SUBMIT, AT(cache), "warm, cold or warm,cold (default: both)"},
    {"cache", "LIST", IMPORT, AT(cache),
     "state of the profiler's launches: cold (--cache-control all; the default) or warm"},
    {"kernels", "LIST", SUBMIT, AT(kernels), "kernel ids with commas between (default: all ten)"},
    {"no-counters", NULL, SUBMIT, AT(no_counters), "time only: no hardware byte counters"},
    {"device", "ID", SUBMIT, AT(device), "a device's id (default: the first)"},
    {"device", "ID", IMPORT, AT(device), "the GPU's name or UUID, where no file tells it"},
    {"device", "ID", RUNS | EXPORT | HISTORY, AT(device), "a device's id (default: all)"},
    {"device", "ID", TREND, AT(device), "a device's id; needed"},
    {"device", "ID", COMPARE, AT(device),
     "a device's id; needed where both sides are drivers, or a label's runs are of several"},
    {"note", "TEXT", SUBMIT, AT(note), "free text kept with the job"},
    {"label", "LABEL", SUBMIT, AT(label),
     "what the job and its run are for, as a commit or a ticket: up to 64 characters, many runs may share it"},
    {"label", "LABEL", IMPORT, AT(label), "what the run is for, as a commit or a ticket: up to 64 characters"},
    {"label", "LABEL", JOBS, AT(label), "jobs with this label"},
    {"label", "LABEL", RUNS | EXPORT | HISTORY | TREND, AT(label), "runs with this label"},
    {"withdrawn", "WHICH", RUNS | EXPORT, AT(withdrawn), "false (default), true: withdrawn runs alone, or any"},
    {"reason", "TEXT", WITHDRAW, AT(reason), "withdraw the run for this reason, up to 512 characters"},
    {"back", NULL, WITHDRAW, AT(back), "take the withdrawal back"},
    {"why", "KERNEL=TEXT", PREDICTIONS, AT(why),
     "why the prediction of this kernel, one of the two most wrong, was wrong: up to 1024 characters; none: takes it "
     "away"},
    {"on-interrupt", "WHAT", SUBMIT, AT(on_interrupt), "fail or retry, when the daemon or node dies (default: fail)"},
    {"predict", "LIST", SUBMIT, AT(predict),
     "KERNEL=above, near or below, with commas between: where DRAM over asked bytes will lie, as "
     "vector_add=near,transpose_naive=above"},
    {"idempotency-key", "KEY", SUBMIT, AT(idempotency_key), "the same key and job again gives the same job"},
    {"state", "STATE", JOBS, AT(state), "queued, running, done, failed, cancelled or interrupted (default: all)"},
    {"state", "STATE", SHOW, AT(state), "warm, cold or mixed (default: all there are)"},
    {"state", "STATE", TREND, AT(state), "warm (default), cold or mixed: of imports that mix both"},
    {"driver", "VERSION", IMPORT, AT(driver), "the driver that it was measured with, where no file tells it"},
    {"driver", "VERSION", RUNS | EXPORT | TREND, AT(driver),
     "runs with this driver; unknown: those of which it is not known"},
    {"cuda", "VERSION", IMPORT, AT(cuda), "the CUDA version that it was measured with, where no file tells it"},
    {"cuda", "VERSION", RUNS | EXPORT | TREND, AT(cuda),
     "runs with this CUDA version; unknown: those of which it is not known"},
    {"suite", "SUITE", RUNS | EXPORT, AT(suite),
     "verify, or import: rows of other kernels than the ten (default: all)"},
    {"suite", "SUITE", TREND, AT(suite), "verify (default), or import: rows of other kernels than the ten"},
    {"suite", "SUITE", COMPARE, AT(suite),
     "a driver's runs of verify, or of import: rows of other kernels than the ten (default: that of the runs named, "
     "else verify)"},
    {"source", "SOURCE", RUNS | EXPORT, AT(source),
     "measured, replayed, imported, measured,imported or any (default: any)"},
    {"source", "SOURCE", HISTORY | TREND | COMPARE, AT(source),
     "measured, replayed, imported or any (default: measured and imported)"},
    {"counters", "WHICH", RUNS | EXPORT, AT(counters), "counter-backed or timed-only (default: both)"},
    {"outcome", "OUTCOME", RUNS | EXPORT, AT(outcome), "ok, refused, partial or any (default: ok)"},
    {"since", "TIME", IMPORT, AT(since),
     "the power window's beginning by the log's own clock, as \"2026-09-01 12:00:00\" (default: the log's)"},
    {"until", "TIME", IMPORT, AT(until), "the power window's end, likewise"},
    {"since", "TIME", RUNS | EXPORT, AT(since), "RFC 3339 or a date, inclusive"},
    {"since", "TIME", HISTORY | TREND, AT(since), "RFC 3339 or a date, inclusive (default: 365 days before --until)"},
    {"until", "TIME", RUNS | EXPORT | HISTORY | TREND, AT(until), "RFC 3339 or a date, exclusive (default: now)"},
    {"kernel", "ID", TREND, AT(kernel), "a kernel's or ceiling's id; needed"},
    {"kernel", "ID", COMPARE, AT(kernel),
     "ids with commas between, a comma or backslash of an id after a backslash (default: all)"},
    {"metric", "METRIC", TREND, AT(metric),
     "time_s, dram_bytes, dram_per_ask, percent_of_ceiling, or value of a ceiling (default: time_s, of a ceiling "
     "value)"},
    {"fail-on", "VERDICT", COMPARE, AT(fail_on), "slower: exit 1 on a regression, 2 when it could not be told"},
    {"text", "TEXT", NOTE, AT(text), "the note, in place of the one there"},
    {"accept", "LIST", NOTE, AT(accept), "with --text: KERNEL:STATE with commas between, the new baseline of trends"},
    {"limit", "N", JOBS | RUNS, AT(limit), "at most N rows, up to 200 (default 50)"},
    {"table", NULL, SHOW, AT(table), "the ten-row table (default)"},
    {"csv", NULL, SHOW, AT(csv), "CSV, one line per kernel and cache state"},
    {"csv", NULL, EXPORT, AT(csv), "CSV, one line per kernel and cache state (default: JSON)"},
    {"output", "FILE", EXPORT, AT(output), "write to FILE, whole or not at all (default: standard output)"},
    {"help", NULL, ALL, AT(help), "print this and exit"},
    {"version", NULL, ALL, AT(version), "print the version and exit"},
};
#define OPTION_COUNT (sizeof options / sizeof options[0])

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; name != NULL && i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void print_command(const char *name, const char *argument, const char *what)
{
    char left[32];
    snprintf(left, sizeof left, "%s %s", name, argument != NULL ? argument : "");
    printf("  %-18s %s\n", left, what);
}

static bool is_common(const struct option *option)
{
    return (option->commands | CANCEL | TRANSCRIPT) == ALL;
}

/* Of the commands of which: those that are of these alone, or those that nearly all commands have. */
static void print_options(const char *of, unsigned which, bool common)
{
    bool headed = false;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char left[40];
        if (is_common(&options[i]) != common || (options[i].commands & which) == 0)
            continue;
        if (!headed)
            printf("\nOptions of %s:\n", of);
        headed = true;
        snprintf(left, sizeof left, "--%s %s", options[i].name, options[i].value != NULL ? options[i].value : "");
        printf("  %-24s %s\n", left, options[i].what);
    }
}

static const char exit_statuses[] =
    "\nExit status: 0 done; 1 measured, but the run is refused or partial; of compare --fail-on slower: 1 slower, 2 it "
    "could not be told;\n"
    "130 Ctrl-C; otherwise the error's, as in sysexits(3): 64 usage, 65 what was sent, or what the state of things, "
    "does "
    "not allow, 66 no such\n"
    "job, run, device or kernel, 69 the daemon cannot be reached or no device is ready, 70 the measurement failed, 71 "
    "the "
    "system has too little\n"
    "or fails, 74 a file cannot be read or written, 75 try again, 76 the measuring program broke the protocol, 77 not "
    "permitted.\n"
    "server/API.md, \"Errors\", has the status of each error.";

void ctl_help(const char *of)
{
    const struct command *only = find_command(of);
    if (only != NULL) {
        printf("Usage: rooflinectl %s%s%s [OPTION]…\n\n%s\n", only->name, only->argument != NULL ? " " : "",
               only->argument != NULL ? only->argument : "", only->what);
        if (only->bit == COMPARE)
            puts("\nBASE and HEAD are each run:ID[,run:ID…]; or driver:VERSION, label:LABEL or both, with commas "
                 "between, "
                 "and\ncuda:VERSION where wanted. A comma or backslash of a label stands after a backslash.");
        print_options(only->name, only->bit, false);
    } else {
        puts("Usage: rooflinectl COMMAND [OPTION]…\n\nTalks to rooflined.\n\nCommands:");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            print_command(commands[i].name, commands[i].argument, commands[i].what);
        print_command("help", "COMMAND", "this, or what one command is told");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            print_options(commands[i].name, commands[i].bit, false);
    }
    print_options("all commands", only != NULL ? only->bit : ALL, true);
    if (only == NULL || only->bit == SUBMIT)
        puts("\nCtrl-C during submit --wait leaves the job running and says how to cancel it.");
    puts(exit_statuses);
}

/* The first line of the name. */
static const struct option *find_option(const char *name, size_t len)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0)
            return &options[i];
    return NULL;
}

static void set_text(struct ctl_options *ret, size_t at, const char *value)
{
    memcpy((char *)ret + at, &value, sizeof value);
}

/* One "--name", "--name=value" or "--name value"; *i moves past what it took. */
static int take_option(int argc, char **argv, int *i, struct ctl_options *ret, bool used[OPTION_COUNT],
                       struct rl_err *err)
{
    const char *name = argv[*i] + 2;
    size_t len = strcspn(name, "=");
    const struct option *option = find_option(name, len);
    if (option == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "--%.*s is not an option.", (int)len, name);
    used[option - options] = true;
    if (option->value == NULL) {
        if (name[len] == '=')
            return rl_fail(err, RL_E_USAGE, NULL, "--%s takes no value.", option->name);
        *((char *)ret + option->at) = true;
        return 0;
    }
    const char *value = name[len] == '=' ? name + len + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (value == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "--%s needs a value: %s.", option->name, option->value);
    set_text(ret, option->at, value);
    return 0;
}

static bool takes(const struct command *command, const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if ((options[i].commands & command->bit) != 0 && strcmp(options[i].name, name) == 0)
            return true;
    return false;
}

/* Every option given must be one of the command's, and the argument there exactly when the command has one. */
static int check_command(const struct ctl_options *ret, const bool used[OPTION_COUNT], struct rl_err *err)
{
    const struct command *command = find_command(ret->command);
    if (ret->command == NULL)
        return rl_fail(
            err, RL_E_USAGE, NULL,
            "A command is missing: submit, jobs, cancel, transcript, runs, show, note, withdraw, import, predictions, "
            "export, history, "
            "trend, compare, devices or ready; help tells of each.");
    if (command == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is not a command.", ret->command);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (used[i] && !takes(command, options[i].name))
            return rl_fail(err, RL_E_USAGE, NULL, "%s has no option --%s.", command->name, options[i].name);
    int64_t id;
    if (command->argument == NULL)
        return ret->argument == NULL
                   ? 0
                   : rl_fail(err, RL_E_USAGE, NULL, "%s takes no argument, not \"%s\".", command->name, ret->argument);
    if (command->bit == COMPARE)
        return ret->second != NULL ? 0
                                   : rl_fail(err, RL_E_USAGE, NULL,
                                             "compare needs two sides, each run:ID[,run:ID…], driver:VERSION or "
                                             "label:LABEL.");
    if (ret->second != NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is one word too many.", ret->second);
    if (ret->argument == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "%s needs a %s's id.", command->name,
                       command->argument[0] == 'J' ? "job" : "run");
    if (rl_parse_i64(ret->argument, 1, INT64_MAX, &id) != 0)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is not an id: ids are digits.", ret->argument);
    if (ret->json + ret->csv + ret->table > 1)
        return rl_fail(err, RL_E_USAGE, NULL, "Only one of --table, --json and --csv can be printed.");
    return 0;
}

int ctl_options_parse(int argc, char **argv, struct ctl_options *ret, struct rl_err *err)
{
    struct ctl_options parsed = {0};
    bool used[OPTION_COUNT] = {false};
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && strncmp(argv[i], "--", 2) == 0) {
            if (take_option(argc, argv, &i, &parsed, used, err) != 0)
                return -1;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0') {
            return rl_fail(err, RL_E_USAGE, NULL, "%s is not an option: all have long names.", argv[i]);
        } else if (parsed.command == NULL) {
            parsed.command = argv[i];
        } else if (parsed.argument == NULL) {
            parsed.argument = argv[i];
        } else if (parsed.second == NULL) {
            parsed.second = argv[i];
        } else {
            return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is one word too many.", argv[i]);
        }
    }
    if (parsed.command != NULL && strcmp(parsed.command, "help") == 0) {
        if (parsed.second != NULL)
            return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is one word too many.", parsed.second);
        parsed.help = true;
        parsed.command = parsed.argument;
    }
    if (parsed.help && parsed.command != NULL && find_command(parsed.command) == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is not a command.", parsed.command);
    if (!parsed.help && !parsed.version && check_command(&parsed, used, err) != 0)
        return -1;
    *ret = parsed;
    return 0;
}

/* The catalogue speaks to HTTP clients; who uses this program does the same by its options and commands. */
static const char *next_action(const struct rl_err *err)
{
    switch (err->code) {
    case RL_E_NOT_FOUND:
        if (strcmp(err->field, "device") == 0)
            return "See what there is with: " CTL_PROGRAM " devices.";
        if (strcmp(err->field, "kernel") == 0)
            return "See what a run has with: " CTL_PROGRAM " show RUN.";
        return "See what there is with: " CTL_PROGRAM " jobs, or " CTL_PROGRAM " runs.";
    case RL_E_RUN_NOT_FOUND:
        return "See what there is with: " CTL_PROGRAM " runs.";
    case RL_E_UNAUTHORIZED:
        return "Give --token-file FILE with a token that the operator issued, or use --unix PATH.";
    case RL_E_BAD_FIELD:
    case RL_E_UNKNOWN_FIELD:
        return "Correct the option; " CTL_PROGRAM " --help lists them all.";
    case RL_E_BAD_HOST:
        return "Name the daemon in --url by a name that it was configured with (--allow-host).";
    case RL_E_CONFLICT:
        return "See its state with: " CTL_PROGRAM " jobs.";
    case RL_E_IDEMPOTENCY_CONFLICT:
        return "Use a new --idempotency-key for a different job.";
    case RL_E_URI_TOO_LONG:
        return "Shorten the options' values; the message gives the limit.";
    case RL_E_QUEUE_FULL:
        return "Wait until a job has ended and send this one again.";
    case RL_E_NO_DEVICE_READY:
        return "See why with: " CTL_PROGRAM " ready. Mend that, and send the job again.";
    case RL_E_UNREACHABLE:
        return "Check that rooflined runs and that --url or --unix names it.";
    default:
        return rl_code_next_action(err->code);
    }
}

static int print_error(const struct rl_err *err)
{
    return rl_err_print_action(CTL_PROGRAM, err, next_action(err));
}

int main(int argc, char **argv)
{
    struct ctl_options given;
    struct ctl_http *http = NULL;
    struct rl_err err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the write */
    if (ctl_options_parse(argc, argv, &given, &err) != 0)
        return print_error(&err);
    int code = 0;
    if (given.help)
        ctl_help(given.command);
    else if (given.version)
        puts(CTL_PROGRAM " " RL_BUILD_ID);
    else if ((code = ctl_http_new(&given, &http, &err)) == 0)
        code = find_command(given.command)->run(http, &given, &err);
    ctl_http_free(http);
    if (code >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
        code = rl_fail(&err, RL_E_IO, NULL, "Standard output could not be written.");
    return code < 0 ? print_error(&err) : code;
}
