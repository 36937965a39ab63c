/* Units on the device: memory for them, inputs, launches, checks, and single launches for an outside profiler. */
#include <cuda_profiler_api.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/counters/counters.h"
#include "gpu/cuda/private.h"

#define ALIGNMENT   512 /* kernels/unit/launch.h: offsets inside an arena are multiples of this */
#define FLUSH_TIMES 4   /* METHOD "Cache states": the L2 is emptied by reading a buffer of 4 x its size */
#define FLUSH_GRAIN 4096

const struct rl_unit_ops *cuda_ops(const struct gpu_work *work, struct rl_err *err)
{
    const struct rl_unit_ops *ops = rl_unit_ops_find(work->unit->id);
    if (!ops) {
        rl_fail(err, RL_E_INTERNAL, work->unit->id, "no CUDA code for the unit %s", work->unit->id);
        return NULL;
    }
    if (work->variant >= ops->variants) {
        rl_fail(err, RL_E_INTERNAL, work->unit->id, "launch shape %u of %s, which has %u", work->variant,
                work->unit->id, ops->variants);
        return NULL;
    }
    return ops;
}

/* Names the unit in front of CUDA's words. */
static int unit_check(int error, const struct gpu_work *work, const char *call, struct rl_err *err)
{
    if (error == cudaSuccess)
        return 0;
    cuda_check((cudaError_t)error, call, err);
    return rl_wrap(err, "%s", work->unit->id);
}

/* ---- memory ---- */

/* Appends a region to a layout of *total bytes. -1 on overflow. */
static int append(uint64_t *total, uint64_t bytes, uint64_t *ret_offset)
{
    uint64_t padded, end;
    if (!rl_add_u64(bytes, ALIGNMENT - 1, &padded) || !rl_add_u64(*total, padded & ~(uint64_t)(ALIGNMENT - 1), &end))
        return -1;
    *ret_offset = *total;
    *total = end;
    return 0;
}

static int largest_arena(const struct gpu_work *works, size_t count, uint64_t *ret, struct rl_err *err)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rl_unit_ops *ops = cuda_ops(&works[i], err);
        if (!ops)
            return -1;
        uint64_t bytes = ops->arena_bytes(&works[i].dims);
        if (bytes > largest)
            largest = bytes;
    }
    *ret = largest;
    return 0;
}

static int spin_bytes(struct cuda_backend *cuda, uint64_t *ret, struct rl_err *err)
{
    const struct rl_unit_ops *ops = rl_unit_ops_find(CUDA_SPIN_UNIT);
    if (!ops || ops->unit->dims(RL_COURSE, cuda->l2_bytes, &cuda->spin_dims))
        return rl_fail(err, RL_E_INTERNAL, NULL, "there is no %s to spin with", CUDA_SPIN_UNIT);
    *ret = ops->arena_bytes(&cuda->spin_dims);
    return 0;
}

static int out_of_memory(const struct cuda_backend *cuda, uint64_t wanted, struct rl_err *err)
{
    size_t available = 0, total = 0;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess) {
        (void)cudaGetLastError();
        return rl_fail(err, RL_E_OUT_OF_MEMORY, NULL, "the GPU has no %.0f MB free", (double)wanted / 1e6);
    }
    return rl_fail(err, RL_E_OUT_OF_MEMORY, NULL,
                   "the GPU has %.0f of %.0f MB free, %.0f MB are needed: %.0f MB for the largest unit, twice %.0f MB "
                   "to empty the L2",
                   (double)available / 1e6, (double)total / 1e6, (double)wanted / 1e6, (double)cuda->arena_bytes / 1e6,
                   (double)cuda->flush_bytes / 1e6);
}

/* A set-aside part of the L2 survives a flush by reading. None is made here; a limit left by the environment goes. */
static int drop_persisting_l2(const struct cuda_backend *cuda, struct rl_err *err)
{
    if (cuda->properties.persistingL2CacheMaxSize <= 0)
        return 0;
    cudaError_t error = cudaCtxResetPersistingL2Cache();
    if (error == cudaSuccess)
        error = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    if (error == cudaErrorUnsupportedLimit || error == cudaErrorNotSupported || error == cudaErrorInvalidValue) {
        (void)cudaGetLastError(); /* MIG and MPS do not let a client set it, and have none to set aside */
        return 0;
    }
    return cuda_check(error, "resetting the persisting L2", err);
}

