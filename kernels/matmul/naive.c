/* matmul, naive: what the catalogue says of it. The CUDA half is naive.cu, the derivations naive.h. */
#include "kernels/matmul/naive.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_matmul_naive = {
    .id = "matmul_naive",
    .title = "matmul, naive",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_matmul_naive_dims,
    .flop = rl_matmul_naive_flop,
    .ask_bytes = rl_matmul_naive_ask_bytes,
    .footprint_bytes = rl_matmul_naive_footprint_bytes,
    .flop_formula = "2 * edge^3",
    .ask_formula = "(2 * edge^3 + edge^2) * 4",
    .description = "One thread per element, all operands from global memory: asks for a thousand times what must move, "
                   "and the caches serve it.",
    .streaming = false,
    .variants = 1,
};
