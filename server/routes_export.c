/* /api/v1/runs.json and .csv: every run of a filter as one file, made while it is sent. */
#include <stdio.h>
#include <stdlib.h>

#include "db/history.h"
#include "server/limits.h"
#include "server/routes.h"

struct sent {
    struct store_export *export;
    struct routes *routes;
};

static int next_piece(void *arg, struct rl_buf *out, bool *ret_done, struct rl_err *err)
{
    return store_export_next(((struct sent *)arg)->export, LIMIT_EXPORT_PIECE_BYTES, out, ret_done, err);
}

static void end(void *arg)
{
    struct sent *sent = arg;
    store_export_free(sent->export);
    sent->routes->exports--;
    free(sent);
}

static int start(struct routes *routes, const struct http_request *request, enum store_export_format format,
                 struct http_answer *answer, struct rl_err *err)
{
    struct store_run_filter filter;
    if (route_run_filter(request, &filter, err))
        return -1;
    if (routes->exports >= LIMIT_EXPORTS)
        return rl_fail(err, RL_E_TOO_MANY_EXPORTS, NULL, "%u exports are being sent, as many as are at once",
                       routes->exports);
    struct sent *sent = calloc(1, sizeof(*sent));
    if (!sent)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an export");
    sent->routes = routes;
    if (store_export_start(routes->store, &filter, format, &sent->export, err)) {
        free(sent);
        return -1;
    }
    routes->exports++;
    answer->stream = (struct http_stream){.next = next_piece, .free = end, .arg = sent};
    snprintf(answer->disposition, sizeof(answer->disposition), "attachment; filename=\"runs.%s\"",
             format == STORE_EXPORT_CSV ? "csv" : "json");
    return 0;
}

int export_route_json(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    return start(routes, request, STORE_EXPORT_JSON, answer, err);
}

int export_route_csv(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                     struct rl_err *err)
{
    answer->type = "text/csv; charset=utf-8; header=present";
    return start(routes, request, STORE_EXPORT_CSV, answer, err);
}
