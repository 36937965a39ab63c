/* Starting a measuring process by exec or by socket; see spawn.h. */
#include "server/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "import_serve.h"
#include "wire.h"

#define FILES_MAX 4u

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

/* Descriptors of the child's side are moved out of the range that the file actions write to. */
static int move_up(int *fd)
{
    if (*fd > PROTOCOL_FD + (int)FILES_MAX)
        return 0;
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, PROTOCOL_FD + (int)FILES_MAX + 1);
    if (moved < 0)
        return -1;
    close(*fd);
    *fd = moved;
    return 0;
}

static int file_actions(posix_spawn_file_actions_t *actions, const struct child *child)
{
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, child->output, 1);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, child->output, 2);
    for (size_t i = 0; error == 0 && i < child->fd_count; i++)
        error = posix_spawn_file_actions_adddup2(actions, child->fds[i], PROTOCOL_FD + (int)i);
    /* whatever a library opened without close-on-exec stays here too */
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(actions, PROTOCOL_FD + (int)child->fd_count);
    return error;
}

static int attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int error = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0)
        error = posix_spawnattr_setpgroup(attr, 0);
    if (error == 0)
        error = posix_spawnattr_setsigmask(attr, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attr, &all);
    return error;
}

/* posix_spawn with everything set up; 0 or an errno. */
static int spawn(const struct child *child, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attr);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    char **env = child_environment();
    const char *words[] = {child->program, "--protocol", child->replay != NULL ? "--replay" : NULL, child->replay,
                           NULL};
    /* posix_spawn takes char *const[] and writes to none of them */
    union {
        const char *const *in;
        char *const *out;
    } argv = {words};
    error = env == NULL ? ENOMEM : file_actions(&actions, child);
    if (error == 0)
        error = attributes(&attr);
    if (error == 0)
        error = posix_spawn(ret, child->program, &actions, &attr, argv.out, env);
    free(env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
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
    int fds[4] = {-1, -1, -1, -1}; /* stream ours, stream theirs, output ours, output theirs */
    int copies[FILES_MAX] = {-1, -1, -1, -1};
    pid_t pid = -1;
    int error = 0, pidfd = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 || pipe2(fds + 2, O_CLOEXEC) != 0 ||
        move_up(&fds[1]) != 0 || move_up(&fds[3]) != 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(fds[2], F_SETFL, O_NONBLOCK) != 0)
        error = errno;
    for (size_t i = 1; error == 0 && i < child->fd_count; i++) {
        copies[i - 1] = fcntl(child->fds[i], F_DUPFD_CLOEXEC, PROTOCOL_FD + (int)FILES_MAX + 1);
        error = copies[i - 1] < 0 ? errno : 0;
        child->fds[i] = copies[i - 1];
    }
    child->fds[0] = fds[1];
    child->output = fds[3];
    if (error == 0)
        error = spawn(child, &pid);
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
        close_all(fds, 4);
        return error;
    }
    close(fds[1]);
    close(fds[3]);
    *ret = (struct spawned){.channel = fds[0], .output = fds[2], .pid = pid, .pidfd = pidfd};
    return 0;
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
    *ret = (struct spawned){.channel = fd, .output = -1, .pid = 0, .pidfd = -1};
    return 0;
}
