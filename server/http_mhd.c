/* The adapter to GNU libmicrohttpd 0.9.75: the only file that includes its header. What it guards against was seen with that version on 2026-11-29:
 * - Content-Length beside Transfer-Encoding is accepted, and of two Content-Length headers the first wins: http_fields_add and http_check_framing.
 * - The URL is decoded, cut at %00 and keeps dot segments: the raw target is parsed by http_target_parse instead.
 * - There is no limit on bodies, and the timeout is one of inactivity: counted here, and a timer of our own per connection.
 * - A response may be queued in the first and the last call of the handler only; refusing in between drops the connection without an answer. A
 *   request that is refused while a body is still to come is therefore answered on the socket itself (refuse), and the rest of the body is drained
 *   after the close (linger).
 * - MHD_OPTION_STRICT_FOR_CLIENT is off: all that it adds (a missing Host, blanks in the target or before a header's colon) is refused here with
 *   an answer of the catalogue, where the library writes its header block twice. It still does so for a Content-Length that is no number.
 * - At the connection limit new clients wait unanswered: the library's limit lies above ours, so that the surplus gets its 503. */
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/http_admit.h"
#include "server/http_mhd.h"
#include "server/limits.h"
#include "server/linger.h"

#define LISTENERS_MAX   2
#define SPARE_CONNECTIONS 64u         /* over the limit, answered 503 */
#define SURPLUS_TIMEOUT_MS 2000       /* for those */
#define CONNECTION_MEMORY (96u * 1024u) /* above LIMIT_HEADER_BYTES, so that our own 431 comes first */
#define RUNS_AT_ONCE    8             /* of the library, before others of the loop get their turn */

struct connection {
    struct connection *next, *prev;
    struct http_server *server;
    int fd;
    struct auth_peer peer;
    struct in6_addr address; /* or the uid, for the limit per address */
    struct loop_source *timer;
    bool idle;       /* between requests: closed without a word when time is over */
    bool answered;   /* the answer is on its way */
    bool surplus;    /* over a limit: its first request is answered 503 */
    bool linger;     /* bytes of the peer may be left unread */
};

struct exchange { /* one request and its answer */
    struct connection *connection;
    struct http_request request;
    const struct route *route;
    const char *allow, *version;
    char id[24];
    struct rl_buf body;
    struct rl_err err;
    bool failed, begun, close;
    size_t header_bytes;
};

struct listener {
    struct MHD_Daemon *daemon;
    struct loop_source *source;
    bool is_unix;
    struct http_server *server;
};

struct http_server {
    struct http_config config;
    struct http_rules rules;
    struct routes *routes;
    struct loop *loop;
    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    struct connection *connections;
    struct lingering *linger;
    struct http_counts counts;
};

static int fail(struct exchange *exchange)
{
    exchange->failed = true;
    return -1;
}

/* ---- answers ---- */

struct header_sink {
    struct MHD_Response *response; /* or */
    struct rl_buf *text;
    bool failed;
};

static void add_header(struct header_sink *sink, const char *name, const char *value)
{
    if (sink->response)
        sink->failed |= MHD_add_response_header(sink->response, name, value) != MHD_YES;
    else
        sink->failed |= rl_buf_printf(sink->text, "%s: %s\r\n", name, value) != 0;
}

static void add_headers(struct header_sink *sink, const struct http_answer *answer)
{
    static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
                                 "base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
    char seconds[16];
    if (answer->type)
        add_header(sink, "Content-Type", answer->type);
    if (answer->cache)
        add_header(sink, "Cache-Control", answer->cache);
    add_header(sink, "Content-Security-Policy", policy);
    add_header(sink, "X-Content-Type-Options", "nosniff");
    add_header(sink, "Referrer-Policy", "no-referrer");
    add_header(sink, "Cross-Origin-Resource-Policy", "same-origin");
    if (answer->etag[0])
        add_header(sink, "ETag", answer->etag);
    if (answer->location[0])
        add_header(sink, "Location", answer->location);
    if (answer->allow)
        add_header(sink, "Allow", answer->allow);
    if (answer->disposition[0])
        add_header(sink, "Content-Disposition", answer->disposition);
    if (answer->replayed)
        add_header(sink, "Idempotent-Replayed", "true");
    if (answer->status == 401)
        add_header(sink, "WWW-Authenticate", "Bearer realm=\"rooflined\"");
    if (answer->retry_after_s) {
        snprintf(seconds, sizeof(seconds), "%d", answer->retry_after_s);
        add_header(sink, "Retry-After", seconds);
    }
    if (answer->close)
        add_header(sink, "Connection", "close");
}

