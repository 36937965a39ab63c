/* /api/v1/runs: browse, one, and its other forms. */
#include <stdio.h>

#include "db/runs/document.h"
#include "db/runs/list.h"
#include "db/runs/read.h"
#include "db/runs/withdrawal.h"
#include "gpu/base/hash.h"
#include "server/answers/run.h"
#include "server/routes/routes.h"

/* The run in another form; roofs: those of another run that it is to be seen under. */
static int view(struct routes *routes, const struct http_request *request, int64_t id, enum run_view_form form,
                const char *state, struct http_answer *answer, struct rl_err *err)
{
    struct run_view_question question = {.run = id, .form = form, .state = state, .share = request->who.share};
    if (route_word(request, "roofs", 20, &question.roofs, err))
        return -1;
    return run_view(&routes->answers, &question, answer, err);
}

int runs_route_list(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                    struct rl_err *err)
{
    struct store_run_filter filter;
    if (route_run_filter(request, &filter, err) || route_word(request, "cursor", 512, &filter.cursor, err) ||
        route_limit(request, &filter.limit, err))
        return -1;
    return store_run_list(routes->answers.store, &filter, &answer->body, err);
}

int runs_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) || store_run_withdrawn(routes->answers.store, id, &answer->withdrawn, err))
        return -1;
    if (http_param(request, "roofs"))
        return view(routes, request, id, RUN_VIEW_JSON, NULL, answer, err);
    if (store_run_document(routes->answers.store, id, &answer->body, err))
        return -1;
    http_answer_immutable(answer);
    return 0;
}

int runs_route_samples(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) || store_run_samples(routes->answers.store, id, &answer->body, err))
        return -1;
    http_answer_immutable(answer);
    return 0;
}

int runs_route_table(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                     struct rl_err *err)
{
    const char *state;
    int64_t id;
    if (route_one_of(request, "state", "warm|cold|mixed", &state, err) || route_id(request, &id, err))
        return -1;
    return view(routes, request, id, RUN_VIEW_TABLE, state, answer, err);
}

int runs_route_csv(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err))
        return -1;
    return view(routes, request, id, RUN_VIEW_CSV, NULL, answer, err);
}
