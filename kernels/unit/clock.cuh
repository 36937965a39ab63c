/* The SM's clocks, read in a kernel. */
#ifndef KERNELS_UNIT_CLOCK_CUH
#define KERNELS_UNIT_CLOCK_CUH

#include "kernels/unit/launch.h"

/* The "memory" clobber keeps the readings between the memory accesses around them: without it the compiler may move
 * them across the work that they are to time. */
/* pad is not set. */
__device__ inline rl_clock_mark rl_clock_now()
{
    rl_clock_mark mark;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(mark.cycles)::"memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(mark.time_ns)::"memory");
    asm volatile("mov.u32 %0, %%smid;" : "=r"(mark.sm)::"memory");
    return mark;
}

__device__ inline void rl_clock_mark_at(rl_clock_mark *mark)
{
    const rl_clock_mark now = rl_clock_now();
    mark->cycles = now.cycles;
    mark->time_ns = now.time_ns;
    mark->sm = now.sm;
}

#endif
