/* See io.h. */
#include "gpu/base/io.h"

#include <errno.h>
#include <unistd.h>

int rl_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        ssize_t wrote = write(fd, at, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        at += wrote;
        len -= (size_t)wrote;
    }
    return 0;
}
