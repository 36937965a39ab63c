/* The seam between deciding and measuring: the engine (gpu/engine) decides what to run and for how long, a backend
 * answers with raw samples, raw counts and raw environment. Rates, stopping, checks' verdicts and the run's record are
 * made above it, so that a replayed run goes through the same code as a measured one.
 *
 * Backends: cuda (a GPU), replay (a recording), null (errors only), and a recorder that wraps any of them and
 * writes what it answered to a file.
 */
#ifndef GPU_BACKEND_BACKEND_H
#define GPU_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "kernels/unit/catalogue.h"

/* One unit at its sizes. */
struct gpu_work {
    const struct rl_unit *unit;
    enum rl_sizes sizes;
    struct rl_dims dims;
    unsigned variant; /* launch shape */
};

/* One time sample: a batch of launches between two events (warm), or one launch on an emptied L2 (cold). */
struct gpu_sample {
    double time_s; /* of the whole batch */
    int64_t launches;
    double sm_hz; /* SM clock by marks around the batch, or inside the kernel; 0 when the marks fell on different SMs */
};

/* Raw clocks and state of the card, by NVML; every member unknown with its reason where NVML is missing. */
struct gpu_card_state {
    struct rl_real sm_hz, memory_hz, temperature_c, power_w, energy_j;
    struct rl_strings reasons; /* in the run's arena */
    struct rl_count other_processes;
};

struct gpu_launch {
    struct rl_launch launch;
    const char *binary; /* "sm_90", or "ptx" when the driver compiled it */
};

/* Result of a unit's result check; see kernels/unit/launch.h. Copied here so that replay needs no CUDA. */
struct gpu_result {
    bool passed;
    uint64_t compared_device, compared_host, wrong, worst_index;
    double worst;
    char detail[256];
};

/* What to count. One item is one unit and state; a backend makes these ranges of one counter session:
 *   warm: `launches` launches and, separately, 4 x `launches`, each after the same warm-up as the timed batch;
 *   cold: one launch on an emptied L2, and one launch followed by a read flush;
 * and for the session: an empty range, and flush-only ranges. */
struct gpu_count_item {
    struct gpu_work work;
    enum rl_state state;
    int64_t launches; /* per warm range: that of the timed batches; 1 when cold */
};
/* Raw counts of a range; absent metrics keep a reason. Not yet divided by launches. */
struct gpu_counts {
    struct rl_real dram_read, dram_write, l2, l2_sm_sectors, l1;
    struct rl_real warps_active_pct; /* achieved occupancy, percent of peak */
};
struct gpu_count_answer {
    struct gpu_counts one;  /* warm: `launches` launches; cold: the single launch */
    struct gpu_counts four; /* warm: 4 x launches; cold: launch and read flush */
    struct rl_real fp64_add, fp64_mul, fp64_fma, fp32_add, fp32_mul, fp32_fma, fp16_add, fp16_mul,
        fp16_fma;               /* thread instructions of ONE launch */
    struct rl_real local_bytes; /* of one launch */
};
struct gpu_count_session {
    struct rl_text chip;         /* CUPTI's name of the chip, "GH100"; CUPTI is not loaded before timing is over */
    struct rl_counters counters; /* status, why, metrics, passes; floor and flush from the fields below */
    struct gpu_counts empty;     /* an empty range */
    struct gpu_counts flush[5];  /* flush-only ranges */
    size_t flush_count;
};

/* Launches before a warm batch, timed or counted. A short kernel warms up as long as its batch lasts: after 3 launches
 * of a 2048 x 2048 stencil, whose arrays half fit the L2, its bytes per launch still fell by 1.7 percent between a
 * batch and one four times as long, and its tiled form's by 3.4 (H200, 2026-11-29). A kernel that fills its batch with
 * ten launches streams past the L2 with each; batches of up to three launches are those of a sweep and of the FMA
 * chain, which has no cache state. */
static inline int64_t gpu_warm_up(int64_t launches)
{
    return launches > 10 ? launches : launches < 4 ? 1 : 3;
}

