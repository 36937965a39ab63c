/* Compressed uploads: the one user of zlib here. */
#include "gpu/import/text/gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int no_memory(const struct import_place *at)
{
    return rl_fail(at->err, RL_E_NO_MEMORY, import_kind_name(at->file->kind), "no memory to unpack the file");
}

bool import_is_gzip(const struct import_file *file)
{
    return file->len >= 2 && memcmp(file->data, "\x1F\x8B", 2) == 0;
}

int import_inflate(const struct import_place *at, char **ret, size_t *ret_len)
{
    const struct import_file *file = at->file;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)file->data, .avail_in = (uInt)file->len};
    size_t len = 0, capacity = 0;
    char *data = NULL;
    int rc = Z_OK;
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return no_memory(at);
    while (rc == Z_OK && len <= IMPORT_INFLATED_MAX) {
        size_t wanted = capacity > 0 ? 2 * capacity : 4 * file->len + 65536;
        capacity = wanted < IMPORT_INFLATED_MAX + 1 ? wanted : IMPORT_INFLATED_MAX + 1;
        char *larger = realloc(data, capacity);
        if (larger == NULL)
            break;
        data = larger;
        stream.next_out = (Bytef *)data + len;
        stream.avail_out = (uInt)(capacity - len);
        rc = inflate(&stream, Z_NO_FLUSH);
        len = capacity - stream.avail_out;
        if (rc == Z_OK && stream.avail_out > 0) /* the file ended first */
            rc = Z_BUF_ERROR;
    }
    bool whole = rc == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    *ret = data;
    *ret_len = len;
    if (whole && len <= IMPORT_INFLATED_MAX)
        return 0;
    if (len > IMPORT_INFLATED_MAX)
        return import_fail_at(at, RL_E_TOO_LARGE, NULL, "unpacks to more than %zu bytes", IMPORT_INFLATED_MAX);
    return rc == Z_OK ? no_memory(at)
                      : import_fail_at(at, RL_E_IMPORT_FORMAT, NULL,
                                       "is compressed by gzip, and cannot be unpacked whole: it is cut or damaged");
}
