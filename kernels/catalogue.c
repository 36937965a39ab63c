/* The catalogue as data: one entry per unit, whose formulas stand in the unit's own header. */
#include "kernels/unit/catalogue.h"

#include <string.h>

#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/ceilings/fp32_fma.h"
#include "kernels/matmul/naive.h"
#include "kernels/matmul/tiled16.h"
#include "kernels/reduction/block_reduction.h"
#include "kernels/stencil/global.h"
#include "kernels/stencil/tiled.h"
#include "kernels/stream/polynomial256.h"
#include "kernels/stream/vector_add.h"
#include "kernels/stream/vector_add_stride32.h"
#include "kernels/transpose/naive.h"
#include "kernels/transpose/tiled.h"
#include "kernels/unit/units.h"

const struct rl_unit rl_unit_vector_add = {
    .id = "vector_add",
    .title = "vector add",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_vector_add_dims,
    .flop = rl_vector_add_flop,
    .ask_bytes = rl_vector_add_ask_bytes,
    .footprint_bytes = rl_vector_add_footprint_bytes,
    .flop_formula = "n",
    .ask_formula = "3 * n * 4",
    .description =
        "Coalesced sum of two vectors, one float a thread: the plain stream that the other rows are read against.",
    .streaming = true,
    .variants = 1,
};

const struct rl_unit rl_unit_vector_add_stride32 = {
    .id = "vector_add_stride32",
    .title = "vector add, stride 32",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_vector_add_stride32_dims,
    .flop = rl_vector_add_stride32_flop,
    .ask_bytes = rl_vector_add_stride32_ask_bytes,
    .footprint_bytes = rl_vector_add_stride32_footprint_bytes,
    .flop_formula = "n",
    .ask_formula = "3 * n * 4",
    .description = "The same sums with consecutive threads 128 bytes apart: equal asked bytes, and what broken "
                   "coalescing adds to them.",
    .streaming = true,
    .variants = 1,
};

const struct rl_unit rl_unit_transpose_naive = {
    .id = "transpose_naive",
    .title = "transpose, naive",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_transpose_naive_dims,
    .flop = rl_transpose_naive_flop,
    .ask_bytes = rl_transpose_naive_ask_bytes,
    .footprint_bytes = rl_transpose_naive_footprint_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * edge^2 * 4",
    .description = "Reads along rows and writes down columns, one float per sector: what the L2 can and cannot merge.",
    .streaming = true,
    .variants = 1,
};

const struct rl_unit rl_unit_transpose_tiled = {
    .id = "transpose_tiled",
    .title = "transpose, tiled",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_transpose_tiled_dims,
    .flop = rl_transpose_tiled_flop,
    .ask_bytes = rl_transpose_tiled_ask_bytes,
    .footprint_bytes = rl_transpose_tiled_footprint_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * edge^2 * 4",
    .description =
        "Transpose through a padded 32 x 33 tile in shared memory, coalesced both ways: the cure of the row above.",
    .streaming = true,
    .variants = 1,
};

const struct rl_unit rl_unit_matmul_naive = {
    .id = "matmul_naive",
    .title = "matmul, naive",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_matmul_naive_dims,
    .flop = rl_matmul_naive_flop,
    .ask_bytes = rl_matmul_naive_ask_bytes,
    .footprint_bytes = rl_matmul_naive_footprint_bytes,
    .flop_formula = "2 * edge^3",
    .ask_formula = "(2 * edge^3 + edge^2) * 4",
    .description = "One thread per element, all operands from global memory: asks for a thousand times what must move, "
                   "and the caches serve it.",
    .streaming = false,
    .variants = 1,
};

const struct rl_unit rl_unit_matmul_tiled16 = {
    .id = "matmul_tiled16",
    .title = "matmul, tiled 16",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_matmul_tiled16_dims,
    .flop = rl_matmul_tiled16_flop,
    .ask_bytes = rl_matmul_tiled16_ask_bytes,
    .footprint_bytes = rl_matmul_tiled16_footprint_bytes,
    .flop_formula = "2 * edge^3",
    .ask_formula = "(2 * edge^3 / 16 + edge^2) * 4",
    .description =
        "16 x 16 tiles in shared memory: asks for a sixteenth of the naive one, and the same bytes reach DRAM.",
    .streaming = false,
    .variants = 1,
};

const struct rl_unit rl_unit_block_reduction = {
    .id = "block_reduction",
    .title = "block reduction",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_block_reduction_dims,
    .flop = rl_block_reduction_flop,
    .ask_bytes = rl_block_reduction_ask_bytes,
    .footprint_bytes = rl_block_reduction_footprint_bytes,
    .flop_formula = "255 * n / 256",
    .ask_formula = "(n + n / 256) * 4",
    .description =
        "Tree sum of 256 floats a block in shared memory, one partial stored: a reading stream with synchronisation.",
    .streaming = false,
    .variants = 1,
};

const struct rl_unit rl_unit_stencil_global = {
    .id = "stencil_global",
    .title = "stencil, global",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_stencil_dims,
    .flop = rl_stencil_global_flop,
    .ask_bytes = rl_stencil_global_ask_bytes,
    .footprint_bytes = rl_stencil_global_footprint_bytes,
    .flop_formula = "7 * (edge - 2)^2",
    .ask_formula = "6 * (edge - 2)^2 * 4",
    .description = "Five-point heat step, neighbours from global memory: reuse that the caches find by themselves.",
    .streaming = false,
    .variants = 1,
};

