/* dram_triad: a = b + 3 c with 16-byte accesses. See kernels/ceilings/dram_ceilings.h. */
#include "kernels/unit/check.cuh"
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/ceilings/vector16.cuh"

namespace
{

/* The arena is b, c, a. */
__device__ uint32_t triad_word(uint32_t b, uint32_t c)
{
    return __float_as_uint(__fmaf_rn(RL_DRAM_TRIAD_SCALAR, __uint_as_float(c), __uint_as_float(b)));
}

template <unsigned Block, unsigned Items, rl_hint Hint>
__global__ void __launch_bounds__(Block)
    triad(const uint4 *__restrict__ b, const uint4 *__restrict__ c, uint4 *__restrict__ a)
{
    const uint64_t first = blockIdx.x * static_cast<uint64_t>(Block * Items) + threadIdx.x;
    uint4 vb[Items], vc[Items];
#pragma unroll
    for (unsigned j = 0; j < Items; j++)
        vb[j] = rl_load16<Hint>(b + first + j * Block);
#pragma unroll
    for (unsigned j = 0; j < Items; j++)
        vc[j] = rl_load16<Hint>(c + first + j * Block);
#pragma unroll
    for (unsigned j = 0; j < Items; j++)
        rl_store16<Hint>(a + first + j * Block, make_uint4(triad_word(vb[j].x, vc[j].x), triad_word(vb[j].y, vc[j].y),
                                                           triad_word(vb[j].z, vc[j].z), triad_word(vb[j].w, vc[j].w)));
}

struct reference {
    using element = float;
    uint64_t key_b, key_c;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        const double sum = static_cast<double>(rl_uniform(key_b, i)) +
                           static_cast<double>(RL_DRAM_TRIAD_SCALAR) * static_cast<double>(rl_uniform(key_c, i));
        return rl_exactly(static_cast<float>(sum), got);
    }
};

struct variant_of {
    void (*kernel)(const uint4 *, const uint4 *, uint4 *);
    unsigned block, items;
    const char *what;
};

#define TRIAD(block, items, hint, words)                                                                               \
    {                                                                                                                  \
        triad<block, items, hint>, block, items, "2 x " #items " x 16 bytes" words                                     \
    }
const variant_of variants[] = {
    TRIAD(512, 4, RL_STREAM, ", streaming"),
    TRIAD(256, 4, RL_STREAM, ", streaming"),
    TRIAD(1024, 2, RL_STREAM, ", streaming"),
    TRIAD(512, 2, RL_PLAIN, ""),
};
static_assert(sizeof variants / sizeof variants[0] == RL_DRAM_TRIAD_VARIANTS, "the catalogue tells this number");

bool shape_of(const struct rl_dims *dims, unsigned variant, rl_shape *ret)
{
    if (variant >= RL_DRAM_TRIAD_VARIANTS)
        return false;
    ret->block = dim3(variants[variant].block);
    return rl_blocks(dims->n, 4u * variants[variant].block * variants[variant].items, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_arrays_bytes(3, dims->n);
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    return rl_reset_arrays(arena, 2, dims->n, dims->n, seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(variants[variant].kernel, shape, stream,
                     reinterpret_cast<const uint4 *>(rl_array(arena, 0, dims->n)),
                     reinterpret_cast<const uint4 *>(rl_array(arena, 1, dims->n)),
                     reinterpret_cast<uint4 *>(rl_array(arena, 2, dims->n)));
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
    reference expected = {rl_key(seed, 0), rl_key(seed, 1)};
    return rl_check(rl_array(arena, 2, dims->n), dims->n, 0, expected, seed, scratch, stream, "bit for bit", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n;
    return rl_array(arena, 2, dims->n);
}

} // namespace

const struct rl_unit_ops rl_ops_dram_triad = {
    &rl_unit_dram_triad, RL_DRAM_TRIAD_VARIANTS, arena_bytes, reset, launch, describe, check, NULL, output,
};
