/* fp32_fma: the compute ceiling, chains of FMAs in registers. See kernels/ceilings/fp32_fma.h. */
#include "kernels/ceilings/fp32_fma.h"

#include "kernels/unit/check.cuh"
#include "kernels/unit/clock.cuh"

namespace
{

constexpr unsigned max_sms = 1024; /* the largest SM number + 1 that the table of end marks holds */

struct alignas(16) end_mark {
    unsigned long long cycles, time_ns;
};

/* What the arena begins with. */
struct alignas(16) head {
    float a, b;
    uint32_t key, pad;
    rl_clock_mark start;    /* of block 0 */
    end_mark ends[max_sms]; /* of the last block to end on each SM */
};

/* A float in [0.5, 1) from the chain's number, in three instructions: they run once per chain beside its FMAs. */
RL_BOTH uint32_t start_bits(uint32_t chain, uint32_t key)
{
    return (chain * 0x9e3779b1u + key) >> 9 | 0x3f000000u;
}

/* Block 0 marks the kernel's beginning on its SM. The last block to end on each SM marks its end there: ends are
 * written by every block, each over the one before, as one 16-byte store so that two blocks cannot mix. */
template <unsigned Block, unsigned Chains, unsigned Unroll>
__global__ void __launch_bounds__(Block) fma_chains(head *shared_head, float *out, unsigned steps)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        rl_clock_mark_at(&shared_head->start);
    const float a = shared_head->a, b = shared_head->b;
    const uint32_t key = shared_head->key;
    const uint32_t first = blockIdx.x * (Block * Chains) + threadIdx.x;
    float x[Chains];
#pragma unroll
    for (unsigned j = 0; j < Chains; j++)
        x[j] = __uint_as_float(start_bits(first + j * Block, key));
#pragma unroll 1
    for (unsigned step = 0; step < steps; step += Unroll) {
#pragma unroll
        for (unsigned k = 0; k < Unroll; k++) {
#pragma unroll
            for (unsigned j = 0; j < Chains; j++)
                x[j] = __fmaf_rn(x[j], a, b);
        }
    }
#pragma unroll
    for (unsigned j = 0; j < Chains; j++)
        out[static_cast<uint64_t>(first) + j * Block] = x[j];
    if (threadIdx.x == 0) {
        const rl_clock_mark now = rl_clock_now();
        if (now.sm < max_sms)
            *reinterpret_cast<ulonglong2 *>(&shared_head->ends[now.sm]) = make_ulonglong2(now.cycles, now.time_ns);
    }
}

struct factors {
    float a, b;
    uint32_t key;
};

factors factors_from(uint64_t seed)
{
    const uint64_t word = rl_key(seed, 0);
    const double u = static_cast<double>(word >> 40) * 0x1p-24;
    const double v = static_cast<double>(word >> 16 & 0xffffff) * 0x1p-24;
    return {static_cast<float>(1 - (1 + u) * 0x1p-11), static_cast<float>((1 + v) * 0x1p-11),
            static_cast<uint32_t>(rl_key(seed, 1))};
}

__global__ void set_head(head *shared_head, factors f)
{
    shared_head->a = f.a;
    shared_head->b = f.b;
    shared_head->key = f.key;
}

/* One chain at a time, the same recurrence in a plain loop. */
struct reference {
    using element = float;
    factors f;
    uint64_t steps;

    RL_BOTH double operator()(uint64_t i, float got) const
    {
        const uint32_t bits = start_bits(static_cast<uint32_t>(i), f.key);
        float x;
        memcpy(&x, &bits, sizeof x);
        for (uint64_t k = 0; k < steps; k++)
            x = fmaf(x, f.a, f.b);
        return rl_exactly(x, got);
    }
};

struct variant_of {
    void (*kernel)(head *, float *, unsigned);
    unsigned block, chains;
    const char *what;
};

#define FMA(block, chains, unroll)                                                                                     \
    {                                                                                                                  \
        fma_chains<block, chains, unroll>, block, chains, #chains " chains a thread, unrolled " #unroll                \
    }
const variant_of variants[] = {
    FMA(256, 8, 128), FMA(128, 8, 128), FMA(256, 16, 64), FMA(128, 16, 64), FMA(512, 8, 128),
};
static_assert(sizeof variants / sizeof variants[0] == RL_FP32_FMA_VARIANTS, "the catalogue tells this number");

bool shape_of(const struct rl_dims *dims, unsigned variant, rl_shape *ret)
{
    if (variant >= RL_FP32_FMA_VARIANTS || dims->n > UINT32_MAX || dims->steps == 0 ||
        dims->steps % RL_FP32_FMA_UNROLL != 0 || dims->steps > 0x7fffffffu)
        return false;
    ret->block = dim3(variants[variant].block);
    return rl_blocks(dims->n, variants[variant].block * variants[variant].chains, &ret->grid.x);
}

uint64_t arena_bytes(const struct rl_dims *dims)
{
    return rl_align(sizeof(head)) + rl_align(dims->n * sizeof(float));
}

head *head_of(void *arena)
{
    return static_cast<head *>(arena);
}

float *results_of(void *arena)
{
    return reinterpret_cast<float *>(static_cast<char *>(arena) + rl_align(sizeof(head)));
}

int reset(void *arena, const struct rl_dims *dims, uint64_t seed, rl_stream stream)
{
    int error = rl_poison(arena, arena_bytes(dims), stream);
    if (error != cudaSuccess)
        return error;
    return rl_launch(set_head, {dim3(1), dim3(1)}, stream, head_of(arena), factors_from(seed));
}

int launch(void *arena, const struct rl_dims *dims, unsigned variant, rl_stream stream)
{
    rl_shape shape;
    if (!shape_of(dims, variant, &shape))
        return cudaErrorInvalidValue;
    return rl_launch(variants[variant].kernel, shape, stream, head_of(arena), results_of(arena),
                     static_cast<unsigned>(dims->steps));
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
    reference expected = {factors_from(seed), dims->steps};
    return rl_check(results_of(arena), dims->n, 0, expected, seed, scratch, stream, "bit for bit", ret);
}

int clock_marks(void *arena, const struct rl_dims *dims, rl_stream stream, struct rl_clock_mark ret[2])
{
    (void)dims;
    rl_clock_mark start;
    end_mark end = {};
    cudaError_t error = cudaMemcpyAsync(&start, &head_of(arena)->start, sizeof start, cudaMemcpyDeviceToHost, stream);
    cudaError_t synchronised = cudaStreamSynchronize(stream);
    if (error != cudaSuccess || synchronised != cudaSuccess)
        return error != cudaSuccess ? error : synchronised;
    if (start.sm >= max_sms) /* poison too: nothing was launched since reset */
        return cudaErrorInvalidValue;
    error = cudaMemcpyAsync(&end, &head_of(arena)->ends[start.sm], sizeof end, cudaMemcpyDeviceToHost, stream);
    synchronised = cudaStreamSynchronize(stream);
    if (error != cudaSuccess || synchronised != cudaSuccess)
        return error != cudaSuccess ? error : synchronised;
    ret[0] = start;
    ret[1] = {end.cycles, end.time_ns, start.sm, 0};
    return cudaSuccess;
}

void *output(void *arena, const struct rl_dims *dims, uint64_t *ret_count)
{
    *ret_count = dims->n;
    return results_of(arena);
}

} // namespace

const struct rl_unit_ops rl_ops_fp32_fma = {
    &rl_unit_fp32_fma, RL_FP32_FMA_VARIANTS, arena_bytes, reset, launch, describe, check, clock_marks, output,
};
