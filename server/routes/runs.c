/* /api/v1/runs: browse, one, and its other forms. */
#include <stdio.h>

#include "db/runs/document.h"
#include "db/runs/read.h"
#include "db/runs/withdrawal.h"
#include "gpu/base/hash.h"
#include "server/answers/run.h"
#include "server/routes/routes.h"

#define IMMUTABLE "private, no-cache" /* a run never changes, but who may read it can */

int runs_route_list(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                    struct rl_err *err)
{
    struct store_run_filter filter;
    if (route_run_filter(request, &filter, err) || route_word(request, "cursor", 512, &filter.cursor, err) ||
        route_limit(request, &filter.limit, err))
        return -1;
    return store_run_list(routes->store, &filter, &answer->body, err);
}

void route_immutable(struct http_answer *answer)
{
    char hash[65];
    rl_sha256_hex(answer->body.data, answer->body.len, hash);
    snprintf(answer->etag, sizeof(answer->etag), "\"%s\"", hash);
    answer->cache = IMMUTABLE;
}

int runs_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) || store_run_withdrawn(routes->store, id, &answer->withdrawn, err))
        return -1;
    if (http_param(request, "roofs"))
        return run_view(routes, request, id, RUN_VIEW_JSON, NULL, answer, err);
    if (store_run_document(routes->store, id, &answer->body, err))
        return -1;
    route_immutable(answer);
    return 0;
}

int runs_route_samples(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) || store_run_samples(routes->store, id, &answer->body, err))
        return -1;
    route_immutable(answer);
    return 0;
}

int runs_route_table(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                     struct rl_err *err)
{
    const char *state;
    int64_t id;
    if (route_one_of(request, "state", "warm|cold|mixed", &state, err) || route_id(request, &id, err))
        return -1;
    return run_view(routes, request, id, RUN_VIEW_TABLE, state, answer, err);
}

int runs_route_csv(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err))
        return -1;
    return run_view(routes, request, id, RUN_VIEW_CSV, NULL, answer, err);
}
