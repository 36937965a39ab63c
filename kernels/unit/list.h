/* The one list of units, kernels first, in the order of tables and documents. A unit that is not here is nowhere. */
#ifndef KERNELS_UNIT_LIST_H
#define KERNELS_UNIT_LIST_H

#define RL_KERNELS(UNIT)                                                                                               \
    UNIT(vector_add)                                                                                                   \
    UNIT(vector_add_stride32)                                                                                          \
    UNIT(transpose_naive)                                                                                              \
    UNIT(transpose_tiled)                                                                                              \
    UNIT(matmul_naive)                                                                                                 \
    UNIT(matmul_tiled16)                                                                                               \
    UNIT(block_reduction)                                                                                              \
    UNIT(stencil_global)                                                                                               \
    UNIT(stencil_tiled)                                                                                                \
    UNIT(polynomial256)
#define RL_CEILINGS(UNIT)                                                                                              \
    UNIT(dram_copy)                                                                                                    \
    UNIT(fp32_fma)                                                                                                     \
    UNIT(dram_copy_scalar)                                                                                             \
    UNIT(dram_memcpy)                                                                                                  \
    UNIT(dram_read)                                                                                                    \
    UNIT(dram_write)                                                                                                   \
    UNIT(dram_triad)
#define RL_UNITS(UNIT) RL_KERNELS(UNIT) RL_CEILINGS(UNIT)

/* How many: the size of whatever has a place for each. */
#define RL_COUNT_UNIT(id) +1
enum { RL_KERNEL_COUNT = 0 RL_KERNELS(RL_COUNT_UNIT), RL_UNIT_COUNT = 0 RL_UNITS(RL_COUNT_UNIT) };
#undef RL_COUNT_UNIT

#endif
