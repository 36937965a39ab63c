/* transpose_naive: see kernels/transpose/naive.h. */
#include "kernels/transpose/naive.h"

#include "kernels/transpose/check.cuh"

__global__ void __launch_bounds__(RL_TRANSPOSE_NAIVE_COLUMNS *RL_TRANSPOSE_NAIVE_ROWS)
    transpose_naive(const float *__restrict__ in, float *__restrict__ out, unsigned edge)
{
    const unsigned x = blockIdx.x * RL_TRANSPOSE_NAIVE_COLUMNS + threadIdx.x;
    const unsigned y = blockIdx.y * RL_TRANSPOSE_NAIVE_ROWS + threadIdx.y;
    (out + y)[static_cast<uint64_t>(x) * edge] = (in + x)[static_cast<uint64_t>(y) * edge];
}

namespace
{

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(RL_TRANSPOSE_NAIVE_COLUMNS, RL_TRANSPOSE_NAIVE_ROWS);
    return rl_blocks_square(dims->edge, RL_TRANSPOSE_NAIVE_COLUMNS, RL_TRANSPOSE_NAIVE_ROWS, &ret->grid);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_arrays_bytes(2, dims->edge * dims->edge);
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    const uint64_t n = dims->edge * dims->edge;
    return rl_reset_arrays(arena, 1, n, n, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    const uint64_t n = dims->edge * dims->edge;
    return rl_launch(transpose_naive, shape, stream, rl_array(arena, 0, n), rl_array(arena, 1, n),
                     static_cast<unsigned>(dims->edge));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(transpose_naive, shape, NULL, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    const uint64_t n = dims->edge * dims->edge;
    rl_transpose_reference expected = {rl_key(seed, 0), dims->edge};
    return rl_check(rl_array(arena, 1, n), n, dims->edge, expected, seed, scratch, stream, "bit for bit", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->edge * dims->edge;
    return rl_array(arena, 1, *ret_count);
}

} // namespace

const struct rl_unit_ops rl_ops_transpose_naive = {
    &rl_unit_transpose_naive, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
