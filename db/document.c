/* A run's document: deflated before the store has it, given its id and job as it is stored, read as the bytes that it
 * was. What is kept is one stream in zlib's format (RFC 1950): its head, the opening brace with id and job, as a block
 * that is stored and not deflated (RFC 1951, 3.2.4); then the stream of the rest as it was made; then the check of
 * both. */
#include "db/store_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/num.h"

#define HEAD_MAX     80         /* {"id":"…","job":"…", with two numbers of at most 20 digits */
#define ZLIB_HEADER  "\x78\x9c" /* deflate, a window of 32 KiB, the default level, no dictionary */
#define STREAM_EXTRA (2 + 5 + 4)

/* ---- beside the store ---- */

static int deflate_rest(const char *text, size_t bytes, struct store_document *ret)
{
    z_stream stream = {0};
    unsigned char *deflated, *fitting;
    int rc;

    /* raw: without zlib's header and check, which are of the whole */
    if (deflateInit2(&stream, PACK_LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK)
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

int store_document_make(const char *text, struct store_document *ret, struct rl_err *err)
{
    size_t length = strlen(text);

    if (text[0] != '{' || text[1] != '"')
        return rl_fail(err, RL_E_INTERNAL, NULL, "a run's document is no compact JSON object");
    if (length > STORE_DOCUMENT_MAX_BYTES - HEAD_MAX)
        return rl_fail(err, RL_E_TOO_LARGE, NULL, "a run's document is longer than %d bytes",
                       STORE_DOCUMENT_MAX_BYTES - HEAD_MAX);
    if (!rl_utf8_valid(text, length))
        return rl_fail(err, RL_E_INTERNAL, NULL, "a run's document is not UTF-8");
    if (deflate_rest(text + 1, length - 1, ret) < 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to deflate a run's document of %zu bytes", length);
    return 0;
}

void store_document_fini(struct store_document *document)
{
    free(document->deflated);
    *document = (struct store_document){0};
}

/* ---- storing ---- */

/* The whole stream: header, head, rest, check. */
static int join(const char *head, size_t head_len, const struct store_document *rest, struct packed *ret)
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
    *ret = (struct packed){.data = data, .size = size};
    return 0;
}

int store_put_document(struct store *store, int64_t id, int64_t job_id, const struct store_document *document,
                       struct rl_err *err)
{
    struct packed packed = {0};
    struct rl_buf head;
    struct stmt stmt;
    int rc;

    rl_buf_init(&head, HEAD_MAX);
    rl_buf_printf(&head, "{\"id\":\"%lld\",\"job\":", (long long)id);
    if (job_id != 0)
        rl_buf_printf(&head, "\"%lld\",", (long long)job_id);
    else
        rl_buf_puts(&head, "null,");
    rc = head.failed ? -1 : join(head.data, head.len, document, &packed);
    if (rc < 0) {
        rl_buf_free(&head);
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory to store a run's document");
    }
    stmt = stmt_start(store, STMT_DOCUMENT_ADD);
    stmt_int(&stmt, ":id", id);
    stmt_int(&stmt, ":bytes", (int64_t)(head.len + document->bytes));
    stmt_blob(&stmt, ":deflated", packed.data, packed.size);
    rc = stmt_run(&stmt, err, "storing a run's document");
    free(packed.data);
    rl_buf_free(&head);
    return rc;
}

/* ---- reading ---- */

int store_run_document(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err)
{
    struct stmt stmt = stmt_start(store, STMT_DOCUMENT_GET);
    size_t length = out->len;
    int rc;

    stmt_int(&stmt, ":id", id);
    rc = stmt_step(&stmt, err, "reading a run");
    if (rc == 0)
        rc = rl_fail(err, RL_E_NOT_FOUND, NULL, "there is no run %lld", (long long)id);
    else if (rc == 1) {
        const void *deflated = sqlite3_column_blob(stmt.handle, 0);

        rc = store_unpack(deflated, (size_t)sqlite3_column_bytes(stmt.handle, 0), sqlite3_column_int64(stmt.handle, 1),
                          out, err);
    }
    stmt_end(&stmt);
    return store_finish_text(out, length, rc, err);
}
