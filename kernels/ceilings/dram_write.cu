/* dram_write: writes an array with 16-byte accesses. See kernels/ceilings/dram_ceilings.h. */
#include "kernels/unit/check.cuh"
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/ceilings/vector16.cuh"

namespace
{

/* The arena is the array, then the word that reset leaves. */
uint32_t *array_of(void *arena)
{
    return static_cast<uint32_t *>(arena);
}

uint32_t *salt_of(void *arena, const struct rl_dims *dims)
{
    return reinterpret_cast<uint32_t *>(rl_array(arena, 1, dims->n));
}

uint32_t salt_from(uint64_t seed)
{
    return static_cast<uint32_t>(rl_key(seed, 0));
}

RL_BOTH uint32_t word_of(uint64_t i, uint32_t salt)
{
    return static_cast<uint32_t>(i) * RL_DRAM_WRITE_FACTOR + salt;
}

__global__ void set_salt(uint32_t *salt, uint32_t value)
{
    *salt = value;
}

template <unsigned Block, unsigned Items, rl_hint Hint>
__global__ void __launch_bounds__(Block) write_words(uint4 *to, const uint32_t *__restrict__ salt)
{
    const uint64_t first = blockIdx.x * static_cast<uint64_t>(Block * Items) + threadIdx.x;
    const uint32_t add = *salt;
#pragma unroll
    for (unsigned j = 0; j < Items; j++) {
        const uint64_t i = first + j * Block;
        const uint32_t word = word_of(4 * i, add);
        rl_store16<Hint>(to + i, make_uint4(word, word + RL_DRAM_WRITE_FACTOR, word + 2 * RL_DRAM_WRITE_FACTOR,
                                            word + 3 * RL_DRAM_WRITE_FACTOR));
    }
}

struct reference {
    using element = uint32_t;
    uint32_t salt;

    RL_BOTH double operator()(uint64_t i, uint32_t got) const { return rl_exactly(word_of(i, salt), got); }
};

struct variant_of {
    void (*kernel)(uint4 *, const uint32_t *);
    unsigned block, items;
    const char *what;
};

#define WRITE(block, items, hint, words)                                                                               \
    {                                                                                                                  \
        write_words<block, items, hint>, block, items, #items " x 16 bytes" words                                      \
    }
const variant_of variants[] = {
    WRITE(256, 4, RL_STREAM, ", streaming"),
    WRITE(512, 4, RL_STREAM, ", streaming"),
    WRITE(256, 8, RL_PLAIN, ""),
    WRITE(1024, 1, RL_PLAIN, ""),
    WRITE(512, 2, RL_NO_L1, ", no L1"),
    WRITE(128, 16, RL_STREAM, ", streaming"),
};
static_assert(sizeof variants / sizeof variants[0] == RL_DRAM_WRITE_VARIANTS, "the catalogue tells this number");

bool shape_of(const struct rl_dims *dims, unsigned variant, rl_shape *ret)
{
    if (variant >= RL_DRAM_WRITE_VARIANTS)
        return false;
    ret->block = dim3(variants[variant].block);
    return rl_blocks(dims->n, 4u * variants[variant].block * variants[variant].items, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_align(dims->n * sizeof(float)) + RL_ARENA_ALIGN;
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    int error = rl_poison(array_of(arena), dims->n * sizeof(float), stream);
    if (error != cudaSuccess)
        return error;
    return rl_launch(set_salt, {dim3(1), dim3(1)}, stream, salt_of(arena, dims), salt_from(seed));
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(variants[variant].kernel, shape, stream, reinterpret_cast<uint4 *>(array_of(arena)),
                     salt_of(arena, dims));
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_describe(variants[variant].kernel, shape, variants[variant].what, ret);
}

int check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
          struct rl_result_check *ret)
{
    reference expected = {salt_from(seed)};
    return rl_check(array_of(arena), dims->n, 0, expected, seed, scratch, stream, "exact words", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n;
    return arena;
}

} // namespace

const struct rl_unit_ops rl_ops_dram_write = {
    &rl_unit_dram_write, RL_DRAM_WRITE_VARIANTS, arena_bytes, reset, launch, describe, check, NULL, output,
};
