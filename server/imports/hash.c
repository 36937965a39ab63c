/* See server/imports/hash.h. */
#include "server/imports/hash.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/hash.h"

#define MARK_BYTES 3u

static const char mark[MARK_BYTES + 1] = "\xEF\xBB\xBF";

struct import_hash {
    struct rl_sha256 *sha256;
    char head[MARK_BYTES]; /* the first bytes, until it is seen whether they are a mark */
    size_t head_len;
    bool begun, raw, after_cr;
    uint64_t newlines; /* that are not added yet: those at the end never are */
};

struct import_hash *import_hash_new(void)
{
    struct import_hash *hash = calloc(1, sizeof *hash);
    if (hash != NULL && (hash->sha256 = rl_sha256_new()) == NULL) {
        free(hash);
        return NULL;
    }
    return hash;
}

void import_hash_free(struct import_hash *hash)
{
    if (hash != NULL)
        rl_sha256_free(hash->sha256);
    free(hash);
}

static void add_newlines(struct import_hash *hash)
{
    static const char lines[] = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n";
    while (hash->newlines > 0) {
        size_t some = hash->newlines < sizeof lines - 1 ? (size_t)hash->newlines : sizeof lines - 1;
        rl_sha256_add(hash->sha256, lines, some);
        hash->newlines -= some;
    }
}

static void add_text(struct import_hash *hash, const char *data, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t end = at;
        while (end < len && data[end] != '\r' && data[end] != '\n')
            end++;
        if (end > at) {
            add_newlines(hash);
            rl_sha256_add(hash->sha256, data + at, end - at);
            hash->after_cr = false;
        }
        for (; end < len && (data[end] == '\r' || data[end] == '\n'); end++) {
            hash->newlines += data[end] == '\r' || !hash->after_cr;
            hash->after_cr = data[end] == '\r';
        }
        at = end;
    }
}

/* What was held back, unless it is a mark. */
static void begin(struct import_hash *hash)
{
    hash->begun = true;
    hash->raw = hash->head_len >= 2 && memcmp(hash->head, "\x1F\x8B", 2) == 0;
    if (hash->raw)
        rl_sha256_add(hash->sha256, hash->head, hash->head_len);
    else if (hash->head_len < MARK_BYTES || memcmp(hash->head, mark, MARK_BYTES) != 0)
        add_text(hash, hash->head, hash->head_len);
}

void import_hash_add(struct import_hash *hash, const char *data, size_t len)
{
    while (!hash->begun && len > 0) {
        hash->head[hash->head_len++] = *data++;
        len--;
        if (hash->head_len == MARK_BYTES)
            begin(hash);
    }
    if (hash->raw)
        rl_sha256_add(hash->sha256, data, len);
    else
        add_text(hash, data, len);
}

void import_hash_end(struct import_hash *hash, char hex[65])
{
    if (!hash->begun)
        begin(hash);
    rl_sha256_end(hash->sha256, hex);
}
