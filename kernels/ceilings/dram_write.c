/* write: what the catalogue says of it. The CUDA half is dram_write.cu, the derivations dram_ceilings.h. */
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_dram_write = {
    .id = "dram_write",
    .title = "write",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_write_bytes,
    .footprint_bytes = rl_dram_write_bytes,
    .flop_formula = "0",
    .ask_formula = "n * 4",
    .description = "Writes a word made of each index with 16-byte accesses.",
    .streaming = true,
    .variants = RL_DRAM_WRITE_VARIANTS,
};
