/* matmul_tiled16: see kernels/matmul/tiled16.h. */
#include "kernels/matmul/tiled16.h"

#include "kernels/matmul/check.cuh"

constexpr unsigned tile_edge = RL_MATMUL_TILED16_TILE;

__global__ void __launch_bounds__(RL_MATMUL_TILED16_TILE *RL_MATMUL_TILED16_TILE)
    matmul_tiled16(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, unsigned edge)
{
    __shared__ float tile_a[tile_edge][tile_edge], tile_b[tile_edge][tile_edge];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const uint64_t row = blockIdx.y * tile_edge + y;
    const unsigned column = blockIdx.x * tile_edge + x;
    const float *from_a = a + x + row * edge, *from_b = b + column + static_cast<uint64_t>(y) * edge;
    float sum = 0;
    for (unsigned k = 0; k < edge; k += tile_edge) {
        tile_a[y][x] = *from_a;
        tile_b[y][x] = *from_b;
        from_a += tile_edge;
        from_b += static_cast<uint64_t>(tile_edge) * edge;
        __syncthreads();
#pragma unroll
        for (unsigned j = 0; j < tile_edge; j++)
            sum = __fmaf_rn(tile_a[y][j], tile_b[j][x], sum);
        __syncthreads();
    }
    (c + column)[row * edge] = sum;
}

namespace
{

bool shape_of(const struct rl_dims *dims, rl_shape *ret)
{
    ret->block = dim3(RL_MATMUL_TILED16_TILE, RL_MATMUL_TILED16_TILE);
    return rl_blocks_square(dims->edge, RL_MATMUL_TILED16_TILE, RL_MATMUL_TILED16_TILE, &ret->grid);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_arrays_bytes(3, dims->edge * dims->edge);
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    const uint64_t n = dims->edge * dims->edge;
    return rl_reset_arrays(arena, 2, n, n, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    const uint64_t n = dims->edge * dims->edge;
    return rl_launch(matmul_tiled16, shape, stream, rl_array(arena, 0, n), rl_array(arena, 1, n), rl_array(arena, 2, n),
                     static_cast<unsigned>(dims->edge));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(matmul_tiled16, shape, NULL, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    const uint64_t n = dims->edge * dims->edge;
    rl_matmul_reference expected = {rl_key(seed, 0), rl_key(seed, 1), dims->edge};
    return rl_check(rl_array(arena, 2, n), n, dims->edge, expected, seed, scratch, stream,
                    "within g * sum |a||b|, g = d * 2^-24 / (1 - d * 2^-24)", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->edge * dims->edge;
    return rl_array(arena, 2, *ret_count);
}

} // namespace

const struct rl_unit_ops rl_ops_matmul_tiled16 = {
    &rl_unit_matmul_tiled16, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
