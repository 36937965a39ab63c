/* stencil_global: a five-point stencil that reads every neighbour from global memory.
 *
 * One explicit step of the heat equation: out = c + k * (left + right + up + down - 4 c), on the interior; the
 * boundary keeps its value, which reset writes and the kernel must not touch.
 *
 * Flop per interior point: 3 adds, and 2 FMAs (-4 c + sum; k * that + c): 7. (A count of 6 "operations" would be off by
 * 17 percent.) Interior: (edge - 2)^2.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): three FADD and two FFMA, after the exit of the threads that are outside.
 *
 * Asked bytes: five floats read and one written per interior point, 6 * 4 * (edge - 2)^2. Distinct bytes: the input
 * without its four corners and the output's interior, 4 * (edge^2 - 4 + (edge - 2)^2).
 *
 * Check: with |u| < 1 and r = 2^-24, the two inner sums round by at most 2 r each, their sum by 4 r, the first FMA (at
 * most 8) by 8 r and the last by r * |out|, and all but the last are scaled by k: r * (16 k + |out|), against double,
 * whose error is below 2^-28 of that; a factor of 1 + 2^-20 covers it and second-order terms. Boundary: bit for bit.
 */
#ifndef KERNELS_STENCIL_GLOBAL_H
#define KERNELS_STENCIL_GLOBAL_H

#include "kernels/unit/sizes.h"

/* k, as a float exactly: 0.2 would round, and then the reference would have to know how. */
#define RL_STENCIL_K       0.1875f
#define RL_STENCIL_COLUMNS 32u /* block of both stencils: output points along a row, and rows */
#define RL_STENCIL_ROWS    8u

/* Points that a step computes. */
static inline uint64_t rl_stencil_interior(const struct rl_dims *dims)
{
    return (dims->edge - 2u) * (dims->edge - 2u);
}

static inline uint64_t rl_stencil_global_flop(const struct rl_dims *dims)
{
    return 7u * rl_stencil_interior(dims);
}

static inline uint64_t rl_stencil_global_ask_bytes(const struct rl_dims *dims)
{
    return 6u * rl_stencil_interior(dims) * RL_FLOAT_BYTES;
}

static inline uint64_t rl_stencil_global_footprint_bytes(const struct rl_dims *dims)
{
    return (dims->edge * dims->edge - 4u + rl_stencil_interior(dims)) * RL_FLOAT_BYTES;
}

/* Sizes of both stencils. */
static inline int rl_stencil_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {0, 2048, 0};
    if (sizes == RL_SCALED) {
        if (rl_scaled_size(8192, 2, 2u * RL_FLOAT_BYTES, l2_bytes, &dims.edge) != 0)
            return -1;
        /* Two arrays less the output's boundary can fall short of what two arrays reach. */
        if (rl_stencil_global_footprint_bytes(&dims) < RL_SCALED_L2_FACTOR * l2_bytes)
            dims.edge *= 2;
    }
    *ret = dims;
    return 0;
}

#endif
