/* stencil, tiled: what the catalogue says of it. The CUDA half is tiled.cu, the derivations tiled.h. */
#include "kernels/stencil/tiled.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_stencil_tiled = {
    .id = "stencil_tiled",
    .title = "stencil, tiled",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_stencil_dims,
    .flop = rl_stencil_tiled_flop,
    .ask_bytes = rl_stencil_tiled_ask_bytes,
    .footprint_bytes = rl_stencil_tiled_footprint_bytes,
    .flop_formula = "7 * (edge - 2)^2",
    .ask_formula = "((34 * edge / 32 - 2) * (10 * edge / 8 - 2) + (edge - 2)^2) * 4",
    .description = "The same step with a 34 x 10 apron in shared memory: asks for less than half, and shows whether "
                   "that was DRAM traffic.",
    .streaming = false,
    .variants = 1,
};
