/* block_reduction: each block of 256 threads sums 256 floats in shared memory and stores one partial sum.
 *
 * Flop: the tree does 128 + 64 + … + 1 = 255 adds a block, by exactly that many threads: 255 * n / 256. (An add that
 * idle threads execute too, or one per element, would be off by 0.4 percent or more.)
 * SASS (CUDA 13.0, sm_90, 2026-11-29): eight FADD, each under its level's predicate.
 *
 * Asked bytes: n floats read and n / 256 partials written, 4 * (n + n / 256); the distinct bytes are the same.
 *
 * Check: eight levels of adds, one rounding each, so the error is at most g * sum |x| with g = 8 u / (1 - 8 u), u =
 * 2^-24 (Higham, Accuracy and Stability, 2nd ed., section 4.2). The reference sum in double is exact: 256 multiples of
 * 2^-23.
 */
#ifndef KERNELS_REDUCTION_BLOCK_REDUCTION_H
#define KERNELS_REDUCTION_BLOCK_REDUCTION_H

#include "kernels/unit/sizes.h"

#define RL_BLOCK_REDUCTION_BLOCK 256u

static inline int rl_block_reduction_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {(uint64_t)65536 * RL_BLOCK_REDUCTION_BLOCK, 0, 0};
    if (sizes == RL_SCALED && rl_scaled_size((uint64_t)1 << 27, 1, RL_FLOAT_BYTES, l2_bytes, &dims.n) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_block_reduction_flop(const struct rl_dims *dims)
{
    return dims->n / RL_BLOCK_REDUCTION_BLOCK * (RL_BLOCK_REDUCTION_BLOCK - 1u);
}

static inline uint64_t rl_block_reduction_ask_bytes(const struct rl_dims *dims)
{
    return (dims->n + dims->n / RL_BLOCK_REDUCTION_BLOCK) * RL_FLOAT_BYTES;
}

static inline uint64_t rl_block_reduction_footprint_bytes(const struct rl_dims *dims)
{
    return (dims->n + dims->n / RL_BLOCK_REDUCTION_BLOCK) * RL_FLOAT_BYTES;
}

#endif
