/* What every request must obey before a route sees it. Pure: no connection, no library. */
#ifndef SERVER_HTTP_ADMIT_H
#define SERVER_HTTP_ADMIT_H

#include "server/request/http.h"
#include "server/routes/routes.h"

struct http_rules {
    const char *const *allowed_hosts;
    size_t allowed_host_count;
    const struct auth *auth;
    const struct routes *routes;
};

/* Checks, in this order: Host (but where the route takes any), route, method, who asks and with what right, Origin,
 * media type, body where none belongs, query parameters. Fills request->who and *ret_route on success. *ret_allow is
 * also set on RL_E_METHOD_NOT_ALLOWED, for the Allow header. *ret_id points into the path. */
int http_admit(const struct http_rules *rules, const struct auth_peer *peer, struct http_request *request,
               bool has_body, const struct route **ret_route, const char **ret_allow, const char **ret_id,
               size_t *ret_id_len, struct rl_err *err);

#endif
