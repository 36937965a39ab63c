/* fp32_fma: the compute ceiling, chains of FP32 FMAs that live in registers.
 *
 * n independent chains of `steps` FMAs: x <- fma(x, a, b). A thread carries 8 or 16 chains side by side (the variants),
 * so that n / 8 or n / 16 threads run and the work is the same for every variant.
 *
 * Flop: 2 * n * steps, exactly, whatever the variant: nothing else in the kernel is a float instruction. SASS (CUDA
 * 13.0, sm_90, 2026-11-29): FFMA only, 1024 to a turn of the loop beside three other instructions; a and b lie
 * in registers of different banks and are reused, so that no operand read stalls.
 *
 * Asked bytes: each chain's result is stored, 4 * n. (The 12 bytes of a, b and key, which every thread reads from one
 * address, are served by the caches and not counted.)
 *
 * n and steps: 2^26 chains of 1024 are 1.374e11 flop, 2.3 ms at 60 TFLOP/s and 17 ms at the 8 of a T4. With 2048 chains
 * a block that is 32768 blocks, 248 for each of 132 SMs: the last, partly filled round costs at most 1 in 248, and
 * longer chains would leave fewer blocks to even that out. Start value, store and loop are 8 or so instructions per
 * chain beside 1024 FMAs.
 *
 * a is 1 - (1 … 2) * 2^-11 and b = (1 … 2) * 2^-11, both from the seed; the start values are in [0.5, 1), from the
 * chain's number. So x moves towards b / (1 - a), between 0.5 and 2, and stays finite, while after 1024 or 2048 steps
 * a^steps is still above 0.13: chains keep their difference, and a chain that ended early or took another's place
 * shows.
 *
 * Check: bit for bit. fmaf is exactly rounded on host and device, so there is nothing to tolerate; double cannot stand
 * for it, since rounding to double and then to float rounds twice.
 */
#ifndef KERNELS_CEILINGS_FP32_FMA_H
#define KERNELS_CEILINGS_FP32_FMA_H

#include "kernels/unit/sizes.h"

#define RL_FP32_FMA_CHAINS   ((uint64_t)1 << 26)
#define RL_FP32_FMA_STEPS    1024u
#define RL_FP32_FMA_UNROLL   128u /* steps must be a multiple of it */
#define RL_FP32_FMA_VARIANTS 5u

static inline int rl_fp32_fma_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    (void)sizes;
    (void)l2_bytes;
    struct rl_dims dims = {RL_FP32_FMA_CHAINS, 0, RL_FP32_FMA_STEPS};
    *ret = dims;
    return 0;
}

static inline uint64_t rl_fp32_fma_flop(const struct rl_dims *dims)
{
    return 2u * dims->n * dims->steps;
}

static inline uint64_t rl_fp32_fma_bytes(const struct rl_dims *dims)
{
    return dims->n * RL_FLOAT_BYTES;
}

#endif
