/* Checks the bytes that a client sends, before the HTTP library reads them: request line, header lines, and where the
 * message ends, so that each request of a kept connection is known from its first byte to its last. It refuses what RFC
 * 9112 and 9110 let or make a server refuse, and what libmicrohttpd would read as something else (server/http/HTTP.md
 * has the list). Pure: no I/O, no allocation, and a state of fixed size. How the bytes are cut into pieces changes
 * nothing.
 *
 * It owns the syntax of the head and the framing of the body. What a well-formed request may ask for is decided after
 * it: the address in server/request/target.c, fields given twice in server/request/fields.c, Host and the rest in
 * server/http/admit.c. */
#ifndef SERVER_REQUEST_SCREEN_H
#define SERVER_REQUEST_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"

struct http_screen {
    uint64_t heads;    /* of requests, seen to their empty line */
    uint64_t requests; /* seen whole */

    /* private */
    int state;
    unsigned empty_lines, ampersands, fields, cookies, digits;
    size_t method_bytes, target_bytes, version_bytes, head_bytes, cookie_bytes, extension_bytes;
    bool query, trailers, has_length, has_coding;
    char version[8];
    char name[64]; /* of the current field, cut; NUL-terminated */
    size_t name_len;
    int field;                   /* which one it is */
    char length[40], coding[40]; /* values of the framing fields, cut; NUL-terminated */
    size_t value_len;            /* of the field that came last of the two */
    bool plain;                  /* the length is digits alone */
    uint64_t left;               /* of the body, or of its chunk */
};

void http_screen_init(struct http_screen *screen);

/* Looks at the next bytes. 0: nothing is wrong with them. -1: err says what is, by an error of the catalogue whose
 * message names the place; no further call may follow. *ret_pass: how many of the bytes may be handed on: all, or on -1
 * those up to the end of the last whole request among them. */
int http_screen_feed(struct http_screen *screen, const char *data, size_t len, size_t *ret_pass, struct rl_err *err);

/* How many of the next bytes are body whatever they are, so that nothing can be wrong with them. */
uint64_t http_screen_opaque(const struct http_screen *screen);

#endif
