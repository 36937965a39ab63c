/* See server/http/probe.h. */
#include "server/http/probe.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/recv.h"

#define TURNS 8 /* of the library; the first reads the request (0.9.75) */

struct probe {
    int fd;
    size_t taken;
    bool asked;
};

static ssize_t count(void *arg, void *data, size_t size)
{
    struct probe *probe = arg;
    ssize_t taken = recvfrom(probe->fd, data, size, 0, NULL, NULL);
    probe->taken += taken > 0 ? (size_t)taken : 0;
    return taken;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_len, void **con_cls)
{
    struct probe *probe = cls;
    (void)mhd, (void)url, (void)method, (void)version, (void)data, (void)data_len, (void)con_cls;
    probe->asked = true;
    return MHD_NO;
}

static void quiet(void *cls, const char *format, va_list args)
{
    (void)cls, (void)format, (void)args;
}

/* ends: of the pair; the second becomes the library's. */
static int read_by_library(struct MHD_Daemon *daemon, const int ends[2], struct probe *probe, struct rl_err *err)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct sockaddr nobody = {.sa_family = AF_UNIX};
    probe->fd = ends[1];
    if (send(ends[0], request, sizeof(request) - 1, MSG_NOSIGNAL) != sizeof(request) - 1 ||
        http_recv_watch(ends[1], count, probe)) {
        close(ends[1]);
        return rl_fail(err, RL_E_INTERNAL, NULL, "cannot try how the HTTP library reads: no descriptor for it");
    }
    if (MHD_add_connection(daemon, ends[1], &nobody, sizeof(nobody)) == MHD_YES)
        for (int i = 0; i < TURNS && !probe->asked; i++)
            MHD_run(daemon);
    http_recv_forget(ends[1]);
    if (probe->asked && probe->taken == sizeof(request) - 1)
        return 0;
    return rl_fail(err, RL_E_INTERNAL, NULL,
                   "libmicrohttpd %s does not read its connections by recv as it is built here (%zu of %zu bytes), so "
                   "that requests cannot be checked before it does; link with libmicrohttpd 0.9.75",
                   MHD_get_version(), probe->taken, sizeof(request) - 1);
}

int http_probe_library(struct rl_err *err)
{
    int ends[2];
    struct probe probe = {0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        return rl_fail(err, RL_E_INTERNAL, NULL, "cannot try how the HTTP library reads: no socket pair");
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
                         &probe, MHD_OPTION_EXTERNAL_LOGGER, quiet, NULL, MHD_OPTION_END);
    int rc = -1;
    if (daemon) {
        rc = read_by_library(daemon, ends, &probe, err);
        MHD_stop_daemon(daemon);
    } else {
        close(ends[1]);
        rl_fail(err, RL_E_INTERNAL, NULL, "the HTTP library did not start");
    }
    close(ends[0]);
    return rc;
}
