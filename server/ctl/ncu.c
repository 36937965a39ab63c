/* Reports of Nsight Compute (.ncu-rep): only ncu reads them, so a local one exports what the daemon can read. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/base/io.h"
#include "gpu/base/num.h"
#include "server/ctl/ctl.h"

#define EXPORT_MAX  (16u * 1024u * 1024u) /* as much as the daemon takes */
#define MESSAGE_MAX 200u

extern char **environ;

bool ctl_ncu_is_report(const char *path)
{
    char head[4];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool report = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head && memcmp(head, "NVR", 4) == 0;
    if (fd >= 0)
        close(fd);
    return report;
}

/* ncu with its output into the two descriptors; 0, or an errno. */
static int start(const char *ncu, const char *report, int out, int messages, pid_t *ret)
{
    /* whole counts: without "base" it rounds to Kbyte and Mbyte */
    const char *const argv[] = {"ncu", "--import", report, "--csv", "--page", "raw", "--print-units", "base", NULL};
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0)
        return rc;
    rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawnp(ret, ncu, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* What comes from the pipe into the file; the bytes, at most one more than EXPORT_MAX. -1: it could not be written. */
static ssize_t take(int pipe_fd, int file)
{
    char buffer[65536];
    size_t total = 0;
    while (total <= EXPORT_MAX) {
        ssize_t got = read(pipe_fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (rl_write_all(file, buffer, (size_t)got) != 0)
            return -1;
        total += (size_t)got;
    }
    return (ssize_t)total;
}

/* The first line that the file holds, for a message. */
static const char *first_line(int file, char line[MESSAGE_MAX])
{
    ssize_t got = pread(file, line, MESSAGE_MAX - 1, 0);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    for (char *c = line; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7F ? '?' : *c;
    return line;
}

static int not_exported(const char *report, int status, int out, int messages, struct rl_err *err)
{
    char line[MESSAGE_MAX];
    if (first_line(messages, line)[0] == '\0')
        first_line(out, line); /* where ncu writes its own errors */
    return rl_fail(err, RL_E_IMPORT_FORMAT, "ncu", "ncu could not export %.200s (it ended with %s %d): %s", report,
                   WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                   line[0] != '\0' ? line : "it said nothing");
}

static int export_to(const char *ncu, const char *report, int file, int messages, int pipes[2], struct rl_err *err)
{
    pid_t pid;
    int status = 0, rc = start(ncu, report, pipes[1], messages, &pid);
    close(pipes[1]);
    pipes[1] = -1;
    if (rc != 0)
        return rl_fail(
            err, RL_E_USAGE, "--ncu-exec",
            "%.200s is a report of Nsight Compute, and %.200s, which could export it, cannot be run here (%s). "
            "Where ncu is installed, run: ncu --import %.200s --csv --page raw --print-units base > report.csv; "
            "then import report.csv, or name ncu by --ncu-exec",
            report, ncu, strerror(rc), report);
    ssize_t bytes = take(pipes[0], file);
    if (bytes < 0 || (size_t)bytes > EXPORT_MAX)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (bytes < 0)
        return rl_fail(err, RL_E_IO, "ncu", "The export of %.200s could not be kept: %s.", report, strerror(errno));
    if ((size_t)bytes > EXPORT_MAX)
        return rl_fail(err, RL_E_TOO_LARGE, "ncu",
                       "The export of %.200s has more than %u bytes; profile fewer kernels or metrics.", report,
                       EXPORT_MAX);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes == 0)
        return not_exported(report, status, file, messages, err);
    return 0;
}

int ctl_ncu_export(const char *ncu, const char *report, char path[CTL_NCU_PATH], struct rl_err *err)
{
    int pipes[2] = {-1, -1}, file = memfd_create("export", MFD_CLOEXEC), messages = memfd_create("said", MFD_CLOEXEC);
    int rc = -1;
    if (file < 0 || messages < 0 || pipe2(pipes, O_CLOEXEC) != 0)
        rl_fail(err, RL_E_TOO_FEW_DESCRIPTORS, NULL, "No place for an export: %s.", strerror(errno));
    else
        rc = export_to(ncu != NULL ? ncu : "ncu", report, file, messages, pipes, err);
    for (int i = 0; i < 2; i++)
        if (pipes[i] >= 0)
            close(pipes[i]);
    if (messages >= 0)
        close(messages);
    if (rc != 0 && file >= 0)
        close(file);
    if (rc == 0)
        snprintf(path, CTL_NCU_PATH, "/proc/self/fd/%d", file); /* open until this process ends */
    return rc;
}
