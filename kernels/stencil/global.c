/* stencil, global: what the catalogue says of it. The CUDA half is global.cu, the derivations global.h. */
#include "kernels/stencil/global.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_stencil_global = {
    .id = "stencil_global",
    .title = "stencil, global",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_stencil_dims,
    .flop = rl_stencil_global_flop,
    .ask_bytes = rl_stencil_global_ask_bytes,
    .footprint_bytes = rl_stencil_global_footprint_bytes,
    .flop_formula = "7 * (edge - 2)^2",
    .ask_formula = "6 * (edge - 2)^2 * 4",
    .description = "Five-point heat step, neighbours from global memory: reuse that the caches find by themselves.",
    .streaming = false,
    .variants = 1,
};
