/* Bulk copies between global and shared memory by the SM's copy engine: PTX ISA 8.0 and later, "Data Movement and
 * Conversion Instructions: cp.async.bulk" and "mbarrier". sm_90 and later only.
 */
#ifndef KERNELS_CEILINGS_BULK_CUH
#define KERNELS_CEILINGS_BULK_CUH

#include <stdint.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline uint32_t rl_shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/* One arrival completes a phase: that of the thread which announces the bytes. */
__device__ inline void rl_barrier_init(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(rl_shared_address(barrier)) : "memory");
}

/* Makes initialised barriers visible to the copy engine (the async proxy). */
__device__ inline void rl_barrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void rl_barrier_wait(uint64_t *barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done) {
        asm volatile("{\n\t"
                     ".reg .pred complete;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, complete;\n\t"
                     "}"
                     : "=r"(done)
                     : "r"(rl_shared_address(barrier)), "r"(parity)
                     : "memory");
    }
}

/* Announces bytes to barrier and starts loading them; addresses and size are multiples of 16. */
__device__ inline void rl_bulk_load(void *shared, const void *global, uint32_t bytes, uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(rl_shared_address(barrier)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     rl_shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(rl_shared_address(barrier))
                 : "memory");
}

/* Starts storing as a group of its own. */
__device__ inline void rl_bulk_store(void *global, const void *shared, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
                 "r"(rl_shared_address(shared)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all but the newest Groups groups have read their shared memory. */
template <int Groups> __device__ inline void rl_bulk_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Groups) : "memory");
}

__device__ inline void rl_bulk_wait_all()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif
#endif
