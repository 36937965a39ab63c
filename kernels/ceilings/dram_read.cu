/* dram_read: reads an array with 16-byte accesses; each warp sums 8 KiB into one word. See kernels/ceilings/dram_ceilings.h.
 *
 * The sum is of integers modulo 2^32: exact in any order, so that no launch shape changes it, and no flop.
 */
#include "kernels/unit/check.cuh"
#include "kernels/ceilings/dram_ceilings.h"
#include "kernels/ceilings/vector16.cuh"

namespace
{

constexpr unsigned chunk_loads = RL_DRAM_CHUNK_FLOATS / 4 / 32; /* 16-byte loads per lane and chunk */

template <unsigned Block, unsigned Items, rl_hint Hint>
__global__ void __launch_bounds__(Block) read_sum(const uint4 *__restrict__ data, uint32_t *__restrict__ sums)
{
    static_assert(chunk_loads % Items == 0, "a chunk is a whole number of rounds");
    const uint64_t chunk = blockIdx.x * static_cast<uint64_t>(Block / 32) + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    const uint4 *from = data + chunk * (chunk_loads * 32) + lane;
    uint32_t sum = 0;
#pragma unroll 1
    for (unsigned round = 0; round < chunk_loads; round += Items) {
        uint4 v[Items];
#pragma unroll
        for (unsigned j = 0; j < Items; j++)
            v[j] = rl_load16<Hint>(from + (round + j) * 32);
#pragma unroll
        for (unsigned j = 0; j < Items; j++)
            sum += v[j].x + v[j].y + v[j].z + v[j].w;
    }
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        sums[chunk] = sum;
}

struct reference {
    using element = uint32_t;
    uint64_t key;

    RL_BOTH double operator()(uint64_t i, uint32_t got) const
    {
        uint32_t sum = 0;
        for (unsigned j = 0; j < RL_DRAM_CHUNK_FLOATS; j++)
            sum += rl_bits(rl_uniform(key, i * RL_DRAM_CHUNK_FLOATS + j));
        return rl_exactly(sum, got);
    }
};

struct variant_of {
    void (*kernel)(const uint4 *, uint32_t *);
    unsigned block;
    const char *what;
};

const variant_of variants[] = {
    {read_sum<256, 16, RL_STREAM>, 256, "16 x 16 bytes, streaming"},
    {read_sum<512, 8, RL_STREAM>, 512, "8 x 16 bytes, streaming"},
    {read_sum<256, 8, RL_NO_L1>, 256, "8 x 16 bytes, no L1"},
    {read_sum<128, 16, RL_NO_L1_FETCH>, 128, "16 x 16 bytes, no L1, 256-byte fetch"},
    {read_sum<1024, 8, RL_STREAM>, 1024, "8 x 16 bytes, streaming"},
    {read_sum<256, 16, RL_PLAIN>, 256, "16 x 16 bytes"},
};
static_assert(sizeof variants / sizeof variants[0] == RL_DRAM_READ_VARIANTS, "the catalogue tells this number");

uint64_t chunks(const struct rl_dims *dims)
{
    return dims->n / RL_DRAM_CHUNK_FLOATS;
}

bool shape_of(const struct rl_dims *dims, unsigned variant, rl_shape *ret)
{
    if (variant >= RL_DRAM_READ_VARIANTS || dims->n % RL_DRAM_CHUNK_FLOATS != 0)
        return false;
    ret->block = dim3(variants[variant].block);
    return rl_blocks(chunks(dims), variants[variant].block / 32, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_align(dims->n * sizeof(float)) + rl_align(chunks(dims) * sizeof(uint32_t));
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    return rl_reset_arrays(arena, 1, dims->n, chunks(dims), seed, stream);
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(variants[variant].kernel, shape, stream,
                     reinterpret_cast<const uint4 *>(rl_array(arena, 0, dims->n)),
                     reinterpret_cast<uint32_t *>(rl_array(arena, 1, dims->n)));
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
    reference expected = {rl_key(seed, 0)};
    return rl_check(rl_array(arena, 1, dims->n), chunks(dims), 0, expected, seed, scratch, stream,
                    "exact sums modulo 2^32", ret);
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = chunks(dims);
    return rl_array(arena, 1, dims->n);
}

} // namespace

const struct rl_unit_ops rl_ops_dram_read = {
    &rl_unit_dram_read, RL_DRAM_READ_VARIANTS, arena_bytes, reset, launch, describe, check, NULL, output,
};
