/* The routes: a table (server/routes/table.c), a file of handlers for each resource, and what the handlers share. */
#ifndef SERVER_ROUTES_ROUTES_H
#define SERVER_ROUTES_ROUTES_H

#include "db/core/store.h"
#include "db/runs/list.h"
#include "server/answers/later.h"
#include "server/imports/imports.h"
#include "server/jobs/jobs.h"
#include "server/request/counts.h"
#include "server/request/handler.h"
#include "server/request/places.h"

struct static_files;

struct routes { /* filled by main; everything is borrowed */
    struct jobs *jobs;
    struct imports *imports;
    struct answers answers; /* with the store */
    const struct static_files *files;
    const struct http_counts *counts; /* NULL until the server runs */
    int64_t started_ns;               /* rl_monotonic_ns at start */
    struct places exports, uploads;   /* being sent; coming */
};

struct route {
    const char *path;          /* segments; "{id}" matches a decimal id, with an optional suffix such as "{id}.csv" */
    const char *const *params; /* known query parameters, NULL-terminated; NULL: none */
    bool any_host;             /* answers whatever Host says: probes come by address */
    enum auth_right read;      /* right that GET and HEAD need; AUTH_NONE: public */
    int (*get)(struct routes *routes, const struct http_request *request, struct http_answer *answer,
               struct rl_err *err);
    int (*post)(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                struct rl_err *err);
    /* POST whose body is taken in pieces, in place of post; multipart/form-data of at most LIMIT_UPLOAD_BYTES. Called
     * with the headers alone. */
    int (*upload)(struct routes *routes, const struct http_request *request, struct http_upload *ret,
                  struct rl_err *err);
    int (*put)(struct routes *routes, const struct http_request *request, struct http_answer *answer,
               struct rl_err *err);
    int (*del)(struct routes *routes, const struct http_request *request, struct http_answer *answer,
               struct rl_err *err);
};

/* What the server is given: routes is borrowed. */
struct http_handler routes_handler(struct routes *routes);

typedef int route_handler(struct routes *, const struct http_request *, struct http_answer *, struct rl_err *);
route_handler jobs_route_submit, jobs_route_list, jobs_route_get, jobs_route_cancel, jobs_route_transcript;
route_handler runs_route_list, runs_route_get, runs_route_table, runs_route_csv, runs_route_samples;
route_handler export_route_json, export_route_csv;
route_handler note_route_get, note_route_put, predictions_route_get, predictions_route_put;
route_handler withdraw_route_get, withdraw_route_post, withdraw_route_delete;
route_handler history_route_get, trend_route_get, compare_route_get;
route_handler devices_route_list, kernels_route_list;
route_handler health_route_alive, health_route_ready, health_route_metrics, health_route_openapi;
route_handler static_route_get;
int imports_route_upload(struct routes *routes, const struct http_request *request, struct http_upload *ret,
                         struct rl_err *err);

/* Shared by handlers. */
int route_id(const struct http_request *request, int64_t *ret,
             struct rl_err *err); /* RL_E_NOT_FOUND when out of range */
/* limit= in [1, LIMIT_PAGE_ROWS], default LIMIT_DEFAULT_ROWS; else RL_E_BAD_FIELD. */
int route_limit(const struct http_request *request, int *ret, struct rl_err *err);
/* Query parameters (server/routes/params.c); *ret is NULL when absent. A value that is not as said: RL_E_BAD_FIELD
 * naming it.
 */
#define ROUTE_SUITES "verify|import"
#define ROUTE_SIZES  "course|scaled|other"
int route_one_of(const struct http_request *request, const char *name, const char *list, const char **ret,
                 struct rl_err *err); /* list: "a|b|c" */
/* 1 to max printable ASCII characters without blanks. */
int route_word(const struct http_request *request, const char *name, size_t max, const char **ret, struct rl_err *err);
/* The same for a version; "unknown" is "", as the store has what is not known. */
int route_version(const struct http_request *request, const char *name, size_t max, const char **ret,
                  struct rl_err *err);
int route_needed(const struct http_request *request, const char *name, size_t max, const char **ret,
                 struct rl_err *err); /* the same, and absent is an error */
/* label=, by the rules of labels. */
int route_label(const struct http_request *request, const char **ret, struct rl_err *err);
/* since= and until=, 0 when absent; until has to be after since. */
int route_times(const struct http_request *request, int64_t *ret_since, int64_t *ret_until, struct rl_err *err);
/* What If-Match asks of a resource whose ETag is `now` and whose version `version`: that version into *ret; -1, any,
 * without it. Another one is RL_E_PRECONDITION_FAILED; `what` is the resource in words. */
int route_if_match(const struct http_request *request, const char *now, int64_t version, const char *what, int64_t *ret,
                   struct rl_err *err);
/* Whether the caller may do with the run what its owner may: its job's principal, or an import's, or an admin. Else
 * RL_E_FORBIDDEN, `what` being what was asked; RL_E_RUN_NOT_FOUND. */
int route_owner(struct routes *routes, const struct http_request *request, int64_t run, const char *what,
                struct rl_err *err);
/* All filters of the list of runs; no limit and no cursor. outcome: ok unless given. */
int route_run_filter(const struct http_request *request, struct store_run_filter *ret, struct rl_err *err);
/* Takes over json (NULL: RL_E_NO_MEMORY) and makes it the answer's body. */
int route_json(struct http_answer *answer, int status, json_t *json, struct rl_err *err);

#endif
