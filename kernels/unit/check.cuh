/* Result checks: every element of an output against a reference, on the device and for a sample on the host.
 *
 * A reference is a functor with `using element = float` or `uint32_t` and
 *     RL_BOTH double operator()(uint64_t i, element got) const
 * that answers the error of got as output element i, relative to what is allowed: at most 1 is right, NaN is wrong. It
 * makes element i from the seed in double precision, sharing nothing with the kernel under test, and is compiled for
 * both sides, so that the host's arithmetic vouches for the device's.
 */
#ifndef KERNELS_UNIT_CHECK_CUH
#define KERNELS_UNIT_CHECK_CUH

#include <math.h>
#include <string.h>

#include <memory>
#include <new>

#include "kernels/unit/unit.cuh"

#define RL_UNIT_ROUNDOFF 0x1p-24 /* of a float: half a unit in the last place of 1 */
#define RL_SLACK         (1.0 + 0x1p-20)
#define RL_WORST         1e30 /* stands for errors that are no number: NaN, poison, infinity */

#define RL_CHECK_BLOCK  256u
#define RL_CHECK_BLOCKS 2048u
#define RL_CHECK_SEEDED 10240u     /* METHOD: at least 10,000 seeded elements on the host */
#define RL_CHECK_ENDS   256u       /* of a vector: what counts as an edge at either end */
#define RL_CHECK_SAMPLE (1u << 20) /* most elements that a sample can hold */

struct rl_tally {
    uint64_t wrong;
    uint64_t worst_index;
    double worst;
};

inline RL_BOTH uint32_t rl_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Bit for bit: 0, or twice the distance in representable floats: an error of half a unit in the last place is 1. */
inline RL_BOTH double rl_exactly(float expected, float got)
{
    if (rl_bits(expected) == rl_bits(got))
        return 0;
    if (!(fabsf(got) < INFINITY))
        return RL_WORST;
    double distance = fabs(static_cast<double>(rl_bits(expected)) - static_cast<double>(rl_bits(got)));
    return 2 * distance;
}

inline RL_BOTH double rl_exactly(uint32_t expected, uint32_t got)
{
    return 2 * fabs(static_cast<double>(expected) - static_cast<double>(got));
}

inline RL_BOTH double rl_within(double expected, double tolerance, float got)
{
    return fabs(static_cast<double>(got) - expected) / tolerance;
}

/* Keeps the larger error; of equal ones, the lower index. */
inline RL_BOTH void rl_tally_add(rl_tally *tally, double error, uint64_t i)
{
    if (!(error <= RL_WORST))
        error = RL_WORST;
    if (error > 1)
        tally->wrong++;
    if (error > tally->worst || (error == tally->worst && i < tally->worst_index)) {
        tally->worst = error;
        tally->worst_index = i;
    }
}

inline RL_BOTH void rl_tally_merge(rl_tally *into, const rl_tally &from)
{
    into->wrong += from.wrong;
    if (from.worst > into->worst || (from.worst == into->worst && from.worst_index < into->worst_index)) {
        into->worst = from.worst;
        into->worst_index = from.worst_index;
    }
}

/* Which elements the host looks at: all edges, then seeded ones. */
struct rl_sample {
    uint64_t n, edge, edges, key; /* edge 0: a vector, whose edges are its two ends */

    RL_BOTH uint64_t size() const { return edges + RL_CHECK_SEEDED; }

    RL_BOTH uint64_t index(uint64_t k) const
    {
        if (k >= edges)
            return rl_word(key, k) % n;
        if (edge == 0)
            return k < edges / 2 ? k : n - edges + k;
        uint64_t along = k % edge;
        switch (k / edge) {
        case 0:
            return along;
        case 1:
            return n - edge + along;
        case 2:
            return along * edge;
        default:
            return along * edge + edge - 1;
        }
    }
};

