/* See server/http/connection.h. */
#include "server/http/connection.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "gpu/base/time.h"
#include "server/http/intake.h"
#include "server/http/refuse.h"
#include "server/http/room.h"
#include "server/limits/limits.h"

#define TICK_MS  500 /* how often a connection is looked at before its time is over */
#define AGAIN_MS 50  /* until one that was ended is ended again */
#define DRAINS   32  /* reads of what is unread then */

/* ---- deadlines ---- */

void http_connection_deadline(struct http_connection *connection, int64_t after_ms)
{
    connection->allowed_ms = after_ms;
    connection->due_ns = rl_monotonic_ns() + after_ms * 1000000;
    loop_timer_set(connection->all->loop, connection->timer, after_ms < TICK_MS ? after_ms : TICK_MS);
}

int64_t http_connection_head_ms(const struct http_connection *connection)
{
    int64_t whole_ms = connection->all->config->request_timeout_ms;
    return whole_ms < LIMIT_HEAD_MS ? whole_ms : LIMIT_HEAD_MS;
}

/* libmicrohttpd 0.9.75 misses an end of stream that comes together with data (its epoll sees one edge for both), and
 * would keep the connection for as long as it may be idle. */
void http_connection_end_if_ended(const struct http_connection *connection)
{
    char byte;
    if (recvfrom(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) == 0)
        shutdown(connection->fd, SHUT_RDWR);
}

void http_connection_moves(struct http_connection *connection, int64_t bytes_s, int64_t window_ms)
{
    int64_t longest_ms = connection->all->config->request_timeout_ms;
    http_pace_begin(&connection->pace, window_ms < longest_ms ? window_ms : longest_ms, rl_monotonic_ns());
    connection->floor_bytes_s = bytes_s;
    connection->given = connection->taken = 0;
    connection->moving = true;
}

void http_connection_still(struct http_connection *connection)
{
    connection->moving = false;
    connection->pace = (struct http_pace){0};
}

/* The library sees the end of the stream and closes. It misses one that comes together with data (0.9.75), and would
 * keep the connection, of which it has so many: what is unread goes first, and what comes after is told again. */
static void end_stream(struct http_connection *connection)
{
    char sink[4096];
    /* not recv, which is the library's way to the connection (server/http/recv.c) */
    for (int i = 0; i < DRAINS && recvfrom(connection->fd, sink, sizeof(sink), MSG_DONTWAIT, NULL, NULL) > 0; i++)
        continue;
    shutdown(connection->fd, SHUT_RDWR);
    loop_timer_set(connection->all->loop, connection->timer, AGAIN_MS);
}

void http_connection_cut(void *arg, const struct rl_err *why)
{
    struct http_connection *connection = arg;
    if (!connection->idle && !connection->answered)
        http_connection_refuse(connection, NULL, 0, why);
    else if (connection->all->config->verbose)
        fprintf(stderr, "rooflined: http: connection ended: %s\n", why->message);
    connection->ended = true;
    end_stream(connection);
}

static int too_many(struct rl_err *err)
{
    return rl_fail(err, RL_E_TOO_MANY_CONNECTIONS, NULL,
                   "too many connections are open; at most %u, and %u of one caller, are taken", LIMIT_CONNECTIONS,
                   LIMIT_CONNECTIONS_PER_CALLER);
}

/* Ends what has to give way to connection; false: nothing does. */
static bool make_room(const struct http_connection *connection)
{
    struct rl_err why;
    if (http_room_for(connection))
        return true;
    struct http_connection *victim = http_room_victim(connection, rl_monotonic_ns());
    if (!victim)
        return false;
    rl_fail(&why, RL_E_TOO_MANY_CONNECTIONS, NULL,
            "too many connections are open, and this one, which had waited longest, gave way to another");
    connection->all->counts.gave_way++;
    http_connection_cut(victim, &why);
    return true;
}

int http_connection_belongs(struct http_connection *connection, const char *who, struct rl_err *err)
{
    bool other = strcmp(connection->who, who) != 0;
    if (!other && !connection->surplus)
        return 0;
    snprintf(connection->who, sizeof(connection->who), "%s", who);
    connection->surplus = !make_room(connection);
    return connection->surplus ? too_many(err) : 0;
}

static void out_of_time(struct http_connection *connection)
{
    struct rl_err err;
    if (connection->surplus)
        too_many(&err);
    else
        rl_fail(&err, RL_E_REQUEST_TIMEOUT, NULL, "the request was not complete within %lld s",
                (long long)(connection->allowed_ms + 999) / 1000);
    http_connection_cut(connection, &err);
}

