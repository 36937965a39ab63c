/* triad: what the catalogue says of it. The CUDA half is dram_triad.cu, the derivations dram_ceilings.h. */
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_dram_triad = {
    .id = "dram_triad",
    .title = "triad",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_triad_flop,
    .ask_bytes = rl_dram_triad_bytes,
    .footprint_bytes = rl_dram_triad_bytes,
    .flop_formula = "2 * n",
    .ask_formula = "3 * n * 4",
    .description = "a = b + 3 c with 16-byte accesses: two streams read, one written.",
    .streaming = true,
    .variants = RL_DRAM_TRIAD_VARIANTS,
};
