/* See options.h. One table drives the command line, the environment and --help. */
#include "server/options.h"

#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"

#define TIMEOUT_MAX_S 3600

enum kind { TEXT, SECONDS, FLAG, HOSTS };

static const struct option_spec {
    const char *name, *arg;
    enum kind kind;
    size_t offset;
    const char *help; /* lines after the first are indented by options_help */
} specs[] = {
    {"listen", "ADDR:PORT", TEXT, offsetof(struct options, listen),
     "address for HTTP, or none (default 127.0.0.1:8049; port 0: a free one);\n"
     "anything but loopback needs --token-file or --open-network"},
    {"listen-unix", "PATH", TEXT, offsetof(struct options, listen_unix),
     "also listen on a Unix socket, mode 0660; the daemon's user and root are\nadmins there, others who may open it "
     "submit"},
    {"database", "FILE", TEXT, offsetof(struct options, database),
     "SQLite file (default rooflined.db in $STATE_DIRECTORY, else in the\ncurrent directory)"},
    {"measure-exec", "PATH", TEXT, offsetof(struct options, measure_exec),
     "measuring program to start for each job (default: roofline-measure\nbeside this program)"},
    {"measure-socket", "PATH", TEXT, offsetof(struct options, measure_socket),
     "Unix socket where something starts the measuring program per connection"},
    {"import-exec", "PATH", TEXT, offsetof(struct options, import_exec),
     "importing program to start for each import (default: roofline-import\nbeside this program)"},
    {"replay", "RECORDING", TEXT, offsetof(struct options, replay),
     "measure nothing, replay a recording (not with --measure-socket)"},
    {"static", "DIR", TEXT, offsetof(struct options, static_dir),
     "the page's files (default: ../share/rooflined/static or ../static\nfrom this program), read once at start"},
    {"token-file", "FILE", TEXT, offsetof(struct options, token_file),
     "lines 'ID RIGHT SHA256': RIGHT is read, submit or admin, SHA256 that of\n"
     "the token, as of: printf %s \"$TOKEN\" | sha256sum"},
    {"allow-host", "NAME", HOSTS, 0,
     "a Host name to answer for, beside loopback names; repeatable\n(ROOFLINED_ALLOW_HOST: separated by commas)"},
    {"open-loopback", NULL, FLAG, offsetof(struct options, open_loopback),
     "anyone on this machine may submit and cancel jobs over TCP"},
    {"loopback-needs-token", NULL, FLAG, offsetof(struct options, loopback_needs_token),
     "who comes from this machine over TCP needs a token to read as well: for a\nproxy on it, whose clients all do"},
    {"open-network", NULL, FLAG, offsetof(struct options, open_network),
     "anyone who can reach the address may read (not submit)"},
    {"request-timeout", "SECONDS", SECONDS, offsetof(struct options, request_timeout_s),
     "whole time that a request's body may take to arrive (default 15); its\nhead has 5 s, or this where it is less"},
    {"idle-timeout", "SECONDS", SECONDS, offsetof(struct options, idle_timeout_s),
     "idle time of a kept connection (default 20)"},
    {"job-timeout", "SECONDS", SECONDS, offsetof(struct options, job_timeout_s),
     "limit of a whole job, its phases' limits in proportion (default 600)"},
    {"migrate", NULL, FLAG, offsetof(struct options, migrate),
     "bring the database to this version, whatever its size, and exit (the\ndaemon has to be stopped)"},
    {"check", NULL, FLAG, offsetof(struct options, check),
     "check the database's integrity, say what it holds and exit: nothing is\nwritten (the daemon has to be stopped)"},
    {"backup", "FILE", TEXT, offsetof(struct options, backup),
     "copy the database into a new file and exit; the daemon may run"},
    {"retire", "RUN[,RUN]", TEXT, offsetof(struct options, retire),
     "delete these runs for good and exit (the daemon has to be stopped);\na tombstone with the reason stays"},
    {"reason", "TEXT", TEXT, offsetof(struct options, reason), "why, with --retire"},
    {"verbose", NULL, FLAG, offsetof(struct options, verbose), "log every request on standard error"},
    {"help", NULL, FLAG, offsetof(struct options, help), "print this and exit"},
    {"version", NULL, FLAG, offsetof(struct options, version), "print the version and exit"},
};
#define SPEC_COUNT (sizeof(specs) / sizeof(specs[0]))

static int set_text(char **slot, const char *value, struct rl_err *err)
{
    char *copy = strdup(value);
    if (!copy)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the options");
    free(*slot);
    *slot = copy;
    return 0;
}

