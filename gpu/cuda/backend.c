/* The cuda backend: opening a device, listing all, closing. What it does with the device is in cuda_*.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpu/cuda/private.h"
#include "gpu/node/lock.h"

#define DEVICE_LOCK_WAIT_MS 10000 /* two course runs: then it is not a short overlap but a queue */

static void cuda_close(struct gpu_backend *b)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    if (!cuda)
        return;
    if (cuda->started) {
        cuda_free_memory(cuda);
        if (cuda->host_marks)
            (void)cudaFreeHost(cuda->host_marks);
        if (cuda->begin)
            (void)cudaEventDestroy(cuda->begin);
        if (cuda->end)
            (void)cudaEventDestroy(cuda->end);
        if (cuda->stream)
            (void)cudaStreamDestroy(cuda->stream);
        (void)cudaDeviceReset(); /* a probe goes on to the next device: this one's memory has to be free again */
    }
    nvml_close(cuda->nvml);
    gpu_lock_release(cuda->lock_fd);
    free(cuda);
}

static const struct gpu_backend_ops cuda_backend_ops = {
    .name = "cuda",
    .source = RL_MEASURED,
    .identify = cuda_identify,
    .driver_now = cuda_driver_now,
    .card_state = cuda_card_state,
    .reserve = cuda_reserve,
    .spin = cuda_spin,
    .prepare = cuda_prepare,
    .describe = cuda_describe,
    .check = cuda_result_check,
    .warm = cuda_warm,
    .cold = cuda_cold,
    .count = cuda_count,
    .profile = cuda_profile,
    .probe_counters = cuda_probe_counters,
    .close = cuda_close,
};

/* CUDA reads these once, at its first call. To be called while the process has one thread that reads its environment.
 */
static int set_environment(const char *uuid, struct rl_err *err)
{
    if ((uuid && setenv("CUDA_VISIBLE_DEVICES", uuid, 1)) || setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1) ||
        setenv("CUDA_MODULE_LOADING", "LAZY", 0))
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for an environment variable");
    return 0;
}

/* The first visible device, or the one whose UUID begins with `uuid`: all are visible where CUDA started before. */
static int choose_device(struct cuda_backend *b, const char *uuid, int count, struct rl_err *err)
{
    for (int i = 0; i < count; i++) {
        if (CUDA_TRY(cudaGetDeviceProperties(&b->properties, i), err))
            return -1;
        cuda_uuid_text(&b->properties.uuid, b->uuid);
        b->device = i;
        if (!uuid || !strncasecmp(b->uuid, uuid, strlen(uuid)))
            return 0;
        /* CUDA shows one MIG device and no more when it is named, and its UUID reads as a GPU's */
        if (!strncmp(uuid, "MIG-", 4) && count == 1) {
            snprintf(b->uuid, sizeof b->uuid, "%s", uuid);
            return 0;
        }
    }
    return rl_fail(err, RL_E_DEVICE_GONE, "device", "none of the %d visible GPUs is %s", count, uuid);
}

/* NVML's card of the same UUID; MIG devices are NVML's under "MIG-". */
static int find_card(const struct nvml *nvml, const char *uuid, struct nvml_card *ret, struct rl_err *err)
{
    if (nvml_find(nvml, uuid, NULL, ret, err) == 0)
        return 0;
    char mig[CUDA_UUID_TEXT];
    struct rl_err ignored;
    snprintf(mig, sizeof mig, "MIG-%s", uuid + 4);
    return nvml_find(nvml, mig, NULL, ret, &ignored);
}

static int open_nvml(struct cuda_backend *b, struct rl_err *err)
{
    struct rl_err why = {0};
    if (nvml_open(NULL, &b->nvml, &why) == 0) {
        b->has_card = find_card(b->nvml, b->uuid, &b->card, &why) == 0;
        if (b->has_card && b->card.mig)
            memcpy(b->uuid, "MIG-", 4);
        if (b->has_card)
            return 0;
    }
    if (why.code == RL_E_DRIVER_MISMATCH) { /* CUDA may still run on what is loaded; the version would be a guess */
        if (err)
            *err = why;
        return -1;
    }
    snprintf(b->nvml_why, sizeof b->nvml_why, "%.511s", why.message);
    return 0;
}