template <class Reference>
__global__ void __launch_bounds__(RL_CHECK_BLOCK)
    rl_compare(const typename Reference::element *out, uint64_t n, Reference reference, rl_tally *tallies)
{
    __shared__ rl_tally tally[RL_CHECK_BLOCK];
    rl_tally mine = {0, UINT64_MAX, 0};
    uint64_t step = static_cast<uint64_t>(gridDim.x) * RL_CHECK_BLOCK;
    for (uint64_t i = blockIdx.x * static_cast<uint64_t>(RL_CHECK_BLOCK) + threadIdx.x; i < n; i += step)
        rl_tally_add(&mine, reference(i, out[i]), i);
    tally[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = RL_CHECK_BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            rl_tally_merge(&tally[threadIdx.x], tally[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        tallies[blockIdx.x] = tally[0];
}

template <class Element> __global__ void rl_gather(const Element *out, rl_sample sample, Element *ret)
{
    uint64_t k = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    if (k < sample.size())
        ret[k] = out[sample.index(k)];
}

/* The sample against the reference on the host, and both tallies into ret. */
void rl_check_report(const rl_tally &device, uint64_t device_count, const rl_tally &host, uint64_t host_count,
                     const char *tolerance, struct rl_result_check *ret);

/* Checks n elements at out; edge is that of a square, 0 for a vector. tolerance says in words what is allowed. */
template <class Reference>
int rl_check(const void *out, uint64_t n, uint64_t edge, const Reference &reference, uint64_t seed, void *scratch,
             rl_stream stream, const char *tolerance, struct rl_result_check *ret)
{
    using element = typename Reference::element;
    uint64_t ends = n < 2 * RL_CHECK_ENDS ? n / 2 * 2 : 2 * RL_CHECK_ENDS;
    rl_sample sample = {n, edge, edge == 0 ? ends : 4 * edge, rl_key(seed, 1000)};
    if (n == 0 || sample.size() > RL_CHECK_SAMPLE)
        return cudaErrorInvalidValue;

    rl_tally *tallies = static_cast<rl_tally *>(scratch);
    element *gathered = reinterpret_cast<element *>(tallies + RL_CHECK_BLOCKS);
    const element *elements = static_cast<const element *>(out);
    rl_shape compare = {dim3(RL_CHECK_BLOCKS), dim3(RL_CHECK_BLOCK)};
    unsigned gather_blocks = static_cast<unsigned>((sample.size() + RL_CHECK_BLOCK - 1) / RL_CHECK_BLOCK);
    rl_shape gather = {dim3(gather_blocks), dim3(RL_CHECK_BLOCK)};
    int error = rl_launch(rl_compare<Reference>, compare, stream, elements, n, reference, tallies);
    if (error == cudaSuccess)
        error = rl_launch(rl_gather<element>, gather, stream, elements, sample, gathered);
    if (error != cudaSuccess)
        return error;

    std::unique_ptr<rl_tally[]> per_block(new (std::nothrow) rl_tally[RL_CHECK_BLOCKS]);
    std::unique_ptr<element[]> values(new (std::nothrow) element[sample.size()]);
    if (!per_block || !values)
        return cudaErrorMemoryAllocation;
    error =
        cudaMemcpyAsync(per_block.get(), tallies, RL_CHECK_BLOCKS * sizeof(rl_tally), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error =
            cudaMemcpyAsync(values.get(), gathered, sample.size() * sizeof(element), cudaMemcpyDeviceToHost, stream);
    /* Also after an error: the copies must not outlive the host arrays. */
    int synchronised = cudaStreamSynchronize(stream);
    if (error != cudaSuccess || synchronised != cudaSuccess)
        return error != cudaSuccess ? error : synchronised;

    rl_tally on_device = {0, UINT64_MAX, 0}, on_host = {0, UINT64_MAX, 0};
    for (unsigned i = 0; i < RL_CHECK_BLOCKS; i++)
        rl_tally_merge(&on_device, per_block[i]);
    for (uint64_t k = 0; k < sample.size(); k++)
        rl_tally_add(&on_host, reference(sample.index(k), values[k]), sample.index(k));
    rl_check_report(on_device, n, on_host, sample.size(), tolerance, ret);
    return cudaSuccess;
}

#endif
