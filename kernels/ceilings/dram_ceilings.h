/* The memory ceilings: copy, scalar copy, cudaMemcpy, read, write, triad. One size for all, the same at course and
 * scaled.
 *
 * Each array is at least 8 x L2 and at least 1 GiB: smaller ones stay partly in the L2 and give ceilings that DRAM does
 * not have. n counts floats of one array.
 *
 * Asked bytes
 *   copies   one array read, one written, 2 * 4 * n (copy counts both directions)
 *   read     one array, 4 * n, and one 4-byte sum stored per 8 KiB read, n / 2048 * 4 (0.05 percent)
 *   write    one array, 4 * n
 *   triad    two read, one written, 3 * 4 * n
 *
 * Flop: none, but triad's one FMA per float, 2 n. read sums 32-bit words as integers, modulo 2^32: the sum is exact in
 * any order.
 *
 * Checks
 *   copies   bit for bit
 *   read     each 8 KiB's sum, exactly
 *   write    every word, exactly: word i is i * 2654435761 + s modulo 2^32, s a word that reset leaves in the arena
 *   triad    bit for bit: b and c are multiples of 2^-23 below 1, so b + 3 c is exact in double, and rounding it to
 *            float once is what FFMA must give
 */
#ifndef KERNELS_CEILINGS_DRAM_CEILINGS_H
#define KERNELS_CEILINGS_DRAM_CEILINGS_H

#include "kernels/unit/sizes.h"

#define RL_DRAM_LEAST_FLOATS ((uint64_t)1 << 28) /* 1 GiB */
#define RL_DRAM_CHUNK_FLOATS 2048u               /* 8 KiB: what a warp of dram_read sums into one word */
#define RL_DRAM_TRIAD_SCALAR 3.0f
#define RL_DRAM_WRITE_FACTOR 2654435761u

/* Launch shapes that each ceiling is swept over; the shapes stand in the CUDA files. */
#define RL_DRAM_COPY_VARIANTS        24u
#define RL_DRAM_COPY_SCALAR_VARIANTS 1u
#define RL_DRAM_READ_VARIANTS        6u
#define RL_DRAM_WRITE_VARIANTS       6u
#define RL_DRAM_TRIAD_VARIANTS       4u

static inline int rl_dram_dims(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret)
{
    (void)sizes;
    struct rl_dims dims = {0, 0, 0};
    if (rl_scaled_size(RL_DRAM_LEAST_FLOATS, 1, RL_FLOAT_BYTES, l2_bytes, &dims.n) != 0)
        return -1;
    *ret = dims;
    return 0;
}

static inline uint64_t rl_dram_no_flop(const struct rl_dims *dims)
{
    (void)dims;
    return 0;
}

static inline uint64_t rl_dram_copy_bytes(const struct rl_dims *dims)
{
    return 2u * dims->n * RL_FLOAT_BYTES;
}

static inline uint64_t rl_dram_read_bytes(const struct rl_dims *dims)
{
    return (dims->n + dims->n / RL_DRAM_CHUNK_FLOATS) * RL_FLOAT_BYTES;
}

static inline uint64_t rl_dram_write_bytes(const struct rl_dims *dims)
{
    return dims->n * RL_FLOAT_BYTES;
}

static inline uint64_t rl_dram_triad_bytes(const struct rl_dims *dims)
{
    return 3u * dims->n * RL_FLOAT_BYTES;
}

static inline uint64_t rl_dram_triad_flop(const struct rl_dims *dims)
{
    return 2u * dims->n;
}

#endif
