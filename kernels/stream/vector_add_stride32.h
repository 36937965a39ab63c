/* vector_add_stride32: the sums of vector_add, visited so that consecutive threads are 128 bytes apart.
 *
 * Thread i handles element (i mod n/32) * 32 + (i div n/32): each element once, in an order in which a warp touches 32
 * different lines and uses 4 bytes of each. The seven other floats of a sector come n/32 threads later or more.
 *
 * Flop and asked bytes: those of vector_add, n and 3 * 4 * n; the order does not enter a hand count, which is the
 * point.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): one FADD; the index is shifts and masks, no float in it.
 *
 * Check: bit for bit, as vector_add.
 */
#ifndef KERNELS_STREAM_VECTOR_ADD_STRIDE32_H
#define KERNELS_STREAM_VECTOR_ADD_STRIDE32_H

#include "kernels/unit/sizes.h"

#define RL_VECTOR_ADD_STRIDE32_BLOCK  256u
#define RL_VECTOR_ADD_STRIDE32_STRIDE 32u

static inline int rl_vector_add_stride32_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {(uint64_t)1 << 24, 0, 0};
    if (sizes == RL_SCALED && rl_scaled_size((uint64_t)1 << 26, 1, 3u * RL_FLOAT_BYTES, l2_bytes, &dims.n) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_vector_add_stride32_flop(const struct rl_dims *dims)
{
    return dims->n;
}

static inline uint64_t rl_vector_add_stride32_ask_bytes(const struct rl_dims *dims)
{
    return 3u * dims->n * RL_FLOAT_BYTES;
}

static inline uint64_t rl_vector_add_stride32_footprint_bytes(const struct rl_dims *dims)
{
    return 3u * dims->n * RL_FLOAT_BYTES;
}

#endif
