/* SHA-256 by nettle: the only file that includes it is hash.c (target rl_hash). */
#ifndef RL_BASE_HASH_H
#define RL_BASE_HASH_H

#include <stddef.h>

/* Lower-case hex SHA-256 of data into hex[65]. */
void rl_sha256_hex(const void *data, size_t len, char hex[65]);

/* The same of bytes that come in pieces. */
struct rl_sha256;
struct rl_sha256 *rl_sha256_new(void); /* NULL when memory ran out */
void rl_sha256_add(struct rl_sha256 *hash, const void *data, size_t len);
void rl_sha256_end(struct rl_sha256 *hash, char hex[65]); /* of all that was added; hash begins anew */
void rl_sha256_free(struct rl_sha256 *hash);              /* accepts NULL */

#endif
