/* The SM's clocks, read in a kernel. */
#ifndef KERNELS_CLOCK_CUH
#define KERNELS_CLOCK_CUH

#include "launch.h"

/* The "memory" clobber keeps the readings between the memory accesses around them: without it the compiler may move
 * them across the work that they are to time. */
__device__ inline rl_clock_mark rl_clock_now()
{
    rl_clock_mark mark;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(mark.cycles)::"memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(mark.time_ns)::"memory");
    asm volatile("mov.u32 %0, %%smid;" : "=r"(mark.sm)::"memory");
    mark.pad = 0;
    return mark;
}

#endif
