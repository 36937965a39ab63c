/* block reduction: what the catalogue says of it. The CUDA half is block_reduction.cu, the derivations
 * block_reduction.h. */
#include "kernels/reduction/block_reduction.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_block_reduction = {
    .id = "block_reduction",
    .title = "block reduction",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_block_reduction_dims,
    .flop = rl_block_reduction_flop,
    .ask_bytes = rl_block_reduction_ask_bytes,
    .footprint_bytes = rl_block_reduction_footprint_bytes,
    .flop_formula = "255 * n / 256",
    .ask_formula = "(n + n / 256) * 4",
    .description =
        "Tree sum of 256 floats a block in shared memory, one partial stored: a reading stream with synchronisation.",
    .streaming = false,
    .variants = 1,
};
