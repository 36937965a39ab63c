/* rooflinectl: the client. Finds the command, gives it its options and calls it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/ctl/ctl.h"

static const struct ctl_command *const commands[] = {
    &ctl_command_submit, &ctl_command_jobs,        &ctl_command_cancel,  &ctl_command_transcript,
    &ctl_command_runs,   &ctl_command_show,        &ctl_command_note,    &ctl_command_withdraw,
    &ctl_command_import, &ctl_command_predictions, &ctl_command_export,  &ctl_command_history,
    &ctl_command_trend,  &ctl_command_compare,     &ctl_command_devices, &ctl_command_ready,
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

#define AT(member) offsetof(struct ctl_common, member)
static const struct ctl_option common_options[] = {
    {"url", "URL", AT(url), "the daemon (default http://127.0.0.1:8049; environment: ROOFLINED_URL)"},
    {"unix", "PATH", AT(unix_path), "the daemon's Unix socket, instead of --url"},
    {"token-file", "FILE", AT(token_file), "file whose first line is the token to send"},
    {"timeout", "SECONDS", AT(timeout), "wait so long for each answer of the daemon (default " CTL_TIMEOUT_S ")"},
    {"json", NULL, AT(json), "print the daemon's JSON as it is"},
    {"help", NULL, AT(help), "print this and exit"},
    {"version", NULL, AT(version), "print the version and exit"},
};
static const struct ctl_table common_table = CTL_TABLE(common_options);

static const struct ctl_command *find_command(const char *name)
{
    for (size_t i = 0; name != NULL && i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* ---- help ---- */

static void print_command(const char *name, const char *argument, const char *what)
{
    char left[32];
    snprintf(left, sizeof left, "%s %s", name, argument != NULL ? argument : "");
    printf("  %-18s %s\n", left, what);
}

static void print_options(const struct ctl_command *command, const struct ctl_line *line)
{
    if (command->own.count + command->with.count == 0)
        return;
    printf("\nOptions of %s:\n", command->name);
    ctl_print_table(command->own);
    ctl_print_table(command->with);
    if (command->help != NULL)
        command->help(line);
}

static void print_common(const struct ctl_command *only)
{
    puts("\nOptions of all commands:");
    for (size_t i = 0; i < common_table.count; i++)
        if (only == NULL || !only->plain || common_options[i].at != AT(json))
            ctl_print_table((struct ctl_table){&common_options[i], 1});
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

static void print_help(const struct ctl_command *only, const struct ctl_line *line)
{
    if (only != NULL) {
        printf("Usage: rooflinectl %s%s%s [OPTION]…\n\n%s\n", only->name, only->argument != NULL ? " " : "",
               only->argument != NULL ? only->argument : "", only->what);
        if (only->more != NULL)
            printf("\n%s\n", only->more);
        print_options(only, line);
    } else {
        puts("Usage: rooflinectl COMMAND [OPTION]…\n\nTalks to rooflined.\n\nCommands:");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            print_command(commands[i]->name, commands[i]->argument, commands[i]->what);
        print_command("help", "COMMAND", "this, or what one command is told");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            print_options(commands[i], line);
    }
    print_common(only);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i]->last != NULL && (only == NULL || only == commands[i]))
            printf("\n%s\n", commands[i]->last);
    puts(exit_statuses);
}

/* ---- the command line ---- */

static const struct ctl_option *find_in(const struct ctl_command *command, const char *name, size_t len)
{
    const struct ctl_option *option = ctl_table_find(command->own, name, len);
    if (option == NULL)
        option = ctl_table_find(command->with, name, len);
    if (option == NULL && command->ever != NULL)
        option = command->ever(name, len);
    return option;
}

static const struct ctl_option *find_option(const char *of, const char *name, size_t len)
{
    const struct ctl_command *command = find_command(of);
    const struct ctl_option *option = ctl_table_find(common_table, name, len);
    if (option == NULL && command != NULL)
        option = find_in(command, name, len);
    for (size_t i = 0; option == NULL && i < COMMAND_COUNT; i++)
        option = find_in(commands[i], name, len);
    return option;
}

