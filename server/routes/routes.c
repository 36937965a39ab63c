/* The route table. Order does not matter: paths are distinct. */
#include "server/routes/routes.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/json_text.h"
#include "server/limits/limits.h"
#include "server/routes/queued.h"
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

#define READS "GET, HEAD, OPTIONS"

static const struct route table[] = {
    {.path = "/api/v1/jobs",
     .allow = "GET, HEAD, POST, OPTIONS",
     .params = job_list_params,
     .read = AUTH_READ,
     .get = jobs_route_list,
     .post = jobs_route_submit},
    {.path = "/api/v1/jobs/{id}",
     .allow = "GET, HEAD, DELETE, OPTIONS",
     .read = AUTH_READ,
     .get = jobs_route_get,
     .del = jobs_route_cancel},
    {.path = "/api/v1/jobs/{id}/transcript", .allow = READS, .read = AUTH_READ, .get = jobs_route_transcript},
    {.path = "/api/v1/runs", .allow = READS, .params = run_list_params, .read = AUTH_READ, .get = runs_route_list},
    {.path = "/api/v1/runs/{id}", .allow = READS, .params = run_params, .read = AUTH_READ, .get = runs_route_get},
    {.path = "/api/v1/runs/{id}.csv", .allow = READS, .params = run_params, .read = AUTH_READ, .get = runs_route_csv},
    {.path = "/api/v1/runs/{id}/table",
     .allow = READS,
     .params = table_params,
     .read = AUTH_READ,
     .get = runs_route_table},
    {.path = "/api/v1/runs/{id}/note",
     .allow = "GET, HEAD, PUT, OPTIONS",
     .read = AUTH_READ,
     .get = note_route_get,
     .put = note_route_put},
    {.path = "/api/v1/runs/{id}/predictions",
     .allow = "GET, HEAD, PUT, OPTIONS",
     .read = AUTH_READ,
     .get = predictions_route_get,
     .put = predictions_route_put},
    {.path = "/api/v1/runs/{id}/withdraw",
     .allow = "GET, HEAD, POST, DELETE, OPTIONS",
     .read = AUTH_READ,
     .get = withdraw_route_get,
     .post = withdraw_route_post,
     .del = withdraw_route_delete},
    {.path = "/api/v1/runs.json", .allow = READS, .params = export_params, .read = AUTH_READ, .get = export_route_json},
    {.path = "/api/v1/runs.csv", .allow = READS, .params = export_params, .read = AUTH_READ, .get = export_route_csv},
    {.path = "/api/v1/history", .allow = READS, .params = history_params, .read = AUTH_READ, .get = history_route_get},
    {.path = "/api/v1/trend", .allow = READS, .params = trend_params, .read = AUTH_READ, .get = trend_route_get},
    {.path = "/api/v1/compare", .allow = READS, .params = compare_params, .read = AUTH_READ, .get = compare_route_get},
    {.path = "/api/v1/runs/{id}/samples", .allow = READS, .read = AUTH_READ, .get = runs_route_samples},
    {.path = "/api/v1/imports", .allow = "POST, OPTIONS", .upload = imports_route_upload},
    {.path = "/api/v1/devices", .allow = READS, .read = AUTH_READ, .get = devices_route_list},
    {.path = "/api/v1/kernels", .allow = READS, .read = AUTH_READ, .get = kernels_route_list},
    {.path = "/metrics", .allow = READS, .read = AUTH_READ, .get = health_route_metrics},
    /* Public: what a load balancer asks, and what the page needs before it can ask for a token. */
    {.path = "/healthz", .allow = READS, .any_host = true, .get = health_route_alive},
    {.path = "/readyz", .allow = READS, .any_host = true, .get = health_route_ready},
    {.path = "/api/v1/openapi.json", .allow = READS, .get = health_route_openapi},
};
static const struct route static_route = {.path = "static files", .allow = READS, .get = static_route_get};
static const struct route any_route = {.path = "*", .allow = "GET, HEAD, POST, PUT, DELETE, OPTIONS"};

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

const struct route *routes_find(const struct routes *routes, const char *path, const char **ret_id, size_t *ret_len)
{
    if (!strcmp(path, "*"))
        return &any_route;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (matches(table[i].path, path, ret_id, ret_len))
            return &table[i];
    return static_files_find(routes->files, path) ? &static_route : NULL;
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

bool route_allows(const struct route *route, enum http_method method)
{
    return method == HTTP_OPTIONS || (method == HTTP_POST && route->upload) || handler_of(route, method);
}

int route_check_params(const struct route *route, const struct http_request *request, struct rl_err *err)
{
    /* Only lists and runs have parameters; those of a list mean nothing to POST. */
    bool reads = request->method == HTTP_GET || request->method == HTTP_HEAD;
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

void route_answer(const struct route *route, struct routes *routes, const struct http_request *request,
                  struct http_answer *answer)
{
    struct rl_err err = {0};
    route_handler *handler = handler_of(route, request->method);
    if (request->method == HTTP_OPTIONS) {
        answer->status = 204;
        answer->type = NULL;
        answer->allow = route->allow;
    } else if (route_is_queued(routes, route, request) ? route_queue(handler, routes, request, answer, &err)
                                                       : handler(routes, request, answer, &err)) {
        http_answer_error(answer, &err);
    } else if (!answer->later.finish) {
        route_settle(request, answer);
    }
}

void route_settle(const struct http_request *request, struct http_answer *answer)
{
    struct rl_err err = {0};
    if (answer->body.failed) {
        rl_fail(&err, RL_E_NO_MEMORY, NULL, "the answer does not fit into memory");
        http_answer_error(answer, &err);
    } else if ((request->method == HTTP_GET || request->method == HTTP_HEAD) && answer->etag[0] &&
               request->fields.if_none_match && http_etag_matches(request->fields.if_none_match, answer->etag)) {
        rl_buf_clear(&answer->body);
        answer->fixed = NULL;
        answer->type = NULL;
        answer->disposition[0] = '\0';
        answer->status = 304;
    }
}

int route_id(const struct http_request *request, int64_t *ret, struct rl_err *err)
{
    if (!request->id || rl_parse_i64(request->id, 1, INT64_MAX, ret))
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no such id");
    return 0;
}

int route_limit(const struct http_request *request, int *ret, struct rl_err *err)
{
    const char *text = http_param(request, "limit");
    int64_t value = LIMIT_DEFAULT_ROWS;
    if (text && rl_parse_i64(text, 1, LIMIT_PAGE_ROWS, &value))
        return rl_fail(err, RL_E_BAD_FIELD, "limit", "limit '%.32s' is not a number from 1 to %u", text,
                       LIMIT_PAGE_ROWS);
    *ret = (int)value;
    return 0;
}

int route_json(struct http_answer *answer, int status, json_t *json, struct rl_err *err)
{
    char *text = rl_json_dumps(json);
    json_decref(json);
    if (!text)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the answer");
    rl_buf_puts(&answer->body, text);
    rl_buf_puts(&answer->body, "\n");
    free(text);
    answer->status = status;
    return 0;
}
