/* An HTTP request and its answer as the routes see them: plain data, no library's types. server/http/mhd.c makes the
 * one from a connection and sends the other; server/request/target.c, server/request/fields.c and
 * server/request/answer.c hold the rules that need no connection. */
#ifndef SERVER_REQUEST_HTTP_H
#define SERVER_REQUEST_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "server/limits/limits.h"
#include "server/request/auth.h"

#define HTTP_ANSWER_MAX (64u * 1024u * 1024u)

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_DELETE, HTTP_OPTIONS, HTTP_OTHER };

/* A request's target, decoded. Text lies in the struct's own storage. */
struct http_param {
    const char *name, *value;
};
struct http_target {
    char *text;            /* owned; the others point into it */
    const char *authority; /* of an absolute-form target, else NULL */
    /* Percent-decoded but for %2F, which is no separator and must not become one; valid UTF-8, starts with '/', has no
     * '.' or '..' segment; or "*". */
    const char *path;
    struct http_param params[LIMIT_QUERY_PARAMS];
    size_t param_count;
};

/* The header fields that mean something here; NULL when absent. Any of them more than once is an error (seen). */
struct http_fields {
    const char *host, *origin, *content_type, *content_length, *content_encoding, *transfer_encoding;
    const char *authorization, *idempotency_key, *if_none_match, *if_match;
};

struct http_request {
    enum http_method method;
    struct http_target target;
    struct http_fields fields;
    struct auth_principal who;
    const char *id;   /* digits that the route's {id} matched, or NULL */
    const char *body; /* body_len bytes, not NUL-terminated; NULL when empty */
    size_t body_len;
};

struct http_far; /* server/request/places.h */
/* A body that is made while it is sent. */
struct http_stream {
    /* Appends some bytes to out; *ret_done: that was the last. None and not done: wait is called. After an error only
     * free is called, and the connection ends without the body's end, so that a client can tell. */
    int (*next)(void *arg, struct rl_buf *out, bool *ret_done, struct rl_err *err);
    /* ready is to be called once, when next can go on, on the loop's thread; not after free. NULL: next always has
     * some. */
    int (*wait)(void *arg, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err);
    void (*free)(void *arg);
    void *arg;
    struct http_far *far; /* filled while it is sent and emptied before free; NULL: nobody asks */
};

struct http_answer;
/* An answer that is made later. */
struct http_later {
    /* ready is to be called once, from inside this call or later, on the loop's thread; not after free. Of an upload:
     * its body is whole. */
    int (*wait)(void *arg, void (*ready)(void *ready_arg), void *ready_arg, struct rl_err *err);
    /* After ready: makes the answer. */
    int (*answer)(void *arg, struct http_answer *answer, struct rl_err *err);
    void (*free)(void *arg); /* always, also when the client has gone */
    void *arg;
};
/* A body that is taken as it comes, and whose answer is made when it is ready rather than when the body ends. */
struct http_upload {
    /* The next bytes, of later.arg. -1 ends the request with the error: no other call but free follows. */
    int (*data)(void *arg, const char *data, size_t len, struct rl_err *err);
    struct http_later later;
    struct http_far *far; /* filled while the body comes and emptied before wait or free; NULL: nobody asks */
};

struct http_answer {
    int status;
    const char *type;   /* Content-Type; static text; NULL: none */
    struct rl_buf body; /* used unless fixed is set */
    const void *fixed;  /* lives as long as the server */
    size_t fixed_len;
    struct http_stream stream; /* used when its next is set; owned until it is sent or the answer replaced */
    struct http_later later;   /* used when its wait is set: the answer is made then; owned as stream is */
    char etag[80];             /* quoted, or empty */
    char location[64];
    const char *cache;    /* Cache-Control; static text */
    unsigned allow;       /* Allow: a bit, 1u << enum http_method, each; 0: none */
    int retry_after_s;    /* 0: no header */
    bool replayed;        /* Idempotent-Replayed: true */
    bool withdrawn;       /* Run-Withdrawn: true */
    bool close;           /* the connection ends after this answer */
    char disposition[64]; /* Content-Disposition, or empty */
};

void http_answer_init(struct http_answer *answer);
void http_answer_fini(struct http_answer *answer);
/* Makes answer the error's: status, JSON body, Retry-After for 429 and 503. Replaces what it held. */
void http_answer_error(struct http_answer *answer, const struct rl_err *err);
/* Calls add for each header of the answer but Date and Content-Length, those that every answer has included. 0, or not
 * 0 when an add failed. */
int http_answer_headers(const struct http_answer *answer, int (*add)(void *arg, const char *name, const char *value),
                        void *arg);

/* The answer is for ever what its body is now: an ETag of that. */
void http_answer_immutable(struct http_answer *answer);
/* What an answer that was made becomes for this request: 304 when the client has it, an error when it was too long. */
void http_answer_settle(const struct http_request *request, struct http_answer *answer);

/* "GET, HEAD, OPTIONS" of a bit, 1u << enum http_method, each. */
#define HTTP_ALLOW_SIZE 48
void http_allow_text(unsigned methods, char ret[HTTP_ALLOW_SIZE]);
enum http_method http_method_from_name(const char *name);

/* Parses a raw request target (origin-form, absolute-form or "*") of the bytes that server/request/screen.h lets
 * through: bad percent escapes, %00 and other control bytes, invalid UTF-8, '.' and '..' segments, repeated or nameless
 * parameters → RL_E_BAD_REQUEST. */
int http_target_parse(const char *raw, struct http_target *ret, struct rl_err *err);
void http_target_free(struct http_target *target);                            /* accepts a zeroed one */
const char *http_param(const struct http_request *request, const char *name); /* NULL when absent */

/* Records one header line, of those that server/request/screen.h lets through. A field that may come once seen twice →
 * RL_E_BAD_REQUEST. */
int http_fields_add(struct http_fields *fields, const char *name, const char *value, struct rl_err *err);

/* *ret_has_body: body bytes follow the headers. A Content-Length of more than max: RL_E_TOO_LARGE. Of headers that
 * server/request/screen.h lets through: how they frame the body is beyond doubt. */
int http_check_length(const struct http_fields *fields, size_t max, bool *ret_has_body, struct rl_err *err);

/* Whether host has the form of RFC 9112, 3.2: a name or IPv4 address of RFC 3986's unreserved and sub-delims bytes, or
 * an IPv6 address in brackets; then nothing, or a colon and a port from 1 to 65535. */
bool http_host_valid(const char *host);
/* Whether host ("name", "name:port", "[::1]:port") is a loopback name or one of the allowed names; any port. */
bool http_host_allowed(const char *host, const char *const *allowed, size_t allowed_count);
/* Whether origin ("http://host:port" or https) has exactly host as its authority. "null" does not. */
bool http_origin_matches(const char *origin, const char *host);
/* application/json, alone or with charset=utf-8. */
bool http_is_json_type(const char *content_type);
/* Whether an If-None-Match list holds etag (weak comparison) or is "*". */
bool http_etag_matches(const char *if_none_match, const char *etag);
/* The key that the field has: 1 to 128 printable ASCII characters. Blanks and tabs around it are no part of a field's
 * value (RFC 9110, 5.5), so with and without them it is one key. Anything else: RL_E_BAD_FIELD. */
#define HTTP_KEY_SIZE (LIMIT_KEY_CHARACTERS + 1)
int http_read_idempotency_key(const char *value, char ret[HTTP_KEY_SIZE], struct rl_err *err);

#endif
