/* A request body as JSON: what must hold before any field is looked at. */
#ifndef SERVER_REQUEST_JSON_BODY_H
#define SERVER_REQUEST_JSON_BODY_H

#include <jansson.h>
#include <stddef.h>

#include "gpu/base/err.h"

/* One JSON object in UTF-8 without NUL or duplicate keys, nested at most LIMIT_JSON_DEPTH deep; numbers finite and
 * within 64 bits. A new reference into *ret; else RL_E_BAD_JSON saying where and why. data may be NULL when len is 0.
 */
int json_body_parse(const char *data, size_t len, json_t **ret, struct rl_err *err);

#endif
