/* /api/v1/runs.json and .csv: every run of a filter as one file, made while it is sent. */
#include <stdio.h>
#include <stdlib.h>

#include "db/runs/export.h"
#include "db/runs/list.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"
#include "server/loop/work_queue.h"
#include "server/routes/routes.h"

struct sent {
    struct store_export *export;
    struct work_item item; /* of the large runs of a CSV */
    struct place place;
};

static int next_piece(void *arg, struct rl_buf *out, bool *ret_done, struct rl_err *err)
{
    const struct work_item *item = arg;
    const struct sent *sent = item->what.arg;
    if (work_item_result(item, err))
        return -1;
    return store_export_next(sent->export, LIMIT_EXPORT_PIECE_BYTES, out, ret_done, err);
}

static int fetch(void *arg, struct rl_err *err)
{
    return store_export_fetch(((struct sent *)arg)->export, err);
}

/* Its errors are those of the next piece. */
static int make(void *arg, struct rl_err *err)
{
    (void)err;
    store_export_make(((struct sent *)arg)->export);
    return 0;
}

static void drop(void *arg)
{
    store_export_drop(((struct sent *)arg)->export);
}

/* An export whose client has gone keeps its place until what is being made for it is. */
static void sent_free(void *arg)
{
    struct sent *sent = arg;
    store_export_free(sent->export);
    place_leave(&sent->place);
    free(sent);
}

static int start(struct routes *routes, const struct http_request *request, enum store_export_format format,
                 struct http_answer *answer, struct rl_err *err)
{
    struct store_run_filter filter;
    if (route_run_filter(request, &filter, err))
        return -1;
    struct sent *sent = calloc(1, sizeof(*sent));
    if (!sent)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an export");
    work_item_init(&sent->item, routes->answers.queue, request->who.share,
                   (struct work_steps){fetch, make, drop, sent_free, sent});
    if (store_export_start(routes->answers.store, &filter, format, &sent->export, err)) {
        free(sent);
        return -1;
    }
    if (place_take(&routes->exports, &sent->place, request->who.share, rl_monotonic_ns(), err)) {
        sent_free(sent);
        return -1;
    }
    store_export_beside(sent->export, LIMIT_VIEW_HERE_BYTES);
    answer->stream = (struct http_stream){.next = next_piece,
                                          .wait = work_queue_wait,
                                          .free = work_queue_leave,
                                          .arg = &sent->item,
                                          .far = &sent->place.far};
    snprintf(answer->disposition, sizeof(answer->disposition), "attachment; filename=\"runs.%s\"",
             format == STORE_EXPORT_CSV ? "csv" : "json");
    return 0;
}

int export_route_json(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                      struct rl_err *err)
{
    return start(routes, request, STORE_EXPORT_JSON, answer, err);
}

int export_route_csv(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                     struct rl_err *err)
{
    answer->type = "text/csv; charset=utf-8; header=present";
    return start(routes, request, STORE_EXPORT_CSV, answer, err);
}
