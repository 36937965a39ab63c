/* What the CUDA files of all units share: sizes of a launch, launching, describing, filling.
 *
 * Kernels are launched through cudaLaunchKernelEx, which answers the error of this very launch: cudaGetLastError would
 * also answer for, and clear, errors of other calls.
 */
#ifndef KERNELS_UNIT_UNIT_CUH
#define KERNELS_UNIT_UNIT_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/unit/launch.h"
#include "kernels/unit/random.h"
#include "kernels/unit/units.h"

#define RL_ARENA_ALIGN 512u

struct rl_shape {
    dim3 grid, block;
};

inline uint64_t rl_align(uint64_t bytes)
{
    return (bytes + RL_ARENA_ALIGN - 1) / RL_ARENA_ALIGN * RL_ARENA_ALIGN;
}

inline bool rl_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* log2 of a power of two. */
inline unsigned rl_log2(uint64_t value)
{
    unsigned shift = 0;
    while (value >> shift > 1)
        shift++;
    return shift;
}

/* Blocks of a one-dimensional grid over work that per_block divides; false when it does not, or when there are none or
 * more than a grid can have. */
inline bool rl_blocks(uint64_t work, uint64_t per_block, unsigned *ret)
{
    if (work == 0 || work % per_block != 0 || work / per_block > 0x7fffffffu)
        return false;
    *ret = static_cast<unsigned>(work / per_block);
    return true;
}

/* A grid of columns x rows blocks over a square whose edge is a power of two; false when they do not divide it or the
 * grid would be too tall. */
inline bool rl_blocks_square(uint64_t edge, unsigned columns, unsigned rows, dim3 *ret)
{
    if (!rl_is_power_of_two(edge) || edge % columns != 0 || edge % rows != 0 || edge / rows > 65535u)
        return false;
    *ret = dim3(static_cast<unsigned>(edge / columns), static_cast<unsigned>(edge / rows));
    return true;
}

template <class... Parameters, class... Arguments>
int rl_launch(void (*kernel)(Parameters...), const rl_shape &shape, rl_stream stream, Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/* Blocks that fill the current device once: SMs x blocks resident on each. */
template <class... Parameters> int rl_resident_blocks(void (*kernel)(Parameters...), unsigned block, unsigned *ret)
{
    int device, sms, per_sm;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, static_cast<int>(block), 0);
    if (error == cudaSuccess && per_sm < 1)
        error = cudaErrorInvalidConfiguration;
    if (error == cudaSuccess)
        *ret = static_cast<unsigned>(sms * per_sm);
    return error;
}

/* Fills ret from the compiled function and the shape. what says what the variant means, NULL for a unit that has one.
 */
int rl_describe_function(const void *function, const rl_shape &shape, const char *what, struct rl_launch_info *ret);

template <class... Parameters>
int rl_describe(void (*kernel)(Parameters...), const rl_shape &shape, const char *what, struct rl_launch_info *ret)
{
    return rl_describe_function(reinterpret_cast<const void *>(kernel), shape, what, ret);
}

/* data[i] = rl_uniform(key, i). */
int rl_fill_uniform(float *data, uint64_t n, uint64_t key, rl_stream stream);

/* All bits one: a NaN as float, and no kernel's result. */
inline int rl_poison(void *data, uint64_t bytes, rl_stream stream)
{
    return cudaMemsetAsync(data, 0xff, bytes, stream);
}

/* An arena of equal arrays of floats, one after the other. */
inline uint64_t rl_arrays_bytes(unsigned arrays, uint64_t n)
{
    return arrays * rl_align(n * sizeof(float));
}

inline float *rl_array(void *arena, unsigned index, uint64_t n)
{
    return reinterpret_cast<float *>(static_cast<char *>(arena) + index * rl_align(n * sizeof(float)));
}

/* Fills arrays 0 … inputs - 1 with streams of the same numbers and poisons the next one, of out_n floats. */
inline int rl_reset_arrays(void *arena, unsigned inputs, uint64_t n, uint64_t out_n, uint64_t seed, rl_stream stream)
{
    for (unsigned i = 0; i < inputs; i++) {
        int error = rl_fill_uniform(rl_array(arena, i, n), n, rl_key(seed, i), stream);
        if (error != cudaSuccess)
            return error;
    }
    return rl_poison(rl_array(arena, inputs, n), out_n * sizeof(float), stream);
}

#endif
