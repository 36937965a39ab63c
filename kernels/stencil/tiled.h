/* stencil_tiled: the step of stencil_global, with each block's points and their apron staged in shared memory.
 *
 * A block of 32 x 8 threads computes 32 x 8 points from 34 x 10 staged floats. With edge a multiple of 32 there are
 * edge / 32 by edge / 8 blocks, and the last in each direction ends two short, at the edge of the array.
 *
 * Flop per interior point: 3 adds and 2 FMAs, 7, as stencil_global; staging does none.
 * SASS (CUDA 13.0, sm_90, 2026-11-29): three FADD and two FFMA, after the exit of the threads that are outside.
 *
 * Asked bytes: floats really staged, (34 * edge / 32 - 2) * (10 * edge / 8 - 2), and one written per interior point,
 * times 4. The four corners of each apron are staged though no point needs them: they are asked for and counted.
 * Distinct bytes: the whole input and the output's interior, 4 * (edge^2 + (edge - 2)^2).
 *
 * Check: as stencil_global.
 */
#ifndef KERNELS_STENCIL_TILED_H
#define KERNELS_STENCIL_TILED_H

#include "kernels/stencil/global.h"

/* The points of a block and their neighbours. */
#define RL_STENCIL_APRON_COLUMNS (RL_STENCIL_COLUMNS + 2u)
#define RL_STENCIL_APRON_ROWS    (RL_STENCIL_ROWS + 2u)

/* Floats that all blocks together stage. */
static inline uint64_t rl_stencil_tiled_staged(const struct rl_dims *dims)
{
    uint64_t columns = dims->edge / RL_STENCIL_COLUMNS * RL_STENCIL_APRON_COLUMNS - 2u;
    uint64_t rows = dims->edge / RL_STENCIL_ROWS * RL_STENCIL_APRON_ROWS - 2u;
    return columns * rows;
}

static inline uint64_t rl_stencil_tiled_flop(const struct rl_dims *dims)
{
    return 7u * rl_stencil_interior(dims);
}

static inline uint64_t rl_stencil_tiled_ask_bytes(const struct rl_dims *dims)
{
    return (rl_stencil_tiled_staged(dims) + rl_stencil_interior(dims)) * RL_FLOAT_BYTES;
}

static inline uint64_t rl_stencil_tiled_footprint_bytes(const struct rl_dims *dims)
{
    return (dims->edge * dims->edge + rl_stencil_interior(dims)) * RL_FLOAT_BYTES;
}

#endif
