/* See server/routes/queued.h. */
#include "server/routes/queued.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/limits/limits.h"
#include "server/loop/work_queue.h"

struct waiting {
    struct work_item item;
    route_handler *get;
    struct routes *routes;
    const struct http_request *request;
    struct http_answer answer;
};

/* While the daemon shuts down all is answered at once: the library cannot be stopped with a connection that waits. */
bool route_is_queued(const struct routes *routes, const struct http_route *route, const struct http_request *request)
{
    bool reads = request->method == HTTP_GET || request->method == HTTP_HEAD;
    const char *limit = reads && route->params && !routes->answers.shutting_down ? http_param(request, "limit") : NULL;
    int64_t rows;
    return limit && !rl_parse_i64(limit, LIMIT_DEFAULT_ROWS + 1, LIMIT_PAGE_ROWS, &rows);
}

static int make(void *arg, struct rl_err *err)
{
    struct waiting *waiting = arg;
    return waiting->get(waiting->routes, waiting->request, &waiting->answer, err);
}

static int give(void *arg, struct http_answer *answer, struct rl_err *err)
{
    const struct work_item *item = arg;
    struct waiting *waiting = item->what.arg;
    if (work_item_result(item, err))
        return -1;
    bool close = answer->close;
    http_answer_fini(answer);
    *answer = waiting->answer;
    answer->close = close;
    http_answer_init(&waiting->answer);
    return 0;
}

static void waiting_free(void *arg)
{
    struct waiting *waiting = arg;
    http_answer_fini(&waiting->answer);
    free(waiting);
}

int route_queue(route_handler *get, struct routes *routes, const struct http_request *request,
                struct http_answer *answer, struct rl_err *err)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    if (!waiting)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an answer");
    *waiting = (struct waiting){.get = get, .routes = routes, .request = request};
    work_item_init(&waiting->item, routes->answers.queue, request->who.share,
                   (struct work_steps){make, NULL, NULL, waiting_free, waiting});
    http_answer_init(&waiting->answer);
    answer->later = answer_later(&waiting->item, give);
    return 0;
}
