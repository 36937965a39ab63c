/* Deflated text: what a job's transcript and a run's document (document.c) are kept as. Inflating a document takes 0.2
 * ms with the reading of its pages, from among a million runs (2026-11-29): too little for a cache of documents to pay.
 */
#include "db/store_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int store_pack(const void *data, size_t size, struct packed *ret, struct rl_err *err)
{
    uLongf length = compressBound(size);
    unsigned char *bytes = malloc(length);

    if (bytes == NULL || compress2(bytes, &length, size > 0 ? data : "", size, PACK_LEVEL) != Z_OK) {
        free(bytes);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to deflate %zu bytes", size);
    }
    *ret = (struct packed){.data = bytes, .size = length};
    return 0;
}

int store_unpack(const void *data, size_t size, int64_t bytes, struct rl_buf *out, struct rl_err *err)
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
    struct packed packed = {0};

    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
        sqlite3_result_null(context);
        return;
    }
    if (store_pack(data, (size_t)sqlite3_value_bytes(values[0]), &packed, NULL) < 0)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_blob64(context, packed.data, packed.size, free);
}

int store_add_functions(struct store *store, struct rl_err *err)
{
    if (sqlite3_create_function_v2(store->db, "deflated", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                   NULL, sql_deflated, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(store, err, "configuring the connection");
    return 0;
}
