/* POST /api/v1/imports: a form of files and fields becomes a run. */
#include <stdio.h>
#include <stdlib.h>

#include "db/runs/document.h"
#include "db/runs/withdrawal.h"
#include "gpu/base/time.h"
#include "server/imports/imports.h"
#include "server/limits/limits.h"
#include "server/request/multipart.h"
#include "server/routes/routes.h"

struct upload {
    struct routes *routes;
    struct import *import;
    struct multipart *form;
    struct place place; /* while the body comes */
};

static int on_part(void *arg, const char *name, const char *filename, struct rl_err *err)
{
    return import_part(arg, name, filename, err);
}

static int on_data(void *arg, const char *data, size_t len, struct rl_err *err)
{
    return import_data(arg, data, len, err);
}

static int on_part_end(void *arg, struct rl_err *err)
{
    return import_part_end(arg, err);
}

static int take(void *arg, const char *data, size_t len, struct rl_err *err)
{
    struct upload *upload = arg;
    return multipart_feed(upload->form, data, len, err);
}

static int finish(void *arg, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err)
{
    struct upload *upload = arg;
    place_leave(&upload->place);
    return multipart_end(upload->form, err) ? -1 : import_run(upload->import, ready, ready_arg, err);
}

static int answer_run(void *arg, struct http_answer *answer, struct rl_err *err)
{
    struct upload *upload = arg;
    int64_t id;
    bool existing;
    if (import_result(upload->import, &id, &existing, err) ||
        store_run_document(upload->routes->answers.store, id, &answer->body, err) ||
        store_run_withdrawn(upload->routes->answers.store, id, &answer->withdrawn, err))
        return -1;
    answer->status = existing ? 200 : 201;
    snprintf(answer->location, sizeof(answer->location), "/api/v1/runs/%lld", (long long)id);
    return 0;
}

static void abandon(void *arg)
{
    struct upload *upload = arg;
    place_leave(&upload->place);
    import_abandon(upload->import);
    multipart_free(upload->form);
    free(upload);
}

int imports_route_upload(struct routes *routes, const struct http_request *request, struct http_upload *ret,
                         struct rl_err *err)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    if (multipart_boundary(request->fields.content_type, boundary, err))
        return -1;
    struct upload *upload = calloc(1, sizeof(*upload));
    if (!upload)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an upload");
    upload->routes = routes;
    if (import_begin(routes->imports, &request->who, &upload->import, err) ||
        place_take(&routes->uploads, &upload->place, request->who.share, rl_monotonic_ns(), err)) {
        abandon(upload);
        return -1;
    }
    struct multipart_events events = {upload->import, on_part, on_data, on_part_end};
    upload->form = multipart_new(boundary, &events);
    if (!upload->form) {
        abandon(upload);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an upload");
    }
    *ret = (struct http_upload){.data = take,
                                .later = {.wait = finish, .answer = answer_run, .free = abandon, .arg = upload},
                                .far = &upload->place.far};
    return 0;
}
