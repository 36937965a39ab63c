/* transpose_naive: out[x][y] = in[y][x], read along rows, written down columns.
 *
 * A warp reads 128 consecutive bytes and writes 32 floats that lie a row apart, one in each of 32 sectors.
 *
 * Flop: none. Asked bytes: each of edge^2 floats read once and written once, 2 * 4 * edge^2.
 *
 * Check: bit for bit.
 */
#ifndef KERNELS_TRANSPOSE_NAIVE_H
#define KERNELS_TRANSPOSE_NAIVE_H

#include "kernels/unit/sizes.h"

#define RL_TRANSPOSE_NAIVE_COLUMNS 32u /* block: a warp along a row of the input */
#define RL_TRANSPOSE_NAIVE_ROWS    8u

static inline int rl_transpose_naive_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {0, 4096, 0};
    if (sizes == RL_SCALED && rl_scaled_size(8192, 2, 2u * RL_FLOAT_BYTES, l2_bytes, &dims.edge) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_transpose_naive_flop(const struct rl_dims *dims)
{
    (void)dims;
    return 0;
}

static inline uint64_t rl_transpose_naive_ask_bytes(const struct rl_dims *dims)
{
    return 2u * dims->edge * dims->edge * RL_FLOAT_BYTES;
}

static inline uint64_t rl_transpose_naive_footprint_bytes(const struct rl_dims *dims)
{
    return 2u * dims->edge * dims->edge * RL_FLOAT_BYTES;
}

#endif