static int add_hosts(struct options *options, const char *list, struct rl_err *err)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        if (len == 0 || len > 255 || memchr(list, '/', len) || memchr(list, ' ', len))
            return rl_fail(err, RL_E_USAGE, "allow-host", "--allow-host '%.100s' is not a host name", list);
        if (options->allow_host_count == OPTIONS_HOSTS_MAX)
            return rl_fail(err, RL_E_USAGE, "allow-host", "--allow-host is given more than %u times",
                           OPTIONS_HOSTS_MAX);
        char *name = strndup(list, len);
        if (!name)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the options");
        options->allow_host[options->allow_host_count++] = name;
        list += len + (list[len] == ',');
    }
    return 0;
}

/* `what` names the source in messages: "--listen" or "ROOFLINED_LISTEN". */
static int apply(struct options *options, const struct option_spec *spec, const char *what, const char *value,
                 struct rl_err *err)
{
    void *slot = (char *)options + spec->offset;
    switch (spec->kind) {
    case TEXT:
    case HOSTS:
        if (!*value)
            return rl_fail(err, RL_E_USAGE, spec->name, "%s is empty", what);
        return spec->kind == TEXT ? set_text(slot, value, err) : add_hosts(options, value, err);
    case SECONDS:
        if (rl_parse_i64(value, 1, TIMEOUT_MAX_S, slot))
            return rl_fail(err, RL_E_USAGE, spec->name, "%s '%.64s' is not a number from 1 to %d", what, value,
                           TIMEOUT_MAX_S);
        return 0;
    case FLAG:
        if (strcmp(value, "1") && strcmp(value, "0"))
            return rl_fail(err, RL_E_USAGE, spec->name, "%s '%.64s' is not 1 or 0", what, value);
        *(bool *)slot = *value == '1';
        return 0;
    }
    return -1;
}

static int read_environment(struct options *options, struct rl_err *err)
{
    for (size_t i = 0; i < SPEC_COUNT; i++) {
        char name[64];
        if (!strcmp(specs[i].name, "help") || !strcmp(specs[i].name, "version"))
            continue;
        snprintf(name, sizeof(name), "ROOFLINED_%s", specs[i].name);
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
        const char *value = getenv(name);
        if (value && apply(options, &specs[i], name, value, err))
            return -1;
    }
    return 0;
}

static const struct option_spec *find(const char *name, size_t len)
{
    for (size_t i = 0; i < SPEC_COUNT; i++)
        if (strlen(specs[i].name) == len && !strncmp(specs[i].name, name, len))
            return &specs[i];
    return NULL;
}

static int read_command_line(struct options *options, int argc, char **argv, struct rl_err *err)
{
    bool hosts_given = false;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        size_t len = strncmp(arg, "--", 2) ? 0 : strcspn(arg + 2, "=");
        const struct option_spec *spec = len ? find(arg + 2, len) : NULL;
        if (!spec)
            return rl_fail(err, RL_E_USAGE, NULL, len ? "unknown option '%.100s'" : "unexpected argument '%.100s'",
                           arg);
        const char *value = arg[2 + len] ? arg + 3 + len : NULL;
        char what[64];
        snprintf(what, sizeof(what), "--%s", spec->name);
        if (spec->kind == FLAG) {
            if (value)
                return rl_fail(err, RL_E_USAGE, spec->name, "%s takes no value", what);
            value = "1";
        } else if (!value) {
            value = i + 1 < argc && strncmp(argv[i + 1], "--", 2) ? argv[++i] : NULL;
            if (!value)
                return rl_fail(err, RL_E_USAGE, spec->name, "%s needs a value: %s %s", what, what, spec->arg);
        }
        if (spec->kind == HOSTS && !hosts_given) { /* the command line replaces the environment's list */
            while (options->allow_host_count)
                free(options->allow_host[--options->allow_host_count]);
            hosts_given = true;
        }
        if (apply(options, spec, what, value, err))
            return -1;
        options->static_given |= spec->offset == offsetof(struct options, static_dir) && spec->kind == TEXT;
    }
    return 0;
}

/* A path beside the running program, or NULL when memory ran out. */
static char *beside_program(const char *relative)
{
    char self[PATH_MAX], *path = NULL;
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len < 0)
        return NULL;
    self[len] = '\0';
    return asprintf(&path, "%s/%s", dirname(self), relative) < 0 ? NULL : path;
}

