/* dram_copy_scalar: a coalesced copy with 4-byte accesses, one float a thread. See kernels/ceilings/dram_ceilings.h. */
#include "kernels/ceilings/dram_copy_check.cuh"

namespace
{

__global__ void copy_scalar(const float *__restrict__ from, float *__restrict__ to)
{
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    to[i] = from[i];
}

/* One shape: it is a reference beside the copy ceiling. Of blocks of 128, 256, 512 and 1024 this one was the best (H200,
 * 2026-11-29). */
const unsigned blocks[] = {256};
static_assert(sizeof blocks / sizeof blocks[0] == RL_DRAM_COPY_SCALAR_VARIANTS, "the catalogue tells this number");

bool shape_of(const struct rl_dims *dims, unsigned variant, rl_shape *ret)
{
    if (variant >= RL_DRAM_COPY_SCALAR_VARIANTS)
        return false;
    ret->block = dim3(blocks[variant]);
    return rl_blocks(dims->n, blocks[variant], &ret->grid.x);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(copy_scalar, shape, stream, rl_copy_source(arena, dims), rl_copy_destination(arena, dims));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(copy_scalar, shape, "4 bytes a thread", ret);
}

} // namespace

const struct rl_unit_ops rl_ops_dram_copy_scalar = {
    &rl_unit_dram_copy_scalar,
    RL_DRAM_COPY_SCALAR_VARIANTS,
    rl_copy_arena_bytes,
    rl_copy_reset,
    launch,
    describe,
    rl_copy_check,
    NULL,
    rl_copy_output,
};
