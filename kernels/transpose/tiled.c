/* transpose, tiled: what the catalogue says of it. The CUDA half is tiled.cu, the derivations tiled.h. */
#include "kernels/transpose/tiled.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_transpose_tiled = {
    .id = "transpose_tiled",
    .title = "transpose, tiled",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_transpose_tiled_dims,
    .flop = rl_transpose_tiled_flop,
    .ask_bytes = rl_transpose_tiled_ask_bytes,
    .footprint_bytes = rl_transpose_tiled_footprint_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * edge^2 * 4",
    .description =
        "Transpose through a padded 32 x 33 tile in shared memory, coalesced both ways: the cure of the row above.",
    .streaming = true,
    .variants = 1,
};
