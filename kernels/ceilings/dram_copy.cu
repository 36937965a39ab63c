/* dram_copy: the memory ceiling, a coalesced copy with 16-byte accesses. See kernels/ceilings/dram_ceilings.h.
 *
 * Which launch shape is fastest depends on the chip, so a table of them is swept and the best one kept with its name:
 * threads a block, 16-byte loads in flight per thread before its first store, cache hints, and one block per tile
 * ("one-shot") or blocks that fill the card once and stride over the tiles ("persistent"). On sm_90 and later two more
 * let the copy engine of each SM move tiles through shared memory (cp.async.bulk), with no registers in between.
 */
#include "kernels/ceilings/bulk.cuh"
#include "kernels/ceilings/dram_copy_check.cuh"
#include "kernels/ceilings/vector16.cuh"

namespace
{

template <unsigned Block, unsigned Items, rl_hint Hint> __device__ void copy_tile(uint4 *to, const uint4 *from)
{
    uint4 v[Items];
#pragma unroll
    for (unsigned j = 0; j < Items; j++)
        v[j] = rl_load16<Hint>(from + j * Block);
#pragma unroll
    for (unsigned j = 0; j < Items; j++)
        rl_store16<Hint>(to + j * Block, v[j]);
}

template <unsigned Block, unsigned Items, rl_hint Hint>
__global__ void __launch_bounds__(Block) copy_once(const uint4 *__restrict__ from, uint4 *__restrict__ to, uint64_t)
{
    const uint64_t i = blockIdx.x * static_cast<uint64_t>(Block * Items) + threadIdx.x;
    copy_tile<Block, Items, Hint>(to + i, from + i);
}

template <unsigned Block, unsigned Items, rl_hint Hint>
__global__ void __launch_bounds__(Block)
    copy_persistent(const uint4 *__restrict__ from, uint4 *__restrict__ to, uint64_t tiles)
{
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t i = tile * (Block * Items) + threadIdx.x;
        copy_tile<Block, Items, Hint>(to + i, from + i);
    }
}

/* Stages buffers of Bytes in shared memory; a stage is loaded again once its store has been read out. One thread drives
 * the copy engine; the other 31 of the warp have nothing to do. */
template <unsigned Stages, unsigned Bytes>
__global__ void __launch_bounds__(32) copy_bulk(const uint4 *__restrict__ from, uint4 *__restrict__ to, uint64_t tiles)
{
    constexpr unsigned words = Bytes / sizeof(uint4);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __shared__ alignas(128) uint4 buffer[Stages][words];
    __shared__ alignas(8) uint64_t full[Stages];
    if (threadIdx.x != 0)
        return;
    for (unsigned s = 0; s < Stages; s++)
        rl_barrier_init(&full[s]);
    rl_barrier_init_fence();
    const uint64_t step = gridDim.x;
    for (unsigned s = 0; s < Stages; s++) {
        const uint64_t tile = blockIdx.x + s * step;
        if (tile < tiles)
            rl_bulk_load(buffer[s], from + tile * words, Bytes, &full[s]);
    }
    unsigned stage = 0, parity = 0, before = Stages - 1;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += step) {
        rl_barrier_wait(&full[stage], parity);
        rl_bulk_store(to + tile * words, buffer[stage], Bytes);
        /* The newest store may still be reading its stage; the one before it has been read out after this. */
        rl_bulk_wait_read<1>();
        const uint64_t next = tile + (Stages - 1) * step;
        if (tile != blockIdx.x && next < tiles)
            rl_bulk_load(buffer[before], from + next * words, Bytes, &full[before]);
        before = stage;
        if (++stage == Stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    rl_bulk_wait_all();
#else
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (unsigned j = threadIdx.x; j < words; j += 32)
            to[tile * words + j] = from[tile * words + j];
    }
#endif
}

struct variant_of {
    void (*kernel)(const uint4 *, uint4 *, uint64_t);
    unsigned block, tile_bytes;
    bool persistent;
    const char *what;
};

#define ONCE(block, items, hint, words)                                                                                \
    {                                                                                                                  \
        copy_once<block, items, hint>, block, block *items * 16, false, #items " x 16 bytes, one-shot" words           \
    }
#define PERSISTENT(block, items, hint, words)                                                                          \
    {                                                                                                                  \
        copy_persistent<block, items, hint>, block, block *items * 16, true, #items " x 16 bytes, persistent" words    \
    }
#define BULK(stages, bytes)                                                                                            \
    {                                                                                                                  \
        copy_bulk<stages, bytes>, 32, bytes, true, #stages " x " #bytes " bytes, bulk copy (plain below sm_90)"        \
    }

