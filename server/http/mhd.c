/* The adapter to GNU libmicrohttpd 0.9.75: with server/http/send.c and server/http/probe.c all that includes its
 * header. It sees only requests that server/request/screen.c has found well-formed (server/http/HTTP.md). What it
 * guards against beside that was seen with that version on 2026-11-29:
 * - The URL is decoded, cut at %00 and keeps dot segments: the raw target is parsed by http_target_parse instead.
 * - There is no limit on bodies, and the timeout is one of inactivity: counted here, and a timer of our own per
 * connection.
 * - A response may be queued in the first and the last call of the handler only; refusing in between drops the
 * connection without an answer. A request that is refused while a body is still to come is therefore answered on the
 * socket itself (http_connection_refuse), and the rest of the body is drained after the close (linger).
 * - MHD_OPTION_STRICT_FOR_CLIENT is off: all that it adds is refused by the check or by server/http/admit.c with an
 * answer of the catalogue, where the library writes HTML, and its header block twice.
 * - What the library refuses itself has been announced (on_uri) and is not completed: such a request's memory is the
 * connection's. None is known that gets so far.
 * - At the connection limit new clients wait unanswered: the library's limit lies above ours, so that the surplus gets
 * its 503. */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "server/http/admit.h"
#include "server/http/connection.h"
#include "server/http/intake.h"
#include "server/http/mhd.h"
#include "server/http/probe.h"
#include "server/http/refuse.h"
#include "server/http/send.h"
#include "server/limits/limits.h"

#define LISTENERS_MAX 2
/* Above LIMIT_URL_BYTES, LIMIT_HEADER_BYTES, LIMIT_COOKIE_BYTES (which the library copies) and 64 bytes for each
 * header, parameter and cookie together, so that our own 414 and 431 come first; the head of an answer has what is
 * left. */
#define CONNECTION_MEMORY (128u * 1024u)
#define RUNS_AT_ONCE      8 /* of the library, before others of the loop get their turn */

struct exchange { /* one request and its answer */
    struct http_server *server;
    struct http_connection *connection;
    struct http_request request;
    struct http_route route;
    unsigned allow;
    char id[24];
    struct rl_buf body;
    struct http_wait wait; /* in place of body, of an upload; or of an answer that is made later */
    struct http_suspended suspended;
    struct rl_err err;
    bool failed, begun, close;
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
    struct http_connections connections;
    struct http_handler handler;
    struct loop *loop;
    struct listener listeners[LISTENERS_MAX];
    size_t listener_count;
    struct http_suspensions suspensions;
};

static int fail(struct exchange *exchange)
{
    exchange->failed = true;
    return -1;
}

/* ---- connections ---- */

static void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    http_wait_end(&exchange->wait);
    http_target_free(&exchange->request.target);
    rl_buf_free(&exchange->body);
    exchange->connection->exchange = NULL;
    free(exchange);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    const struct listener *listener = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context =
            info ? http_connection_open(&listener->server->connections, info->connect_fd, listener->is_unix) : NULL;
        if (info && !*context) /* nobody checks what it sends: let nothing be answered */
            shutdown(info->connect_fd, SHUT_RDWR);
    } else if (*context) {
        exchange_free(((struct http_connection *)*context)->exchange);
        http_connection_close(*context);
        *context = NULL;
    }
}

/* ---- requests ---- */

/* First word of a request: its target, before the library decodes it. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    const struct listener *listener = cls;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_connection *connection = info ? info->socket_context : NULL;
    struct exchange *exchange = connection ? calloc(1, sizeof(*exchange)) : NULL;
    if (!exchange)
        return NULL;
    exchange_free(connection->exchange);
    connection->exchange = exchange;
    exchange->server = listener->server;
    exchange->connection = connection;
    rl_buf_init(&exchange->body, LIMIT_BODY_BYTES);
    if (http_target_parse(uri, &exchange->request.target, &exchange->err)) {
        exchange->close = true;
        fail(exchange);
    }
    if (connection->idle && !connection->surplus) { /* the first request's time runs since it could be sent */
        connection->since_ns = rl_monotonic_ns();
        http_connection_deadline(connection, http_connection_head_ms(connection));
    }
    connection->idle = false;
    return exchange;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct exchange *exchange = cls;
    (void)kind;
    if (!exchange->failed && http_fields_add(&exchange->request.fields, name, value ? value : "", &exchange->err)) {
        exchange->close = true;
        fail(exchange);
    }
    return MHD_YES;
}

