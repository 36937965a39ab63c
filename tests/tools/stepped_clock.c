/* A wall clock that a test can set: with LD_PRELOAD, CLOCK_REALTIME of a program is the system's plus so many
 * milliseconds as stand in the first eight bytes of the file that STEPPED_CLOCK names. Other clocks are the system's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *offset_ms;

__attribute__((constructor)) static void find_offset(void)
{
    const char *path = getenv("STEPPED_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *page = mmap(NULL, sizeof *offset_ms, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page != MAP_FAILED)
        offset_ms = page;
}

/* The system call: the library's own function is the one that this replaces. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, ret);
    if (rc != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) || offset_ms == NULL)
        return rc;
    int64_t ns = ret->tv_sec * INT64_C(1000000000) + ret->tv_nsec + *offset_ms * INT64_C(1000000);
    ret->tv_sec = ns / 1000000000;
    ret->tv_nsec = ns % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL)
        *ret = now.tv_sec;
    return now.tv_sec;
}