static int fill_flush_buffers(struct cuda_backend *cuda, struct rl_err *err)
{
    for (unsigned i = 0; i < 2; i++)
        if (CUDA_TRY(rl_fill(cuda->flush[i], cuda->flush_bytes, CUDA_SEED + 1 + i, cuda->stream), err))
            return -1;
    return CUDA_TRY(cudaMemsetAsync(cuda->sink, 0, ALIGNMENT, cuda->stream), err);
}

/* What an earlier run of this backend reserved, for other sizes. */
static int drop_memory(struct cuda_backend *cuda, struct rl_err *err)
{
    if (!cuda->memory)
        return 0;
    void *memory = cuda->memory;
    cuda->memory = cuda->spin_arena = NULL;
    cuda->prepared = cuda->warmed = (struct gpu_work){0};
    return CUDA_TRY(cudaFree(memory), err);
}

int cuda_reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    uint64_t total = 0, work, scratch, spin, flush[2], marks, sink, largest = 0, spin_size = 0;
    if (drop_memory(cuda, err))
        return -1;
    if (largest_arena(works, count, &largest, err) || spin_bytes(cuda, &spin_size, err))
        return -1;
    cuda->arena_bytes = largest;
    cuda->flush_bytes = (FLUSH_TIMES * cuda->l2_bytes + FLUSH_GRAIN - 1) / FLUSH_GRAIN * FLUSH_GRAIN;
    if (append(&total, largest, &work) || append(&total, rl_check_scratch_bytes(), &scratch) ||
        append(&total, spin_size, &spin) || append(&total, cuda->flush_bytes, &flush[0]) ||
        append(&total, cuda->flush_bytes, &flush[1]) || append(&total, 2 * sizeof *cuda->marks, &marks) ||
        append(&total, ALIGNMENT, &sink))
        return rl_fail(err, RL_E_OUT_OF_MEMORY, NULL, "the sizes of the units overflow 64 bits");
    if (b->will_count && !cuda_profiler_attached())
        counters_preload();
    void *memory = NULL;
    cudaError_t error = cudaMalloc(&memory, total);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return out_of_memory(cuda, total, err);
    }
    if (cuda_check(error, "cudaMalloc", err))
        return -1;
    unsigned char *base = memory;
    cuda->memory = memory;
    cuda->arena = base + work;
    cuda->scratch = base + scratch;
    cuda->spin_arena = base + spin;
    cuda->spin_launches = 0; /* what was in spin's arena before is not in this one */
    cuda->flush[0] = base + flush[0];
    cuda->flush[1] = base + flush[1];
    cuda->marks = (struct rl_clock_mark *)(void *)(base + marks);
    cuda->sink = base + sink;
    return drop_persisting_l2(cuda, err) || fill_flush_buffers(cuda, err) ? -1 : 0;
}

void cuda_free_memory(struct cuda_backend *b)
{
    if (b->memory)
        (void)cudaFree(b->memory);
    if (b->spin_memory)
        (void)cudaFree(b->spin_memory);
    b->memory = b->spin_memory = NULL;
}

/* ---- launches ---- */

int cuda_prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    const struct rl_unit_ops *ops = cuda_ops(work, err);
    if (!ops)
        return -1;
    uint64_t bytes = ops->arena_bytes(&work->dims);
    if (!cuda->memory || bytes > cuda->arena_bytes)
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "%s needs %llu bytes of device memory, %llu are reserved",
                       work->unit->id, (unsigned long long)bytes,
                       (unsigned long long)(cuda->memory ? cuda->arena_bytes : 0));
    cuda->prepared.unit = cuda->warmed.unit = NULL;
    if (unit_check(ops->reset(cuda->arena, &work->dims, CUDA_SEED, cuda->stream), work, "filling the inputs", err))
        return -1;
    cuda->prepared = *work;
    return 0;
}

