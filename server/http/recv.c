/* See server/http/recv.h. A definition of recv in the program comes before that of any library it is linked with: the
 * dynamic linker looks for a name in the program first, and the static one takes the first that it has met. A
 * sanitizer's own recv comes after it as well, and sees recvfrom instead. Descriptors that are not watched are read as
 * ever. That the library at hand reads by this name, and by no other, is tried out at each start (server/http/probe.c).
 */
#include "server/http/recv.h"

#include <errno.h>
#include <sys/socket.h>

#define DESCRIPTORS 4096 /* LIMIT_CONNECTIONS and all else of the daemon are some 700; numbers are given from below */

static struct {
    http_reader reader;
    void *arg;
} watched[DESCRIPTORS];

int http_recv_watch(int fd, http_reader reader, void *arg)
{
    if (fd < 0 || fd >= DESCRIPTORS)
        return -1;
    watched[fd].reader = reader;
    watched[fd].arg = arg;
    return 0;
}

void http_recv_forget(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        watched[fd].reader = NULL;
}

/* recvfrom without an address is what recv is (recv(2)), and goes by another name. */
__attribute__((visibility("default"))) ssize_t recv(int fd, void *data, size_t size, int flags)
{
    if (fd < 0 || fd >= DESCRIPTORS || !watched[fd].reader)
        return recvfrom(fd, data, size, flags, NULL, NULL);
    if (flags) { /* looking ahead would be a way past the check */
        errno = EOPNOTSUPP;
        return -1;
    }
    return watched[fd].reader(watched[fd].arg, data, size);
}