static int lock_device(struct cuda_backend *b, struct rl_err *err)
{
    char directory[256];
    struct rl_err why = {0};
    if (gpu_lock_directory(directory, sizeof directory, &why) == 0 &&
        gpu_lock_take(directory, b->uuid, DEVICE_LOCK_WAIT_MS, &b->lock_fd, &why) == 0)
        return 0;
    if (why.code == RL_E_DEVICE_BUSY) {
        if (err)
            *err = why;
        return -1;
    }
    snprintf(b->shared_text, sizeof b->shared_text, "%.255s", why.message);
    b->base.shared_why = b->shared_text;
    return 0;
}

/* Makes the context and what every operation needs. */
static int start_device(struct cuda_backend *b, struct rl_err *err)
{
    struct nvml_pids before;
    bool listed = b->has_card && nvml_processes(b->nvml, &b->card, &before, NULL) == 0;
    if (CUDA_TRY(cudaSetDevice(b->device), err))
        return -1;
    b->started = true;
    void *marks = NULL;
    if (CUDA_TRY(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking), err) ||
        CUDA_TRY(cudaEventCreate(&b->begin), err) || CUDA_TRY(cudaEventCreate(&b->end), err) ||
        CUDA_TRY(cudaHostAlloc(&marks, 2 * sizeof *b->host_marks, cudaHostAllocDefault), err))
        return -1;
    b->host_marks = marks;
    b->l2_bytes = b->properties.l2CacheSize > 0 ? (uint64_t)b->properties.l2CacheSize : 0;
    cuda_find_own_pid(b, listed ? &before : NULL);
    return 0;
}

int gpu_backend_open_cuda(const char *uuid, struct gpu_backend **ret, struct rl_err *err)
{
    if (uuid && !cuda_uuid_plausible(uuid))
        return rl_fail(err, RL_E_BAD_FIELD, "device", "a device is named by its UUID, GPU-… or MIG-…, not \"%.80s\"",
                       uuid);
    struct cuda_backend *b = calloc(1, sizeof *b);
    if (!b)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the cuda backend");
    b->base.ops = &cuda_backend_ops;
    b->lock_fd = -1;
    int count = 0;
    struct rl_err why = {0};
    if (set_environment(uuid, &why) || cuda_start(uuid, &count, &why) || choose_device(b, uuid, count, &why) ||
        open_nvml(b, &why) || lock_device(b, &why) || start_device(b, &why))
        goto fail;
    *ret = &b->base;
    return 0;
fail:
    cuda_close(&b->base);
    if (err)
        *err = why;
    return -1;
}

/* ---- list ---- */

static int list_one(int device, const struct nvml *nvml, const char *nvml_why, struct rl_arena *arena,
                    struct rl_device *ret_device, struct rl_environment *ret_environment, struct rl_err *err)
{
    struct cudaDeviceProp properties;
    char uuid[CUDA_UUID_TEXT];
    struct nvml_card card;
    struct rl_err why = {0};
    if (CUDA_TRY(cudaGetDeviceProperties(&properties, device), err))
        return -1;
    cuda_uuid_text(&properties.uuid, uuid);
    bool has_card = nvml && find_card(nvml, uuid, &card, &why) == 0;
    if (has_card && card.mig)
        memcpy(uuid, "MIG-", 4);
    const struct cuda_identity identity = {
        .device = device,
        .properties = &properties,
        .uuid = uuid,
        .nvml = nvml,
        .card = has_card ? &card : NULL,
        .nvml_why = has_card ? NULL
                    : nvml   ? why.message
                             : nvml_why,
    };
    cuda_read_device(&identity, arena, ret_device);
    ret_device->chip = cuda_chip(device, arena);
    cuda_read_environment(&identity, arena, ret_environment);
    if (!ret_device->id || !ret_device->name)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the list of devices");
    return 0;
}

int gpu_backend_list_cuda(struct rl_arena *arena, struct rl_device *ret_devices,
                          struct rl_environment *ret_environments, size_t count_max, size_t *ret_count,
                          struct rl_err *err)
{
    int count = 0;
    struct nvml *nvml = NULL;
    struct rl_err why = {0};
    int result = -1;
    if (set_environment(NULL, err) || cuda_start(NULL, &count, err))
        return -1;
    if (nvml_open(NULL, &nvml, &why) && why.code == RL_E_DRIVER_MISMATCH) {
        if (err)
            *err = why;
        return -1;
    }
    size_t listed = 0;
    for (; listed < (size_t)count && listed < count_max; listed++)
        if (list_one((int)listed, nvml, why.message, arena, &ret_devices[listed], &ret_environments[listed], err))
            goto out;
    *ret_count = listed;
    result = 0;
out:
    nvml_close(nvml);
    return result;
}
