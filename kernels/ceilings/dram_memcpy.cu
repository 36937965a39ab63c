/* dram_memcpy: cudaMemcpyAsync from device to device, what the driver makes of a copy. See kernels/ceilings/dram_ceilings.h. */
#include "kernels/ceilings/dram_copy_check.cuh"

namespace
{

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    if (variant != 0)
        return cudaErrorInvalidValue;
    return cudaMemcpyAsync(rl_copy_destination(arena, dims), rl_copy_source(arena, dims), dims->n * sizeof(float),
                           cudaMemcpyDeviceToDevice, stream);
}

/* The driver's own launch has no shape that a program could ask for: every number stays 0. */
int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    (void)dims;
    if (variant != 0)
        return cudaErrorInvalidValue;
    struct rl_launch_info info = {};
    snprintf(info.text, sizeof info.text, "cudaMemcpyAsync, device to device");
    *ret = info;
    return cudaSuccess;
}

} // namespace

const struct rl_unit_ops rl_ops_dram_memcpy = {
    &rl_unit_dram_memcpy, 1, rl_copy_arena_bytes, rl_copy_reset, launch, describe, rl_copy_check, NULL, rl_copy_output,
};
