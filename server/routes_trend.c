/* /api/v1/trend: one quantity of one row of one device over days, with its noise band. */
#include "base/num.h"
#include "base/time.h"
#include "db/history.h"
#include "server/limits.h"
#include "server/routes.h"

static int method_version(const struct http_request *request, int64_t *ret, struct rl_err *err)
{
    const char *text = http_param(request, "method_version");
    int64_t value = 0;
    if (text && rl_parse_i64(text, 1, INT32_MAX, &value))
        return rl_fail(err, RL_E_BAD_FIELD, "method_version", "method_version '%.32s' is not a number from 1", text);
    *ret = value;
    return 0;
}

int trend_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                    struct rl_err *err)
{
    struct store_trend_query query = {.now_ms = rl_now_ms()};
    if (route_needed(request, "device", LIMIT_DEVICE_CHARACTERS, &query.device, err) ||
        route_needed(request, "kernel", LIMIT_UNIT_CHARACTERS, &query.kernel, err) ||
        route_one_of(request, "state", "warm|cold|mixed", &query.state, err) ||
        route_one_of(request, "metric", "time_s|dram_bytes|dram_per_ask|percent_of_ceiling|value", &query.metric,
                     err) ||
        route_one_of(request, "suite", "verify", &query.suite, err) ||
        route_one_of(request, "sizes", "course|scaled", &query.sizes, err) ||
        route_one_of(request, "source", "measured|replayed|imported|any", &query.source, err) ||
        route_word(request, "driver", LIMIT_DRIVER_CHARACTERS, &query.driver, err) ||
        route_word(request, "cuda", LIMIT_CUDA_CHARACTERS, &query.cuda, err) ||
        method_version(request, &query.method_version, err) ||
        route_times(request, &query.since_ms, &query.until_ms, err))
        return -1;
    if (!query.state)
        query.state = "warm";
    return store_history_trend(routes->store, &query, &answer->body, err);
}
