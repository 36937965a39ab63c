/* rooflined: starts everything in order, runs the loop, ends it in order. No CUDA here or in anything linked. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "db/backup.h"
#include "db/check.h"
#include "db/open.h"
#include "db/runs/retention.h"
#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "server/http/mhd.h"
#include "server/limits/limits.h"
#include "server/loop/listen.h"
#include "server/loop/work_queue.h"
#include "server/options.h"
#include "server/request/auth.h"
#include "server/routes/routes.h"
#include "server/routes/static_files.h"

struct daemon {
    struct options options;
    struct auth *auth;
    struct static_files *files;
    struct store *store;
    struct loop *loop;
    struct jobs *jobs;
    struct imports *imports;
    struct work_queue *queue;
    struct routes routes;
    struct http_server *http;
    struct loop_source *signals;
    const char *hosts[OPTIONS_HOSTS_MAX + 1];
    char address[80], address_host[80];
    int tcp_fd, unix_fd, signal_fd;
    int signals_seen, last_signal;
    int gone; /* of jobs and imports: whose processes are */
};

static void processes_gone(void *arg)
{
    struct daemon *daemon = arg;
    if (++daemon->gone == 2)
        loop_stop(daemon->loop);
}

/* First signal: no new work, end what runs, then leave. Second: leave at once. */
static void on_signal(void *arg, uint32_t events)
{
    struct daemon *daemon = arg;
    struct signalfd_siginfo info;
    (void)events;
    if (read(daemon->signal_fd, &info, sizeof(info)) != sizeof(info))
        return;
    daemon->last_signal = (int)info.ssi_signo;
    if (daemon->signals_seen++) {
        loop_stop(daemon->loop);
        return;
    }
    fprintf(stderr, "rooflined: %s, shutting down\n", strsignal(daemon->last_signal));
    daemon->routes.answers.shutting_down = true;
    http_server_quiesce(daemon->http);
    jobs_shutdown(daemon->jobs, processes_gone, daemon);
    imports_shutdown(daemon->imports, processes_gone, daemon);
}

/* The log's index is memory of a file: whoever cuts the file between two looks at it (db/core/watch.c) takes the memory
 * away. All that was acknowledged is in the database and its log, so that the next start has it. */
static void on_bus_error(int number)
{
    static const char words[] = "rooflined: a file of the database was cut short while it was in use (SIGBUS): ending; "
                                "what was stored is kept, start again\n";
    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(EX_IOERR);
}

static int watch_signals(struct daemon *daemon, struct rl_err *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    /* A client that goes away must not end the daemon: libmicrohttpd leaves SIGPIPE to us in this mode. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGBUS, on_bus_error);
    if (sigprocmask(SIG_BLOCK, &set, NULL) || (daemon->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
        return rl_fail(err, RL_E_INTERNAL, NULL, "cannot take signals: %s", strerror(errno));
    return loop_add_fd(daemon->loop, daemon->signal_fd, EPOLLIN, on_signal, daemon, &daemon->signals, err);
}

/* Why a file cannot be used that way, or NULL. */
static const char *unusable(const char *path, int mode)
{
    struct stat st;
    if (stat(path, &st))
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "it is not a file";
    return access(path, mode) ? strerror(errno) : NULL;
}

/* What can be wrong with the measuring side is said now, not by the first job. */
static int check_measure(const struct options *options, struct rl_err *err)
{
    const char *why;
    if (options->measure_exec && (why = unusable(options->measure_exec, X_OK)))
        return rl_fail(err, RL_E_MEASURE_START, "measure-exec", "cannot start the measuring program %s: %s",
                       options->measure_exec, why);
    if (options->replay && (why = unusable(options->replay, R_OK)))
        return rl_fail(err, RL_E_REPLAY_OPEN, "replay", "cannot read the recording %s: %s", options->replay, why);
    if (options->import_given && (why = unusable(options->import_exec, X_OK)))
        return rl_fail(err, RL_E_USAGE, "import-exec", "cannot start the importing program %s: %s",
                       options->import_exec, why);
    return 0;
}

/* Every later failure for want of descriptors would be told as something else: SQLite's, or libmicrohttpd's. */
static int check_descriptors(struct rl_err *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < LIMIT_DESCRIPTORS_MIN)
        return rl_fail(err, RL_E_TOO_FEW_DESCRIPTORS, NULL,
                       "this process may have %llu open files at once; the daemon needs at least %u",
                       (unsigned long long)limit.rlim_cur, LIMIT_DESCRIPTORS_MIN);
    return 0;
}

