/* vector add, stride 32: what the catalogue says of it. The CUDA half is vector_add_stride32.cu, the derivations
 * vector_add_stride32.h. */
#include "kernels/stream/vector_add_stride32.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_vector_add_stride32 = {
    .id = "vector_add_stride32",
    .title = "vector add, stride 32",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_vector_add_stride32_dims,
    .flop = rl_vector_add_stride32_flop,
    .ask_bytes = rl_vector_add_stride32_ask_bytes,
    .footprint_bytes = rl_vector_add_stride32_footprint_bytes,
    .flop_formula = "n",
    .ask_formula = "3 * n * 4",
    .description = "The same sums with consecutive threads 128 bytes apart: equal asked bytes, and what broken "
                   "coalescing adds to them.",
    .streaming = true,
    .variants = 1,
};
