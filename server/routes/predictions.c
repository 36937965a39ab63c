/* /api/v1/runs/{id}/predictions and /withdraw: what the one whose run it is says of it afterwards. The run itself never
 * changes. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/notes/predictions.h"
#include "db/runs/withdrawal.h"
#include "gpu/base/said.h"
#include "gpu/base/time.h"
#include "server/request/json_body.h"
#include "server/routes/routes.h"

/* ---- predictions ---- */

/* The score never changes: what was said of it makes a version. */
static void etag(int64_t run, int64_t version, char ret[80])
{
    snprintf(ret, 80, "\"predictions-%lld-%lld\"", (long long)run, (long long)version);
}

static int answer_predictions(struct routes *routes, int64_t run, struct http_answer *answer, struct rl_err *err)
{
    int64_t version;
    if (store_predictions_json(routes->answers.store, run, &answer->body, &version, err))
        return -1;
    etag(run, version, answer->etag);
    answer->cache = "private, no-cache";
    return 0;
}

int predictions_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                          struct rl_err *err)
{
    int64_t run;
    return route_id(request, &run, err) ? -1 : answer_predictions(routes, run, answer, err);
}

/* {"why_wrong": {KERNEL: text}}. Texts stay body's. */
static int read_why_wrong(const json_t *body, struct store_wrong items[2], size_t *ret_count, struct rl_err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)body, name, value)
    {
        if (strcmp(name, "why_wrong"))
            return rl_fail(err, RL_E_UNKNOWN_FIELD, name, "'%.64s' is not a member of what is said of predictions",
                           name);
    }
    json_t *said = json_object_get(body, "why_wrong");
    if (!json_is_object(said))
        return rl_fail(err, RL_E_BAD_FIELD, "why_wrong", "why_wrong is %s: it has to be an object of kernels and texts",
                       said ? "no object" : "missing");
    if (json_object_size(said) > 2)
        return rl_fail(err, RL_E_BAD_FIELD, "why_wrong", "why_wrong has %zu kernels; the two most wrong are taken",
                       json_object_size(said));
    *ret_count = 0;
    json_object_foreach(said, name, value)
    {
        char field[160];
        snprintf(field, sizeof(field), "why_wrong.%.100s", name);
        if (!json_is_string(value))
            return rl_fail(err, RL_E_BAD_FIELD, field, "%s is not a text", field);
        items[(*ret_count)++] = (struct store_wrong){name, json_string_value(value)};
    }
    return 0;
}

static int check_match(struct routes *routes, const struct http_request *request, int64_t run, int64_t *ret,
                       struct rl_err *err)
{
    struct rl_buf text;
    char now[80], what[64];
    int64_t version;
    *ret = -1;
    if (!request->fields.if_match)
        return 0;
    rl_buf_init(&text, HTTP_ANSWER_MAX);
    int rc = store_predictions_json(routes->answers.store, run, &text, &version, err);
    rl_buf_free(&text);
    if (rc)
        return -1;
    etag(run, version, now);
    snprintf(what, sizeof(what), "what is said of run %lld's predictions", (long long)run);
    return route_if_match(request, now, version, what, ret, err);
}

int predictions_route_put(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                          struct rl_err *err)
{
    struct store_wrong items[2];
    struct store_wrong_new said = {.items = items, .principal = request->who.id, .now_ms = rl_now_ms()};
    json_t *body = NULL;
    int64_t version;
    int rc = -1;

    if (route_id(request, &said.run_id, err) || json_body_parse(request->body, request->body_len, &body, err))
        return -1;
    if (!read_why_wrong(body, items, &said.count, err) &&
        !route_owner(routes, request, said.run_id, "says why its predictions were wrong", err) &&
        !check_match(routes, request, said.run_id, &said.if_version, err) &&
        !store_predictions_put(routes->answers.store, &said, &version, err))
        rc = answer_predictions(routes, said.run_id, answer, err);
    json_decref(body);
    return rc;
}

/* ---- withdrawing ---- */

int withdraw_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    int64_t run;
    return route_id(request, &run, err) ? -1 : store_withdrawals_json(routes->answers.store, run, &answer->body, err);
}

static int change(struct routes *routes, const struct http_request *request, const char *reason,
                  struct http_answer *answer, struct rl_err *err)
{
    struct store_withdrawal asked = {.reason = reason, .principal = request->who.id, .now_ms = rl_now_ms()};
    if (route_id(request, &asked.run_id, err) ||
        route_owner(routes, request, asked.run_id, reason ? "withdraws it" : "takes its withdrawal back", err) ||
        store_run_withdraw(routes->answers.store, &asked, err))
        return -1;
    return store_withdrawals_json(routes->answers.store, asked.run_id, &answer->body, err);
}

static int read_reason(const json_t *body, const char **ret, struct rl_err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)body, name, value)
    {
        if (strcmp(name, "reason"))
            return rl_fail(err, RL_E_UNKNOWN_FIELD, name, "'%.64s' is not a member of a withdrawal", name);
    }
    value = json_object_get(body, "reason");
    if (!json_is_string(value))
        return rl_fail(err, RL_E_BAD_FIELD, "reason", "reason is %s", value ? "not a text" : "missing");
    *ret = json_string_value(value);
    return rl_said_check(*ret, json_string_length(value), "reason", STORE_REASON_CHARACTERS, true, err);
}

int withdraw_route_post(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                        struct rl_err *err)
{
    json_t *body = NULL;
    const char *reason = NULL;
    if (json_body_parse(request->body, request->body_len, &body, err))
        return -1;
    int rc = read_reason(body, &reason, err) || change(routes, request, reason, answer, err) ? -1 : 0;
    json_decref(body);
    return rc;
}

int withdraw_route_delete(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                          struct rl_err *err)
{
    return change(routes, request, NULL, answer, err);
}
