/* Seeded inputs: element i of stream s is a hash of (seed, s, i), so that kernels, checks on the device and checks on
 * the host make the same value anywhere without reading it back. Plain C and CUDA.
 *
 * The hash is the output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) at a counter.
 */
#ifndef KERNELS_UNIT_RANDOM_H
#define KERNELS_UNIT_RANDOM_H

#include <stdint.h>

#ifdef __CUDACC__
#define RL_BOTH __host__ __device__
#else
#define RL_BOTH
#endif

#define RL_GOLDEN64 0x9e3779b97f4a7c15u

static inline RL_BOTH uint64_t rl_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The key of a stream: inputs A and B of one unit have different streams. */
static inline RL_BOTH uint64_t rl_key(uint64_t seed, uint64_t stream)
{
    return rl_mix64(seed + (stream + 1) * RL_GOLDEN64);
}

static inline RL_BOTH uint64_t rl_word(uint64_t key, uint64_t i)
{
    return rl_mix64(key + i * RL_GOLDEN64);
}

/* An odd multiple of 2^-23 strictly between -1 and 1: never zero, and sums and products of a few of them are exact in
 * double, which several result checks rely on. */
static inline RL_BOTH float rl_uniform(uint64_t key, uint64_t i)
{
    int32_t odd = (int32_t)(rl_word(key, i) >> 40 | 1u);
    return (float)(odd - (1 << 23)) * (1.0f / 8388608.0f);
}

#endif