/* What the library gave the socket tells little: the system takes some hundred kB at a time, as its buffer empties. */
static void count_taken(struct http_connection *connection)
{
    int unsent = 0;
    if (ioctl(connection->fd, SIOCOUTQ, &unsent))
        return;
    uint64_t left = unsent < 0 || (uint64_t)unsent > connection->given ? connection->given : (uint64_t)unsent;
    uint64_t taken = connection->given - left;
    if (taken > connection->taken) {
        http_pace_add(&connection->pace, taken - connection->taken);
        connection->taken = taken;
    }
}

static bool too_slow(struct http_connection *connection, int64_t now_ns)
{
    struct rl_err err;
    int64_t bytes_s;
    if (connection->moving && connection->answered)
        count_taken(connection);
    if (!connection->moving || !http_pace_judge(&connection->pace, now_ns, &bytes_s) ||
        bytes_s >= connection->floor_bytes_s)
        return false;
    rl_fail(&err, RL_E_REQUEST_TIMEOUT, NULL, "the body moved at %lld bytes/s; at least %lld bytes/s are needed",
            (long long)bytes_s, (long long)connection->floor_bytes_s);
    connection->all->counts.too_slow++;
    http_connection_cut(connection, &err);
    return true;
}

static void on_tick(void *arg)
{
    struct http_connection *connection = arg;
    int64_t now_ns = rl_monotonic_ns(), left_ms = (connection->due_ns - now_ns) / 1000000;
    if (connection->ended) {
        end_stream(connection);
        return;
    }
    if (too_slow(connection, now_ns))
        return;
    /* a client that takes a stream keeps its connection however long the whole takes */
    bool streams = connection->moving && connection->answered && connection->pace.paused_ns == 0;
    if (left_ms <= 0 && !streams) {
        out_of_time(connection);
        return;
    }
    if (!connection->answered && !connection->whole)
        http_connection_end_if_ended(connection);
    loop_timer_set(connection->all->loop, connection->timer, left_ms < TICK_MS && !streams ? left_ms : TICK_MS);
}

/* ---- opening and closing ---- */

static void identify_peer(struct http_connection *connection, bool is_unix)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    struct auth_peer *peer = &connection->peer;
    socklen_t size = sizeof(address);
    char text[INET6_ADDRSTRLEN] = "nowhere";
    peer->is_unix = is_unix;
    if (is_unix) {
        struct ucred credentials = {0};
        socklen_t credentials_size = sizeof(credentials);
        /* Without credentials the peer is nobody in particular, never root. */
        if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &credentials, &credentials_size))
            credentials.uid = (uid_t)-2;
        peer->uid = credentials.uid;
        snprintf(peer->name, sizeof(peer->name), "uid:%lld", (long long)peer->uid);
        return;
    }
    if (getpeername(connection->fd, &address.any, &size) == 0 && address.any.sa_family == AF_INET) {
        peer->loopback = ntohl(address.v4.sin_addr.s_addr) >> 24 == 127;
        inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof(text));
    } else if (address.any.sa_family == AF_INET6) {
        peer->loopback = IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
        /* who has one address of a /64 has all of them */
        memset(address.v6.sin6_addr.s6_addr + 8, 0, 8);
        inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof(text));
    }
    snprintf(peer->name, sizeof(peer->name), "anonymous at %s", peer->loopback ? "loopback" : text);
}

struct http_connection *http_connection_open(struct http_connections *all, int fd, bool is_unix)
{
    struct http_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    connection->all = all;
    connection->fd = fd;
    connection->since_ns = rl_monotonic_ns();
    identify_peer(connection, is_unix);
    memcpy(connection->who, connection->peer.name, sizeof(connection->who));
    if (http_intake_start(connection) || loop_add_timer(all->loop, -1, on_tick, connection, &connection->timer, NULL)) {
        http_intake_end(connection);
        free(connection);
        return NULL;
    }
    connection->next = all->first;
    if (connection->next)
        connection->next->prev = connection;
    all->first = connection;
    all->counts.connections++;
    connection->surplus = !make_room(connection);
    all->counts.refused_connections += connection->surplus;
    http_connection_deadline(connection, connection->surplus ? LIMIT_SURPLUS_MS : http_connection_head_ms(connection));
    return connection;
}

void http_connection_close(struct http_connection *connection)
{
    struct http_connections *all = connection->all;
    http_intake_end(connection);
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
