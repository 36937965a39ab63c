/* How large a unit is: arithmetic shared by the units' headers. Plain C, no CUDA.
 *
 * Every size is a power of two, so that index arithmetic in the kernels is shifts and masks: a 64-bit division
 * would cost more than the memory access that it addresses, and would add float instructions of its own.
 */
#ifndef KERNELS_UNIT_SIZES_H
#define KERNELS_UNIT_SIZES_H

#include "kernels/unit/catalogue.h"

#define RL_FLOAT_BYTES 4u
/* METHOD: a streaming kernel of the scaled sizes touches at least this many times the L2. */
#define RL_SCALED_L2_FACTOR 8u
/* Larger than any L2 by far; below it no formula of any unit passes 2^64. */
#define RL_L2_BYTES_MAX ((uint64_t)1 << 50)

/* The smallest power of two >= least (a power of two itself) for which bytes_per_unit * size^power reaches
 * RL_SCALED_L2_FACTOR * l2_bytes. power is 1 (vectors) or 2 (edge of a square). 0, or -1 when l2_bytes is above
 * RL_L2_BYTES_MAX; *ret is then untouched. l2_bytes 0 gives `least`. */
static inline int rl_scaled_size(uint64_t least, unsigned power, uint64_t bytes_per_unit, uint64_t l2_bytes,
                                 uint64_t *ret)
{
    if (l2_bytes > RL_L2_BYTES_MAX)
        return -1;
    uint64_t need = RL_SCALED_L2_FACTOR * l2_bytes;
    uint64_t size = least;
    while (bytes_per_unit * (power == 2 ? size * size : size) < need)
        size *= 2;
    *ret = size;
    return 0;
}

#endif
