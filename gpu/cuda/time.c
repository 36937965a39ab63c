/* Time samples: a warm batch, a cold launch, and the spin that brings the clock up. */
#include <math.h>
#include <string.h>

#include "gpu/cuda/private.h"

#define SPIN_S          0.020
#define SPIN_LAUNCH_MAX 20000

double cuda_clock_between(const struct rl_clock_mark marks[2])
{
    /* clock64 counts per SM, so two SMs' readings have no common zero; globaltimer is the GPU's */
    if (marks[0].sm != marks[1].sm || marks[1].time_ns <= marks[0].time_ns || marks[1].cycles <= marks[0].cycles)
        return 0;
    return (double)(marks[1].cycles - marks[0].cycles) / (double)(marks[1].time_ns - marks[0].time_ns) * 1e9;
}

static int mark(struct cuda_backend *b, unsigned which, struct rl_err *err)
{
    return cuda_check((cudaError_t)rl_mark_clock(b->marks + which, b->stream), "marking the clock", err);
}

/* Waits for all that was queued, once, and reads the events and marks. */
static int finish(struct cuda_backend *b, const struct gpu_work *work, int64_t launches, struct gpu_sample *ret,
                  struct rl_err *err)
{
    if (CUDA_TRY(cudaMemcpyAsync(b->host_marks, b->marks, 2 * sizeof *b->marks, cudaMemcpyDeviceToHost, b->stream),
                 err) ||
        cuda_synchronize(b, err))
        return -1;
    float ms = 0;
    if (CUDA_TRY(cudaEventElapsedTime(&ms, b->begin, b->end), err))
        return -1;
    if (!(ms > 0) || !isfinite(ms))
        return rl_fail(err, RL_E_CUDA_FAILED, work->unit->id, "the events around %lld launches of %s are %g ms apart",
                       (long long)launches, work->unit->id, (double)ms);
    *ret = (struct gpu_sample){
        .time_s = (double)ms * 1e-3,
        .launches = launches,
        .sm_hz = cuda_clock_between(b->host_marks),
    };
    return 0;
}

/* The FMA ceiling reads the clock inside itself, which no start-up of a kernel blurs. */
static int clock_inside(struct cuda_backend *b, const struct gpu_work *work, double *sm_hz, struct rl_err *err)
{
    const struct rl_unit_ops *ops = cuda_ops(work, err);
    struct rl_clock_mark marks[2];
    if (!ops)
        return -1;
    if (!ops->clock_marks)
        return 0;
    if (cuda_check((cudaError_t)ops->clock_marks(b->arena, &work->dims, b->stream, marks), "reading the clock marks",
                   err))
        return -1;
    *sm_hz = cuda_clock_between(marks);
    return 0;
}

/* Launches that have to come before this batch. */
static int64_t warm_up(const struct cuda_backend *b, const struct gpu_work *work, int64_t launches)
{
    int64_t whole = gpu_warm_up(launches);
    bool follows = b->warmed.unit == work->unit && b->warmed.variant == work->variant &&
                   b->warmed_launches >= launches && !memcmp(&b->warmed.dims, &work->dims, sizeof work->dims);
    return follows && whole > 3 ? 3 : whole;
}

int cuda_warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
              struct gpu_sample *ret, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    struct gpu_sample got;
    (void)sample;
    if (launches < 1 || launches > CUDA_LAUNCHES_MAX)
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "a batch of %lld launches is not between 1 and %d",
                       (long long)launches, CUDA_LAUNCHES_MAX);
    /* nothing waits in between: while the warm-up runs, the host is ahead with the batch */
    if (cuda_launch(cuda, work, warm_up(cuda, work, launches), err) || mark(cuda, 0, err) ||
        CUDA_TRY(cudaEventRecord(cuda->begin, cuda->stream), err) || cuda_launch(cuda, work, launches, err) ||
        CUDA_TRY(cudaEventRecord(cuda->end, cuda->stream), err) || mark(cuda, 1, err) ||
        finish(cuda, work, launches, &got, err) || clock_inside(cuda, work, &got.sm_hz, err))
        return -1;
    cuda->warmed = *work;
    cuda->warmed_launches = launches;
    *ret = got;
    return 0;
}