/* Limits under which the daemon runs, but not for ever or not all of it. */
static void warn_of_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        fprintf(stderr,
                "rooflined: warning: no file may grow past %llu bytes (RLIMIT_FSIZE), the database and uploads "
                "included: use ulimit -f unlimited, or LimitFSIZE=infinity in the systemd unit\n",
                (unsigned long long)limit.rlim_cur);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < LIMIT_IMPORT_MEMORY_BYTES)
        fprintf(stderr,
                "rooflined: warning: a process may use %llu bytes of addresses (RLIMIT_AS), and an import up to %lld: "
                "use ulimit -v unlimited, or LimitAS=infinity in the systemd unit\n",
                (unsigned long long)limit.rlim_cur, LIMIT_IMPORT_MEMORY_BYTES);
}

static int check_network(const struct options *options, struct rl_err *err)
{
    bool loopback;
    if (!strcmp(options->listen, "none"))
        return 0;
    if (listen_parse(options->listen, &loopback, err))
        return -1;
    if (!loopback && !options->token_file && !options->open_network)
        return rl_fail(err, RL_E_USAGE, "listen",
                       "--listen %s is not a loopback address: give --token-file, or --open-network to let anyone read",
                       options->listen);
    return 0;
}

static int load_page(struct daemon *daemon, struct rl_err *err)
{
    struct stat st;
    const char *dir = daemon->options.static_dir;
    if (!daemon->options.static_given && stat(dir, &st))
        dir = NULL; /* said once everything else has started: an error is one line */
    return static_files_load(dir, &daemon->files, err);
}

/* The address that the operator chose is a name for this daemon, unless it means all of them. */
static size_t allowed_hosts(struct daemon *daemon)
{
    size_t count = 0;
    for (; count < daemon->options.allow_host_count; count++)
        daemon->hosts[count] = daemon->options.allow_host[count];
    const char *colon = strrchr(daemon->address, ':');
    if (colon && strncmp(daemon->address, "0.0.0.0:", 8) && strncmp(daemon->address, "[::]:", 5)) {
        snprintf(daemon->address_host, sizeof(daemon->address_host), "%.*s", (int)(colon - daemon->address),
                 daemon->address);
        daemon->hosts[count++] = daemon->address_host;
    }
    return count;
}

static int start_listening(struct daemon *daemon, struct rl_err *err)
{
    const struct options *options = &daemon->options;
    bool loopback;
    if (strcmp(options->listen, "none") &&
        listen_tcp(options->listen, daemon->address, &loopback, &daemon->tcp_fd, err))
        return -1;
    return options->listen_unix ? listen_unix(options->listen_unix, &daemon->unix_fd, err) : 0;
}

static int start_http(struct daemon *daemon, struct rl_err *err)
{
    const struct options *options = &daemon->options;
    struct http_config config = {
        .tcp_fd = daemon->tcp_fd,
        .unix_fd = daemon->unix_fd,
        .allowed_hosts = daemon->hosts,
        .allowed_host_count = allowed_hosts(daemon),
        .request_timeout_ms = options->request_timeout_s * 1000,
        .idle_timeout_ms = options->idle_timeout_s * 1000,
        .verbose = options->verbose,
    };
    struct http_handler handler = routes_handler(&daemon->routes);
    if (http_server_new(&config, daemon->auth, &handler, daemon->loop, &daemon->http, err))
        return -1;
    daemon->routes.counts = http_server_counts(daemon->http);
    return 0;
}

