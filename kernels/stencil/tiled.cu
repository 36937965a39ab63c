/* stencil_tiled: see kernels/stencil/tiled.h. */
#include "kernels/stencil/tiled.h"

#include "kernels/stencil/stencil.cuh"

constexpr unsigned threads = RL_STENCIL_COLUMNS * RL_STENCIL_ROWS;
constexpr unsigned columns = RL_STENCIL_APRON_COLUMNS, rows = RL_STENCIL_APRON_ROWS;

__global__ void __launch_bounds__(threads)
    stencil_tiled(const float *__restrict__ in, float *__restrict__ out, unsigned edge)
{
    __shared__ float apron[rows * columns];
    /* Of the apron's first element, one up and one left of the block's first point. */
    const unsigned left = blockIdx.x * RL_STENCIL_COLUMNS, top = blockIdx.y * RL_STENCIL_ROWS;
#pragma unroll
    for (unsigned j = threadIdx.y * RL_STENCIL_COLUMNS + threadIdx.x; j < rows * columns; j += threads) {
        const unsigned x = left + j % columns, y = top + j / columns;
        if (x < edge && y < edge)
            apron[j] = in[static_cast<uint64_t>(y) * edge + x];
    }
    __syncthreads();
    const unsigned x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= edge - 1 || y >= edge - 1)
        return;
    const float *centre = &apron[(threadIdx.y + 1) * columns + threadIdx.x + 1];
    out[static_cast<uint64_t>(y) * edge + x] =
        rl_stencil_point(centre[0], centre[-1], centre[1], *(centre - columns), centre[columns]);
}

namespace
{

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(RL_STENCIL_COLUMNS, RL_STENCIL_ROWS);
    return rl_blocks_square(dims->edge, RL_STENCIL_COLUMNS, RL_STENCIL_ROWS, &ret->grid);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_arrays_bytes(2, dims->edge * dims->edge);
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    const uint64_t n = dims->edge * dims->edge;
    return rl_stencil_reset(rl_array(arena, 0, n), rl_array(arena, 1, n), dims->edge, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    const uint64_t n = dims->edge * dims->edge;
    return rl_launch(stencil_tiled, shape, stream, rl_array(arena, 0, n), rl_array(arena, 1, n),
                     static_cast<unsigned>(dims->edge));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(stencil_tiled, shape, NULL, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    const uint64_t n = dims->edge * dims->edge;
    rl_stencil_reference expected = {rl_key(seed, 0), dims->edge};
    return rl_check(rl_array(arena, 1, n), n, dims->edge, expected, seed, scratch, stream,
                    "within 2^-24 * (16 k + |out|), the boundary bit for bit", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->edge * dims->edge;
    return rl_array(arena, 1, *ret_count);
}

} // namespace

const struct rl_unit_ops rl_ops_stencil_tiled = {
    &rl_unit_stencil_tiled, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
