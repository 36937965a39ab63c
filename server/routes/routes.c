/* What the handlers share. */
#include "server/routes/routes.h"

#include <stdlib.h>
#include <string.h>

#include "db/runs/withdrawal.h"
#include "gpu/base/num.h"
#include "gpu/record/json_text.h"
#include "server/limits/limits.h"

int route_id(const struct http_request *request, int64_t *ret, struct rl_err *err)
{
    if (!request->id || rl_parse_i64(request->id, 1, INT64_MAX, ret))
        return rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no such id");
    return 0;
}

int route_limit(const struct http_request *request, int *ret, struct rl_err *err)
{
    const char *text = http_param(request, "limit");
    int64_t value = LIMIT_DEFAULT_ROWS;
    if (text && rl_parse_i64(text, 1, LIMIT_PAGE_ROWS, &value))
        return rl_fail(err, RL_E_BAD_FIELD, "limit", "limit '%.32s' is not a number from 1 to %u", text,
                       LIMIT_PAGE_ROWS);
    *ret = (int)value;
    return 0;
}

int route_json(struct http_answer *answer, int status, json_t *json, struct rl_err *err)
{
    char *text = rl_json_dumps(json);
    json_decref(json);
    if (!text)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the answer");
    rl_buf_puts(&answer->body, text);
    rl_buf_puts(&answer->body, "\n");
    free(text);
    answer->status = status;
    return 0;
}

int route_if_match(const struct http_request *request, const char *now, int64_t version, const char *what, int64_t *ret,
                   struct rl_err *err)
{
    const char *match = request->fields.if_match;
    *ret = -1;
    if (!match)
        return 0;
    /* If-Match compares strongly (RFC 9110, 13.1.1); the rule for lists is otherwise that of If-None-Match. */
    if (strstr(match, "W/") || !http_etag_matches(match, now))
        return rl_fail(err, RL_E_PRECONDITION_FAILED, "If-Match", "%s is %s now, not %.100s", what, now, match);
    *ret = version;
    return 0;
}

int route_owner(struct routes *routes, const struct http_request *request, int64_t run, const char *what,
                struct rl_err *err)
{
    char *owner;
    if (store_run_owner(routes->answers.store, run, &owner, err))
        return -1;
    bool may = request->who.right >= AUTH_ADMIN || (owner && !strcmp(owner, request->who.id));
    bool known = owner != NULL;
    free(owner);
    if (may)
        return 0;
    if (!known)
        return rl_fail(
            err, RL_E_FORBIDDEN, NULL,
            "run %lld is an import that an older version stored, which does not say whose it is: an admin %s",
            (long long)run, what);
    return rl_fail(err, RL_E_FORBIDDEN, NULL, "run %lld is another principal's: its owner or an admin %s",
                   (long long)run, what);
}
