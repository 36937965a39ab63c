/* polynomial256: a Horner chain of 256 steps on each float: the row that is compute bound on every card.
 *
 * x = in[i] * scale; acc = x; 256 times acc = fma(acc, x, add); out[i] = acc.
 *
 * Flop: one multiplication and 256 FMAs per element, 513 n. Asked bytes: one float read and one written, 2 * 4 * n.
 * Intensity 513 / 8 = 64 flop per byte.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): one FMUL, and 64 FFMA to a turn of the loop.
 *
 * scale is just below one, so that for the elements near +-1 the last steps still change the result by more than the
 * tolerance: a loop that ended early is seen in the output, not only in the flop counter.
 *
 * Check: x is exact in double and rounded to float once, which is what FMUL gives. Each FMA rounds once, so the error
 * obeys e <- |x| e + u * (|acc| + |x| e), with acc the reference's and u = 2^-24. The reference carries that bound
 * beside the value, in double, and allows it times 1 + 2^-20 for its own rounding.
 */
#ifndef KERNELS_STREAM_POLYNOMIAL256_H
#define KERNELS_STREAM_POLYNOMIAL256_H

#include "kernels/unit/sizes.h"

#define RL_POLYNOMIAL256_BLOCK  256u
#define RL_POLYNOMIAL256_STEPS  256u
#define RL_POLYNOMIAL256_UNROLL 64u           /* steps must be a multiple of it */
#define RL_POLYNOMIAL256_SCALE  0.9990234375f /* 1 - 2^-10 */
#define RL_POLYNOMIAL256_ADD    0.25f

static inline int rl_polynomial256_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {(uint64_t)1 << 24, 0, RL_POLYNOMIAL256_STEPS};
    if (sizes == RL_SCALED && rl_scaled_size((uint64_t)1 << 26, 1, 2u * RL_FLOAT_BYTES, l2_bytes, &dims.n) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_polynomial256_flop(const struct rl_dims *dims)
{
    return (2u * dims->steps + 1u) * dims->n;
}

static inline uint64_t rl_polynomial256_ask_bytes(const struct rl_dims *dims)
{
    return 2u * dims->n * RL_FLOAT_BYTES;
}

static inline uint64_t rl_polynomial256_footprint_bytes(const struct rl_dims *dims)
{
    return 2u * dims->n * RL_FLOAT_BYTES;
}

#endif
