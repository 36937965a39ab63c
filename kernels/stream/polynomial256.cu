/* polynomial256: see kernels/stream/polynomial256.h. */
#include "kernels/stream/polynomial256.h"

#include "kernels/unit/check.cuh"

__global__ void __launch_bounds__(RL_POLYNOMIAL256_BLOCK)
    polynomial256(const float *__restrict__ in, float *__restrict__ out, unsigned steps)
{
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(RL_POLYNOMIAL256_BLOCK) + threadIdx.x;
    const float x = __fmul_rn(in[i], RL_POLYNOMIAL256_SCALE);
    float acc = x;
    for (unsigned k = 0; k < steps; k += RL_POLYNOMIAL256_UNROLL) {
#pragma unroll
        for (unsigned j = 0; j < RL_POLYNOMIAL256_UNROLL; j++)
            acc = __fmaf_rn(acc, x, RL_POLYNOMIAL256_ADD);
    }
    out[i] = acc;
}

namespace
{

struct reference {
    using element = float;
    uint64_t key, steps;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        const double product = static_cast<double>(rl_uniform(key, i)) * static_cast<double>(RL_POLYNOMIAL256_SCALE);
        const double x = static_cast<double>(static_cast<float>(product));
        const double add = static_cast<double>(RL_POLYNOMIAL256_ADD);
        double acc = x, error = 0;
        for (uint64_t k = 0; k < steps; k++) {
            acc = acc * x + add;
            error *= fabs(x);
            error += RL_UNIT_ROUNDOFF * (fabs(acc) + error);
        }
        return rl_within(acc, error * RL_SLACK, got);
    }
};

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(RL_POLYNOMIAL256_BLOCK);
    return dims->steps != 0 && dims->steps <= 0x7fffffffu && dims->steps % RL_POLYNOMIAL256_UNROLL == 0 &&
           rl_blocks(dims->n, RL_POLYNOMIAL256_BLOCK, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_align(dims->n * sizeof(float)) + rl_align(dims->n * sizeof(float));
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    return rl_reset_arrays(arena, 1, dims->n, dims->n, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(polynomial256, shape, stream, rl_array(arena, 0, dims->n), rl_array(arena, 1, dims->n),
                     static_cast<unsigned>(dims->steps));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(polynomial256, shape, NULL, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    reference expected = {rl_key(seed, 0), dims->steps};
    return rl_check(rl_array(arena, 1, dims->n), dims->n, 0, expected, seed, scratch, stream,
                    "within the running error bound of the Horner chain", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n;
    return rl_array(arena, 1, dims->n);
}

} // namespace

const struct rl_unit_ops rl_ops_polynomial256 = {
    &rl_unit_polynomial256, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