const struct rl_unit rl_unit_stencil_tiled = {
    .id = "stencil_tiled",
    .title = "stencil, tiled",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_stencil_dims,
    .flop = rl_stencil_tiled_flop,
    .ask_bytes = rl_stencil_tiled_ask_bytes,
    .footprint_bytes = rl_stencil_tiled_footprint_bytes,
    .flop_formula = "7 * (edge - 2)^2",
    .ask_formula = "((34 * edge / 32 - 2) * (10 * edge / 8 - 2) + (edge - 2)^2) * 4",
    .description = "The same step with a 34 x 10 apron in shared memory: asks for less than half, and shows whether "
                   "that was DRAM traffic.",
    .streaming = false,
    .variants = 1,
};

const struct rl_unit rl_unit_polynomial256 = {
    .id = "polynomial256",
    .title = "polynomial, 256",
    .kind = RL_UNIT_KERNEL,
    .dims = rl_polynomial256_dims,
    .flop = rl_polynomial256_flop,
    .ask_bytes = rl_polynomial256_ask_bytes,
    .footprint_bytes = rl_polynomial256_footprint_bytes,
    .flop_formula = "(2 * 256 + 1) * n",
    .ask_formula = "2 * n * 4",
    .description = "Horner chain of 256 FMAs on each float of a stream: the row on the flat half of the roof.",
    .streaming = true,
    .variants = 1,
};

const struct rl_unit rl_unit_dram_copy = {
    .id = "dram_copy",
    .title = "copy",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_copy_bytes,
    .footprint_bytes = rl_dram_copy_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * n * 4",
    .description = "Coalesced copy with 16-byte accesses: the memory roof. Bytes read and bytes written both count.",
    .streaming = true,
    .variants = RL_DRAM_COPY_VARIANTS,
};

const struct rl_unit rl_unit_fp32_fma = {
    .id = "fp32_fma",
    .title = "FP32 FMA chain",
    .kind = RL_UNIT_COMPUTE_CEILING,
    .dims = rl_fp32_fma_dims,
    .flop = rl_fp32_fma_flop,
    .ask_bytes = rl_fp32_fma_bytes,
    .footprint_bytes = rl_fp32_fma_bytes,
    .flop_formula = "2 * n * steps",
    .ask_formula = "n * 4",
    .description = "Independent chains of FP32 FMAs in registers: the compute roof. An FMA counts as two flop.",
    .streaming = false,
    .variants = RL_FP32_FMA_VARIANTS,
};

const struct rl_unit rl_unit_dram_copy_scalar = {
    .id = "dram_copy_scalar",
    .title = "copy, 4-byte",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_copy_bytes,
    .footprint_bytes = rl_dram_copy_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * n * 4",
    .description = "Coalesced copy with one float a thread: what most kernels are written like.",
    .streaming = true,
    .variants = RL_DRAM_COPY_SCALAR_VARIANTS,
};

const struct rl_unit rl_unit_dram_memcpy = {
    .id = "dram_memcpy",
    .title = "cudaMemcpy",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_copy_bytes,
    .footprint_bytes = rl_dram_copy_bytes,
    .flop_formula = "0",
    .ask_formula = "2 * n * 4",
    .description = "cudaMemcpyAsync from device to device: the reference that the copy ceiling is held against.",
    .streaming = true,
    .variants = 1,
};

const struct rl_unit rl_unit_dram_read = {
    .id = "dram_read",
    .title = "read",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_read_bytes,
    .footprint_bytes = rl_dram_read_bytes,
    .flop_formula = "0",
    .ask_formula = "(n + n / 2048) * 4",
    .description = "Reads with 16-byte accesses and sums as integers, one word stored per 8 KiB.",
    .streaming = true,
    .variants = RL_DRAM_READ_VARIANTS,
};

const struct rl_unit rl_unit_dram_write = {
    .id = "dram_write",
    .title = "write",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_no_flop,
    .ask_bytes = rl_dram_write_bytes,
    .footprint_bytes = rl_dram_write_bytes,
    .flop_formula = "0",
    .ask_formula = "n * 4",
    .description = "Writes a word made of each index with 16-byte accesses.",
    .streaming = true,
    .variants = RL_DRAM_WRITE_VARIANTS,
};

const struct rl_unit rl_unit_dram_triad = {
    .id = "dram_triad",
    .title = "triad",
    .kind = RL_UNIT_MEMORY_CEILING,
    .dims = rl_dram_dims,
    .flop = rl_dram_triad_flop,
    .ask_bytes = rl_dram_triad_bytes,
    .footprint_bytes = rl_dram_triad_bytes,
    .flop_formula = "2 * n",
    .ask_formula = "3 * n * 4",
    .description = "a = b + 3 c with 16-byte accesses: two streams read, one written.",
    .streaming = true,
    .variants = RL_DRAM_TRIAD_VARIANTS,
};

#define RL_UNIT(id) &rl_unit_##id,
const struct rl_unit *const rl_units[] = {RL_UNITS(RL_UNIT)};
#undef RL_UNIT
const size_t rl_unit_count = RL_UNIT_COUNT;
const size_t rl_kernel_count = RL_KERNEL_COUNT;

const struct rl_unit *rl_unit_find(const char *id)
{
    for (size_t i = 0; id != NULL && i < rl_unit_count; i++) {
        if (strcmp(rl_units[i]->id, id) == 0)
            return rl_units[i];
    }
    return NULL;
}

static const char *const sizes_names[RL_SIZES_COUNT] = {"course", "scaled"};

int rl_sizes_from_name(const char *name, enum rl_sizes *ret)
{
    for (unsigned i = 0; name != NULL && i < RL_SIZES_COUNT; i++) {
        if (strcmp(sizes_names[i], name) == 0) {
            *ret = (enum rl_sizes)i;
            return 0;
        }
    }
    return -1;
}

const char *rl_sizes_name(enum rl_sizes sizes)
{
    return (unsigned)sizes < RL_SIZES_COUNT ? sizes_names[sizes] : NULL;
}
