/* SHA-256 by nettle; the only file that includes it. */
#include "base/hash.h"

#include <nettle/sha2.h>
#include <stdint.h>

void rl_sha256_hex(const void *data, size_t len, char hex[65])
{
    static const char digit[] = "0123456789abcdef";
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, len, data);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digit[digest[i] >> 4];
        hex[2 * i + 1] = digit[digest[i] & 15];
    }
    hex[64] = '\0';
}
