/* matmul, tiled 16: what the catalogue says of it. The CUDA half is tiled16.cu, the derivations tiled16.h. */
#include "kernels/matmul/tiled16.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_matmul_tiled16 = {
    .id = "matmul_tiled16",
    .title = "matmul, tiled 16",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_matmul_tiled16_dims,
    .flop = rl_matmul_tiled16_flop,
    .ask_bytes = rl_matmul_tiled16_ask_bytes,
    .footprint_bytes = rl_matmul_tiled16_footprint_bytes,
    .flop_formula = "2 * edge^3",
    .ask_formula = "(2 * edge^3 / 16 + edge^2) * 4",
    .description =
        "16 x 16 tiles in shared memory: asks for a sixteenth of the naive one, and the same bytes reach DRAM.",
    .streaming = false,
    .variants = 1,
};
