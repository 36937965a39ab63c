/* What can be measured: ten kernels and the ceilings, as data. Plain C, no CUDA: the daemon links it too.
 *
 * Each unit's flop and asked bytes are formulas over its sizes; the derivation stands in the unit's own header
 * (kernels/<id>.h), which the CUDA file includes as well, so that count and code are read side by side.
 * FMA counts as two flop.
 *
 * All of the units' float arithmetic is FP32, written with __fadd_rn, __fmul_rn and __fmaf_rn, so that each is one
 * FADD, FMUL or FFMA whatever the compiler contracts. Compiled by CUDA 13.0 for sm_75, 80, 86, 89, 90, 100 and 120,
 * every kernel holds those instructions and no others of their kinds (machine code read on 2026-11-29). What to know
 * when counters are compared with the hand counts: for sm_80, 90 and 100 the compiler also loads some constants with
 * HFMA2, a handful per thread, and the counters take these for FP16 FMAs (per thread of a 512^3 matmul, one such would
 * add 0.4 percent). FP16 counts of these units are not arithmetic.
 */
#ifndef KERNELS_UNIT_CATALOGUE_H
#define KERNELS_UNIT_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rl_sizes { RL_COURSE, RL_SCALED, RL_SIZES_COUNT };
enum rl_unit_kind { RL_UNIT_KERNEL, RL_UNIT_MEMORY_CEILING, RL_UNIT_COMPUTE_CEILING };

/* Problem size of a unit; members that a unit does not use are 0. */
struct rl_dims {
    uint64_t n;     /* elements of a vector, or independent chains of the FMA ceiling */
    uint64_t edge;  /* edge of a square */
    uint64_t steps; /* loop trips: polynomial degree, FMA chain length */
};

struct rl_unit {
    const char *id;    /* "vector_add" */
    const char *title; /* "vector add" */
    enum rl_unit_kind kind;
    /* Sizes for this card. scaled streaming units have a footprint of at least 8 x l2_bytes. 0, or -1 on overflow. */
    int (*dims)(enum rl_sizes sizes, uint64_t l2_bytes, struct rl_dims *ret);
    uint64_t (*flop)(const struct rl_dims *dims);            /* per launch, hand-counted */
    uint64_t (*ask_bytes)(const struct rl_dims *dims);       /* per launch, global memory only */
    uint64_t (*footprint_bytes)(const struct rl_dims *dims); /* distinct bytes touched */
    const char *flop_formula;                                /* for people: "n" */
    const char *ask_formula;                                 /* "3 * n * 4" */
    const char *description; /* one or two sentences: access pattern and why it is in the suite */
    bool streaming;          /* footprint above every L2 at both sizes: zero DRAM bytes here mean broken counters */
    unsigned variants;       /* launch shapes to sweep, as in rl_unit_ops: 1 for kernels; here so that the engine,
                              * which links no CUDA, and a replay know the sweep */
};

/* The kernels in the table's order, then the ceilings (dram_copy first, fp32_fma second): kernels/unit/list.h. */
extern const struct rl_unit *const rl_units[];
extern const size_t rl_unit_count;                            /* all */
extern const size_t rl_kernel_count;                          /* those before the ceilings */
const struct rl_unit *rl_unit_find(const char *id);           /* NULL when unknown */
int rl_sizes_from_name(const char *name, enum rl_sizes *ret); /* "course", "scaled"; 0 or -1 */
const char *rl_sizes_name(enum rl_sizes sizes);

#ifdef __cplusplus
}
#endif
#endif
