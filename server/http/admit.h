/* What every request must obey before a route sees it. Pure: no connection, no library. */
#ifndef SERVER_HTTP_ADMIT_H
#define SERVER_HTTP_ADMIT_H

#include "server/request/handler.h"

struct http_rules {
    const char *const *allowed_hosts;
    size_t allowed_host_count;
    const struct auth *auth;
    bool shutting_down;
};

/* Checks, in this order: Host (but where the route takes any), route, method, who asks and with what right, Origin,
 * media type, body where none belongs, query parameters. Fills request->who on success. RL_E_METHOD_NOT_ALLOWED's
 * answer has the route's Allow. */
int http_admit(const struct http_rules *rules, const struct auth_peer *peer, const struct http_route *route,
               struct http_request *request, bool has_body, struct rl_err *err);

#endif
