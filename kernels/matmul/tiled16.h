/* matmul_tiled16: C = A B for square d x d matrices through 16 x 16 tiles of A and B in shared memory.
 *
 * Flop: d FMAs per element (the first adds to zero), 2 d^3 in all.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): FFMA only, 16 to a tile.
 *
 * Asked bytes: a block of 256 threads reads two floats a thread for every 16 steps, so each thread asks for 2 d / 16
 * floats and writes one: (2 d^3 / 16 + d^2) * 4. Distinct bytes: 3 * 4 * d^2.
 *
 * Check: the result is a dot product of d terms accumulated by FMA from zero, one rounding a step, so that its error is
 * at most g * sum |a||b| with g = d u / (1 - d u) and u = 2^-24 (Higham, Accuracy and Stability, 2nd ed., section 3.1).
 * The reference sums the same products in double; its own error, 2^-29 of that, is covered by a factor of 1 + 2^-20.
 */
#ifndef KERNELS_MATMUL_TILED16_H
#define KERNELS_MATMUL_TILED16_H

#include "kernels/unit/sizes.h"

#define RL_MATMUL_TILED16_TILE 16u

static inline int rl_matmul_tiled16_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    (void)l2_bytes; /* cache-resident by design at both sizes */
    struct rl_dims dims = {0, sizes == RL_SCALED ? 2048u : 512u, 0};
    *ret = dims;
    return 0;
}

static inline uint64_t rl_matmul_tiled16_flop(const struct rl_dims *dims)
{
    return 2u * dims->edge * dims->edge * dims->edge;
}

static inline uint64_t rl_matmul_tiled16_ask_bytes(const struct rl_dims *dims)
{
    return (2u * dims->edge * dims->edge * dims->edge / RL_MATMUL_TILED16_TILE + dims->edge * dims->edge) *
           RL_FLOAT_BYTES;
}

static inline uint64_t rl_matmul_tiled16_footprint_bytes(const struct rl_dims *dims)
{
    return 3u * dims->edge * dims->edge * RL_FLOAT_BYTES;
}

#endif
