/* Answers written past the HTTP library, and the line of each answer in the log. Below everything that refuses: the
 * check of requests, deadlines, the adapter. */
#ifndef SERVER_HTTP_REFUSE_H
#define SERVER_HTTP_REFUSE_H

#include "server/http/connection.h"

/* Writes an error's answer to the socket itself, past the library, which the caller then lets drop the connection. For
 * requests that are refused while a body is still to come. request may be NULL. */
void http_connection_refuse(struct http_connection *connection, const struct http_request *request, unsigned allow,
                            const struct rl_err *err);
/* Counts an answer, and logs it when it is a 500 or the server is verbose. err: NULL unless it is an error's. */
void http_connection_log(struct http_connection *connection, const struct http_request *request, int status,
                         const struct rl_err *err);

#endif