static int begin_upload(struct exchange *exchange)
{
    struct http_upload upload;
    const struct http_handler *handler = &exchange->server->handler;
    if (!exchange->route.upload || exchange->request.method != HTTP_POST)
        return 0;
    if (handler->upload(handler->arg, &exchange->route, &exchange->request, &upload, &exchange->err))
        return fail(exchange);
    http_wait_begin(&exchange->wait, exchange->connection, &upload);
    return 0;
}

/* Everything that the headers decide. *ret_has_body: refuse at once, do not wait for the body. */
static int begin(struct exchange *exchange, struct MHD_Connection *mhd, const char *method, bool *ret_has_body)
{
    struct http_connection *connection = exchange->connection;
    struct http_request *request = &exchange->request;
    const struct http_handler *handler = &exchange->server->handler;
    struct http_route *route = &exchange->route;

    request->method = http_method_from_name(method);
    MHD_get_connection_values(mhd, MHD_HEADER_KIND, on_header, exchange);
    /* After a head that is refused, nothing is taken for a request. */
    *ret_has_body = true;
    connection->begun_requests++;
    if (exchange->failed || http_intake_agrees(connection, false, &exchange->err))
        return fail(exchange);
    bool has_body = true;
    handler->find(handler->arg, request->target.path, route);
    size_t max = route->upload && request->method == HTTP_POST ? LIMIT_UPLOAD_BYTES : LIMIT_BODY_BYTES;
    if (http_check_length(&request->fields, max, &has_body, &exchange->err))
        return fail(exchange);
    *ret_has_body = has_body;
    if (http_admit(&exchange->server->rules, &connection->peer, route, request, has_body, &exchange->err)) {
        if (exchange->err.code == RL_E_METHOD_NOT_ALLOWED)
            exchange->allow = route->allow;
        exchange->close =
            exchange->err.code == RL_E_BAD_REQUEST || exchange->err.code == RL_E_BAD_HOST || connection->surplus;
        return fail(exchange);
    }
    if (http_connection_belongs(connection, request->who.share, &exchange->err)) {
        *ret_has_body = true;
        return fail(exchange);
    }
    http_connection_deadline(connection, exchange->server->config.request_timeout_ms);
    if (has_body)
        http_connection_moves(connection, LIMIT_BODY_BYTES_S, LIMIT_BODY_WINDOW_MS);
    if (route->id_len >= sizeof(exchange->id)) {
        rl_fail(&exchange->err, RL_E_NOT_FOUND, NULL, "there is no such id");
        return fail(exchange);
    }
    if (route->id) {
        memcpy(exchange->id, route->id, route->id_len);
        request->id = exchange->id;
    }
    return begin_upload(exchange);
}

static enum MHD_Result finish_upload(struct exchange *exchange, struct MHD_Connection *mhd);

static enum MHD_Result finish(struct exchange *exchange, struct MHD_Connection *mhd)
{
    const struct http_handler *handler = &exchange->server->handler;
    struct http_answer answer;
    http_answer_init(&answer);
    answer.close = exchange->close;
    if (!exchange->failed && exchange->wait.ready &&
        exchange->wait.upload.later.answer(exchange->wait.upload.later.arg, &answer, &exchange->err))
        fail(exchange);
    if (exchange->failed) {
        answer.allow = exchange->allow;
        http_answer_error(&answer, &exchange->err);
    } else if (exchange->wait.ready) {
        http_answer_settle(&exchange->request, &answer);
    } else {
        exchange->request.body = exchange->body.data;
        exchange->request.body_len = exchange->body.len;
        handler->answer(handler->arg, &exchange->route, &exchange->request, &answer);
    }
    if (answer.later.wait) {
        http_wait_begin(&exchange->wait, exchange->connection, &(struct http_upload){.later = answer.later});
        answer.later = (struct http_later){0};
        http_answer_fini(&answer);
        return finish_upload(exchange, mhd);
    }
    enum MHD_Result queued = http_send(mhd, exchange->connection, &exchange->request, &answer,
                                       exchange->failed ? &exchange->err : NULL, &exchange->server->suspensions);
    http_answer_fini(&answer);
    return queued;
}

