/* The units by name, and their CUDA side: for the catalogue and the files that implement them. */
#ifndef KERNELS_UNIT_UNITS_H
#define KERNELS_UNIT_UNITS_H

#include "kernels/unit/catalogue.h"
#include "kernels/unit/launch.h"
#include "kernels/unit/list.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RL_DECLARE_UNIT(id)                                                                                            \
    extern const struct rl_unit rl_unit_##id;                                                                          \
    extern const struct rl_unit_ops rl_ops_##id; /* only where CUDA is */
RL_UNITS(RL_DECLARE_UNIT)
#undef RL_DECLARE_UNIT

#ifdef __cplusplus
}
#endif
#endif
