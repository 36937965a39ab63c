/* Deflated text: what transcripts and documents are kept as. zlib stays in the file beside this one. */
#ifndef DB_CORE_DEFLATE_H
#define DB_CORE_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "db/core/store.h"

#define STORE_DOCUMENT_MAX_BYTES (16 * 1024 * 1024) /* of one stored text: a run */

/* Level 6 takes 1.2 ms for the 61 kB of a whole run and leaves 11.8 kB; level 9 leaves 11.6 (2026-11-29). */
#define DEFLATE_LEVEL 6
struct deflated {
    unsigned char *data; /* free() */
    size_t size;
};

int store_deflate(const void *data, size_t size, struct deflated *ret, struct rl_err *err);

/* A run's document as it is kept, deflated. Made apart from the store, so that the work that a large one is can be done
 * on a thread beside it; storing it then is writing bytes. */
struct store_document {
    unsigned char *deflated; /* owned: a raw stream (RFC 1951) of all but the opening brace */
    size_t size;             /* of the stream */
    size_t bytes;            /* of its text */
    uint32_t check;          /* Adler-32 of its text (RFC 1950) */
};

/* A text that gets a head of at most 65535 bytes later: deflates it; then both as one stream, as store_deflate would
 * make. -1 when memory ran out. */
int store_deflate_rest(const char *text, size_t bytes, struct store_document *ret);
int store_deflate_join(const char *head, size_t head_len, const struct store_document *rest, struct deflated *ret);
/* Appends the text of so many bytes. What does not inflate to exactly these is RL_E_STORE_CORRUPT. */
int store_inflate(const void *data, size_t size, int64_t bytes, struct rl_buf *out, struct rl_err *err);
int store_add_functions(struct store *store, struct rl_err *err); /* deflated(X), inflated(X, BYTES): for migrations */

#endif
