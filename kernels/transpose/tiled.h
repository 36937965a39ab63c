/* transpose_tiled: out[x][y] = in[y][x] through a 32 x 32 tile in shared memory, so that reads and writes both run
 * along rows. The tile has 33 columns: with 32, its column reads would all fall on one bank.
 *
 * Flop: none. Asked bytes: each of edge^2 floats read once and written once, 2 * 4 * edge^2.
 *
 * Check: bit for bit.
 */
#ifndef KERNELS_TRANSPOSE_TILED_H
#define KERNELS_TRANSPOSE_TILED_H

#include "kernels/unit/sizes.h"

#define RL_TRANSPOSE_TILED_TILE 32u
#define RL_TRANSPOSE_TILED_ROWS 8u /* block 32 x 8, each thread moves four elements */

static inline int rl_transpose_tiled_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    struct rl_dims dims = {0, 4096, 0};
    if (sizes == RL_SCALED && rl_scaled_size(8192, 2, 2u * RL_FLOAT_BYTES, l2_bytes, &dims.edge) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_transpose_tiled_flop(const struct rl_dims *dims)
{
    (void)dims;
    return 0;
}

static inline uint64_t rl_transpose_tiled_ask_bytes(const struct rl_dims *dims)
{
    return 2u * dims->edge * dims->edge * RL_FLOAT_BYTES;
}

static inline uint64_t rl_transpose_tiled_footprint_bytes(const struct rl_dims *dims)
{
    return 2u * dims->edge * dims->edge * RL_FLOAT_BYTES;
}

#endif
