/* The units by name, and their CUDA side: for the catalogue and the files that implement them. */
#ifndef KERNELS_UNIT_UNITS_H
#define KERNELS_UNIT_UNITS_H

#include "kernels/unit/catalogue.h"
#include "kernels/unit/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of rl_units. */
#define RL_UNITS(UNIT)                                                                                                 \
    UNIT(vector_add)                                                                                                   \
    UNIT(vector_add_stride32)                                                                                          \
    UNIT(transpose_naive)                                                                                              \
    UNIT(transpose_tiled)                                                                                              \
    UNIT(matmul_naive)                                                                                                 \
    UNIT(matmul_tiled16)                                                                                               \
    UNIT(block_reduction)                                                                                              \
    UNIT(stencil_global)                                                                                               \
    UNIT(stencil_tiled)                                                                                                \
    UNIT(polynomial256)                                                                                                \
    UNIT(dram_copy)                                                                                                    \
    UNIT(fp32_fma)                                                                                                     \
    UNIT(dram_copy_scalar)                                                                                             \
    UNIT(dram_memcpy)                                                                                                  \
    UNIT(dram_read)                                                                                                    \
    UNIT(dram_write)                                                                                                   \
    UNIT(dram_triad)

#define RL_DECLARE_UNIT(id)                                                                                            \
    extern const struct rl_unit rl_unit_##id;                                                                          \
    extern const struct rl_unit_ops rl_ops_##id; /* only where CUDA is */
RL_UNITS(RL_DECLARE_UNIT)
#undef RL_DECLARE_UNIT

#ifdef __cplusplus
}
#endif
#endif
