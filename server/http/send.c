/* See server/http/send.h. */
#include "server/http/send.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/base/time.h"
#include "server/http/refuse.h"
#include "server/limits/limits.h"
#include "server/request/places.h"

#define SEND_BLOCK (32u * 1024u) /* of a streamed body, per connection */

/* ---- connections that wait ---- */

void http_suspend(struct http_suspensions *all, struct http_suspended *one, struct MHD_Connection *mhd,
                  struct http_wait *wait)
{
    MHD_suspend_connection(mhd);
    *one = (struct http_suspended){.all = all, .next = all->first, .mhd = mhd, .wait = wait};
    all->first = one;
}

void http_resume(void *arg)
{
    struct http_suspended *one = arg, **at = &one->all->first;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    one->all->resumed = true;
    MHD_resume_connection(one->mhd);
}

void http_suspensions_end(struct http_suspensions *all)
{
    all->ended = true;
    while (all->first)
        http_wait_give_up(all->first->wait);
}

/* ---- a body that is made while it is sent ---- */

struct sending { /* lives as long as its response */
    struct http_stream stream;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    struct rl_buf piece;
    size_t sent; /* of piece */
    bool done;
    struct http_wait wait; /* for the next piece */
    struct http_suspensions *suspensions;
    struct http_suspended suspended;
};

/* *ret_suspended: the piece is not there yet; the library asks again once the connection is resumed. */
static int next_piece(struct sending *sending, bool *ret_suspended, struct rl_err *err)
{
    struct http_wait *wait = &sending->wait;
    *ret_suspended = false;
    rl_buf_clear(&sending->piece);
    sending->sent = 0;
    for (;;) {
        if (sending->stream.next(sending->stream.arg, &sending->piece, &sending->done, err))
            return -1;
        if (sending->piece.len > 0 || sending->done)
            return 0;
        if (sending->suspensions->ended)
            return rl_fail(err, RL_E_SHUTTING_DOWN, NULL, "the daemon is shutting down");
        *wait = (struct http_wait){.upload = {.later = {.wait = sending->stream.wait, .arg = sending->stream.arg}},
                                   .connection = sending->connection};
        if (http_wait_finish(wait, http_resume, &sending->suspended, err))
            return -1;
        if (!wait->ready) {
            http_suspend(sending->suspensions, &sending->suspended, sending->mhd, wait);
            http_pace_pause(&sending->connection->pace, rl_monotonic_ns());
            *ret_suspended = true;
            return 0;
        }
    }
}

/* The library asks only while the connection is open and its client takes more. */
static ssize_t send_piece(void *cls, uint64_t at, char *out, size_t max)
{
    struct sending *sending = cls;
    (void)at;
    if (sending->wait.gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    http_pace_resume(&sending->connection->pace, rl_monotonic_ns());
    if (sending->sent == sending->piece.len && !sending->done) {
        struct rl_err err = {0};
        bool suspended;
        if (next_piece(sending, &suspended, &err)) {
            http_connection_log(sending->connection, NULL, rl_code_http(err.code), &err);
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        if (suspended)
            return 0;
    }
    size_t len = sending->piece.len - sending->sent;
    if (len == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    len = len < max ? len : max;
    memcpy(out, sending->piece.data + sending->sent, len);
    sending->sent += len;
    sending->connection->given += len;
    return (ssize_t)len;
}

static void sending_free(void *cls)
{
    struct sending *sending = cls;
    http_wait_end(&sending->wait);
    if (sending->stream.far)
        *sending->stream.far = (struct http_far){0};
    sending->stream.free(sending->stream.arg);
    rl_buf_free(&sending->piece);
    free(sending);
}

static struct MHD_Response *stream_response(struct MHD_Connection *mhd, struct http_connection *connection,
                                            const struct http_request *request, struct http_answer *answer,
                                            struct http_suspensions *suspensions)
{
    struct sending *sending = calloc(1, sizeof(*sending));
    if (!sending)
        return NULL;
    *sending =
        (struct sending){.stream = answer->stream, .connection = connection, .mhd = mhd, .suspensions = suspensions};
    rl_buf_init(&sending->piece, HTTP_ANSWER_MAX);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SEND_BLOCK, send_piece, sending, sending_free);
    if (!response) {
        free(sending);
        return NULL;
    }
    answer->stream = (struct http_stream){0};
    http_connection_moves(connection, LIMIT_STREAM_BYTES_S, INT64_MAX);
    if (sending->stream.far)
        *sending->stream.far = (struct http_far){&connection->pace, http_connection_cut, connection};
    /* To HEAD the library would send the last chunk of a chunked body (0.9.75, 2026-11-29): no body is announced then,
     * and the connection ends. */
    if (request->method == HTTP_HEAD)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return response;
}

/* ---- any answer ---- */

static int add_header(void *arg, const char *name, const char *value)
{
    return MHD_add_response_header(arg, name, value) == MHD_YES ? 0 : -1;
}

enum MHD_Result http_send(struct MHD_Connection *mhd, struct http_connection *connection,
                          const struct http_request *request, struct http_answer *answer, const struct rl_err *err,
                          struct http_suspensions *suspensions)
{
    struct MHD_Response *response;
    size_t len = answer->body.len;
    if (answer->stream.next) {
        response = stream_response(mhd, connection, request, answer, suspensions);
    } else if (answer->fixed) {
        response = MHD_create_response_from_buffer(answer->fixed_len, (void *)(uintptr_t)answer->fixed,
                                                   MHD_RESPMEM_PERSISTENT);
    } else if (len == 0) {
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    } else {
        char *text = rl_buf_take(&answer->body);
        response = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
        if (!response)
            free(text);
    }
    if (!response)
        return MHD_NO;
    enum MHD_Result queued = http_answer_headers(answer, add_header, response)
                                 ? MHD_NO
                                 : MHD_queue_response(mhd, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    if (queued == MHD_YES) {
        connection->answered = true;
        connection->since_ns = rl_monotonic_ns();
        http_connection_deadline(connection, connection->all->config->request_timeout_ms);
        http_connection_log(connection, request, answer->status, err);
    }
    return queued;
}
