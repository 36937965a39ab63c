/* The table of routes, and what the server asks of it. Order does not matter: paths are distinct. */
#include <string.h>

#include "server/routes/queued.h"
#include "server/routes/routes.h"
#include "server/routes/static_files.h"

static const char *const job_list_params[] = {"state", "label", "limit", "cursor", NULL};
static const char *const run_list_params[] = {"device", "driver",   "cuda",    "suite",  "sizes",
                                              "source", "counters", "outcome", "label",  "withdrawn",
                                              "since",  "until",    "limit",   "cursor", NULL};
static const char *const export_params[] = {"device",  "driver", "cuda",      "suite", "sizes", "source", "counters",
                                            "outcome", "label",  "withdrawn", "since", "until", NULL};
static const char *const run_params[] = {"roofs", NULL};
static const char *const table_params[] = {"state", "roofs", NULL};
static const char *const history_params[] = {"device", "source", "label", "since", "until", NULL};
static const char *const trend_params[] = {"device", "kernel", "state", "metric",         "suite", "sizes", "source",
                                           "driver", "cuda",   "label", "method_version", "since", "until", NULL};
static const char *const compare_params[] = {"base", "head", "device", "suite", "sizes", "source", "kernel", NULL};

static const struct route table[] = {
    {.path = "/api/v1/jobs",
     .params = job_list_params,
     .read = AUTH_READ,
     .get = jobs_route_list,
     .post = jobs_route_submit},
    {.path = "/api/v1/jobs/{id}", .read = AUTH_READ, .get = jobs_route_get, .del = jobs_route_cancel},
    {.path = "/api/v1/jobs/{id}/transcript", .read = AUTH_READ, .get = jobs_route_transcript},
    {.path = "/api/v1/runs", .params = run_list_params, .read = AUTH_READ, .get = runs_route_list},
    {.path = "/api/v1/runs/{id}", .params = run_params, .read = AUTH_READ, .get = runs_route_get},
    {.path = "/api/v1/runs/{id}.csv", .params = run_params, .read = AUTH_READ, .get = runs_route_csv},
    {.path = "/api/v1/runs/{id}/table", .params = table_params, .read = AUTH_READ, .get = runs_route_table},
    {.path = "/api/v1/runs/{id}/note", .read = AUTH_READ, .get = note_route_get, .put = note_route_put},
    {.path = "/api/v1/runs/{id}/predictions",
     .read = AUTH_READ,
     .get = predictions_route_get,
     .put = predictions_route_put},
    {.path = "/api/v1/runs/{id}/withdraw",
     .read = AUTH_READ,
     .get = withdraw_route_get,
     .post = withdraw_route_post,
     .del = withdraw_route_delete},
    {.path = "/api/v1/runs.json", .params = export_params, .read = AUTH_READ, .get = export_route_json},
    {.path = "/api/v1/runs.csv", .params = export_params, .read = AUTH_READ, .get = export_route_csv},
    {.path = "/api/v1/history", .params = history_params, .read = AUTH_READ, .get = history_route_get},
    {.path = "/api/v1/trend", .params = trend_params, .read = AUTH_READ, .get = trend_route_get},
    {.path = "/api/v1/compare", .params = compare_params, .read = AUTH_READ, .get = compare_route_get},
    {.path = "/api/v1/runs/{id}/samples", .read = AUTH_READ, .get = runs_route_samples},
    {.path = "/api/v1/imports", .upload = imports_route_upload},
    {.path = "/api/v1/devices", .read = AUTH_READ, .get = devices_route_list},
    {.path = "/api/v1/kernels", .read = AUTH_READ, .get = kernels_route_list},
    {.path = "/metrics", .read = AUTH_READ, .get = health_route_metrics},
    /* Public: what a load balancer asks, and what the page needs before it can ask for a token. */
    {.path = "/healthz", .any_host = true, .get = health_route_alive},
    {.path = "/readyz", .any_host = true, .get = health_route_ready},
    {.path = "/api/v1/openapi.json", .get = health_route_openapi},
};
static const struct route static_route = {.path = "static files", .get = static_route_get};
static const struct route any_route = {.path = "*"};

/* Ids are decimal without leading zeros; what does not look like one is not found. */
static size_t id_len(const char *text)
{
    return text[0] >= '1' && text[0] <= '9' ? strspn(text, "0123456789") : 0;
}

static bool matches(const char *pattern, const char *path, const char **ret_id, size_t *ret_len)
{
    const char *mark = strstr(pattern, "{id}");
    if (!mark)
        return !strcmp(pattern, path);
    size_t head = (size_t)(mark - pattern);
    if (strncmp(pattern, path, head))
        return false;
    size_t len = id_len(path + head);
    if (len == 0 || strcmp(path + head + len, mark + strlen("{id}")))
        return false;
    *ret_id = path + head;
    *ret_len = len;
    return true;
}

/* The methods that a route has handlers for, as the bits of struct http_route. */
static unsigned methods_of(const struct route *route)
{
    return 1u << HTTP_OPTIONS | (route->get ? 1u << HTTP_GET | 1u << HTTP_HEAD : 0) |
           (route->post || route->upload ? 1u << HTTP_POST : 0) | (route->put ? 1u << HTTP_PUT : 0) |
           (route->del ? 1u << HTTP_DELETE : 0);
}

static const struct route *find(const struct routes *routes, const char *path, struct http_route *ret)
{
    if (!strcmp(path, "*"))
        return &any_route;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (matches(table[i].path, path, &ret->id, &ret->id_len))
            return &table[i];
    return static_files_find(routes->files, path) ? &static_route : NULL;
}

/* Exact names of static files are routes as well. */
static void routes_find(void *arg, const char *path, struct http_route *ret)
{
    *ret = (struct http_route){0};
    const struct route *route = find(arg, path, ret);
    if (!route)
        return;
    ret->methods = ret->allow = methods_of(route);
    if (route == &any_route) /* of the server as a whole: any method, and only OPTIONS asks about it */
        ret->allow = (1u << HTTP_OTHER) - 1;
    ret->params = route->params;
    ret->any_host = route->any_host;
    ret->upload = route->upload != NULL;
    ret->read = route->read;
    ret->route = route;
}

static route_handler *handler_of(const struct route *route, enum http_method method)
{
    switch (method) {
    case HTTP_GET:
    case HTTP_HEAD:
        return route->get;
    case HTTP_POST:
        return route->post;
    case HTTP_DELETE:
        return route->del;
    case HTTP_PUT:
        return route->put;
    case HTTP_OPTIONS:
    case HTTP_OTHER:
        break;
    }
    return NULL;
}

static int routes_upload(void *arg, const struct http_route *route, const struct http_request *request,
                         struct http_upload *ret, struct rl_err *err)
{
    return route->route->upload(arg, request, ret, err);
}

/* HEAD runs GET's handler. */
static void routes_answer(void *arg, const struct http_route *route, const struct http_request *request,
                          struct http_answer *answer)
{
    struct routes *routes = arg;
    struct rl_err err = {0};
    route_handler *handler = handler_of(route->route, request->method);
    if (request->method == HTTP_OPTIONS) {
        answer->status = 204;
        answer->type = NULL;
        answer->allow = route->allow;
    } else if (route_is_queued(routes, route, request) ? route_queue(handler, routes, request, answer, &err)
                                                       : handler(routes, request, answer, &err)) {
        http_answer_error(answer, &err);
    } else if (!answer->later.wait) {
        http_answer_settle(request, answer);
    }
}

struct http_handler routes_handler(struct routes *routes)
{
    return (struct http_handler){routes_find, routes_upload, routes_answer, routes};
}
