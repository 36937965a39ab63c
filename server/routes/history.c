/* /api/v1/history: which devices, drivers and CUDA versions were verified on which days. */
#include "db/history/matrix.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"
#include "server/routes/routes.h"

int history_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    struct store_matrix_query query = {.now_ms = rl_now_ms()};
    if (route_word(request, "device", LIMIT_DEVICE_CHARACTERS, &query.device, err) ||
        route_one_of(request, "source", "measured|replayed|imported|any", &query.source, err) ||
        route_label(request, &query.label, err) || route_times(request, &query.since_ms, &query.until_ms, err))
        return -1;
    return store_history_matrix(routes->answers.store, &query, &answer->body, err);
}
