/* What both stencils share: the step of one point, the boundary, and the reference. Tolerance: see kernels/stencil/global.h. */
#ifndef KERNELS_STENCIL_STENCIL_CUH
#define KERNELS_STENCIL_STENCIL_CUH

#include "kernels/unit/check.cuh"
#include "kernels/stencil/global.h"

/* Seven flop: three FADD and two FFMA. */
__device__ inline float rl_stencil_point(float centre, float left, float right, float up, float down)
{
    const float around = __fadd_rn(__fadd_rn(left, right), __fadd_rn(up, down));
    return __fmaf_rn(RL_STENCIL_K, __fmaf_rn(-4.0f, centre, around), centre);
}

struct rl_stencil_reference {
    using element = float;
    uint64_t key, edge;

    RL_BOTH double at(uint64_t row, uint64_t column) const
    {
        return static_cast<double>(rl_uniform(key, row * edge + column));
    }

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        const uint64_t row = i / edge, column = i % edge;
        const double centre = at(row, column);
        if (row == 0 || column == 0 || row == edge - 1 || column == edge - 1)
            return rl_exactly(static_cast<float>(centre), got);
        const double k = static_cast<double>(RL_STENCIL_K);
        const double around = at(row, column - 1) + at(row, column + 1) + at(row - 1, column) + at(row + 1, column);
        const double value = centre + k * (around - 4 * centre);
        return rl_within(value, RL_UNIT_ROUNDOFF * (16 * k + fabs(value)) * RL_SLACK, got);
    }
};

/* Fills the input, poisons the output's interior and gives its boundary the input's values. */
int rl_stencil_reset(float *in, float *out, uint64_t edge, uint64_t seed, rl_stream stream);

#endif
