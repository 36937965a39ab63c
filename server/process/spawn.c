/* Starting a measuring process by exec or by socket; see server/process/spawn.h. */
#include "server/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/wire/import.h"
#include "gpu/wire/wire.h"

#define FILES_MAX 4u
/* Above what a child is given: its stream, its files, and the pipe for exec's error. */
#define FIRST_FREE_FD    (PROTOCOL_FD + (int)FILES_MAX + 2)
#define EXIT_NOT_STARTED 127

_Static_assert(IMPORT_FD == PROTOCOL_FD, "both protocols speak on one descriptor");

/* What is started, and what it is given: descriptors of ours that it gets as 3 and on, the stream first. */
struct child {
    const char *program, *replay; /* replay: NULL, or the recording of --replay */
    int output;
    int fds[1 + FILES_MAX];
    size_t fd_count;
};

extern char **environ;

int spawn_pidfd(pid_t pid)
{
    /* the system call: glibc before 2.36 has no wrapper. A pidfd is close-on-exec by itself (pidfd_open(2)). */
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* What a service manager tells one process alone: handed on, it would make the child answer in our name. */
static const char *const private_names[] = {
    "NOTIFY_SOCKET=", "LISTEN_FDS=", "LISTEN_PID=", "LISTEN_FDNAMES=", "WATCHDOG_PID=", "WATCHDOG_USEC="};

static char **child_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    if (copy == NULL)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool ours = false;
        for (size_t p = 0; p < sizeof private_names / sizeof private_names[0]; p++)
            ours |= strncmp(environ[i], private_names[p], strlen(private_names[p])) == 0;
        if (!ours)
            copy[kept++] = environ[i];
    }
    return copy;
}

/* Descriptors of the child's side are moved out of the range that the child puts them to. */
static int move_up(int *fd)
{
    if (*fd >= FIRST_FREE_FD)
        return 0;
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
    if (moved < 0)
        return -1;
    close(*fd);
    *fd = moved;
    return 0;
}

/* In the child: 0, 1, 2, the stream and the files are put in their places, the pipe for exec's error behind them, and
 * all else is closed, whatever a library opened without close-on-exec too. 0 or an errno; *failed_fd moves. */
static int place_descriptors(const struct child *child, int *failed_fd)
{
    int end = PROTOCOL_FD + (int)child->fd_count, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(child->output, 1) < 0 || dup2(child->output, 2) < 0)
        return errno;
    for (size_t i = 0; i < child->fd_count; i++)
        if (dup2(child->fds[i], PROTOCOL_FD + (int)i) < 0)
            return errno;
    if (dup3(*failed_fd, end, O_CLOEXEC) < 0)
        return errno;
    *failed_fd = end;
    return close_range((unsigned)end + 1, ~0U, 0) == 0 ? 0 : errno;
}

/* The child from fork to exec. It has our memory and none of our threads: nothing is called that may take a lock. Until
 * exec it dies with us: stopped here, it would else keep our sockets and the database's lock. */
static void become(const struct child *child, char *const *argv, char **env, pid_t parent, int failed_fd)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_NOT_STARTED);
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    int error = place_descriptors(child, &failed_fd);
    if (error == 0 && sigprocmask(SIG_SETMASK, &none, NULL) == 0) {
        prctl(PR_SET_PDEATHSIG, 0);
        execve(child->program, argv, env);
    }
    error = error != 0 ? error : errno;
    (void)!write(failed_fd, &error, sizeof error);
    _exit(EXIT_NOT_STARTED);
}

/* 0 or an errno. Not posix_spawn and not vfork: they wait for exec, and a child that is stopped before it, or that
 * waits for a slow disk there, would hold the loop with it, in a sleep that no signal ends. Starting one
 * from a process of 60 MB took 2.3 ms in this way and 1.0 by posix_spawn, of 20 MB 1.3 and 1.2 (medians of 200 on two
 * busy cores, 2026-11-30). */
