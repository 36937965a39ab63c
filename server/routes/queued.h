/* An answer that takes its turn (server/loop/work_queue.h): a list of more rows than LIMIT_DEFAULT_ROWS, which takes
 * the store some ms. Two hundred that were asked for at once kept the others waiting for 110 ms (2026-11-30). */
#ifndef SERVER_ROUTES_QUEUED_H
#define SERVER_ROUTES_QUEUED_H

#include "server/routes/routes.h"

/* Whether what is asked for is such a list. */
bool route_is_queued(const struct routes *routes, const struct http_route *route, const struct http_request *request);
/* Sets answer->later, which calls get when its turn has come. The request is to live as long. RL_E_NO_MEMORY. */
int route_queue(route_handler *get, struct routes *routes, const struct http_request *request,
                struct http_answer *answer, struct rl_err *err);

#endif
