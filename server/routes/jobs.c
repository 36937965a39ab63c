/* /api/v1/jobs: submit, list, one, transcript, cancel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/jobs/queue.h"
#include "gpu/base/escape.h"
#include "gpu/base/hash.h"
#include "gpu/base/num.h"
#include "gpu/base/said.h"
#include "server/limits/limits.h"
#include "server/request/json_body.h"
#include "server/routes/routes.h"

#define OPEN_RETRY_S  1 /* how soon to ask again for an open job: a course verification takes seconds */
#define CURSOR_PREFIX "j1-"

static bool is_open(const json_t *view)
{
    const char *state = json_string_value(json_object_get(view, "state"));
    return state && (!strcmp(state, job_state_name(JOB_QUEUED)) || !strcmp(state, job_state_name(JOB_RUNNING)));
}

/* The job as body; Retry-After while it is open. */
static int answer_job(struct routes *routes, int64_t id, int status, struct http_answer *answer, struct rl_err *err)
{
    json_t *view;
    if (jobs_view(routes->jobs, id, &view, err))
        return -1;
    answer->retry_after_s = is_open(view) ? OPEN_RETRY_S : 0;
    return route_json(answer, status, view, err);
}

int jobs_route_submit(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    char key[HTTP_KEY_SIZE] = ""; /* "" without one */
    json_t *body = NULL;
    char hash[65];
    int64_t id;
    int rc = -1;

    if (request->fields.idempotency_key && http_read_idempotency_key(request->fields.idempotency_key, key, err))
        return -1;
    if (json_body_parse(request->body, request->body_len, &body, err))
        return -1;
    rl_sha256_hex(request->body, request->body_len, hash);
    bool replayed = false;
    if (jobs_submit(routes->jobs, request->who.id, body, *key ? key : NULL, *key ? hash : NULL, &id, &replayed, err))
        goto out;
    if (answer_job(routes, id, 202, answer, err))
        goto out;
    snprintf(answer->location, sizeof(answer->location), "/api/v1/jobs/%lld", (long long)id);
    answer->replayed = replayed;
    rc = 0;
out:
    json_decref(body);
    return rc;
}

/* A cursor is "j1-STATE-ID-CHECK": CHECK binds it to the filter, so that a cursor of another list is refused. */
static void cursor_write(const char *state, const char *label, int64_t id, char ret[96])
{
    char text[64], bound[sizeof(text) + RL_LABEL_BYTES + 2], hash[65];
    snprintf(text, sizeof(text), CURSOR_PREFIX "%s-%lld", state ? state : "all", (long long)id);
    int len = snprintf(bound, sizeof(bound), "%s%s%s", text, label ? "\n" : "", label ? label : "");
    rl_sha256_hex(bound, (size_t)len, hash);
    snprintf(ret, 96, "%s-%.12s", text, hash);
}

static int cursor_read(const char *cursor, const char *state, const char *label, int64_t *ret, struct rl_err *err)
{
    char expected[96], digits[24];
    int64_t id;
    const char *end = strrchr(cursor, '-');
    const char *start = cursor;
    for (const char *c = cursor; end && c < end; c++)
        if (*c == '-')
            start = c + 1;
    size_t len = end ? (size_t)(end - start) : 0;
    if (len == 0 || len >= sizeof(digits))
        return rl_fail(err, RL_E_BAD_CURSOR, "cursor", "the cursor is not one that this list gave");
    memcpy(digits, start, len);
    digits[len] = '\0';
    if (rl_parse_i64(digits, 1, INT64_MAX, &id))
        return rl_fail(err, RL_E_BAD_CURSOR, "cursor", "the cursor is not one that this list gave");
    cursor_write(state, label, id, expected);
    if (strcmp(expected, cursor))
        return rl_fail(err, RL_E_BAD_CURSOR, "cursor",
                       "the cursor is not one that this list gave, or it belongs to another state= or label=");
    *ret = id;
    return 0;
}

struct list {
    struct jobs *jobs;
    json_t *items;
    int64_t last;
    struct rl_err *err;
};

static int add_job(void *arg, const struct store_job *job)
{
    struct list *list = arg;
    json_t *view;
    if (jobs_view_stored(list->jobs, job, &view, list->err))
        return -1;
    list->last = job->id;
    if (json_array_append_new(list->items, view))
        return rl_fail(list->err, RL_E_NO_MEMORY, NULL, "no memory for the list");
    return 0;
}

int jobs_route_list(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                    struct rl_err *err)
{
    const char *name = http_param(request, "state"), *cursor = http_param(request, "cursor");
    struct store_job_filter filter = {.state = -1};
    enum job_state state = JOB_QUEUED;
    bool more;

    if (name && job_state_from_name(name, &state))
        return rl_fail(err, RL_E_BAD_FIELD, "state",
                       "state '%.32s' is not queued, running, done, failed, cancelled or interrupted", name);
    if (route_label(request, &filter.label, err) || route_limit(request, &filter.limit, err) ||
        (cursor && cursor_read(cursor, name, filter.label, &filter.before_id, err)))
        return -1;
    if (name)
        filter.state = (int)state;
    struct list list = {routes->jobs, json_array(), 0, err};
    if (!list.items)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the list");
    if (store_job_list(routes->answers.store, &filter, add_job, &list, &more, err)) {
        json_decref(list.items);
        return -1;
    }
    char next[96];
    if (more)
        cursor_write(name, filter.label, list.last, next);
    return route_json(answer, 200, json_pack("{s:o, s:s?}", "items", list.items, "next", more ? next : NULL), err);
}

int jobs_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err))
        return -1;
    return answer_job(routes, id, 200, answer, err);
}

int jobs_route_cancel(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) ||
        jobs_cancel(routes->jobs, request->who.id, request->who.right >= AUTH_ADMIN, id, err) ||
        answer_job(routes, id, 200, answer, err))
        return -1;
    if (answer->retry_after_s) /* still running: it is cancelled once its process is gone */
        answer->status = 202;
    return 0;
}

int jobs_route_transcript(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                          struct rl_err *err)
{
    struct store_job job;
    int64_t id;
    if (route_id(request, &id, err) || store_job_get(routes->answers.store, id, &job, err))
        return -1;
    bool may = request->who.right >= AUTH_ADMIN || !strcmp(job.principal, request->who.id);
    store_job_fini(&job);
    if (!may)
        return rl_fail(err, RL_E_FORBIDDEN, NULL, "the transcript of job %lld is for its owner and for admins",
                       (long long)id);
    struct rl_buf text;
    rl_buf_init(&text, 4 * (size_t)LIMIT_TRANSCRIPT_BYTES);
    int rc = jobs_transcript(routes->jobs, id, &text, err);
    /* Stored bytes are raw: terminals obey control bytes, and the answer says that it is UTF-8. */
    if (!rc && text.len)
        text_escape(&answer->body, text.data, text.len, true);
    rl_buf_free(&text);
    answer->type = "text/plain; charset=utf-8";
    return rc;
}