const variant_of variants[] = {
    ONCE(512, 4, RL_STREAM, ", streaming"),
    ONCE(256, 4, RL_STREAM, ", streaming"),
    ONCE(1024, 2, RL_STREAM, ", streaming"),
    ONCE(256, 8, RL_STREAM, ", streaming"),
    BULK(4, 8192),
    BULK(2, 16384),
    PERSISTENT(512, 4, RL_STREAM, ", streaming"),
    PERSISTENT(1024, 4, RL_STREAM, ", streaming"),
    ONCE(512, 4, RL_NO_L1, ", no L1"),
    ONCE(512, 4, RL_NO_L1_FETCH, ", no L1, 256-byte fetch"),
    ONCE(512, 4, RL_PLAIN, ""),
    ONCE(256, 4, RL_PLAIN, ""),
    ONCE(256, 4, RL_NO_L1, ", no L1"),
    ONCE(1024, 4, RL_STREAM, ", streaming"),
    ONCE(1024, 1, RL_STREAM, ", streaming"),
    ONCE(512, 2, RL_STREAM, ", streaming"),
    ONCE(512, 8, RL_STREAM, ", streaming"),
    ONCE(512, 1, RL_STREAM, ", streaming"),
    ONCE(256, 2, RL_STREAM, ", streaming"),
    ONCE(256, 16, RL_STREAM, ", streaming"),
    ONCE(128, 4, RL_STREAM, ", streaming"),
    ONCE(128, 8, RL_STREAM, ", streaming"),
    ONCE(128, 16, RL_STREAM, ", streaming"),
    PERSISTENT(256, 8, RL_STREAM, ", streaming"),
};
static_assert(sizeof variants / sizeof variants[0] == RL_DRAM_COPY_VARIANTS, "the catalogue tells this number");

int shape_of(const struct rl_dims *dims, unsigned variant, rl_shape *ret, uint64_t *ret_tiles)
{
    unsigned tiles;
    if (variant >= RL_DRAM_COPY_VARIANTS || !rl_is_power_of_two(dims->n) ||
        !rl_blocks(dims->n * sizeof(float), variants[variant].tile_bytes, &tiles))
        return cudaErrorInvalidValue;
    ret->block = dim3(variants[variant].block);
    ret->grid = dim3(tiles);
    *ret_tiles = tiles;
    if (!variants[variant].persistent)
        return cudaSuccess;
    unsigned resident;
    int error = rl_resident_blocks(variants[variant].kernel, variants[variant].block, &resident);
    if (error == cudaSuccess && resident < tiles)
        ret->grid = dim3(resident);
    return error;
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    uint64_t tiles;
    int error = shape_of(dims, variant, &shape, &tiles);
    if (error != cudaSuccess)
        return error;
    return rl_launch(variants[variant].kernel, shape, stream,
                     reinterpret_cast<const uint4 *>(rl_copy_source(arena, dims)),
                     reinterpret_cast<uint4 *>(rl_copy_destination(arena, dims)), tiles);
}

int describe(const struct rl_dims *dims, unsigned variant, struct rl_launch_info *ret)
{
    rl_shape shape;
    uint64_t tiles;
    int error = shape_of(dims, variant, &shape, &tiles);
    if (error != cudaSuccess)
        return error;
    return rl_describe(variants[variant].kernel, shape, variants[variant].what, ret);
}

} // namespace

uint64_t rl_copy_arena_bytes(const struct rl_dims *dims)
{
    return rl_arrays_bytes(2, dims->n);
}

int rl_copy_reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    return rl_reset_arrays(arena, 1, dims->n, dims->n, seed, stream);
}

namespace
{

struct reference {
    using element = float;
    uint64_t key;

    RL_BOTH double operator()(uint64_t i, float got) const { return rl_exactly(rl_uniform(key, i), got); }
};

} // namespace

int rl_copy_check(void *arena, const struct rl_dims *dims, uint64_t seed, void *scratch, rl_stream stream,
                  struct rl_result_check *ret)
{
    reference expected = {rl_key(seed, 0)};
    return rl_check(rl_copy_destination(arena, dims), dims->n, 0, expected, seed, scratch, stream, "bit for bit", ret);
}

void *rl_copy_output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n;
    return rl_copy_destination(arena, dims);
}

const struct rl_unit_ops rl_ops_dram_copy = {
    &rl_unit_dram_copy,
    RL_DRAM_COPY_VARIANTS,
    rl_copy_arena_bytes,
    rl_copy_reset,
    launch,
    describe,
    rl_copy_check,
    NULL,
    rl_copy_output,
};
