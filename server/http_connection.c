/* See http_connection.h. */
#include "server/http_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/time.h"
#include "server/limits.h"

#define TICK_MS 500 /* how often a connection is looked at before its time is over */

/* ---- answers past the library ---- */

static const char *phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {{400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {415, "Unsupported Media Type"},
                   {422, "Unprocessable Content"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {501, "Not Implemented"},
                   {503, "Service Unavailable"}};
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Error";
}

static int write_header(void *arg, const char *name, const char *value)
{
    return rl_buf_printf(arg, "%s: %s\r\n", name, value);
}

static void write_answer(const struct http_answer *answer, bool head, struct rl_buf *out)
{
    const char *body = answer->fixed ? answer->fixed : answer->body.data;
    size_t len = answer->fixed ? answer->fixed_len : answer->body.len;
    time_t now = time(NULL);
    struct tm tm;
    char date[40];
    gmtime_r(&now, &tm);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    rl_buf_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Length: %zu\r\n", answer->status, phrase(answer->status),
                  date, len);
    http_answer_headers(answer, write_header, out);
    rl_buf_puts(out, "\r\n");
    if (!head)
        rl_buf_add(out, body, len);
}

void http_connection_refuse(struct http_connection *connection, const struct http_request *request, const char *allow,
                            const struct rl_err *err)
{
    struct http_answer answer;
    struct rl_buf text;

    http_answer_init(&answer);
    answer.allow = allow;
    answer.close = true;
    http_answer_error(&answer, err);
    rl_buf_init(&text, 16 * 1024);
    write_answer(&answer, request && request->method == HTTP_HEAD, &text);
    /* It is small and the first thing in the socket's buffer, so that it is taken whole. */
    if (!text.failed)
        (void)!send(connection->fd, text.data, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    connection->answered = true;
    connection->linger = true;
    http_connection_log(connection, request, answer.status, err);
    rl_buf_free(&text);
    http_answer_fini(&answer);
}

void http_connection_log(struct http_connection *connection, const struct http_request *request, int status,
                         const struct rl_err *err)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "other"};
    connection->all->counts.by_status[status]++;
    if (!connection->all->config->verbose && status != 500)
        return;
    const char *path = request && request->target.path ? request->target.path : "-";
    /* The path is decoded, but control bytes were refused: a line stays a line. */
    fprintf(stderr, "rooflined: http: %s %.200s %d%s%s\n", request ? names[request->method] : "-", path, status,
            err ? " " : "", err ? err->message : "");
}

/* ---- deadlines ---- */

void http_connection_deadline(struct http_connection *connection, int64_t after_ms)
{
    connection->allowed_ms = after_ms;
    connection->due_ns = rl_monotonic_ns() + after_ms * 1000000;
    loop_timer_set(connection->all->loop, connection->timer, after_ms < TICK_MS ? after_ms : TICK_MS);
}

/* libmicrohttpd 0.9.75 misses an end of stream that comes together with data (its epoll sees one edge for both), and
 * would keep the connection for as long as it may be idle. */
void http_connection_end_if_ended(const struct http_connection *connection)
{
    char byte;
    if (recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        shutdown(connection->fd, SHUT_RDWR);
}

int http_connection_surplus_error(struct rl_err *err)
{
    return rl_fail(err, RL_E_TOO_MANY_CONNECTIONS, NULL,
                   "too many connections are open; at most %u, and %u of one address, are taken", LIMIT_CONNECTIONS,
                   LIMIT_CONNECTIONS_PER_ADDRESS);
}

static void on_tick(void *arg)
{
    struct http_connection *connection = arg;
    struct rl_err err;
    int64_t left_ms = (connection->due_ns - rl_monotonic_ns()) / 1000000;
    if (left_ms > 0) {
        if (!connection->answered && !connection->whole)
            http_connection_end_if_ended(connection);
        loop_timer_set(connection->all->loop, connection->timer, left_ms < TICK_MS ? left_ms : TICK_MS);
        return;
    }
    if (connection->surplus && !connection->answered) {
        http_connection_surplus_error(&err);
        http_connection_refuse(connection, NULL, NULL, &err);
    } else if (!connection->idle && !connection->answered) {
        rl_fail(&err, RL_E_REQUEST_TIMEOUT, NULL, "the request was not complete within %lld s",
                (long long)(connection->allowed_ms + 999) / 1000);
        http_connection_refuse(connection, NULL, NULL, &err);
    }
    /* The library sees the end of the stream and closes. */
    shutdown(connection->fd, SHUT_RDWR);
}

/* ---- opening and closing ---- */

static void identify_peer(struct http_connection *connection, bool is_unix)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t size = sizeof(address);
    connection->peer.is_unix = is_unix;
    if (is_unix) {
        struct ucred peer = {0};
        socklen_t peer_size = sizeof(peer);
        /* Without credentials the peer is nobody in particular, never root. */
        if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size))
            peer.uid = (uid_t)-2;
        connection->peer.uid = peer.uid;
        memcpy(&connection->address, &peer.uid, sizeof(peer.uid));
        return;
    }
    if (getpeername(connection->fd, &address.any, &size))
        return;
    if (address.any.sa_family == AF_INET) {
        memcpy(&connection->address, &address.v4.sin_addr, sizeof(address.v4.sin_addr));
        connection->peer.loopback = ntohl(address.v4.sin_addr.s_addr) >> 24 == 127;
    } else if (address.any.sa_family == AF_INET6) {
        connection->address = address.v6.sin6_addr;
        connection->peer.loopback = IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
    }
}

static bool over_limits(const struct http_connection *connection)
{
    unsigned same = 0;
    for (const struct http_connection *other = connection->all->first; other; other = other->next)
        same += other->peer.is_unix == connection->peer.is_unix &&
                !memcmp(&other->address, &connection->address, sizeof(other->address));
    return connection->all->counts.connections > LIMIT_CONNECTIONS || same > LIMIT_CONNECTIONS_PER_ADDRESS;
}

struct http_connection *http_connection_open(struct http_connections *all, int fd, bool is_unix)
{
    struct http_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    connection->all = all;
    connection->fd = fd;
    identify_peer(connection, is_unix);
    if (loop_add_timer(all->loop, -1, on_tick, connection, &connection->timer, NULL)) {
        free(connection);
        return NULL;
    }
    connection->next = all->first;
    if (connection->next)
        connection->next->prev = connection;
    all->first = connection;
    all->counts.connections++;
    connection->surplus = over_limits(connection);
    all->counts.refused_connections += connection->surplus;
    http_connection_deadline(connection, connection->surplus ? LIMIT_SURPLUS_MS : all->config->request_timeout_ms);
    return connection;
}

void http_connection_close(struct http_connection *connection)
{
    struct http_connections *all = connection->all;
    if (connection->linger)
        linger_add(all->linger, connection->fd);
    loop_remove(all->loop, connection->timer);
    if (connection->next)
        connection->next->prev = connection->prev;
    if (connection->prev)
        connection->prev->next = connection->next;
    else
        all->first = connection->next;
    all->counts.connections--;
    all->closed_some = true;
    free(connection);
}
