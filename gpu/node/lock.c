/* See gpu/node/lock.h. The files are empty and stay; a lock file that is removed could be locked twice. */
#include "gpu/node/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpu/base/time.h"

#define SYSTEM_PARENT    "/run/lock" /* absent from some containers */
#define SYSTEM_DIRECTORY "/run/lock/rooflined"
#define POLL_MS          20

int gpu_lock_directory(char *path, size_t size, struct rl_err *err)
{
    struct stat status;
    /* only root may make it: /run/lock is writable for all, and a directory of some user's would shut the others out */
    if (geteuid() == 0) { /* a failure shows in the look that follows */
        (void)mkdir(SYSTEM_PARENT, 0755);
        if (mkdir(SYSTEM_DIRECTORY, 0755) == 0)
            (void)chmod(SYSTEM_DIRECTORY, 0755); /* whatever the umask is: others have to get in */
    }
    if (lstat(SYSTEM_DIRECTORY, &status) == 0 && S_ISDIR(status.st_mode)) {
        snprintf(path, size, "%s", SYSTEM_DIRECTORY);
        return 0;
    }
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (!runtime || runtime[0] != '/')
        return rl_fail(err, RL_E_FORBIDDEN, NULL,
                       "there is no directory for GPU locks: neither the system's nor XDG_RUNTIME_DIR");
    int len = snprintf(path, size, "%s/rooflined", runtime);
    if (len < 0 || (size_t)len >= size)
        return rl_fail(err, RL_E_FORBIDDEN, NULL, "XDG_RUNTIME_DIR is too long a path");
    if (mkdir(path, 0700) && errno != EEXIST)
        return rl_fail(err, RL_E_FORBIDDEN, NULL, "the user's directory for GPU locks cannot be made: %s",
                       strerror(errno));
    return 0;
}

/* A name of letters, digits and '-' (old MIG UUIDs have a '/'). */
static void safe_name(const char *name, char *text, size_t size)
{
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++)
        text[i] = isalnum((unsigned char)name[i]) || name[i] == '-' ? name[i] : '_';
    text[i] = '\0';
}

/* Any right to read suffices for flock, so that a plain user's run excludes the service's job and waits for it. */
static int open_lock(const char *directory, const char *name)
{
    int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return -1;
    char file[128];
    char safe[100];
    safe_name(name, safe, sizeof safe);
    snprintf(file, sizeof file, "%s.lock", safe);
    int fd = openat(at, file, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0 && (errno == EACCES || errno == EROFS))
        fd = openat(at, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int saved = errno;
    close(at);
    errno = saved;
    return fd;
}

int gpu_lock_take(const char *directory, const char *name, int64_t wait_ms, int *ret_fd, struct rl_err *err)
{
    int fd = open_lock(directory, name);
    if (fd < 0)
        return rl_fail(err, RL_E_FORBIDDEN, NULL, "the lock of %s cannot be opened: %s", name, strerror(errno));
    int64_t end_ns = rl_monotonic_ns() + wait_ms * 1000000;
    while (flock(fd, LOCK_EX | LOCK_NB)) {
        int failure = errno;
        if (failure == EWOULDBLOCK && rl_monotonic_ns() < end_ns) {
            nanosleep(&(struct timespec){0, POLL_MS * 1000000L}, NULL);
            continue;
        }
        if (failure == EINTR)
            continue;
        close(fd);
        if (failure == EWOULDBLOCK)
            return rl_fail(err, RL_E_DEVICE_BUSY, NULL, "another measurement holds the lock of %s; waited %.1f s", name,
                           (double)wait_ms / 1e3);
        return rl_fail(err, RL_E_FORBIDDEN, NULL, "the lock of %s cannot be taken: %s", name, strerror(failure));
    }
    *ret_fd = fd;
    return 0;
}

void gpu_lock_release(int fd)
{
    if (fd >= 0)
        close(fd);
}
