/* 16-byte accesses with cache hints, for the memory ceilings. */
#ifndef KERNELS_CEILINGS_VECTOR16_CUH
#define KERNELS_CEILINGS_VECTOR16_CUH

#include <stdint.h>

/* The L2::256B hint needs sm_80: sm_75 gets the largest that it has. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define RL_FETCH ".L2::128B"
#else
#define RL_FETCH ".L2::256B"
#endif

enum rl_hint {
    RL_PLAIN,       /* ld.global, st.global */
    RL_STREAM,      /* .cs: evict first */
    RL_NO_L1,       /* L1::no_allocate */
    RL_NO_L1_FETCH, /* L1::no_allocate, and a load may bring the 256 bytes around it into the L2 */
};

template <rl_hint Hint> __device__ inline uint4 rl_load16(const uint4 *address)
{
    uint4 v;
    if (Hint == RL_STREAM)
        return __ldcs(address);
    if (Hint == RL_NO_L1) {
        asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
            : "l"(address));
        return v;
    }
    if (Hint == RL_NO_L1_FETCH) {
        asm("ld.global.nc.L1::no_allocate" RL_FETCH ".v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
            : "l"(address));
        return v;
    }
    return *address;
}

template <rl_hint Hint> __device__ inline void rl_store16(uint4 *address, uint4 v)
{
    if (Hint == RL_STREAM)
        __stcs(address, v);
    else if (Hint == RL_NO_L1 || Hint == RL_NO_L1_FETCH)
        asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y),
                     "r"(v.z), "r"(v.w)
                     : "memory");
    else
        *address = v;
}

#endif
