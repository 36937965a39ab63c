/* The HTTP server: GNU libmicrohttpd in external epoll mode inside server/loop/loop.h's loop. One thread. A
 * connection is suspended while something that it waits for is being made on a worker thread or by another process: the
 * answer to an upload, a large run's text, the next piece of an export (server/http/wait.h).
 *
 * It checks what every request must obey before a route sees it (Host, Origin, who asks, media type, sizes, deadlines);
 * the handler that it was given answers the rest. That a request is well-formed is checked before libmicrohttpd reads
 * it (server/http/HTTP.md), so that the library answers nothing by itself. */
#ifndef SERVER_HTTP_MHD_H
#define SERVER_HTTP_MHD_H

#include <stdint.h>

#include "server/loop/loop.h"
#include "server/request/counts.h"
#include "server/request/handler.h"

struct http_config {
    int tcp_fd;  /* listening socket or -1; owned by the server once http_server_new has returned 0 */
    int unix_fd; /* the same */
    const char *const *allowed_hosts;
    size_t allowed_host_count;
    int64_t request_timeout_ms; /* from a request's head to the last of its body, and again for its answer */
    int64_t idle_timeout_ms;    /* between requests of one connection */
    bool verbose;               /* a line on stderr for each request */
};

struct http_server;

/* handler is copied. RL_E_INTERNAL also when the library cannot be made to read through the check of requests. */
int http_server_new(const struct http_config *config, const struct auth *auth, const struct http_handler *handler,
                    struct loop *loop, struct http_server **ret, struct rl_err *err);
const struct http_counts *http_server_counts(const struct http_server *server);
/* From now on writes are answered 503 shutting_down, and no new connection is accepted. */
void http_server_quiesce(struct http_server *server);
void http_server_free(struct http_server *server); /* accepts NULL; closes every connection and the listening sockets */

#endif
