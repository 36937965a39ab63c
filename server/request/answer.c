/* Answers that every route shares, above all errors. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/hash.h"
#include "gpu/base/num.h"
#include "server/request/http.h"

#define IMMUTABLE     "private, no-cache" /* a run never changes, but who may read it can */
#define RETRY_SOON_S  5                   /* the daemon restarts, the store is busy */
#define RETRY_LATER_S 30                  /* a queue has to drain, a device has to come back */

void http_answer_init(struct http_answer *answer)
{
    *answer = (struct http_answer){.status = 200, .type = "application/json", .cache = "no-store"};
    rl_buf_init(&answer->body, HTTP_ANSWER_MAX);
}

void http_answer_fini(struct http_answer *answer)
{
    rl_buf_free(&answer->body);
    if (answer->stream.free)
        answer->stream.free(answer->stream.arg);
    answer->stream = (struct http_stream){0};
    if (answer->later.free)
        answer->later.free(answer->later.arg);
    answer->later = (struct http_later){0};
}

static int retry_after(const struct rl_err *err, int status)
{
    if (err->code == RL_E_QUEUE_FULL || err->code == RL_E_TOO_MANY_JOBS || err->code == RL_E_NO_DEVICE_READY)
        return RETRY_LATER_S;
    return status == 429 || status == 503 ? RETRY_SOON_S : 0;
}

/* Messages quote what the client sent, which may be any bytes, or cut within a character. */
static void make_utf8(char *text)
{
    if (rl_utf8_valid(text, strlen(text)))
        return;
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

void http_answer_error(struct http_answer *answer, const struct rl_err *err)
{
    bool close = answer->close;
    unsigned allow = answer->allow;
    enum rl_code code = err->code > RL_E_NONE && err->code < RL_E_COUNT ? err->code : RL_E_INTERNAL;

    http_answer_fini(answer);
    http_answer_init(answer);
    answer->close = close;
    answer->allow = allow;
    answer->status = rl_code_http(code);
    answer->retry_after_s = retry_after(err, answer->status);
    struct rl_err clean = *err;
    make_utf8(clean.message);
    make_utf8(clean.field);
    json_t *error = json_pack("{s:s, s:s, s:s}", "code", rl_code_id(code), "message", clean.message, "next_action",
                              rl_code_next_action(code));
    if (error && clean.field[0] && json_object_set_new(error, "field", json_string(clean.field))) {
        json_decref(error);
        error = NULL;
    }
    json_t *body = json_pack("{s:o}", "error", error); /* takes error over, also on failure */
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    if (text) {
        rl_buf_puts(&answer->body, text);
        rl_buf_puts(&answer->body, "\n");
    } else { /* no memory: the catalogue's own words need none */
        answer->fixed = "{\"error\":{\"code\":\"no_memory\",\"message\":\"no memory for the "
                        "answer\",\"next_action\":\"Free memory on the "
                        "node and try again.\"}}\n";
        answer->fixed_len = strlen(answer->fixed);
        answer->status = rl_code_http(RL_E_NO_MEMORY);
    }
    free(text);
    json_decref(body);
}

void http_answer_immutable(struct http_answer *answer)
{
    char hash[65];
    rl_sha256_hex(answer->body.data, answer->body.len, hash);
    snprintf(answer->etag, sizeof(answer->etag), "\"%s\"", hash);
    answer->cache = IMMUTABLE;
}

void http_answer_settle(const struct http_request *request, struct http_answer *answer)
{
    struct rl_err err = {0};
    if (answer->body.failed) {
        rl_fail(&err, RL_E_NO_MEMORY, NULL, "the answer does not fit into memory");
        http_answer_error(answer, &err);
    } else if ((request->method == HTTP_GET || request->method == HTTP_HEAD) && answer->etag[0] &&
               request->fields.if_none_match && http_etag_matches(request->fields.if_none_match, answer->etag)) {
        rl_buf_clear(&answer->body);
        answer->fixed = NULL;
        answer->type = NULL;
        answer->disposition[0] = '\0';
        answer->status = 304;
    }
}

void http_allow_text(unsigned methods, char ret[HTTP_ALLOW_SIZE])
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"};
    size_t len = 0;
    ret[0] = '\0';
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (methods & 1u << i)
            len += (size_t)snprintf(ret + len, HTTP_ALLOW_SIZE - len, "%s%s", len ? ", " : "", names[i]);
}

int http_answer_headers(const struct http_answer *answer, int (*add)(void *arg, const char *name, const char *value),
                        void *arg)
{
    static const char policy[] =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
    char seconds[16], allow[HTTP_ALLOW_SIZE];
    int rc = 0;
    if (answer->type)
        rc |= add(arg, "Content-Type", answer->type);
    if (answer->cache)
        rc |= add(arg, "Cache-Control", answer->cache);
    rc |= add(arg, "Content-Security-Policy", policy);
    rc |= add(arg, "X-Content-Type-Options", "nosniff");
    rc |= add(arg, "Referrer-Policy", "no-referrer");
    rc |= add(arg, "Cross-Origin-Resource-Policy", "same-origin");
    if (answer->etag[0])
        rc |= add(arg, "ETag", answer->etag);
    if (answer->location[0])
        rc |= add(arg, "Location", answer->location);
    if (answer->allow) {
        http_allow_text(answer->allow, allow);
        rc |= add(arg, "Allow", allow);
    }
    if (answer->disposition[0])
        rc |= add(arg, "Content-Disposition", answer->disposition);
    if (answer->replayed)
        rc |= add(arg, "Idempotent-Replayed", "true");
    if (answer->withdrawn)
        rc |= add(arg, "Run-Withdrawn", "true");
    if (answer->status == 401)
        rc |= add(arg, "WWW-Authenticate", "Bearer realm=\"rooflined\"");
    if (answer->retry_after_s) {
        snprintf(seconds, sizeof(seconds), "%d", answer->retry_after_s);
        rc |= add(arg, "Retry-After", seconds);
    }
    if (answer->close)
        rc |= add(arg, "Connection", "close");
    return rc;
}
