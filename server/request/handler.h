/* Who answers requests, as the server (server/http/mhd.h) sees it: main gives it one (server/routes/routes.h). */
#ifndef SERVER_REQUEST_HANDLER_H
#define SERVER_REQUEST_HANDLER_H

#include "server/request/http.h"

struct route; /* the handler's own */

struct http_route {            /* what the server checks of a request before it is handled */
    unsigned methods;          /* that are taken: a bit, 1u << enum http_method, each */
    unsigned allow;            /* that the Allow header names */
    const char *const *params; /* known query parameters of GET and HEAD, NULL-terminated; NULL: none */
    bool any_host;             /* answers whatever Host says: probes come by address */
    bool upload;               /* POST has a body that is taken in pieces, of at most LIMIT_UPLOAD_BYTES */
    enum auth_right read;      /* right that GET and HEAD need; AUTH_NONE: public */
    const char *id;            /* of the path, into which it points; NULL: it has none */
    size_t id_len;
    const struct route *route; /* NULL: there is nothing at the path */
};

struct http_handler {
    /* What is at a decoded path. */
    void (*find)(void *arg, const char *path, struct http_route *ret);
    /* An upload begins; called with the headers alone. */
    int (*upload)(void *arg, const struct http_route *route, const struct http_request *request,
                  struct http_upload *ret, struct rl_err *err);
    /* Makes the answer, or sets answer->later; an error becomes the error's answer. The request lives as long. */
    void (*answer)(void *arg, const struct http_route *route, const struct http_request *request,
                   struct http_answer *answer);
    void *arg;
};

#endif