static int fill_defaults(struct options *options, struct rl_err *err)
{
    const char *state = getenv("STATE_DIRECTORY"); /* systemd's; a list with ':' names more than one */
    options->static_given |= options->static_dir != NULL;
    options->import_given = options->import_exec != NULL;
    if (!options->listen && !(options->listen = strdup("127.0.0.1:8049")))
        goto no_memory;
    if (!options->database &&
        asprintf(&options->database, "%s%srooflined.db", state && !strchr(state, ':') ? state : "",
                 state && !strchr(state, ':') ? "/" : "") < 0) {
        options->database = NULL;
        goto no_memory;
    }
    if (!options->measure_exec && !options->measure_socket &&
        !(options->measure_exec = beside_program("roofline-measure")))
        goto no_memory;
    if (!options->import_exec && !(options->import_exec = beside_program("roofline-import")))
        goto no_memory;
    if (!options->static_dir) {
        options->static_dir = beside_program("../share/rooflined/static");
        if (options->static_dir && access(options->static_dir, R_OK)) {
            free(options->static_dir);
            options->static_dir = beside_program("../static");
        }
        if (!options->static_dir)
            goto no_memory;
    }
    return 0;
no_memory:
    return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the options");
}

static int check_combination(const struct options *options, struct rl_err *err)
{
    if (options->measure_exec && options->measure_socket)
        return rl_fail(err, RL_E_USAGE, "measure-socket",
                       "--measure-exec and --measure-socket stand together; give one of them");
    if (options->replay && options->measure_socket)
        return rl_fail(err, RL_E_USAGE, "replay",
                       "--replay needs --measure-exec; what listens on --measure-socket decides for itself");
    if (!strcmp(options->listen ? options->listen : "", "none") && !options->listen_unix)
        return rl_fail(err, RL_E_USAGE, "listen", "--listen none without --listen-unix leaves nothing to listen on");
    if (options->loopback_needs_token && (options->open_loopback || options->open_network))
        return rl_fail(err, RL_E_USAGE, "loopback-needs-token",
                       "--loopback-needs-token and %s contradict each other; give one of them",
                       options->open_loopback ? "--open-loopback" : "--open-network");
    if (options->loopback_needs_token && !options->token_file && !options->listen_unix)
        return rl_fail(err, RL_E_USAGE, "loopback-needs-token",
                       "--loopback-needs-token without --token-file or --listen-unix leaves nobody who may read");
    if (options->backup && (options->check || options->migrate || options->retire))
        return rl_fail(err, RL_E_USAGE, "backup",
                       "--backup stands alone; give --check, --migrate and --retire in runs of their own");
    if (!options->retire != !options->reason)
        return rl_fail(err, RL_E_USAGE, options->retire ? "reason" : "retire",
                       options->retire ? "--retire needs --reason: it is all that will be left of the runs"
                                       : "--reason is for --retire");
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret, struct rl_err *err)
{
    struct options options = {.request_timeout_s = LIMIT_REQUEST_MS / 1000, .idle_timeout_s = LIMIT_IDLE_S};
    if (read_environment(&options, err) || read_command_line(&options, argc, argv, err) ||
        check_combination(&options, err) || fill_defaults(&options, err)) {
        options_free(&options);
        return -1;
    }
    *ret = options;
    return 0;
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < SPEC_COUNT; i++)
        if (specs[i].kind == TEXT)
            free(*(char **)((char *)options + specs[i].offset));
    while (options->allow_host_count)
        free(options->allow_host[--options->allow_host_count]);
}

void options_help(void)
{
    puts("Usage: rooflined [OPTION]…\n\nServes measured rooflines of this machine's NVIDIA GPUs over HTTP.\n");
    for (size_t i = 0; i < SPEC_COUNT; i++) {
        char head[64];
        snprintf(head, sizeof(head), "--%s%s%s", specs[i].name, specs[i].arg ? " " : "",
                 specs[i].arg ? specs[i].arg : "");
        printf("  %-26s", head);
        for (const char *c = specs[i].help; *c; c++)
            printf(*c == '\n' ? "%c%28s" : "%c", *c, "");
        putchar('\n');
    }
    puts(
        "\nEach option may also come from the environment: ROOFLINED_LISTEN for --listen, and so on (flags: 1 or 0).\n"
        "The command line wins. SIGTERM, SIGINT and SIGHUP end the daemon in order, a second one at once.\n"
        "Exit status: 0, or as in sysexits(3): 64 usage, 65 bad data, 66 missing input, 70 defect, 71 system, 74 I/O,\n"
        "75 another program holds the database.");
}
