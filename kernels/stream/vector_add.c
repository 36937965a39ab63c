/* vector add: what the catalogue says of it. The CUDA half is vector_add.cu, the derivations vector_add.h. */
#include "kernels/stream/vector_add.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_vector_add = {
    .id = "vector_add",
    .title = "vector add",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_vector_add_dims,
    .flop = rl_vector_add_flop,
    .ask_bytes = rl_vector_add_ask_bytes,
    .footprint_bytes = rl_vector_add_footprint_bytes,
    .flop_formula = "n",
    .ask_formula = "3 * n * 4",
    .description =
        "Coalesced sum of two vectors, one float a thread: the plain stream that the other rows are read against.",
    .streaming = true,
    .variants = 1,
};