static int start(struct daemon *daemon, struct rl_err *err)
{
    const struct options *options = &daemon->options;
    struct auth_config who = {options->token_file, options->open_loopback, options->loopback_needs_token,
                              options->open_network};
    struct jobs_config jobs = {options->measure_exec, options->measure_socket, options->replay,
                               options->job_timeout_s * 1000};

    if (check_descriptors(err) || check_network(options, err) || check_measure(options, err) ||
        auth_new(&who, &daemon->auth, err) || load_page(daemon, err))
        return -1;
    /* The address before the database: of two daemons by mistake, the second must not touch the first's file. */
    if (start_listening(daemon, err) || store_open(options->database, false, &daemon->store, err) ||
        loop_new(&daemon->loop, err) || watch_signals(daemon, err) ||
        jobs_new(&jobs, daemon->store, daemon->loop, &daemon->jobs, err))
        return -1;
    if (store_lost_log(daemon->store))
        fprintf(stderr, "rooflined: warning: the database was open when it was last written, and its write-ahead log "
                        "(-wal) is missing: what was stored last may be lost\n");
    daemon->imports = imports_new(options->import_exec, daemon->store, daemon->loop);
    if (!daemon->imports)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to start");
    daemon->queue = work_queue_new(daemon->loop, err);
    if (!daemon->queue)
        return -1;
    daemon->routes = (struct routes){.jobs = daemon->jobs,
                                     .imports = daemon->imports,
                                     .answers = {.store = daemon->store, .queue = daemon->queue},
                                     .files = daemon->files,
                                     .exports = {.max = LIMIT_EXPORTS,
                                                 .max_each = LIMIT_EXPORTS_EACH,
                                                 .yields_below = LIMIT_YIELD_BYTES_S,
                                                 .what = "exports",
                                                 .full = RL_E_TOO_MANY_EXPORTS},
                                     .uploads = {.max = LIMIT_UPLOADS,
                                                 .max_each = LIMIT_UPLOADS_EACH,
                                                 .yields_below = LIMIT_YIELD_BYTES_S,
                                                 .what = "uploads",
                                                 .full = RL_E_TOO_MANY_IMPORTS},
                                     .started_ns = rl_monotonic_ns()};
    if (start_http(daemon, err))
        return -1;
    warn_of_limits();
    if (static_files_count(daemon->files) == 0)
        fprintf(stderr, "rooflined: warning: the page's files are not installed; / answers 404 (see --static)\n");
    if (daemon->tcp_fd >= 0)
        fprintf(stderr, "rooflined: listening on http://%s/\n", daemon->address);
    if (daemon->unix_fd >= 0)
        fprintf(stderr, "rooflined: listening on unix:%s\n", options->listen_unix);
    return 0;
}

static void stop(struct daemon *daemon)
{
    daemon->routes.answers.shutting_down = true;
    if (daemon->http) {
        http_server_free(daemon->http);
    } else {
        if (daemon->tcp_fd >= 0)
            close(daemon->tcp_fd);
        if (daemon->unix_fd >= 0)
            close(daemon->unix_fd);
    }
    if (daemon->unix_fd >= 0)
        unlink(daemon->options.listen_unix);
    work_queue_free(daemon->queue);
    imports_free(daemon->imports);
    jobs_free(daemon->jobs);
    if (daemon->loop) {
        loop_remove(daemon->loop, daemon->signals);
        loop_free(daemon->loop);
    }
    if (daemon->signal_fd >= 0)
        close(daemon->signal_fd);
    store_close(daemon->store);
    static_files_free(daemon->files);
    auth_free(daemon->auth);
}

