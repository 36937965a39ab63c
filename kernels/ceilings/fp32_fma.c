/* FP32 FMA chain: what the catalogue says of it. The CUDA half is fp32_fma.cu, the derivations fp32_fma.h. */
#include "kernels/ceilings/fp32_fma.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_fp32_fma = {
    .id = "fp32_fma",
    .title = "FP32 FMA chain",
    .kind = RL_UNIT_COMPUTE_CEILING,
    .dims = rl_fp32_fma_dims,
    .flop = rl_fp32_fma_flop,
    .ask_bytes = rl_fp32_fma_bytes,
    .footprint_bytes = rl_fp32_fma_bytes,
    .flop_formula = "2 * n * steps",
    .ask_formula = "n * 4",
    .description = "Independent chains of FP32 FMAs in registers: the compute roof. An FMA counts as two flop.",
    .streaming = false,
    .variants = RL_FP32_FMA_VARIANTS,
};
