/* What a connection's client sends, on its way to the HTTP library: every byte is checked first
 * (server/request/screen.h), and none of a malformed request's last piece comes through. Its answer is written past the
 * library. That the client has ended its side is kept from the library while a whole request is unanswered. */
#ifndef SERVER_HTTP_INTAKE_H
#define SERVER_HTTP_INTAKE_H

#include "server/http/connection.h"

/* From now on the library reads this connection through the check. -1: it cannot, and the connection must not be
 * served. */
int http_intake_start(struct http_connection *connection);
void http_intake_end(struct http_connection *connection); /* before its descriptor is closed */

/* Answers the malformed requests whose turn has come: when all requests before them are answered, so that answers
 * neither mix nor change places. To be called before each wait. */
void http_intake_settle(struct http_connections *all);

/* Whether the request that the library now begins, or whose body it calls whole, is one that the check has seen as far:
 * RL_E_INTERNAL if not, which means that the two do not read alike. */
int http_intake_agrees(const struct http_connection *connection, bool whole, struct rl_err *err);

#endif