int cuda_launch(struct cuda_backend *b, const struct gpu_work *work, int64_t launches, struct rl_err *err)
{
    const struct rl_unit_ops *ops = cuda_ops(work, err);
    if (!ops)
        return -1;
    if (b->prepared.unit != work->unit || memcmp(&b->prepared.dims, &work->dims, sizeof work->dims))
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "%s was launched without its inputs", work->unit->id);
    for (int64_t i = 0; i < launches; i++)
        if (unit_check(ops->launch(b->arena, &work->dims, work->variant, b->stream), work, "the launch", err))
            return -1;
    return 0;
}

int cuda_flush(struct cuda_backend *b, unsigned which, struct rl_err *err)
{
    b->warmed.unit = NULL;
    return cuda_check((cudaError_t)rl_flush_read(b->flush[which], b->flush_bytes, b->sink, b->stream),
                      "emptying the L2 by reading", err);
}

int cuda_synchronize(struct cuda_backend *b, struct rl_err *err)
{
    return CUDA_TRY(cudaStreamSynchronize(b->stream), err);
}

int cuda_describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                  struct rl_err *err)
{
    (void)b;
    const struct rl_unit_ops *ops = cuda_ops(work, err);
    struct rl_launch_info info = {0};
    if (!ops || unit_check(ops->describe(&work->dims, work->variant, &info), work, "describing the launch", err))
        return -1;
    struct gpu_launch launch = {0};
    for (int i = 0; i < 3; i++) {
        launch.launch.grid[i] = (int64_t)info.grid[i];
        launch.launch.block[i] = (int64_t)info.block[i];
    }
    launch.launch.shared_bytes = (int64_t)info.shared_bytes;
    launch.launch.registers = (struct rl_count){info.registers, NULL};
    launch.launch.local_bytes = (struct rl_count){info.local_bytes, NULL};
    launch.launch.max_blocks_per_sm = (struct rl_count){info.max_blocks_per_sm, NULL};
    launch.launch.shape = (struct rl_text){rl_arena_strdup(arena, info.text), NULL};
    launch.binary = cuda_binary_text(info.binary_version, arena).value;
    if (!launch.launch.shape.value || !launch.binary)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the description of a launch");
    if (info.binary_version == 0) { /* a copy by the driver is no kernel of ours */
        const char *why = "not a kernel of this program";
        launch.launch.registers = launch.launch.local_bytes = launch.launch.max_blocks_per_sm =
            (struct rl_count){0, why};
        launch.binary = "driver";
    }
    *ret = launch;
    return 0;
}

int cuda_result_check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    const struct rl_unit_ops *ops = cuda_ops(work, err);
    struct rl_result_check found = {0};
    if (!ops || cuda_prepare(b, work, err) || cuda_launch(cuda, work, 1, err) ||
        unit_check(ops->check(cuda->arena, &work->dims, CUDA_SEED, cuda->scratch, cuda->stream, &found), work,
                   "the result check", err))
        return -1;
    struct gpu_result result = {
        .passed = found.passed,
        .compared_device = found.compared_device,
        .compared_host = found.compared_host,
        .wrong = found.wrong,
        .worst_index = found.worst_index,
        .worst = found.worst,
    };
    snprintf(result.detail, sizeof result.detail, "%.*s", (int)sizeof found.detail - 1, found.detail);
    *ret = result;
    return 0;
}

int cuda_profile(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    for (size_t i = 0; i < count; i++) {
        /* the profiler is on around the launch alone: what fills the inputs is not to be seen */
        if (cuda_prepare(b, &works[i], err) || cuda_synchronize(cuda, err) || CUDA_TRY(cudaProfilerStart(), err))
            return -1;
        int failed = cuda_launch(cuda, &works[i], 1, err) || cuda_synchronize(cuda, err);
        if (failed) {
            (void)cudaProfilerStop();
            return -1;
        }
        if (CUDA_TRY(cudaProfilerStop(), err))
            return -1;
    }
    return 0;
}