struct gpu_backend;
struct gpu_backend_ops {
    const char *name; /* "cuda", "replay", "null" */
    enum rl_source source;
    /* Device and environment, cheap: no counters session. Strings live in arena. */
    int (*identify)(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                    struct rl_environment *ret_environment, struct rl_err *err);
    /* The driver's version, read again now: to see a driver replaced during a run. */
    int (*driver_now)(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err);
    /* `at` names the moment and keys the recording: "start", "vector_add warm before", … unique within a run. */
    int (*card_state)(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                      struct rl_err *err);
    /* Device memory for the largest of the works, and flush buffers. Called once a run, before its
     * first prepare; a later run's call replaces what an earlier one reserved. */
    int (*reserve)(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err);
    /* Runs real load for about 20 ms and answers the SM clock seen: called until it is steady. step counts from 0. */
    int (*spin)(struct gpu_backend *b, unsigned step, double *ret_sm_hz, struct rl_err *err);
    /* Fills inputs and poisons outputs of a unit: must come before check, warm, cold of it. */
    int (*prepare)(struct gpu_backend *b, const struct gpu_work *work, struct rl_err *err);
    int (*describe)(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_work *work, struct gpu_launch *ret,
                    struct rl_err *err);
    int (*check)(struct gpu_backend *b, const struct gpu_work *work, struct gpu_result *ret, struct rl_err *err);
    /* One warm batch: gpu_warm_up(launches) launches (or, straight after another such batch of the same work, which has
     * warmed it up, at most 3), event, launches, event. `sample` counts from 0 within (work, launches). */
    int (*warm)(struct gpu_backend *b, const struct gpu_work *work, int64_t launches, unsigned sample,
                struct gpu_sample *ret, struct rl_err *err);
    /* Restore inputs when the unit changes them, empty the L2 by reading, event, launch, event. */
    int (*cold)(struct gpu_backend *b, const struct gpu_work *work, unsigned sample, struct gpu_sample *ret,
                struct rl_err *err);
    /* Counter session over all items; answers[i] belongs to items[i]. A session that cannot be had is not a failure:
     * returns 0 with session->counters.status and why set, answers' members unknown with that reason. progress may be
     * NULL; it is called between ranges and returns false to stop (the call then fails with RL_E_CANCELLED). */
    int (*count)(struct gpu_backend *b, struct rl_arena *arena, const struct gpu_count_item *items, size_t count,
                 struct gpu_count_answer *answers, struct gpu_count_session *ret_session,
                 bool (*progress)(void *arg, size_t done, size_t total), void *arg, struct rl_err *err);
    /* Launches each work exactly once between cudaProfilerStart and Stop, each after prepare and a synchronise. */
    int (*profile)(struct gpu_backend *b, const struct gpu_work *works, size_t count, struct rl_err *err);
    /* May be NULL. What a counter session would get: 0 when a tiny launch was counted just now and read a non-zero
     * counter, else -1 with the RL_E_COUNTERS_… code that says why. */
    int (*probe_counters)(struct gpu_backend *b, struct rl_err *err);
    void (*close)(struct gpu_backend *b); /* accepts a half-opened backend; frees it */
};

/* First member of every backend. */
struct gpu_backend {
    const struct gpu_backend_ops *ops;
    char chip[32];          /* CUPTI's name of the chip, once probe_counters was asked; empty: not known */
    bool will_count;        /* set before reserve: a counter session will be asked for, so load for it meanwhile */
    int64_t recorded_at_ms; /* replay: when the recording was made; else 0 */
    /* Sizes of the run that comes next, set by whoever calls engine_run. Calls without a work (card_state, spin,
     * driver_now) are keyed by it in a recording, which holds runs of several sizes. identify begins a run. */
    enum rl_sizes sizes;
    /* cuda: why this process could not lock the GPU (or the node, while counting) for itself; the caller warns and
     * flags the run `shared`. NULL: it holds the lock. Owned by the backend; to be read again after count. */
    const char *shared_why;
};

/* Opens the cuda backend on the device with this UUID (NULL: the first in PCI order). Sets CUDA_VISIBLE_DEVICES and
 * CUDA_DEVICE_ORDER before CUDA starts. Where the program was built without CUDA: RL_E_NO_CUDA_BUILD. */
int gpu_backend_open_cuda(const char *uuid, struct gpu_backend **ret, struct rl_err *err);
/* Every device on the node (identify of each), without a CUDA context where NVML is there. count_max caps the list. */
int gpu_backend_list_cuda(struct rl_arena *arena, struct rl_device *ret_devices,
                          struct rl_environment *ret_environments, size_t count_max, size_t *ret_count,
                          struct rl_err *err);
/* Opens a recording. uuid NULL: the recording's device; another device's uuid is RL_E_DEVICE_GONE. */
int gpu_backend_open_replay(const char *path, const char *uuid, struct gpu_backend **ret, struct rl_err *err);
/* A backend whose every call fails with this error: a node with no driver, say. */
int gpu_backend_open_null(const struct rl_err *why, struct gpu_backend **ret, struct rl_err *err);
/* Wraps inner (owned from now on) and writes the recording to path when closed after gpu_recorder_finish; nothing is
 * left at path otherwise (written to a temporary file beside it and renamed). Several runs (course, then scaled)
 * may go through one recorder. */
int gpu_backend_open_recorder(struct gpu_backend *inner, const char *path, struct gpu_backend **ret,
                              struct rl_err *err);
int gpu_recorder_finish(struct gpu_backend *recorder, struct rl_err *err);

#endif