/* ---- uploads, and answers that are made later ---- */

/* The body of an upload is whole, or its answer is ready. */
static enum MHD_Result finish_upload(struct exchange *exchange, struct MHD_Connection *mhd)
{
    struct http_wait *wait = &exchange->wait;
    struct http_suspensions *suspensions = &exchange->server->suspensions;
    if (!wait->finished && http_wait_finish(wait, http_resume, &exchange->suspended, &exchange->err))
        fail(exchange);
    if (wait->gone && !suspensions->ended)
        return MHD_NO;
    if (suspensions->ended && !exchange->failed && !wait->ready) {
        rl_fail(&exchange->err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
        fail(exchange);
    }
    if (exchange->failed || wait->ready)
        return finish(exchange, mhd);
    http_suspend(suspensions, &exchange->suspended, mhd, wait);
    return MHD_YES;
}

/* More of a body; a refusal while it comes is written past the library. */
static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t len)
{
    int rc = -1;
    http_pace_add(&exchange->connection->pace, len);
    if (exchange->wait.upload.data)
        rc = http_wait_data(&exchange->wait, data, len, &exchange->err);
    else if (!exchange->failed && (rc = rl_buf_add(&exchange->body, data, len)))
        rl_fail(&exchange->err, RL_E_TOO_LARGE, NULL, "the body has more than %u bytes", LIMIT_BODY_BYTES);
    if (!rc)
        return MHD_YES;
    fail(exchange);
    http_connection_refuse(exchange->connection, &exchange->request, exchange->allow, &exchange->err);
    return MHD_NO;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_len, void **con_cls)
{
    struct exchange *exchange = *con_cls;
    (void)cls;
    (void)url;
    if (!exchange)
        return MHD_NO; /* no memory for it when it came */
    if (!exchange->begun) {
        bool has_body;
        exchange->begun = true;
        exchange->connection->interim = strcmp(version, "HTTP/1.1") == 0;
        if (begin(exchange, mhd, method, &has_body) && has_body) {
            http_connection_refuse(exchange->connection, &exchange->request, exchange->allow, &exchange->err);
            return MHD_NO;
        }
        return MHD_YES;
    }
    if (*data_len > 0) {
        size_t len = *data_len;
        *data_len = 0;
        return take_body(exchange, data, len);
    }
    http_connection_still(exchange->connection);
    if (http_intake_agrees(exchange->connection, true, &exchange->err)) {
        http_connection_refuse(exchange->connection, &exchange->request, 0, &exchange->err);
        return MHD_NO;
    }
    return exchange->wait.upload.data || exchange->wait.finished ? finish_upload(exchange, mhd) : finish(exchange, mhd);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls, enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *con_cls;
    (void)cls;
    (void)mhd;
    if (!exchange)
        return;
    struct http_connection *connection = exchange->connection;
    connection->answered_requests++;
    connection->idle = true;
    connection->since_ns = rl_monotonic_ns();
    connection->whole = false;
    http_connection_still(connection);
    if (!connection->linger)
        connection->answered = false;
    http_connection_deadline(connection, exchange->server->config.idle_timeout_ms);
    /* others may follow that came with it */
    if (why == MHD_REQUEST_TERMINATED_COMPLETED_OK && connection->answered_requests == connection->screen.requests)
        http_connection_end_if_ended(connection);
    exchange_free(exchange);
    *con_cls = NULL;
}

