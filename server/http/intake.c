/* See server/http/intake.h, and server/http/HTTP.md for the way of the bytes. */
#include "server/http/intake.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "server/http/recv.h"
#include "server/http/refuse.h"

/* Bytes are looked at in the socket's own buffer and taken out of it only once they are known to be good. So a
 * malformed request stays there, which http_intake_settle needs. */
static ssize_t look_and_take(struct http_connection *connection, void *data, size_t size)
{
    ssize_t seen = recvfrom(connection->fd, data, size, MSG_PEEK, NULL, NULL);
    if (seen == 0 && connection->answered_requests < connection->screen.requests) {
        /* The client has ended its side and waits for what it asked. The library drops a whole request when it reads
         * the end before the answer is there (0.9.75, 2026-12-01); http_connection_end_if_ended sees it afterwards. */
        errno = EAGAIN;
        return -1;
    }
    if (seen <= 0)
        return seen;
    size_t pass;
    if (http_screen_feed(&connection->screen, data, (size_t)seen, &pass, &connection->malformed)) {
        connection->all->malformed++;
        if (pass == 0) {
            errno = EAGAIN;
            return -1;
        }
    }
    ssize_t taken = recvfrom(connection->fd, data, pass, 0, NULL, NULL);
    if (taken == (ssize_t)pass)
        return taken;
    /* Urgent data came in between, which stop a read: no HTTP client sends any. What was checked is not what is read.
     */
    shutdown(connection->fd, SHUT_RDWR);
    return 0;
}

static ssize_t take(void *arg, void *data, size_t size)
{
    struct http_connection *connection = arg;
    /* answered past the library, or told to go: what still comes is not for it */
    if (connection->linger || connection->ended)
        return 0;
    if (connection->malformed.code != RL_E_NONE) {
        errno = EAGAIN;
        return -1;
    }
    if (http_screen_opaque(&connection->screen) < size)
        return look_and_take(connection, data, size);
    ssize_t taken = recvfrom(connection->fd, data, size, 0, NULL, NULL);
    size_t pass;
    if (taken > 0)
        http_screen_feed(&connection->screen, data, (size_t)taken, &pass, NULL);
    return taken;
}

int http_intake_start(struct http_connection *connection)
{
    int on = 1;
    http_screen_init(&connection->screen);
    /* else a byte sent as urgent is left out of what is read, by whoever reads when it has come */
    setsockopt(connection->fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
    return http_recv_watch(connection->fd, take, connection);
}

static void settled(struct http_connection *connection)
{
    connection->all->malformed--;
    connection->malformed.code = RL_E_NONE;
}

void http_intake_end(struct http_connection *connection)
{
    if (connection->malformed.code != RL_E_NONE)
        settled(connection);
    http_recv_forget(connection->fd);
}

/* A socket that takes more has room for far more than a refusal: Linux says so once a third of its buffer is free. One
 * that does not is looked at again in each turn of the loop, and its timer brings one twice a second. */
static bool has_room(int fd)
{
    struct pollfd socket = {.fd = fd, .events = POLLOUT};
    return poll(&socket, 1, 0) == 1 && socket.revents & (POLLOUT | POLLERR | POLLHUP);
}

void http_intake_settle(struct http_connections *all)
{
    if (all->malformed == 0)
        return;
    for (struct http_connection *connection = all->first; connection; connection = connection->next) {
        if (connection->malformed.code == RL_E_NONE || connection->answered_requests < connection->screen.requests ||
            !has_room(connection->fd))
            continue;
        struct rl_err err = connection->malformed;
        settled(connection);
        if (connection->linger || connection->ended)
            continue; /* refused or told to go by now for another reason, its time for example */
        http_connection_refuse(connection, NULL, 0, &err);
        /* Also wakes the library, whose epoll is edge-triggered: it sees the bytes that were left, reads, and is told
         * that the stream has ended (take). Ending the other direction would wake it as well, but then what still
         * comes could not be drained. */
        shutdown(connection->fd, SHUT_WR);
    }
}

int http_intake_agrees(const struct http_connection *connection, bool whole, struct rl_err *err)
{
    if (connection->begun_requests <= (whole ? connection->screen.requests : connection->screen.heads))
        return 0;
    return rl_fail(err, RL_E_INTERNAL, NULL, "the HTTP library reads a request where the check of requests saw none");
}
