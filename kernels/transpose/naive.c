/* transpose, naive: what the catalogue says of it. The CUDA half is naive.cu, the derivations naive.h. */
#include "kernels/transpose/naive.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_transpose_naive = {
    .id = "transpose_naive",
    .title = "transpose, naive",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_transpose_naive_dims,
    .flop = rl_transpose_naive_flop,
    .ask_bytes = rl_transpose_naive_ask_bytes,
    .footprint_bytes = rl_transpose_naive_footprint_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * edge^2 * 4",
    .description = "Reads along rows and writes down columns, one float per sector: what the L2 can and cannot merge.",
    .streaming = true,
    .variants = 1,
};
