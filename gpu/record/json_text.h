/* A JSON tree as text. Used instead of json_dumps wherever documents are made, because json_dumps writes 0.1 as
 * 0.10000000000000001 at the precision that keeps doubles exact. */
#ifndef RL_RECORD_JSON_TEXT_H
#define RL_RECORD_JSON_TEXT_H

#include <jansson.h>

#include "gpu/base/buf.h"

#define RL_JSON_DEPTH_MAX 32 /* deeper trees are refused: our own are 7 deep */

/* Appends value as compact JSON: members in their order, reals by rl_format_real (exact, shortest), strings in UTF-8
 * with control characters escaped, independent of the locale. Equal trees give equal bytes. 0, or -1 when out is full,
 * memory ran out or the tree is too deep; out->failed is set then, and out keeps a part of the text. */
int rl_json_write(const json_t *value, struct rl_buf *out);
/* The same bytes as json_dumps(value, JSON_COMPACT), the caller's (free); NULL when memory ran out or value is NULL.
 * json_dumps itself leaves out the name of a member for which memory ran out and says nothing (Jansson 2.14, measured
 * 2026-12-01). */
char *rl_json_dumps(const json_t *value);

#endif
