/* polynomial, 256: what the catalogue says of it. The CUDA half is polynomial256.cu, the derivations polynomial256.h.
 */
#include "kernels/stream/polynomial256.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_polynomial256 = {
    .id = "polynomial256",
    .title = "polynomial, 256",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_polynomial256_dims,
    .flop = rl_polynomial256_flop,
    .ask_bytes = rl_polynomial256_ask_bytes,
    .footprint_bytes = rl_polynomial256_footprint_bytes,
    .flop_formula = "(2 * 256 + 1) * n",
    .ask_formula = "2 * n * 4",
    .description = "Horner chain of 256 FMAs on each float of a stream: the row on the flat half of the roof.",
    .streaming = true,
    .variants = 1,
};
