/* /api/v1/trend: one quantity of one row of one device over days, with its noise band. */
#include <string.h>

#include "db/history/trend.h"
#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"
#include "server/routes/routes.h"

static int method_version(const struct http_request *request, int64_t *ret, struct rl_err *err)
{
    const char *text = http_param(request, "method_version");
    int64_t value = 0;
    if (text && rl_parse_i64(text, 1, INT32_MAX, &value))
        return rl_fail(err, RL_E_BAD_FIELD, "method_version", "method_version '%.32s' is not a number from 1", text);
    *ret = value;
    return 0;
}

/* Imports have names with blanks, commas and letters of any script. */
static int kernel_name(const struct http_request *request, const char **ret, struct rl_err *err)
{
    const char *name = http_param(request, "kernel");
    size_t len = name ? strlen(name) : 0;
    if (!name)
        return rl_fail(err, RL_E_BAD_FIELD, "kernel", "the query parameter kernel is missing");
    if (len < 1 || len > LIMIT_UNIT_BYTES)
        return rl_fail(err, RL_E_BAD_FIELD, "kernel", "kernel has %zu bytes; 1 to %u are taken", len, LIMIT_UNIT_BYTES);
    *ret = name;
    return 0;
}

int trend_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                    struct rl_err *err)
{
    struct store_trend_query query = {.now_ms = rl_now_ms()};
    if (route_needed(request, "device", LIMIT_DEVICE_CHARACTERS, &query.device, err) ||
        kernel_name(request, &query.kernel, err) ||
        route_one_of(request, "state", "warm|cold|mixed", &query.state, err) ||
        route_one_of(request, "metric", "time_s|dram_bytes|dram_per_ask|percent_of_ceiling|value", &query.metric,
                     err) ||
        route_one_of(request, "suite", ROUTE_SUITES, &query.suite, err) ||
        route_one_of(request, "sizes", ROUTE_SIZES, &query.sizes, err) ||
        route_one_of(request, "source", "measured|replayed|imported|any", &query.source, err) ||
        route_version(request, "driver", LIMIT_DRIVER_CHARACTERS, &query.driver, err) ||
        route_version(request, "cuda", LIMIT_CUDA_CHARACTERS, &query.cuda, err) ||
        route_label(request, &query.label, err) || method_version(request, &query.method_version, err) ||
        route_times(request, &query.since_ms, &query.until_ms, err))
        return -1;
    if (!query.state)
        query.state = "warm";
    return store_history_trend(routes->answers.store, &query, &answer->body, err);
}