static int spawn(const struct child *child, int failed_fd, pid_t *ret)
{
    const char *words[] = {child->program, "--protocol", child->replay != NULL ? "--replay" : NULL, child->replay,
                           NULL};
    /* execve takes char *const[] and writes to none of them */
    union {
        const char *const *in;
        char *const *out;
    } argv = {words};
    pid_t parent = getpid();
    /* what exec would say of a wrong path is said at once; anything else comes when the child has ended */
    if (faccessat(AT_FDCWD, child->program, X_OK, AT_EACCESS) != 0)
        return errno;
    char **env = child_environment();
    if (env == NULL)
        return ENOMEM;
    pid_t pid = _Fork();
    if (pid == 0)
        become(child, argv.out, env, parent, failed_fd);
    int error = pid < 0 ? errno : 0;
    free(env);
    if (pid > 0) {
        setpgid(pid, pid); /* whichever of us is first; after exec it is done and this fails */
        *ret = pid;
    }
    return error;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* child has the program and, from fds[1] on, its files; 0 or an errno. */
static int start(struct child *child, struct spawned *ret)
{
    /* stream ours, stream theirs, output ours, output theirs, exec's error ours, theirs */
    int fds[6] = {-1, -1, -1, -1, -1, -1};
    int copies[FILES_MAX] = {-1, -1, -1, -1};
    pid_t pid = -1;
    int error = 0, pidfd = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 || pipe2(fds + 2, O_CLOEXEC) != 0 ||
        pipe2(fds + 4, O_CLOEXEC) != 0 || move_up(&fds[1]) != 0 || move_up(&fds[3]) != 0 || move_up(&fds[5]) != 0 ||
        fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(fds[2], F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(fds[4], F_SETFL, O_NONBLOCK) != 0)
        error = errno;
    for (size_t i = 1; error == 0 && i < child->fd_count; i++) {
        copies[i - 1] = fcntl(child->fds[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        error = copies[i - 1] < 0 ? errno : 0;
        child->fds[i] = copies[i - 1];
    }
    child->fds[0] = fds[1];
    child->output = fds[3];
    if (error == 0)
        error = spawn(child, fds[5], &pid);
    if (error == 0) {
        pidfd = spawn_pidfd(pid);
        if (pidfd < 0) {
            error = errno;
            kill(-pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
    }
    close_all(copies, FILES_MAX);
    if (error != 0) {
        close_all(fds, 6);
        return error;
    }
    close(fds[1]);
    close(fds[3]);
    close(fds[5]);
    *ret = (struct spawned){.channel = fds[0], .output = fds[2], .failed = fds[4], .pid = pid, .pidfd = pidfd};
    return 0;
}

int spawn_exec_error(const struct spawned *spawned)
{
    int error = 0;
    return spawned->failed >= 0 && read(spawned->failed, &error, sizeof error) == sizeof error ? error : 0;
}

int spawn_exec(const char *program, const char *replay, struct spawned *ret, struct rl_err *err)
{
    struct child child = {.program = program, .replay = replay, .fd_count = 1};
    int error = start(&child, ret);
    return error == 0 ? 0
                      : rl_fail(err, RL_E_MEASURE_START, "--measure-exec",
                                "The measuring program could not be started: %s.", strerror(error));
}

int spawn_import(const char *program, const int *files, size_t file_count, struct spawned *ret, struct rl_err *err)
{
    struct child child = {.program = program, .fd_count = 1 + file_count};
    if (file_count > FILES_MAX)
        return rl_fail(err, RL_E_INTERNAL, NULL, "%zu files are too many for an import.", file_count);
    for (size_t i = 0; i < file_count; i++)
        child.fds[1 + i] = files[i];
    int error = start(&child, ret);
    return error == 0 ? 0
                      : rl_fail(err, RL_E_IMPORT_FAILED, "--import-exec",
                                "The importing program could not be started: %s.", strerror(error));
}

int spawn_connect(const char *path, struct spawned *ret, struct rl_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return rl_fail(err, RL_E_MEASURE_START, "--measure-socket", "The socket's path has %zu bytes: at most %zu fit.",
                       strlen(path), sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    /* SO_PEERCRED would name whoever called listen(), the service manager; with SO_PASSCRED each message carries the
     * pid of the process that sent it (unix(7)) */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rl_fail(err, RL_E_MEASURE_START, "--measure-socket", "Nothing that measures answers at the socket: %s.",
                       strerror(error));
    }
    *ret = (struct spawned){.channel = fd, .output = -1, .failed = -1, .pid = 0, .pidfd = -1};
    return 0;
}
