/* copy, 4-byte: what the catalogue says of it. The CUDA half is dram_copy_scalar.cu, the derivations dram_ceilings.h.
 */
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_dram_copy_scalar = {
    .id = "dram_copy_scalar",
    .title = "copy, 4-byte",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_copy_bytes,
    .footprint_bytes = rl_dram_copy_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * n * 4",
    .description = "Coalesced copy with one float a thread: what most kernels are written like.",
    .streaming = true,
    .variants = RL_DRAM_COPY_SCALAR_VARIANTS,
};
