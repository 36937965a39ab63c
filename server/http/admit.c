/* See server/http/admit.h. */
#include "server/http/admit.h"

#include <string.h>

static bool is_read(enum http_method method)
{
    return method == HTTP_GET || method == HTTP_HEAD;
}

static int check_host(const struct http_rules *rules, const struct http_route *route,
                      const struct http_request *request, struct rl_err *err)
{
    const char *host = request->fields.host, *authority = request->target.authority;
    if (!host || !*host)
        return rl_fail(err, RL_E_BAD_REQUEST, "Host", "the request has no Host header");
    if (!http_host_valid(host))
        return rl_fail(err, RL_E_BAD_REQUEST, "Host",
                       "the Host header '%.100s' is not a name or an address, with or without a port", host);
    if (authority && strcasecmp(authority, host))
        return rl_fail(err, RL_E_BAD_REQUEST, "Host", "the Host header and the absolute address name different hosts");
    if (!route->any_host && !http_host_allowed(host, rules->allowed_hosts, rules->allowed_host_count))
        return rl_fail(err, RL_E_BAD_HOST, "Host", "the host '%.100s' is not one that this daemon answers for", host);
    return 0;
}

/* A page of another site can make a browser send requests here; the browser then says whose page it was. */
static int check_origin(const struct http_request *request, struct rl_err *err)
{
    const char *origin = request->fields.origin;
    if (is_read(request->method) || !origin || http_origin_matches(origin, request->fields.host))
        return 0;
    return rl_fail(err, RL_E_BAD_ORIGIN, "Origin", "the origin '%.100s' is not this daemon's own page", origin);
}

static int check_who(const struct http_rules *rules, const struct auth_peer *peer, const struct http_route *route,
                     struct http_request *request, struct rl_err *err)
{
    if (auth_identify(rules->auth, peer, request->fields.authorization, &request->who, err))
        return -1;
    if (request->method == HTTP_OPTIONS)
        return 0;
    return auth_require(&request->who, is_read(request->method) ? route->read : AUTH_SUBMIT, err);
}

static int check_body(const struct http_route *route, const struct http_request *request, bool has_body,
                      struct rl_err *err)
{
    const struct http_fields *fields = &request->fields;
    if (request->method != HTTP_POST && request->method != HTTP_PUT) {
        if (has_body)
            return rl_fail(err, RL_E_BAD_REQUEST, NULL, "this method takes no body");
        return 0;
    }
    if (fields->content_encoding && strcasecmp(fields->content_encoding, "identity"))
        return rl_fail(err, RL_E_BAD_MEDIA_TYPE, "Content-Encoding",
                       "the content coding '%.64s' is not taken; send the body as it is", fields->content_encoding);
    if (!fields->content_type)
        return rl_fail(err, RL_E_BAD_MEDIA_TYPE, "Content-Type", "the request has no Content-Type");
    /* an upload's type has parameters, which its handler reads */
    if (!route->upload && !http_is_json_type(fields->content_type))
        return rl_fail(err, RL_E_BAD_MEDIA_TYPE, "Content-Type", "the Content-Type '%.64s' is not application/json",
                       fields->content_type);
    return 0;
}

static int check_params(const struct http_route *route, const struct http_request *request, struct rl_err *err)
{
    /* Only lists and runs have parameters; those of a list mean nothing to POST. */
    bool reads = is_read(request->method);
    for (size_t i = 0; i < request->target.param_count; i++) {
        const char *name = request->target.params[i].name;
        bool known = false;
        for (size_t j = 0; reads && route->params && route->params[j]; j++)
            known = known || !strcmp(route->params[j], name);
        if (!known)
            return rl_fail(err, RL_E_UNKNOWN_FIELD, name, "the query parameter '%.64s' is not known here", name);
    }
    return 0;
}

int http_admit(const struct http_rules *rules, const struct auth_peer *peer, const struct http_route *route,
               struct http_request *request, bool has_body, struct rl_err *err)
{
    char allow[HTTP_ALLOW_SIZE];
    if (check_host(rules, route, request, err))
        return -1;
    if (!route->route)
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "there is nothing at %.200s", request->target.path);
    if (!(route->methods & 1u << request->method)) {
        http_allow_text(route->allow, allow);
        return rl_fail(err, RL_E_METHOD_NOT_ALLOWED, NULL, "this method is not known at %.200s; %s are",
                       request->target.path, allow);
    }
    if (check_who(rules, peer, route, request, err) || check_origin(request, err))
        return -1;
    if (rules->shutting_down && !is_read(request->method) && request->method != HTTP_OPTIONS)
        return rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    return check_body(route, request, has_body, err) || check_params(route, request, err) ? -1 : 0;
}
