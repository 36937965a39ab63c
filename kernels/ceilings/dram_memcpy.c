/* cudaMemcpy: what the catalogue says of it. The CUDA half is dram_memcpy.cu, the derivations dram_ceilings.h. */
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_dram_memcpy = {
    .id = "dram_memcpy",
    .title = "cudaMemcpy",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_copy_bytes,
    .footprint_bytes = rl_dram_copy_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * n * 4",
    .description = "cudaMemcpyAsync from device to device: the reference that the copy ceiling is held against.",
    .streaming = true,
    .variants = 1,
};