/* Every option given must be one of the command's. */
static int take_options(const struct ctl_command *command, const struct ctl_line *line, void *values,
                        struct rl_err *err)
{
    struct ctl_table more = {NULL, 0};
    if (command->extend != NULL && command->extend(line, &more, err) != 0)
        return -1;
    for (size_t i = 0; i < line->given_count; i++) {
        const struct ctl_given *given = &line->given[i];
        const struct ctl_option *option = ctl_table_find(common_table, given->name, given->len);
        if (option != NULL && !(command->plain && option->at == AT(json)))
            continue;
        option = ctl_table_find(command->own, given->name, given->len);
        if (option == NULL)
            option = ctl_table_find(command->with, given->name, given->len);
        if (option == NULL)
            option = ctl_table_find(more, given->name, given->len);
        if (option == NULL && command->elsewhere != NULL && command->elsewhere(line, given->name, given->len, err) != 0)
            return -1;
        if (option == NULL)
            return rl_fail(err, RL_E_USAGE, NULL, "%s has no option --%.*s.", command->name, (int)given->len,
                           given->name);
        ctl_set(values, option, given);
    }
    return 0;
}

/* The words there exactly when the command takes them. */
static int check_words(const struct ctl_command *command, const char *argument, const char *second, struct rl_err *err)
{
    int64_t id;
    if (command->argument == NULL)
        return argument == NULL
                   ? 0
                   : rl_fail(err, RL_E_USAGE, NULL, "%s takes no argument, not \"%s\".", command->name, argument);
    if (command->two != NULL)
        return second != NULL ? 0 : rl_fail(err, RL_E_USAGE, NULL, "%s", command->two);
    if (second != NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is one word too many.", second);
    if (argument == NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "%s needs a %s's id.", command->name,
                       command->argument[0] == 'J' ? "job" : "run");
    if (rl_parse_i64(argument, 1, INT64_MAX, &id) != 0)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is not an id: ids are digits.", argument);
    return 0;
}

static int no_command(const char *name, struct rl_err *err)
{
    char names[512] = "";
    if (name != NULL)
        return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is not a command.", name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 i == 0                   ? ""
                 : i == COMMAND_COUNT - 1 ? " or "
                                          : ", ",
                 commands[i]->name);
    return rl_fail(err, RL_E_USAGE, NULL, "A command is missing: %s; help tells of each.", names);
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

static int run(const struct ctl_command *command, const struct ctl_line *line, const struct ctl_common *common,
               struct rl_err *err)
{
    struct ctl_http *http = NULL;
    if (command == NULL)
        return no_command(line->words[0], err);
    void *values = calloc(1, command->values_size + 1);
    const struct ctl_call call = {common, values, line->words[1], line->words[2]};
    if (values == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the options.");
    int code = take_options(command, line, values, err);
    if (code == 0)
        code = check_words(command, call.argument, call.second, err);
    if (code == 0)
        code = ctl_http_new(common, &http, err);
    if (code == 0)
        code = command->run(http, &call, err);
    ctl_http_free(http);
    free(values);
    return code;
}

/* Help, the version, or a command. */
static int obey(struct ctl_line *line, struct rl_err *err)
{
    struct ctl_common common = {0};
    for (size_t i = 0; i < line->given_count; i++) {
        const struct ctl_option *option = ctl_table_find(common_table, line->given[i].name, line->given[i].len);
        if (option != NULL)
            ctl_set(&common, option, &line->given[i]);
    }
    const char *name = line->words[0];
    if (name != NULL && strcmp(name, "help") == 0) {
        if (line->words[2] != NULL)
            return rl_fail(err, RL_E_USAGE, NULL, "\"%s\" is one word too many.", line->words[2]);
        common.help = true;
        name = line->words[1];
    }
    const struct ctl_command *command = find_command(name);
    struct ctl_table more;
    if (common.help && name != NULL && command == NULL)
        return no_command(name, err);
    if (common.help && command != NULL && command->extend != NULL && command->extend(line, &more, err) != 0)
        return -1;
    if (common.help)
        print_help(command, line);
    else if (common.version)
        puts(CTL_PROGRAM " " RL_BUILD_ID);
    else
        return run(command, line, &common, err);
    return 0;
}

int main(int argc, char **argv)
{
    struct ctl_line line;
    struct rl_err err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of the write */
    int code = ctl_read(argc, argv, find_option, &line, &err);
    if (code == 0)
        code = obey(&line, &err);
    ctl_line_free(&line);
    if (code >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
        code = rl_fail(&err, RL_E_IO, NULL, "Standard output could not be written.");
    return code < 0 ? rl_err_print_action(CTL_PROGRAM, &err, next_action(&err)) : code;
}
