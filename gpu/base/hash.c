/* SHA-256 by nettle; the only file that includes it. */
#include "gpu/base/hash.h"

#include <nettle/sha2.h>
#include <stdint.h>
#include <stdlib.h>

struct rl_sha256 {
    struct sha256_ctx context;
};

static void end(struct sha256_ctx *context, char hex[65])
{
    static const char digit[] = "0123456789abcdef";
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digit[digest[i] >> 4];
        hex[2 * i + 1] = digit[digest[i] & 15];
    }
    hex[64] = '\0';
}

void rl_sha256_hex(const void *data, size_t len, char hex[65])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, len, data);
    end(&context, hex);
}

struct rl_sha256 *rl_sha256_new(void)
{
    struct rl_sha256 *hash = malloc(sizeof *hash);
    if (hash != NULL)
        sha256_init(&hash->context);
    return hash;
}

void rl_sha256_add(struct rl_sha256 *hash, const void *data, size_t len)
{
    sha256_update(&hash->context, len, data);
}

void rl_sha256_end(struct rl_sha256 *hash, char hex[65])
{
    end(&hash->context, hex);
}

void rl_sha256_free(struct rl_sha256 *hash)
{
    free(hash);
}
