/* transpose_tiled: see kernels/transpose/tiled.h. */
#include "kernels/transpose/tiled.h"

#include "kernels/transpose/check.cuh"

constexpr unsigned tile_edge = RL_TRANSPOSE_TILED_TILE;

__global__ void __launch_bounds__(RL_TRANSPOSE_TILED_TILE *RL_TRANSPOSE_TILED_ROWS)
    transpose_tiled(const float *__restrict__ in, float *__restrict__ out, uint64_t edge)
{
    __shared__ float tile[tile_edge][tile_edge + 1];
    const uint64_t column = blockIdx.x * tile_edge, row = blockIdx.y * tile_edge;
#pragma unroll
    for (unsigned j = 0; j < tile_edge; j += RL_TRANSPOSE_TILED_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(row + threadIdx.y + j) * edge + column + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < tile_edge; j += RL_TRANSPOSE_TILED_ROWS)
        out[(column + threadIdx.y + j) * edge + row + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}

namespace
{

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(RL_TRANSPOSE_TILED_TILE, RL_TRANSPOSE_TILED_ROWS);
    return rl_blocks_square(dims->edge, RL_TRANSPOSE_TILED_TILE, RL_TRANSPOSE_TILED_TILE, &ret->grid);
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
    return rl_launch(transpose_tiled, shape, stream, rl_array(arena, 0, n), rl_array(arena, 1, n), dims->edge);
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(transpose_tiled, shape, NULL, ret);
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

const struct rl_unit_ops rl_ops_transpose_tiled = {
    &rl_unit_transpose_tiled, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
