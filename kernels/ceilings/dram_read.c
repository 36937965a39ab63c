/* read: what the catalogue says of it. The CUDA half is dram_read.cu, the derivations dram_ceilings.h. */
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_dram_read = {
    .id = "dram_read",
    .title = "read",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_read_bytes,
    .footprint_bytes = rl_dram_read_bytes,
    .flop_formula = "0",
    .ask_formula = "(n + n / 2048) * 4",
    .description = "Reads with 16-byte accesses and sums as integers, one word stored per 8 KiB.",
    .streaming = true,
    .variants = RL_DRAM_READ_VARIANTS,
};
