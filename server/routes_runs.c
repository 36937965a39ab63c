/* /api/v1/runs: browse, one, and its other forms. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "record/record_json.h"
#include "record/text.h"
#include "server/routes.h"

#define IMMUTABLE "private, no-cache" /* a run never changes, but who may read it can */

int runs_route_list(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                    struct rl_err *err)
{
    struct store_run_filter filter;
    if (route_run_filter(request, &filter, err) || route_word(request, "cursor", 512, &filter.cursor, err) ||
        route_limit(request, &filter.limit, err))
        return -1;
    return store_run_list(routes->store, &filter, &answer->body, err);
}

static void set_etag(struct http_answer *answer)
{
    char hash[65];
    rl_sha256_hex(answer->body.data, answer->body.len, hash);
    snprintf(answer->etag, sizeof(answer->etag), "\"%s\"", hash);
    answer->cache = IMMUTABLE;
}

int runs_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) || store_run_document(routes->store, id, &answer->body, err))
        return -1;
    set_etag(answer);
    return 0;
}

int runs_route_samples(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                       struct rl_err *err)
{
    int64_t id;
    if (route_id(request, &id, err) || store_run_samples(routes->store, id, &answer->body, err))
        return -1;
    set_etag(answer);
    return 0;
}

/* The stored document as a struct. The store added id and job in front of what gpu/record wrote. */
static int load_run(struct routes *routes, const struct http_request *request, int64_t *ret_id, struct rl_run **ret,
                    struct rl_err *err)
{
    struct rl_buf text;
    json_t *document = NULL;
    int64_t id;
    int rc = -1;

    rl_buf_init(&text, HTTP_ANSWER_MAX);
    if (route_id(request, &id, err) || store_run_document(routes->store, id, &text, err))
        goto out;
    document = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!document) {
        rl_fail(err, RL_E_STORE_CORRUPT, NULL, "the stored document of run %lld is not JSON", (long long)id);
        goto out;
    }
    rl_run_json_bare(document);
    if (rl_run_from_json(document, ret, err)) {
        if (err)
            err->code = RL_E_STORE_CORRUPT;
        rl_wrap(err, "the stored document of run %lld", (long long)id);
        goto out;
    }
    *ret_id = id;
    rc = 0;
out:
    json_decref(document);
    rl_buf_free(&text);
    return rc;
}

/* The one asked for; else the first of warm, cold and mixed that a row of the run has. */
static enum rl_state table_state(const struct rl_run *run, const char *asked)
{
    for (enum rl_state state = RL_WARM; state < RL_ROW_STATES; state++)
        for (size_t i = 0; i < (asked ? 1 : run->row_count); i++)
            if (asked ? !strcmp(asked, rl_state_name(state)) : run->rows[i].state[state].present)
                return state;
    return RL_WARM;
}

int runs_route_table(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                     struct rl_err *err)
{
    struct rl_run *run;
    const char *state;
    int64_t id;
    if (route_one_of(request, "state", "warm|cold|mixed", &state, err) || load_run(routes, request, &id, &run, err))
        return -1;
    int rc = rl_table_write(run, table_state(run, state), &answer->body);
    rl_run_free(run);
    if (rc)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the table");
    answer->type = "text/plain; charset=utf-8";
    set_etag(answer);
    return 0;
}

int runs_route_csv(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    struct rl_run *run;
    int64_t id;
    if (load_run(routes, request, &id, &run, err))
        return -1;
    int rc = rl_csv_write(run, &answer->body);
    rl_run_free(run);
    if (rc)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the CSV");
    answer->type = "text/csv; charset=utf-8; header=present";
    snprintf(answer->disposition, sizeof(answer->disposition), "attachment; filename=\"run-%lld.csv\"", (long long)id);
    set_etag(answer);
    return 0;
}
