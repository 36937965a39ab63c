/* vector_add: see kernels/stream/vector_add.h. */
#include "kernels/stream/vector_add.h"

#include "kernels/stream/vector_add_check.cuh"

__global__ void __launch_bounds__(RL_VECTOR_ADD_BLOCK)
    vector_add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(RL_VECTOR_ADD_BLOCK) + threadIdx.x;
    c[i] = __fadd_rn(a[i], b[i]);
}

namespace
{

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(RL_VECTOR_ADD_BLOCK);
    return rl_is_power_of_two(dims->n) && rl_blocks(dims->n, RL_VECTOR_ADD_BLOCK, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_arrays_bytes(3, dims->n);
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    return rl_reset_arrays(arena, 2, dims->n, dims->n, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    const float *a = rl_array(arena, 0, dims->n), *b = rl_array(arena, 1, dims->n);
    return rl_launch(vector_add, shape, stream, a, b, rl_array(arena, 2, dims->n));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(vector_add, shape, NULL, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    rl_vector_add_reference expected = {rl_key(seed, 0), rl_key(seed, 1)};
    return rl_check(rl_array(arena, 2, dims->n), dims->n, 0, expected, seed, scratch, stream, "bit for bit", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n;
    return rl_array(arena, 2, dims->n);
}

} // namespace

const struct rl_unit_ops rl_ops_vector_add = {
    &rl_unit_vector_add, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