/* Each run in a transaction of its own: what was said to be retired is. */
static int retire(struct store *store, const char *runs, const char *reason, struct rl_err *err)
{
    while (*runs) {
        char digits[24];
        size_t len = strcspn(runs, ",");
        int64_t id;
        snprintf(digits, sizeof(digits), "%.*s", (int)(len < sizeof(digits) ? len : sizeof(digits) - 1), runs);
        if (rl_parse_i64(digits, 1, INT64_MAX, &id))
            return rl_fail(err, RL_E_USAGE, "retire", "--retire '%s' is not a run's id", digits);
        if (store_run_retire(store, id, reason, rl_now_ms(), err))
            return -1;
        printf("run %lld: retired\n", (long long)id);
        runs += len + (runs[len] == ',');
    }
    return 0;
}

/* "12 runs, newest 12 of 2026-11-29T…", or "no runs". */
static void print_count(const char *name, int64_t count, int64_t newest, int64_t ms)
{
    char time[RL_TIME_TEXT];
    rl_time_format(ms, time);
    if (count == 0)
        printf("; no %ss", name);
    else
        printf("; %lld %s%s, newest %lld of %s", (long long)count, name, rl_plural((uint64_t)count), (long long)newest,
               time);
}

static int check(const char *database, struct rl_err *err)
{
    struct store_report report;
    if (store_check_file(database, &report, err))
        return -1;
    printf("%s: schema version %d, integrity ok", database, report.version);
    print_count("run", report.runs, report.newest_run, report.newest_run_ms);
    print_count("job", report.jobs, report.newest_job, report.newest_job_ms);
    putchar('\n');
    if (report.log_missing)
        return rl_fail(
            err, RL_E_STORE_CORRUPT, "database",
            "its write-ahead log (-wal) is missing: a daemon had the file open when it was copied or the log "
            "was deleted, and what was stored last may stand in the log alone");
    return 0;
}

static int maintain(const struct options *options, struct rl_err *err)
{
    struct store *store;
    if (access(options->database, F_OK))
        return rl_fail(err, RL_E_STORE_OPEN, "database", "there is no database %s", options->database);
    if (options->backup) {
        if (store_backup(options->database, options->backup, err))
            return -1;
        printf("%s: copied to %s\n", options->database, options->backup);
        return 0;
    }
    if (options->check && !options->migrate && !options->retire)
        return check(options->database, err);
    if (store_open(options->database, options->migrate, &store, err))
        return -1;
    int rc = options->retire ? retire(store, options->retire, options->reason, err) : 0;
    if (rc == 0 && options->check)
        rc = store_check_integrity(store, err);
    if (rc == 0)
        printf("%s: schema version %d%s\n", options->database, store_schema_version(store),
               options->check ? ", integrity ok" : "");
    store_close(store);
    return rc;
}

int main(int argc, char **argv)
{
    struct daemon daemon = {.tcp_fd = -1, .unix_fd = -1, .signal_fd = -1};
    struct rl_err err = {0};
    int exit_code = 0;

    /* A limit on the size of files is an error of the write, as a full disk is; before anything is written. */
    signal(SIGXFSZ, SIG_IGN);
    if (options_parse(argc, argv, &daemon.options, &err))
        return rl_err_print("rooflined", &err);
    if (daemon.options.help) {
        options_help();
    } else if (daemon.options.version) {
        puts("rooflined " RL_BUILD_ID);
    } else if (daemon.options.migrate || daemon.options.check || daemon.options.retire || daemon.options.backup) {
        exit_code = maintain(&daemon.options, &err) ? rl_err_print("rooflined", &err) : 0;
    } else {
        if (start(&daemon, &err) || loop_run(daemon.loop, &err))
            exit_code = rl_err_print("rooflined", &err);
        else if (daemon.signals_seen > 1)
            exit_code = 128 + daemon.last_signal;
        stop(&daemon);
    }
    options_free(&daemon.options);
    if (exit_code == 0 && (fflush(stdout) || ferror(stdout))) {
        rl_fail(&err, RL_E_IO, NULL, "standard output could not be written: %s", strerror(errno));
        exit_code = rl_err_print("rooflined", &err);
    }
    return exit_code;
}
