/* stencil_global: see kernels/stencil/global.h. */
#include "kernels/stencil/global.h"

#include "kernels/stencil/stencil.cuh"

__global__ void __launch_bounds__(RL_STENCIL_COLUMNS *RL_STENCIL_ROWS)
    stencil_global(const float *__restrict__ in, float *__restrict__ out, unsigned edge)
{
    const unsigned x = 1 + blockIdx.x * RL_STENCIL_COLUMNS + threadIdx.x;
    const unsigned y = 1 + blockIdx.y * RL_STENCIL_ROWS + threadIdx.y;
    if (x >= edge - 1 || y >= edge - 1)
        return;
    const uint64_t i = static_cast<uint64_t>(y) * edge + x;
    out[i] = rl_stencil_point(in[i], in[i - 1], in[i + 1], in[i - edge], in[i + edge]);
}

namespace
{

/* Thread j: the j-th element of each of the four sides. */
__global__ void copy_boundary(const float *in, float *out, uint64_t edge)
{
    const uint64_t j = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (j >= edge)
        return;
    const uint64_t last = edge - 1;
    out[j] = in[j];
    out[last * edge + j] = in[last * edge + j];
    out[j * edge] = in[j * edge];
    out[j * edge + last] = in[j * edge + last];
}

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
    return rl_launch(stencil_global, shape, stream, rl_array(arena, 0, n), rl_array(arena, 1, n),
                     static_cast<unsigned>(dims->edge));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (variant != 0 || !shape_of(dims, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(stencil_global, shape, NULL, ret);
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

int rl_stencil_reset(float *in, float *out, uint64_t edge, uint64_t seed, rl_stream stream)
{
    const unsigned block = 256;
    if (edge < 3 || edge > 0x7fffffffu)
        return cudaErrorInvalidValue;
    int error = rl_fill_uniform(in, edge * edge, rl_key(seed, 0), stream);
    if (error == cudaSuccess)
        error = rl_poison(out, edge * edge * sizeof(float), stream);
    if (error != cudaSuccess)
        return error;
    return rl_launch(copy_boundary, {dim3(static_cast<unsigned>((edge + block - 1) / block)), dim3(block)}, stream, in,
                     out, edge);
}

const struct rl_unit_ops rl_ops_stencil_global = {
    &rl_unit_stencil_global, 1, arena_bytes, reset, launch, describe, check, NULL, output,
};
