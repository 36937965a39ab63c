/* copy: what the catalogue says of it. The CUDA half is dram_copy.cu, the derivations dram_ceilings.h. */
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_dram_copy = {
    .id = "dram_copy",
    .title = "copy",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_copy_bytes,
    .footprint_bytes = rl_dram_copy_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * n * 4",
    .description = "Coalesced copy with 16-byte accesses: the memory roof. Bytes read and bytes written both count.",
    .streaming = true,
    .variants = RL_DRAM_COPY_VARIANTS,
};
