/* matmul_naive: C = A B for square d x d matrices, one thread per element of C, no tiling.
 *
 * Blocks are 16 x 16, row from y and column from x: a warp covers two rows of 16 columns.
 *
 * Flop: d FMAs per element (the first adds to zero), 2 d^3 in all.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): FFMA only, 16 to a turn of the loop.
 *
 * Asked bytes: d floats of A and d of B read and one of C written by each of d^2 threads, (2 d^3 + d^2) * 4: what the
 * threads ask for, though the caches serve nearly all of it. Distinct bytes: 3 * 4 * d^2.
 *
 * Check: the result is a dot product of d terms accumulated by FMA from zero, one rounding a step, so that its error is
 * at most g * sum |a||b| with g = d u / (1 - d u) and u = 2^-24 (Higham, Accuracy and Stability, 2nd ed., section 3.1).
 * The reference sums the same products in double; its own error, 2^-29 of that, is covered by a factor of 1 + 2^-20.
 */
#ifndef KERNELS_MATMUL_NAIVE_H
#define KERNELS_MATMUL_NAIVE_H

#include "kernels/unit/sizes.h"

#define RL_MATMUL_NAIVE_TILE 16u

static inline int rl_matmul_naive_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    (void)l2_bytes; /* cache-resident by design at both sizes */
    struct rl_dims dims = {0, sizes == RL_SCALED ? 2048u : 512u, 0};
    *ret = dims;
    return 0;
}

static inline uint64_t rl_matmul_naive_flop(const struct rl_dims *dims)
{
    return 2u * dims->edge * dims->edge * dims->edge;
}

static inline uint64_t rl_matmul_naive_ask_bytes(const struct rl_dims *dims)
{
    return (2u * dims->edge * dims->edge * dims->edge + dims->edge * dims->edge) * RL_FLOAT_BYTES;
}

static inline uint64_t rl_matmul_naive_footprint_bytes(const struct rl_dims *dims)
{
    return 3u * dims->edge * dims->edge * RL_FLOAT_BYTES;
}

#endif
