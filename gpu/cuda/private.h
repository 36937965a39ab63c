/* What the files of the cuda backend share. CUDA's runtime is linked statically and nothing links libcuda, so that the
 * program starts, and says why it cannot measure, where there is no driver.
 */
#ifndef GPU_CUDA_PRIVATE_H
#define GPU_CUDA_PRIVATE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/backend/backend.h"
#include "gpu/base/err.h"
#include "gpu/node/nvml.h"
#include "kernels/unit/launch.h"

#define CUDA_SEED         0x526f6f664c696e65ull /* of all inputs: what is measured is the same data in every run */
#define CUDA_SPIN_UNIT    "fp32_fma"            /* the load that brings the clock up */
#define CUDA_LAUNCHES_MAX 1000000
#define CUDA_UUID_TEXT    64

struct cuda_backend {
    struct gpu_backend base; /* first */
    int device;              /* CUDA's ordinal among the visible devices */
    struct cudaDeviceProp properties;
    char uuid[CUDA_UUID_TEXT];
    char shared_text[256];
    int lock_fd; /* -1: not held */

    struct nvml *nvml; /* NULL: nvml_why says why; the card is not found without it */
    bool has_card;
    struct nvml_card card;
    char nvml_why[512];
    bool has_nvml_pid; /* the number by which NVML lists this process: in a container it is the node's */
    unsigned nvml_pid;
    char pids_why[256];
    struct rl_count other_processes; /* as last read, at other_processes_ns */
    char other_processes_why[256];
    int64_t other_processes_ns; /* 0: not read yet */

    bool started; /* a context was made */
    cudaStream_t stream;
    cudaEvent_t begin, end;
    uint64_t l2_bytes;

    /* one allocation, cut by reserve */
    void *memory;
    uint64_t arena_bytes;
    void *arena, *scratch, *spin_arena, *sink;
    void *flush[2]; /* before the launch, and inside the range of a settled count */
    uint64_t flush_bytes;
    struct rl_clock_mark *marks;      /* two, on the device */
    struct rl_clock_mark *host_marks; /* two, pinned */
    void *spin_memory;                /* spin before reserve */
    struct rl_dims spin_dims;
    int64_t spin_launches; /* about 20 ms of them; 0: not known yet */

    struct gpu_work prepared; /* unit NULL: none */
    struct gpu_work warmed;   /* what the last operation was a warm batch of; unit NULL: it was something else */
    int64_t warmed_launches;
};

/* ---- gpu/cuda/errors.c ---- */
enum rl_code cuda_error_code(cudaError_t error);
/* 0 for cudaSuccess; else fills err with the call's name (cut at its '('), CUDA's name and words, and clears CUDA's
 * last error. */
int cuda_check(cudaError_t error, const char *call, struct rl_err *err);
#define CUDA_TRY(call, err) cuda_check((cudaError_t)(call), #call, err)
/* Starts CUDA without a context. Devices that it sees in *ret_count, at least one. Names what is missing: a driver, a
 * newer driver, a device. uuid is what CUDA_VISIBLE_DEVICES was set to, or NULL: where other GPUs are there, it is
 * RL_E_DEVICE_GONE that CUDA does not see this one. */
int cuda_start(const char *uuid, int *ret_count, struct rl_err *err);
/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
void cuda_uuid_text(const cudaUUID_t *uuid, char text[CUDA_UUID_TEXT]);
/* Whether text may be a device's UUID, or the beginning of one as CUDA_VISIBLE_DEVICES takes it. */
bool cuda_uuid_plausible(const char *text);

/* ---- gpu/cuda/identify.c ---- */
struct cuda_identity { /* what a device is read through */
    int device;
    const struct cudaDeviceProp *properties;
    const char *uuid;
    const struct nvml *nvml;      /* NULL: nvml_why */
    const struct nvml_card *card; /* NULL: nvml_why */
    const char *nvml_why;
};
bool cuda_profiler_attached(void); /* ncu, nsys or compute-sanitizer came in with this process */
struct rl_text cuda_chip(int device, struct rl_arena *arena); /* by CUPTI, for a probe */
void cuda_read_device(const struct cuda_identity *identity, struct rl_arena *arena, struct rl_device *ret);
/* All but cubin, which needs a context. */
void cuda_read_environment(const struct cuda_identity *identity, struct rl_arena *arena, struct rl_environment *ret);
/* Lanes of the FP32 pipe of one SM, or unknown for a capability that the table lacks. */
struct rl_count cuda_fp32_lanes(int major, int minor);
/* "sm_90" when the program holds code for it, else "ptx": the driver compiled it. */
struct rl_text cuda_binary_text(int binary_version, struct rl_arena *arena);
int cuda_identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                  struct rl_environment *ret_environment, struct rl_err *err);
int cuda_driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err);
int cuda_card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                    struct rl_err *err);
/* Which of the listed processes is this one: the one that is new since `before`, or the own pid. Sets has_nvml_pid. */
void cuda_find_own_pid(struct cuda_backend *b, const struct nvml_pids *before);

/* ---- gpu/cuda/work.c ---- */
/* The CUDA side of a work's unit; NULL with err where there is none, or no such launch shape. */
const struct rl_unit_ops *cuda_ops(const struct gpu_work *work, struct rl_err *err);
int cuda_reserve(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err);
int cuda_prepare(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err);
/* Queues launches of what cuda_prepare has prepared at these sizes; any launch shape. */
int cuda_launch(struct cuda_backend *b, const struct gpu_work *work, int64_t launches, struct rl_err *err);
/* Queues a read of flush buffer 0 or 1, after which the L2 holds clean lines of it. */
int cuda_flush(struct cuda_backend *b, unsigned which, struct rl_err *err);
/* Waits for all that was queued; here the errors of launches show. */
int cuda_synchronize(struct cuda_backend *b, struct rl_err *err);
int cuda_describe(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                  struct rl_err *err);
int cuda_result_check(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err);
int cuda_profile(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err);
void cuda_free_memory(struct cuda_backend *b);

/* ---- gpu/cuda/time.c ---- */
/* SM clock in Hz between two marks; 0 when they fell on different SMs or no time passed. */
double cuda_clock_between(const struct rl_clock_mark marks[2]);
int cuda_spin(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err);
int cuda_warm(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
              struct gpu_sample *ret, struct rl_err *err);
int cuda_cold(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
              struct rl_err *err);

/* ---- gpu/cuda/count.c ---- */
int cuda_count(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t count,
               struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
               bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err);
int cuda_probe_counters(struct gpu_backend *b, struct rl_err *err);

#endif
