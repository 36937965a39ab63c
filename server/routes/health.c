/* Health, readiness, metrics, the API's description, and the page's files. */
#include <stdio.h>
#include <string.h>

#include "gpu/base/hash.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"
#include "server/routes/routes.h"
#include "server/routes/static_files.h"

/* server/openapi (generated), placed into the program by server/openapi/openapi.S. */
extern const char openapi_json[], openapi_json_end[];

static double uptime_s(const struct routes *routes)
{
    return (double)(rl_monotonic_ns() - routes->started_ns) / 1e9;
}

int health_route_alive(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    (void)request;
    (void)err;
    /* to the millisecond: jansson would write all of the double's digits */
    rl_buf_printf(&answer->body, "{\"status\":\"ok\",\"build\":\"%s\",\"uptime_s\":%.3f}\n", RL_BUILD_ID,
                  uptime_s(routes));
    answer->status = 200;
    return 0;
}

int health_route_ready(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    (void)request;
    bool ready = false;
    if (routes->answers.shutting_down)
        return rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
    json_t *document = jobs_readiness(routes->jobs, &ready);
    if (route_json(answer, ready ? 200 : 503, document, err))
        return -1;
    answer->retry_after_s = ready ? 0 : 5;
    return 0;
}

int health_route_metrics(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                         struct rl_err *err)
{
    (void)request;
    (void)err;
    struct rl_buf *out = &answer->body;
    const struct http_counts *counts = routes->counts;

    rl_buf_printf(out,
                  "# HELP rooflined_build_info The program's build.\n# TYPE rooflined_build_info gauge\n"
                  "rooflined_build_info{build=\"%s\"} 1\n",
                  RL_BUILD_ID);
    rl_buf_printf(out,
                  "# HELP rooflined_uptime_seconds Time since the start.\n# TYPE rooflined_uptime_seconds gauge\n"
                  "rooflined_uptime_seconds %.3f\n",
                  uptime_s(routes));
    rl_buf_puts(out, "# HELP rooflined_jobs Stored jobs by state.\n# TYPE rooflined_jobs gauge\n");
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        int64_t count = store_job_count(routes->answers.store, (enum job_state)state);
        if (count >= 0) /* a count that could not be had is absent, not 0 */
            rl_buf_printf(out, "rooflined_jobs{state=\"%s\"} %lld\n", job_state_name((enum job_state)state),
                          (long long)count);
    }
    rl_buf_printf(out,
                  "# HELP rooflined_queue_limit Jobs that may be queued at once.\n# TYPE rooflined_queue_limit gauge\n"
                  "rooflined_queue_limit %d\n",
                  LIMIT_QUEUED_JOBS);
    rl_buf_printf(out,
                  "# HELP rooflined_http_connections Open HTTP connections.\n# TYPE rooflined_http_connections gauge\n"
                  "rooflined_http_connections %u\n",
                  counts->connections);
    rl_buf_printf(out,
                  "# HELP rooflined_http_connections_refused_total Connections over the limit.\n"
                  "# TYPE rooflined_http_connections_refused_total counter\n"
                  "rooflined_http_connections_refused_total %llu\n",
                  (unsigned long long)counts->refused_connections);
    rl_buf_printf(
        out,
        "# HELP rooflined_http_connections_gave_way_total Connections ended to take another.\n"
        "# TYPE rooflined_http_connections_gave_way_total counter\n"
        "rooflined_http_connections_gave_way_total %llu\n"
        "# HELP rooflined_http_connections_too_slow_total Connections ended because a body moved too slowly.\n"
        "# TYPE rooflined_http_connections_too_slow_total counter\n"
        "rooflined_http_connections_too_slow_total %llu\n",
        (unsigned long long)counts->gave_way, (unsigned long long)counts->too_slow);
    rl_buf_puts(
        out,
        "# HELP rooflined_http_requests_total Requests by status.\n# TYPE rooflined_http_requests_total counter\n");
    for (int status = 0; status < 600; status++)
        if (counts->by_status[status])
            rl_buf_printf(out, "rooflined_http_requests_total{status=\"%d\"} %llu\n", status,
                          (unsigned long long)counts->by_status[status]);
    answer->type = "text/plain; version=0.0.4; charset=utf-8";
    return 0;
}

int health_route_openapi(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                         struct rl_err *err)
{
    (void)routes;
    (void)request;
    (void)err;
    char hash[65];
    answer->fixed = openapi_json;
    answer->fixed_len = (size_t)(openapi_json_end - openapi_json);
    rl_sha256_hex(answer->fixed, answer->fixed_len, hash);
    snprintf(answer->etag, sizeof(answer->etag), "\"%s\"", hash);
    answer->cache = "no-cache";
    return 0;
}

int static_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                     struct rl_err *err)
{
    const struct static_file *file = static_files_find(routes->files, request->target.path);
    if (!file) /* the table found it */
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no such file");
    answer->fixed = file->data;
    answer->fixed_len = file->len;
    answer->type = file->type;
    answer->cache = "no-cache";
    snprintf(answer->etag, sizeof(answer->etag), "%s", file->etag);
    return 0;
}