static void count_answer(struct http_server *server, const struct exchange *exchange, int status)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "other"};
    server->counts.by_status[status]++;
    if (!server->config.verbose && status != 500)
        return;
    const char *path = exchange && exchange->request.target.path ? exchange->request.target.path : "-";
    /* The path is decoded, but control bytes were refused: a line stays a line. */
    fprintf(stderr, "rooflined: http: %s %.200s %d%s%s\n", exchange ? names[exchange->request.method] : "-", path, status,
            exchange && exchange->failed ? " " : "", exchange && exchange->failed ? exchange->err.message : "");
}

static enum MHD_Result queue_answer(struct MHD_Connection *mhd, struct exchange *exchange, struct http_answer *answer)
{
    struct http_server *server = exchange->connection->server;
    struct MHD_Response *response;
    size_t len = answer->body.len;
    if (answer->fixed) {
        response = MHD_create_response_from_buffer(answer->fixed_len, (void *)(uintptr_t)answer->fixed, MHD_RESPMEM_PERSISTENT);
    } else if (len == 0) {
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    } else {
        char *text = rl_buf_take(&answer->body);
        response = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
        if (!response)
            free(text);
    }
    if (!response)
        return MHD_NO;
    struct header_sink sink = {.response = response};
    add_headers(&sink, answer);
    enum MHD_Result queued = sink.failed ? MHD_NO : MHD_queue_response(mhd, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    if (queued == MHD_YES) {
        exchange->connection->answered = true;
        loop_timer_set(server->loop, exchange->connection->timer, server->config.request_timeout_ms);
        count_answer(server, exchange, answer->status);
    }
    return queued;
}

/* Writes an error's answer to the socket, past the library, which is about to drop the connection. It is small and the first thing in the
 * socket's buffer, so that it is taken whole. */
static void refuse(struct connection *connection, const struct exchange *exchange, const struct rl_err *err)
{
    struct http_answer answer;
    struct rl_buf text;
    char date[40];
    struct tm tm;
    time_t now = time(NULL);
    bool head = exchange && exchange->request.method == HTTP_HEAD;

    http_answer_init(&answer);
    answer.allow = exchange ? exchange->allow : NULL;
    answer.close = true;
    http_answer_error(&answer, err);
    const char *body = answer.fixed ? answer.fixed : answer.body.data;
    size_t len = answer.fixed ? answer.fixed_len : answer.body.len;
    rl_buf_init(&text, 16 * 1024);
    gmtime_r(&now, &tm);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    rl_buf_printf(&text, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Length: %zu\r\n", answer.status,
                  MHD_get_reason_phrase_for((unsigned)answer.status), date, len);
    struct header_sink sink = {.text = &text};
    add_headers(&sink, &answer);
    rl_buf_puts(&text, "\r\n");
    if (!head)
        rl_buf_add(&text, body, len);
    if (!text.failed)
        (void)!send(connection->fd, text.data, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    connection->answered = true;
    connection->linger = true;
    count_answer(connection->server, exchange, answer.status);
    rl_buf_free(&text);
    http_answer_fini(&answer);
}

/* ---- connections ---- */

static void deadline(void *arg)
{
    struct connection *connection = arg;
    struct rl_err err;
    if (!connection->idle && !connection->answered) {
        rl_fail(&err, RL_E_REQUEST_TIMEOUT, NULL, "the request was not complete within %lld s",
                (long long)(connection->server->config.request_timeout_ms + 999) / 1000);
        refuse(connection, NULL, &err);
    }
    /* The library sees the end of the stream and closes. */
    shutdown(connection->fd, SHUT_RDWR);
}

static void identify_peer(struct connection *connection, bool is_unix)
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

static bool over_limits(const struct http_server *server, const struct connection *connection)
{
    unsigned same = 0;
    for (const struct connection *other = server->connections; other; other = other->next)
        same += other->peer.is_unix == connection->peer.is_unix && !memcmp(&other->address, &connection->address, sizeof(other->address));
    return server->counts.connections > LIMIT_CONNECTIONS || same > LIMIT_CONNECTIONS_PER_ADDRESS;
}

static struct connection *connection_open(struct listener *listener, int fd)
{
    struct http_server *server = listener->server;
    struct connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    connection->server = server;
    connection->fd = fd;
    identify_peer(connection, listener->is_unix);
    if (loop_add_timer(server->loop, server->config.request_timeout_ms, deadline, connection, &connection->timer, NULL)) {
        free(connection);
        return NULL;
    }
    connection->next = server->connections;
    if (connection->next)
        connection->next->prev = connection;
    server->connections = connection;
    server->counts.connections++;
    if (over_limits(server, connection)) {
        connection->surplus = true;
        loop_timer_set(server->loop, connection->timer, SURPLUS_TIMEOUT_MS);
        server->counts.refused_connections++;
    }
    return connection;
}

static void connection_close(struct connection *connection)
{
    struct http_server *server = connection->server;
    if (connection->linger)
        linger_add(server->linger, connection->fd);
    loop_remove(server->loop, connection->timer);
    if (connection->next)
        connection->next->prev = connection->prev;
    if (connection->prev)
        connection->prev->next = connection->next;
    else
        server->connections = connection->next;
    server->counts.connections--;
    free(connection);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info ? connection_open(cls, info->connect_fd) : NULL;
    } else if (*context) {
        connection_close(*context);
        *context = NULL;
    }
}

/* ---- requests ---- */

/* First word of a request: its target, before the library decodes it. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    (void)cls;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *connection = info ? info->socket_context : NULL;
    struct exchange *exchange = connection ? calloc(1, sizeof(*exchange)) : NULL;
    if (!exchange)
        return NULL;
    exchange->connection = connection;
    rl_buf_init(&exchange->body, LIMIT_BODY_BYTES);
    if (http_target_parse(uri, &exchange->request.target, &exchange->err)) {
        exchange->close = true;
        fail(exchange);
    }
    connection->idle = false;
    if (!connection->surplus)
        loop_timer_set(connection->server->loop, connection->timer, connection->server->config.request_timeout_ms);
    return exchange;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct exchange *exchange = cls;
    (void)kind;
    exchange->header_bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
    if (!exchange->failed && http_fields_add(&exchange->request.fields, name, value ? value : "", &exchange->err)) {
        exchange->close = true;
        fail(exchange);
    }
    return MHD_YES;
}

/* Everything that the headers decide. *ret_has_body: refuse at once, do not wait for the body. */
static int begin(struct exchange *exchange, struct MHD_Connection *mhd, const char *method, bool *ret_has_body)
{
    struct connection *connection = exchange->connection;
    struct http_request *request = &exchange->request;
    const char *id = NULL;
    size_t id_len = 0;

    request->method = http_method_from_name(method);
    MHD_get_connection_values(mhd, MHD_HEADER_KIND, on_header, exchange);
    /* Until the framing is known to be sound, nothing after the headers can be trusted to be a request. */
    *ret_has_body = true;
    if (exchange->failed)
        return -1;
    if (exchange->header_bytes > LIMIT_HEADER_BYTES) {
        rl_fail(&exchange->err, RL_E_TOO_MANY_HEADERS, NULL, "the headers have %zu bytes; at most %u are taken", exchange->header_bytes,
                LIMIT_HEADER_BYTES);
        return fail(exchange);
    }
    if (request->fields.transfer_encoding && strcmp(exchange->version, "HTTP/1.1")) {
        rl_fail(&exchange->err, RL_E_BAD_REQUEST, "Transfer-Encoding", "Transfer-Encoding is not part of %.16s", exchange->version);
        return fail(exchange);
    }
    bool has_body = true;
    if (http_check_framing(&request->fields, LIMIT_BODY_BYTES, &has_body, &exchange->err))
        return fail(exchange);
    *ret_has_body = has_body;
    if (connection->surplus) {
        *ret_has_body = true;
        rl_fail(&exchange->err, RL_E_TOO_MANY_CONNECTIONS, NULL, "too many connections are open; at most %u, and %u of one address, are taken",
                LIMIT_CONNECTIONS, LIMIT_CONNECTIONS_PER_ADDRESS);
        return fail(exchange);
    }
    if (http_admit(&connection->server->rules, &connection->peer, request, has_body, &exchange->route, &exchange->allow, &id, &id_len,
                   &exchange->err)) {
        exchange->close = exchange->err.code == RL_E_BAD_REQUEST || exchange->err.code == RL_E_BAD_HOST;
        return fail(exchange);
    }
    if (id_len >= sizeof(exchange->id)) {
        rl_fail(&exchange->err, RL_E_NOT_FOUND, NULL, "there is no such id");
        return fail(exchange);
    }
    if (id) {
        memcpy(exchange->id, id, id_len);
        request->id = exchange->id;
    }
    return 0;
}

static enum MHD_Result finish(struct exchange *exchange, struct MHD_Connection *mhd)
{
    struct http_answer answer;
    http_answer_init(&answer);
    answer.close = exchange->close;
    if (exchange->failed) {
        answer.allow = exchange->allow;
        http_answer_error(&answer, &exchange->err);
    } else {
        exchange->request.body = exchange->body.data;
        exchange->request.body_len = exchange->body.len;
        route_answer(exchange->route, exchange->connection->server->routes, &exchange->request, &answer);
    }
    enum MHD_Result queued = queue_answer(mhd, exchange, &answer);
    http_answer_fini(&answer);
    return queued;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method, const char *version,
                                  const char *data, size_t *data_len, void **con_cls)
{
    struct exchange *exchange = *con_cls;
    (void)cls;
    (void)url;
    if (!exchange)
        return MHD_NO; /* no memory for it when it came */
    if (!exchange->begun) {
        bool has_body;
        exchange->begun = true;
        exchange->version = version;
        if (begin(exchange, mhd, method, &has_body) && has_body) {
            refuse(exchange->connection, exchange, &exchange->err);
            return MHD_NO;
        }
        return MHD_YES;
    }
    if (*data_len > 0) {
        if (exchange->failed || rl_buf_add(&exchange->body, data, *data_len)) {
            rl_fail(&exchange->err, RL_E_TOO_LARGE, NULL, "the body has more than %u bytes", LIMIT_BODY_BYTES);
            fail(exchange);
            refuse(exchange->connection, exchange, &exchange->err);
            return MHD_NO;
        }
        *data_len = 0;
        return MHD_YES;
    }
    return finish(exchange, mhd);
}

/* The library misses an end of stream that came together with a request's last bytes (one edge of its epoll for both), and would keep the
 * connection until it is idle for too long. */
static void close_if_ended(const struct connection *connection)
{
    char byte;
    if (recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        shutdown(connection->fd, SHUT_RDWR);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls, enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *con_cls;
    (void)cls;
    (void)mhd;
    if (!exchange)
        return;
    struct connection *connection = exchange->connection;
    connection->idle = true;
    if (!connection->linger)
        connection->answered = false;
    loop_timer_set(connection->server->loop, connection->timer, connection->server->config.idle_timeout_ms);
    if (why == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        close_if_ended(connection);
    http_target_free(&exchange->request.target);
    rl_buf_free(&exchange->body);
    free(exchange);
    *con_cls = NULL;
}

/* ---- the loop ---- */

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *format, va_list args)
{
    const struct http_server *server = cls;
    /* What clients do wrong is answered, not logged; the second is the library's word for a request that refuse() answered. */
    if (!server->config.verbose || !strncmp(format, "Application reported internal error", 35))
        return;
    fputs("rooflined: http: ", stderr);
    vfprintf(stderr, format, args);
}

static void on_ready(void *arg, uint32_t events)
{
    (void)events;
    MHD_run(((struct listener *)arg)->daemon);
}

static int64_t prepare(void *arg)
{
    struct http_server *server = arg;
    int64_t wait_ms = -1;
    for (size_t i = 0; i < server->listener_count; i++) {
        MHD_UNSIGNED_LONG_LONG due_ms = 0;
        enum MHD_Result has_due = MHD_get_timeout(server->listeners[i].daemon, &due_ms);
        for (int run = 0; has_due == MHD_YES && due_ms == 0 && run < RUNS_AT_ONCE; run++) {
            MHD_run(server->listeners[i].daemon);
            has_due = MHD_get_timeout(server->listeners[i].daemon, &due_ms);
        }
        if (has_due == MHD_YES && (wait_ms < 0 || (int64_t)due_ms < wait_ms))
            wait_ms = (int64_t)due_ms;
    }
    return wait_ms;
}

static int start_listener(struct http_server *server, int fd, bool is_unix, struct rl_err *err)
{
    struct listener *listener = &server->listeners[server->listener_count];
    /* A backstop: our own timers come first. */
    unsigned timeout_s = (unsigned)((server->config.request_timeout_ms + server->config.idle_timeout_ms) / 1000 + 10);
    listener->server = server;
    listener->is_unix = is_unix;
    listener->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, listener,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, server, /* must be the first option, or errors of the others go to stderr */
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s,
        MHD_OPTION_CONNECTION_LIMIT, LIMIT_CONNECTIONS + SPARE_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener, MHD_OPTION_NOTIFY_COMPLETED, on_completed, listener,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, listener, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = listener->daemon ? MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        if (listener->daemon)
            MHD_stop_daemon(listener->daemon);
        return rl_fail(err, RL_E_INTERNAL, NULL, "the HTTP library did not start");
    }
    server->listener_count++;
    return loop_add_fd(server->loop, info->epoll_fd, EPOLLIN, on_ready, listener, &listener->source, err);
}

int http_server_new(const struct http_config *config, const struct auth *auth, struct routes *routes, struct loop *loop,
                    struct http_server **ret, struct rl_err *err)
{
    struct http_server *server = calloc(1, sizeof(*server));
    if (!server || !(server->linger = linger_new(loop))) {
        free(server);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the HTTP server");
    }
    server->config = *config;
    server->routes = routes;
    server->rules = (struct http_rules){config->allowed_hosts, config->allowed_host_count, auth, routes};
    server->loop = loop;
    if ((config->tcp_fd >= 0 && start_listener(server, config->tcp_fd, false, err)) ||
        (config->unix_fd >= 0 && start_listener(server, config->unix_fd, true, err))) {
        http_server_free(server);
        return -1;
    }
    routes->counts = &server->counts;
    loop_set_prepare(loop, prepare, server);
    *ret = server;
    return 0;
}

static void close_listening(struct listener *listener)
{
    int fd = MHD_quiesce_daemon(listener->daemon);
    if (fd >= 0)
        close(fd);
}

void http_server_quiesce(struct http_server *server)
{
    server->routes->shutting_down = true;
    for (size_t i = 0; i < server->listener_count; i++)
        close_listening(&server->listeners[i]);
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    loop_set_prepare(server->loop, NULL, NULL);
    for (size_t i = 0; i < server->listener_count; i++) {
        loop_remove(server->loop, server->listeners[i].source);
        close_listening(&server->listeners[i]);
        MHD_stop_daemon(server->listeners[i].daemon);
    }
    linger_free(server->linger);
    free(server);
}

const struct http_counts *http_server_counts(const struct http_server *server)
{
    return &server->counts;
}
