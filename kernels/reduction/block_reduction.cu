/* block_reduction: see kernels/reduction/block_reduction.h. */
#include "kernels/reduction/block_reduction.h"

#include "kernels/unit/check.cuh"

constexpr unsigned block = RL_BLOCK_REDUCTION_BLOCK;

__global__ void __launch_bounds__(block) block_reduction(const float *__restrict__ in, float *__restrict__ partials)
{
    __shared__ float sums[block];
    const unsigned thread = threadIdx.x;
    sums[thread] = in[blockIdx.x * static_cast<uint64_t>(block) + thread];
    __syncthreads();
#pragma unroll
    for (unsigned half = block / 2; half > 0; half /= 2) {
        if (thread < half)
            sums[thread] = __fadd_rn(sums[thread], sums[thread + half]);
        __syncthreads();
    }
    if (thread == 0)
        partials[blockIdx.x] = sums[0];
}

namespace
{

struct reference {
    using element = float;
    uint64_t key;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        double sum = 0, magnitude = 0;
        for (unsigned j = 0; j < block; j++) {
            const double value = static_cast<double>(rl_uniform(key, i * block + j));
            sum += value;
            magnitude += fabs(value);
        }
        const double roundings = 8 * RL_UNIT_ROUNDOFF;
        return rl_within(sum, roundings / (1 - roundings) * magnitude, got);
    }
};
static_assert(1u << 8 == block, "eight levels of adds");

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(block);
    return rl_blocks(dims->n, block, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_align(dims->n * sizeof(float)) + rl_align(dims->n / block * sizeof(float));
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    return rl_reset_arrays(arena, 1, dims->n, dims->n / block, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(block_reduction, shape, stream, rl_array(arena, 0, dims->n), rl_array(arena, 1, dims->n));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(block_reduction, shape, NULL, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    reference expected = {rl_key(seed, 0)};
    return rl_check(rl_array(arena, 1, dims->n), dims->n / block, 0, expected, seed, scratch, stream,
                    "within g * sum |x|, g = 8 * 2^-24 / (1 - 8 * 2^-24)", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n / block;
    return rl_array(arena, 1, dims->n);
}

} // namespace

const struct rl_unit_ops rl_ops_block_reduction = {
    &rl_unit_block_reduction, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
