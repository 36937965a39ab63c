/* /api/v1/runs/{id}/note: what people said about a run. The run itself never changes. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "db/notes/run_note.h"
#include "gpu/base/time.h"
#include "server/limits/limits.h"
#include "server/request/json_body.h"
#include "server/routes/routes.h"

/* A note's version says it all: "note-RUN-VERSION". */
static void etag(int64_t run, int64_t version, char ret[80])
{
    snprintf(ret, 80, "\"note-%lld-%lld\"", (long long)run, (long long)version);
}

static int answer_note(struct routes *routes, int64_t run, struct http_answer *answer, struct rl_err *err)
{
    int64_t version;
    if (store_note_json(routes->answers.store, run, &answer->body, &version, err))
        return -1;
    etag(run, version, answer->etag);
    answer->cache = "private, no-cache";
    return 0;
}

int note_route_get(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    int64_t run;
    if (route_id(request, &run, err))
        return -1;
    return answer_note(routes, run, answer, err);
}

/* accepted: [{"kernel", "state"}]. Texts stay body's. */
static int read_accepted(const json_t *list, struct store_accepted *accepted, size_t *ret_count, struct rl_err *err)
{
    size_t count = json_array_size(list);
    if (list && !json_is_array(list))
        return rl_fail(err, RL_E_BAD_FIELD, "accepted", "accepted is not a list");
    if (count > STORE_ACCEPTED_MAX)
        return rl_fail(err, RL_E_BAD_FIELD, "accepted", "accepted has %zu items; at most %d are taken", count,
                       STORE_ACCEPTED_MAX);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        accepted[i] = (struct store_accepted){json_string_value(json_object_get(item, "kernel")),
                                              json_string_value(json_object_get(item, "state"))};
        if (!accepted[i].kernel || !accepted[i].state || json_object_size(item) != 2)
            return rl_fail(err, RL_E_BAD_FIELD, "accepted",
                           "accepted[%zu] is not an object with the texts kernel and state alone", i);
        if (strcmp(accepted[i].state, "warm") && strcmp(accepted[i].state, "cold") &&
            strcmp(accepted[i].state, "mixed"))
            return rl_fail(err, RL_E_BAD_FIELD, "accepted", "accepted[%zu].state '%.32s' is not warm, cold or mixed", i,
                           accepted[i].state);
    }
    *ret_count = count;
    return 0;
}

static int read_body(json_t *body, struct store_note_new *note, struct store_accepted *accepted, struct rl_err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(body, name, value)
    {
        if (strcmp(name, "text") && strcmp(name, "accepted"))
            return rl_fail(err, RL_E_UNKNOWN_FIELD, name, "'%.64s' is not a member of a note", name);
    }
    value = json_object_get(body, "text");
    if (!json_is_string(value))
        return rl_fail(err, RL_E_BAD_FIELD, "text", "text is %s", value ? "not a text" : "missing");
    if (json_string_length(value) > LIMIT_NOTE_BYTES)
        return rl_fail(err, RL_E_BAD_FIELD, "text", "text has %zu bytes; at most %u are taken",
                       json_string_length(value), LIMIT_NOTE_BYTES);
    note->text = json_string_value(value);
    return read_accepted(json_object_get(body, "accepted"), accepted, &note->accepted_count, err);
}

static int check_match(struct routes *routes, const struct http_request *request, int64_t run, int64_t *ret,
                       struct rl_err *err)
{
    struct rl_buf text;
    char now[80], what[48];
    int64_t version;
    *ret = -1;
    if (!request->fields.if_match)
        return 0;
    rl_buf_init(&text, HTTP_ANSWER_MAX);
    int rc = store_note_json(routes->answers.store, run, &text, &version, err);
    rl_buf_free(&text);
    if (rc)
        return -1;
    etag(run, version, now);
    snprintf(what, sizeof(what), "the note of run %lld", (long long)run);
    return route_if_match(request, now, version, what, ret, err);
}

int note_route_put(struct routes *routes, const struct http_request *request, struct http_answer *answer,
                   struct rl_err *err)
{
    struct store_accepted accepted[STORE_ACCEPTED_MAX];
    struct store_note_new note = {.accepted = accepted, .principal = request->who.id, .now_ms = rl_now_ms()};
    json_t *body = NULL;
    int64_t version;
    int rc = -1;

    if (route_id(request, &note.run_id, err) || json_body_parse(request->body, request->body_len, &body, err))
        return -1;
    if (read_body(body, &note, accepted, err) || check_match(routes, request, note.run_id, &note.if_version, err) ||
        store_note_put(routes->answers.store, &note, &version, err) || answer_note(routes, note.run_id, answer, err))
        goto out;
    rc = 0;
out:
    json_decref(body);
    return rc;
}