/* ---- the loop ---- */

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *format, va_list args)
{
    const struct http_server *server = cls;
    /* What clients do wrong is answered, not logged; the second is the library's word for a request that was refused on
     * the socket itself. */
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

/* One turn of the library where it wants one at once; ms until it wants the next, or -1. */
static int64_t run_due(struct listener *listener, bool at_least_once)
{
    MHD_UNSIGNED_LONG_LONG due_ms = 0;
    if (at_least_once)
        MHD_run(listener->daemon);
    enum MHD_Result has_due = MHD_get_timeout(listener->daemon, &due_ms);
    for (int run = 0; has_due == MHD_YES && due_ms == 0 && run < RUNS_AT_ONCE; run++) {
        MHD_run(listener->daemon);
        has_due = MHD_get_timeout(listener->daemon, &due_ms);
    }
    return has_due == MHD_YES ? (int64_t)due_ms : -1;
}

static int64_t prepare(void *arg)
{
    struct http_server *server = arg;
    int64_t wait_ms = -1;
    /* At its limit, or out of descriptors, the library stops watching the listening socket, and starts again only in
     * the turn after the one that closed a connection; nothing else would cause that turn. */
    /* of a resumed one no descriptor tells (0.9.75) */
    bool again = server->connections.closed_some || server->suspensions.resumed;
    server->connections.closed_some = server->suspensions.resumed = false;
    for (size_t i = 0; i < server->listener_count; i++) {
        int64_t due_ms = run_due(&server->listeners[i], again);
        if (due_ms >= 0 && (wait_ms < 0 || due_ms < wait_ms))
            wait_ms = due_ms;
    }
    http_intake_settle(&server->connections);
    return server->connections.closed_some ? 0 : wait_ms;
}

static int start_listener(struct http_server *server, int fd, bool is_unix, struct rl_err *err)
{
    struct listener *listener = &server->listeners[server->listener_count];
    /* A backstop: our own timers come first. */
    unsigned timeout_s = (unsigned)((server->config.request_timeout_ms + server->config.idle_timeout_ms) / 1000 + 10);
    listener->server = server;
    listener->is_unix = is_unix;
    listener->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, listener,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, server, /* must be the first option, or errors of the others go to stderr */
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s,
        MHD_OPTION_CONNECTION_LIMIT, LIMIT_CONNECTIONS + LIMIT_SURPLUS_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, listener, MHD_OPTION_URI_LOG_CALLBACK, on_uri, listener, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        listener->daemon ? MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        if (listener->daemon)
            MHD_stop_daemon(listener->daemon);
        return rl_fail(err, RL_E_INTERNAL, NULL, "the HTTP library did not start");
    }
    server->listener_count++;
    return loop_add_fd(server->loop, info->epoll_fd, EPOLLIN, on_ready, listener, &listener->source, err);
}

int http_server_new(const struct http_config *config, const struct auth *auth, const struct http_handler *handler,
                    struct loop *loop, struct http_server **ret, struct rl_err *err)
{
    if (http_probe_library(err))
        return -1;
    struct http_server *server = calloc(1, sizeof(*server));
    if (!server || !(server->connections.linger = linger_new(loop))) {
        free(server);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the HTTP server");
    }
    server->config = *config;
    server->connections.config = &server->config;
    server->connections.loop = loop;
    server->handler = *handler;
    server->rules = (struct http_rules){config->allowed_hosts, config->allowed_host_count, auth, false};
    server->loop = loop;
    if ((config->tcp_fd >= 0 && start_listener(server, config->tcp_fd, false, err)) ||
        (config->unix_fd >= 0 && start_listener(server, config->unix_fd, true, err))) {
        http_server_free(server);
        return -1;
    }
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

const struct http_counts *http_server_counts(const struct http_server *server)
{
    return &server->connections.counts;
}

void http_server_quiesce(struct http_server *server)
{
    server->rules.shutting_down = true;
    for (size_t i = 0; i < server->listener_count; i++)
        close_listening(&server->listeners[i]);
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    loop_set_prepare(server->loop, NULL, NULL);
    server->rules.shutting_down = true;
    http_suspensions_end(&server->suspensions);
    /* what was answered last is sent: one turn queues it, another writes it */
    for (size_t i = 0; i < RUNS_AT_ONCE * server->listener_count; i++)
        MHD_run(server->listeners[i % server->listener_count].daemon);
    for (size_t i = 0; i < server->listener_count; i++) {
        loop_remove(server->loop, server->listeners[i].source);
        close_listening(&server->listeners[i]);
        MHD_stop_daemon(server->listeners[i].daemon);
    }
    linger_free(server->connections.linger);
    free(server);
}
