/* What the three copies share: two equal arrays, seeded and poisoned, compared bit for bit. */
#ifndef KERNELS_CEILINGS_DRAM_COPY_CHECK_CUH
#define KERNELS_CEILINGS_DRAM_COPY_CHECK_CUH

#include "kernels/unit/check.cuh"
#include "kernels/ceilings/dram_ceilings.h"

/* The arena of a copy is the source, then the destination. */
inline float *rl_copy_source(void *arena, const struct rl_dims *dims)
{
    return rl_array(arena, 0, dims->n);
}

inline float *rl_copy_destination(void *arena, const struct rl_dims *dims)
{
    return rl_array(arena, 1, dims->n);
}

uint64_t rl_copy_arena_bytes(const struct rl_dims *dims);
int rl_copy_reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream);
int rl_copy_check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
                  struct rl_result_check *ret);
void *rl_copy_output(void *arena, const struct rl_dims *dims, uint64_t *ret_count);

#endif
