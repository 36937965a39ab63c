/* rooflinectl: the client. Parses the command line and calls the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "server/ctl.h"

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
    ALL = 32767,
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
    {"import", IMPORT, NULL, "a run of what another measurement left", ctl_import},
    {"predictions", PREDICTIONS, "RUN", "how a run's predictions came out", ctl_predictions},
    {"export", EXPORT, NULL, "a selection of runs, whole, as JSON or CSV", ctl_export},
    {"history", HISTORY, NULL, "devices, drivers and CUDA versions by day", ctl_history},
    {"trend", TREND, NULL, "a row of a device over days, with its noise band", ctl_trend},
    {"compare", COMPARE, "BASE HEAD", "whether HEAD differs from BASE", ctl_compare},
    {"devices", DEVICES, NULL, "list devices and what is possible on each", ctl_devices},
    {"ready", READY, NULL, "whether a job would be measured now; exits 0 if so", ctl_ready},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

#define AT(member) offsetof(struct ctl_options, member)
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
    {"ncu", "FILE", IMPORT, AT(ncu), "an Nsight Compute CSV, raw page or long"},
    {"timings", "FILE", IMPORT, AT(timings), "JSON Lines: of roofline-measure --json, or {\"kernel\", \"ms\"} a line"},
    {"recording", "FILE", IMPORT, AT(recording), "a recording made by roofline-measure --record; alone"},
    {"record", "FILE", IMPORT, AT(record),
     "a published record (deploy/records/t4.json), --date chooses the entry; alone"},
    {"date", "DAY", IMPORT, AT(date), "when it was measured: a day (UTC) or a time, where no file tells it"},
    {"times", "STATE", IMPORT, AT(times), "plain timings: warm (a loop; the default) or cold"},
    {"sizes", "SIZES", IMPORT | SUBMIT | RUNS | EXPORT | TREND | COMPARE, AT(sizes),
     "course, scaled or, of runs, other: imports of sizes of their own (default: course; of "
     "runs: all)"},
    {"cache", "LIST", SUBMIT | IMPORT, AT(cache),
     "warm, cold or warm,cold (default: both); import: of the profiler's launches, cold (--cache-control all; the "
     "default) or warm"},
    {"kernels", "LIST", SUBMIT, AT(kernels), "kernel ids with commas between (default: all ten)"},
    {"no-counters", NULL, SUBMIT, AT(no_counters), "time only: no hardware byte counters"},
    {"device", "ID", SUBMIT | RUNS | IMPORT | EXPORT | HISTORY | TREND | COMPARE, AT(device),
     "a device's id (submit's default: the first); import: the GPU's name or UUID, where no file tells it"},
    {"note", "TEXT", SUBMIT, AT(note), "free text kept with the job"},
    {"on-interrupt", "WHAT", SUBMIT, AT(on_interrupt), "fail or retry, when the daemon or node dies (default: fail)"},
    {"predict", "LIST", SUBMIT, AT(predict),
     "KERNEL=above, near or below, with commas between: where DRAM over asked bytes will lie, as "
     "vector_add=near,transpose_naive=above"},
    {"idempotency-key", "KEY", SUBMIT, AT(idempotency_key), "the same key and job again gives the same job"},
    {"state", "STATE", JOBS | SHOW | TREND, AT(state),
     "jobs: queued, running, done, failed, cancelled, interrupted; show: warm, cold or mixed "
     "(default: all there are); trend: default warm"},
    {"driver", "VERSION", IMPORT | RUNS | EXPORT | TREND, AT(driver),
     "runs with this driver; unknown: those of which it is not known"},
    {"cuda", "VERSION", IMPORT | RUNS | EXPORT | TREND, AT(cuda), "runs with this CUDA version"},
    {"suite", "SUITE", RUNS | EXPORT | TREND | COMPARE, AT(suite),
     "verify, or import: rows of other kernels than the ten"},
    {"source", "SOURCE", RUNS | EXPORT | HISTORY | TREND | COMPARE, AT(source),
     "measured, replayed, imported or any, of runs also measured,imported (default: any; elsewhere than in runs: not "
     "replayed)"},
    {"counters", "WHICH", RUNS | EXPORT, AT(counters), "counter-backed or timed-only"},
    {"outcome", "OUTCOME", RUNS | EXPORT, AT(outcome), "ok, refused, partial or any (default: ok)"},
    {"since", "TIME", RUNS | EXPORT | HISTORY | TREND, AT(since), "RFC 3339 or a date, inclusive"},
    {"until", "TIME", RUNS | EXPORT | HISTORY | TREND, AT(until), "RFC 3339 or a date, exclusive"},
    {"kernel", "ID", TREND | COMPARE, AT(kernel),
     "a kernel's or, of trend, ceiling's id; compare: ids with commas between, a comma or backslash of an id after a "
     "backslash (default: all)"},
    {"metric", "METRIC", TREND, AT(metric),
     "time_s, dram_bytes, dram_per_ask, percent_of_ceiling, or value of a ceiling"},
    {"fail-on", "VERDICT", COMPARE, AT(fail_on), "slower: exit 1 on a regression, 2 when it could not be told"},
    {"text", "TEXT", NOTE, AT(text), "the note, in place of the one there"},
    {"accept", "LIST", NOTE, AT(accept), "with --text: KERNEL:STATE with commas between, the new baseline of trends"},
    {"limit", "N", JOBS | RUNS, AT(limit), "at most N rows"},
    {"table", NULL, SHOW, AT(table), "the ten-row table (default)"},
    {"csv", NULL, SHOW | EXPORT, AT(csv), "CSV, one line per kernel and cache state"},
    {"output", "FILE", EXPORT, AT(output), "write to FILE, whole or not at all (default: standard output)"},
    {"help", NULL, ALL, AT(help), "print this and exit"},
    {"version", NULL, ALL, AT(version), "print the version and exit"},
};
#define OPTION_COUNT (sizeof options / sizeof options[0])
_Static_assert(OPTION_COUNT <= 64, "take_option marks each in 64 bits");

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; name != NULL && i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void print_command(const struct command *command)
{
    char left[32];
    snprintf(left, sizeof left, "%s %s", command->name, command->argument != NULL ? command->argument : "");
    printf("  %-16s %s\n", left, command->what);
}

void ctl_help(const char *of)
{
    const struct command *only = find_command(of);
    puts("Usage: rooflinectl COMMAND [OPTION]…\n\nTalks to rooflined.\n\nCommands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (only == NULL || only == &commands[i])
            print_command(&commands[i]);
    for (size_t c = 0; c <= COMMAND_COUNT; c++) {
        if (only != NULL && c < COMMAND_COUNT && only != &commands[c])
            continue;
        bool headed = false;
        for (size_t i = 0; i < OPTION_COUNT; i++) {
            bool common =
                (options[i].commands & ~(unsigned)(CANCEL | TRANSCRIPT)) == (ALL & ~(unsigned)(CANCEL | TRANSCRIPT));
            if (c < COMMAND_COUNT ? common || (options[i].commands & commands[c].bit) == 0 : !common)
                continue;
            if (!headed)
                printf("\nOptions of %s:\n", c < COMMAND_COUNT ? commands[c].name : "all commands");
            headed = true;
            char left[40];
            snprintf(left, sizeof left, "--%s %s", options[i].name, options[i].value != NULL ? options[i].value : "");
            printf("  %-24s %s\n", left, options[i].what);
        }
    }
    puts("\nCtrl-C during submit --wait leaves the job running and says how to cancel it.\n"
         "Exit status: 0 done; 1 measured, but the run is refused or partial; of compare --fail-on slower: 1 slower, 2 "
         "it "
         "could not be told;\notherwise the error's, as in "
         "sysexits(3): 64 usage,\n"
         "69 the daemon cannot be reached or no device is ready, 70 the measurement failed, 75 try again, 77 not "
         "permitted.");
}

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
static int take_option(int argc, char **argv, int *i, struct ctl_options *ret, uint64_t *used, struct rl_err *err)
{
    const char *name = argv[*i] + 2;
    size_t len = strcspn(name, "=");
    const struct option *option = find_option(name, len);
    if (option == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "--%.*s is not an option.", (int)len, name);
    *used |= UINT64_C(1) << (option - options);
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

/* Every option given must be one of the command's, and the argument there exactly when the command has one. */
static int check_command(const struct ctl_options *ret, uint64_t used, struct rl_err *err)
{
    const struct command *command = find_command(ret->command);
    if (ret->command == NULL)
        return rl_fail(err, RL_E_USAGE, NULL,
                       "A command is missing: submit, jobs, cancel, transcript, runs, show, note, import, predictions, "
                       "export, history, "
                       "trend, compare, devices or ready; help tells of each.");
    if (command == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is not a command.", ret->command);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if ((used & (UINT64_C(1) << i)) != 0 && (options[i].commands & command->bit) == 0)
            return rl_fail(err, RL_E_USAGE, NULL, "%s has no option --%s.", command->name, options[i].name);
    int64_t id;
    if (command->argument == NULL)
        return ret->argument == NULL
                   ? 0
                   : rl_fail(err, RL_E_USAGE, NULL, "%s takes no argument, not \"%s\".", command->name, ret->argument);
    if (command->bit == COMPARE)
        return ret->second != NULL ? 0
                                   : rl_fail(err, RL_E_USAGE, NULL,
                                             "compare needs two sides, each run:ID[,run:ID…] or "
                                             "driver:VERSION[,cuda:VERSION].");
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
    uint64_t used = 0;
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && strncmp(argv[i], "--", 2) == 0) {
            if (take_option(argc, argv, &i, &parsed, &used, err) != 0)
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