int cuda_cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
              struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    struct gpu_sample got;
    (void)sample;
    if (!cuda->memory)
        return rl_fail(err, RL_E_INTERNAL, work->unit->id, "a cold sample before device memory was reserved");
    /* Launches leave their inputs as they are (kernels/unit/launch.h), so nothing is restored. The marks are around the
     * flush too: a launch of microseconds is too short for globaltimer's grain. The flush keeps the GPU busy for at
     * least 50 us while the host queues the rest, so that no launch latency falls between the events. */
    if (mark(cuda, 0, err) || cuda_flush(cuda, 0, err) || CUDA_TRY(cudaEventRecord(cuda->begin, cuda->stream), err) ||
        cuda_launch(cuda, work, 1, err) || CUDA_TRY(cudaEventRecord(cuda->end, cuda->stream), err) ||
        mark(cuda, 1, err) || finish(cuda, work, 1, &got, err) || clock_inside(cuda, work, &got.sm_hz, err))
        return -1;
    *ret = got;
    return 0;
}

/* ---- spin ---- */

static int spin_memory(struct cuda_backend *cuda, const struct rl_unit_ops *ops, struct rl_err *err)
{
    if (cuda->spin_arena)
        return 0;
    if (ops->unit->dims(RL_COURSE, cuda->l2_bytes, &cuda->spin_dims))
        return rl_fail(err, RL_E_INTERNAL, NULL, "no course sizes of %s", ops->unit->id);
    if (CUDA_TRY(cudaMalloc(&cuda->spin_memory, ops->arena_bytes(&cuda->spin_dims) + 2 * sizeof *cuda->marks + 512),
                 err))
        return -1;
    cuda->spin_arena = cuda->spin_memory;
    uint64_t offset = (ops->arena_bytes(&cuda->spin_dims) + 511) / 512 * 512;
    cuda->marks = (struct rl_clock_mark *)(void *)((unsigned char *)cuda->spin_memory + offset);
    return 0;
}

/* Runs n launches between two marks and events; their time and the clock seen. */
static int spin_batch(struct cuda_backend *cuda, const struct rl_unit_ops *ops, int64_t n, double *ret_s,
                      double *ret_hz, struct rl_err *err)
{
    struct gpu_work work = {.unit = ops->unit, .dims = cuda->spin_dims};
    struct gpu_sample got;
    if (mark(cuda, 0, err) || CUDA_TRY(cudaEventRecord(cuda->begin, cuda->stream), err))
        return -1;
    for (int64_t i = 0; i < n; i++)
        if (cuda_check((cudaError_t)ops->launch(cuda->spin_arena, &cuda->spin_dims, 0, cuda->stream), "spinning", err))
            return -1;
    if (CUDA_TRY(cudaEventRecord(cuda->end, cuda->stream), err) || mark(cuda, 1, err) ||
        finish(cuda, &work, n, &got, err))
        return -1;
    *ret_s = got.time_s;
    *ret_hz = got.sm_hz;
    return 0;
}

int cuda_spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    const struct rl_unit_ops *ops = rl_unit_ops_find(CUDA_SPIN_UNIT);
    double time_s = 0, hz = 0;
    (void)step;
    cuda->warmed.unit = NULL;
    if (!ops)
        return rl_fail(err, RL_E_INTERNAL, NULL, "there is no %s to spin with", CUDA_SPIN_UNIT);
    if (spin_memory(cuda, ops, err))
        return -1;
    if (!cuda->spin_launches) {
        if (cuda_check((cudaError_t)ops->reset(cuda->spin_arena, &cuda->spin_dims, CUDA_SEED, cuda->stream),
                       "filling the spin's inputs", err) ||
            spin_batch(cuda, ops, 1, &time_s, &hz, err) || /* the first launch loads the code */
            spin_batch(cuda, ops, 2, &time_s, &hz, err))
            return -1;
        double wanted = ceil(SPIN_S / (time_s / 2));
        cuda->spin_launches = (int64_t)fmax(1, fmin(wanted, SPIN_LAUNCH_MAX));
    }
    if (spin_batch(cuda, ops, cuda->spin_launches, &time_s, &hz, err))
        return -1;
    *ret_sm_hz = hz;
    return 0;
}
