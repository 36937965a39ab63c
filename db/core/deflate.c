/* Deflated text: what a job's transcript and a run's document (db/runs/document.c) are kept as. Inflating a document
 * takes 0.2 ms with the reading of its pages, from among a million runs (2026-11-29): too little for a cache of
 * documents to pay.
 */
#include "db/core/deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/core/error.h"
#include "db/core/internal.h"

int store_deflate(const void *data, size_t size, struct deflated *ret, struct rl_err *err)
{
    uLongf length = compressBound(size);
    unsigned char *bytes = malloc(length);

    if (bytes == NULL || compress2(bytes, &length, size > 0 ? data : "", size, DEFLATE_LEVEL) != Z_OK) {
        free(bytes);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to deflate %zu bytes", size);
    }
    *ret = (struct deflated){.data = bytes, .size = length};
    return 0;
}

/* ---- a text whose head is not known yet ---- */

/* In zlib's format (RFC 1950) the whole is one stream: its header; the head as a block that is stored and not deflated
 * (RFC 1951, 3.2.4); the rest's own blocks; the check of both. */
#define ZLIB_HEADER  "\x78\x9c" /* deflate, a window of 32 KiB, the default level, no dictionary */
#define STREAM_EXTRA (2 + 5 + 4)

int store_deflate_rest(const char *text, size_t bytes, struct store_document *ret)
{
    z_stream stream = {0};
    unsigned char *deflated, *fitting;
    int rc;

    /* raw: without zlib's header and check, which are of the whole */
    if (deflateInit2(&stream, DEFLATE_LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK)
        return -1;
    size_t room = deflateBound(&stream, bytes);
    deflated = malloc(room);
    stream.next_in = (unsigned char *)text; /* zlib's own want of const: it does not write there */
    stream.avail_in = (uInt)bytes;
    stream.next_out = deflated;
    stream.avail_out = (uInt)room;
    rc = deflated != NULL ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
    deflateEnd(&stream);
    if (rc != Z_STREAM_END) {
        free(deflated);
        return -1;
    }
    fitting = realloc(deflated, stream.total_out);
    *ret = (struct store_document){
        .deflated = fitting != NULL ? fitting : deflated,
        .size = stream.total_out,
        .bytes = bytes,
        .check = (uint32_t)adler32(adler32(0, NULL, 0), (const unsigned char *)text, (uInt)bytes)};
    return 0;
}

int store_deflate_join(const char *head, size_t head_len, const struct store_document *rest, struct deflated *ret)
{
    uLong check = adler32(adler32(0, NULL, 0), (const unsigned char *)head, (uInt)head_len);
    size_t size = STREAM_EXTRA + head_len + rest->size;
    unsigned char *data = malloc(size), *at = data;

    if (data == NULL)
        return -1;
    check = adler32_combine(check, rest->check, (z_off_t)rest->bytes);
    memcpy(at, ZLIB_HEADER, 2);
    at += 2;
    *at++ = 0; /* not the last block, stored; the header left it at a byte's beginning, as a stored block wants it */
    for (int times = 0; times < 2; times++) { /* its length and the complement of that, low byte first */
        unsigned length = times == 0 ? (unsigned)head_len : ~(unsigned)head_len;

        *at++ = (unsigned char)length;
        *at++ = (unsigned char)(length >> 8);
    }
    memcpy(at, head, head_len);
    at += head_len;
    memcpy(at, rest->deflated, rest->size);
    at += rest->size;
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (unsigned char)(check >> shift);
    *ret = (struct deflated){.data = data, .size = size};
    return 0;
}

/* ---- reading, and in SQL ---- */

int store_inflate(const void *data, size_t size, int64_t bytes, struct rl_buf *out, struct rl_err *err)
{
    uLongf length = (uLongf)bytes;
    unsigned char *text;
    int rc;

    if (bytes < 0 || bytes > STORE_DOCUMENT_MAX_BYTES)
        return rl_fail(err, RL_E_STORE_CORRUPT, "database", "a stored text says that it has %lld bytes",
                       (long long)bytes);
    text = malloc((size_t)bytes + 1);
    if (text == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a text of %lld bytes", (long long)bytes);
    rc = uncompress(text, &length, data, size);
    if (rc != Z_OK || length != (uLongf)bytes) {
        free(text);
        if (rc == Z_MEM_ERROR)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to inflate a stored text");
        return rl_fail(err, RL_E_STORE_CORRUPT, "database",
                       "a stored text of %lld bytes cannot be inflated (zlib's code is %d, %lu bytes came)",
                       (long long)bytes, rc, length);
    }
    rl_buf_add(out, text, (size_t)bytes);
    free(text);
    return 0;
}

static void sql_deflated(sqlite3_context *context, int count, sqlite3_value **values)
{
    const void *data = sqlite3_value_blob(values[0]); /* of a text: its UTF-8 */
    struct deflated deflated = {0};

    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
        sqlite3_result_null(context);
        return;
    }
    if (store_deflate(data, (size_t)sqlite3_value_bytes(values[0]), &deflated, NULL) < 0)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_blob64(context, deflated.data, deflated.size, free);
}

static void sql_inflated(sqlite3_context *context, int count, sqlite3_value **values)
{
    const void *data = sqlite3_value_blob(values[0]);
    struct rl_err err = {.code = RL_E_NONE};
    struct rl_buf text;

    (void)count;
    rl_buf_init(&text, STORE_DOCUMENT_MAX_BYTES + 1);
    if (store_inflate(data, (size_t)sqlite3_value_bytes(values[0]), sqlite3_value_int64(values[1]), &text, &err) < 0)
        sqlite3_result_error(context, err.message, -1);
    else if (text.failed)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text64(context, text.data, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    rl_buf_free(&text);
}

int store_add_functions(struct store *store, struct rl_err *err)
{
    int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;

    if (sqlite3_create_function_v2(store->db, "deflated", 1, how, NULL, sql_deflated, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function_v2(store->db, "inflated", 2, how, NULL, sql_inflated, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(store, err, "configuring the connection");
    return 0;
}
