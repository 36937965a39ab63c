/* vector_add: c[i] = a[i] + b[i], one float a thread, consecutive threads on consecutive floats.
 *
 * Flop: one add (FADD) per element, n in all.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): one FADD.
 *
 * Asked bytes: two floats read and one written per element, 3 * 4 * n; the distinct bytes are the same.
 *
 * Check: the inputs are multiples of 2^-23 below 1 in magnitude, so that a + b is exact in double and rounding it to
 * float once is what FADD must give: bit for bit.
 */
#ifndef KERNELS_STREAM_VECTOR_ADD_H
#define KERNELS_STREAM_VECTOR_ADD_H

#include "kernels/unit/sizes.h"

#define RL_VECTOR_ADD_BLOCK 256u

static inline int rl_vector_add_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {(uint64_t)1 << 24, 0, 0};
    if (sizes == RL_SCALED && rl_scaled_size((uint64_t)1 << 26, 1, 3u * RL_FLOAT_BYTES, l2_bytes, &dims.n) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_vector_add_flop(const struct rl_dims *dims)
{
    return dims->n;
}

static inline uint64_t rl_vector_add_ask_bytes(const struct rl_dims *dims)
{
    return 3u * dims->n * RL_FLOAT_BYTES;
}

static inline uint64_t rl_vector_add_footprint_bytes(const struct rl_dims *dims)
{
    return 3u * dims->n * RL_FLOAT_BYTES;
}

#endif
