/* See server/loop/listen.h. */
#include "server/loop/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu/base/num.h"

#define BACKLOG     128
#define BIND_TRIES  20
#define BIND_TRY_MS 50

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static int parse(const char *text, union address *ret, struct rl_err *err)
{
    char host[64];
    int64_t port;
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    memset(ret, 0, sizeof(*ret));
    if (!colon || len == 0 || len >= sizeof(host) || rl_parse_i64(colon + 1, 0, 65535, &port))
        return rl_fail(err, RL_E_USAGE, "listen",
                       "--listen '%s' is not ADDRESS:PORT, such as 127.0.0.1:8049 or [::1]:8049", text);
    memcpy(host, text, len);
    host[len] = '\0';
    if (!strcmp(host, "localhost"))
        snprintf(host, sizeof(host), "127.0.0.1");
    if (inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons((uint16_t)port);
        return 0;
    }
    len = strlen(host);
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        if (inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1) {
            ret->v6.sin6_family = AF_INET6;
            ret->v6.sin6_port = htons((uint16_t)port);
            return 0;
        }
    }
    return rl_fail(err, RL_E_USAGE, "listen", "--listen '%s': the address is neither numeric nor localhost", text);
}

static bool is_loopback(const union address *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

int listen_parse(const char *text, bool *ret_loopback, struct rl_err *err)
{
    union address address;
    if (parse(text, &address, err))
        return -1;
    *ret_loopback = is_loopback(&address);
    return 0;
}

/* "127.0.0.1:8049" with the port that the socket really has. */
static int socket_name(int fd, char ret_name[80])
{
    union address address;
    socklen_t size = sizeof(address);
    char text[INET6_ADDRSTRLEN];
    if (getsockname(fd, &address.any, &size))
        return -1;
    bool v4 = address.any.sa_family == AF_INET;
    const void *bytes = v4 ? (const void *)&address.v4.sin_addr : (const void *)&address.v6.sin6_addr;
    if (!inet_ntop(address.any.sa_family, bytes, text, sizeof(text)))
        return -1;
    snprintf(ret_name, 80, v4 ? "%s:%u" : "[%s]:%u", text, ntohs(v4 ? address.v4.sin_port : address.v6.sin6_port));
    return 0;
}

/* A daemon that was killed while it started a process leaves the address to the child until its exec. */
static int bind_waiting(int fd, const struct sockaddr *address, socklen_t len)
{
    int rc;
    for (int tries = 0; (rc = bind(fd, address, len)) != 0 && errno == EADDRINUSE && tries < BIND_TRIES; tries++) {
        usleep(BIND_TRY_MS * 1000);
        errno = EADDRINUSE;
    }
    return rc;
}

int listen_tcp(const char *text, char ret_name[80], bool *ret_loopback, int *ret_fd, struct rl_err *err)
{
    union address address;
    int one = 1, fd = -1;
    if (parse(text, &address, err))
        return -1;
    bool v4 = address.any.sa_family == AF_INET;
    fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
        (!v4 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one))) ||
        bind_waiting(fd, &address.any, v4 ? sizeof(address.v4) : sizeof(address.v6)) || listen(fd, BACKLOG) ||
        socket_name(fd, ret_name)) {
        rl_fail(err, RL_E_LISTEN, "listen", "cannot listen on %s: %s", text, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_loopback = is_loopback(&address);
    *ret_fd = fd;
    return 0;
}

/* Removes a socket file that nobody listens on; leaves anything else alone. 0 when the name is free now. */
static int clear_stale(const struct sockaddr_un *address, struct rl_err *err)
{
    struct stat st;
    if (lstat(address->sun_path, &st))
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return rl_fail(err, RL_E_LISTEN, "listen-unix", "%s exists and is not a socket", address->sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int why = fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (why == 0 || why == EAGAIN) /* EAGAIN: its queue is full */
        return rl_fail(err, RL_E_LISTEN, "listen-unix", "another program listens on %s", address->sun_path);
    if (why != ECONNREFUSED || unlink(address->sun_path))
        return rl_fail(err, RL_E_LISTEN, "listen-unix", "the socket %s is there and cannot be replaced: %s",
                       address->sun_path, strerror(why != ECONNREFUSED ? why : errno));
    return 0;
}

int listen_unix(const char *path, int *ret_fd, struct rl_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof(address.sun_path))
        return rl_fail(err, RL_E_USAGE, "listen-unix", "--listen-unix '%s' is not 1 to %zu bytes long", path,
                       sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (clear_stale(&address, err))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The file must never be open to all, not even between bind and chmod. */
    mode_t mask = umask(0117);
    int bound = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&address, sizeof(address));
    int why = errno;
    umask(mask);
    errno = why;
    if (bound || listen(fd, BACKLOG)) {
        rl_fail(err, RL_E_LISTEN, "listen-unix", "cannot listen on %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}
