/* SHA-256 by nettle: the only file that includes it is hash.c (target rl_hash). */
#ifndef RL_BASE_HASH_H
#define RL_BASE_HASH_H

#include <stddef.h>

/* Lower-case hex SHA-256 of data into hex[65]. */
void rl_sha256_hex(const void *data, size_t len, char hex[65]);

#endif
