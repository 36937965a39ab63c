/* A cuda backend that is a recording, for tests of the program around it: what lists devices, tries them in processes
 * of their own, records, and says "measured". STAND_IN_RECORDING names the recording. Four devices: the recorded one,
 * one whose driver crashes, one that is held by somebody else, one that hangs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/backend/backend.h"
#include "gpu/base/buf.h"

#define UUID(last) "GPU-00000000-0000-0000-0000-00000000000" last

static struct gpu_backend_ops ops;

int gpu_backend_open_cuda(const char *uuid, struct gpu_backend **ret, struct rl_err *err)
{
    struct gpu_backend *backend = NULL;
    if (uuid && strcmp(uuid, UUID("2")) == 0)
        abort();
    if (uuid && strcmp(uuid, UUID("3")) == 0)
        return rl_fail(err, RL_E_DEVICE_BUSY, NULL, "another process measures on this GPU");
    while (uuid && strcmp(uuid, UUID("4")) == 0)
        pause();
    if (!getenv("STAND_IN_RECORDING"))
        return rl_fail(err, RL_E_NO_DRIVER, NULL, "no NVIDIA driver: the stand-in has no recording");
    if (gpu_backend_open_replay(getenv("STAND_IN_RECORDING"), uuid, &backend, err) != 0)
        return -1;
    ops = *backend->ops;
    ops.name = "cuda";
    ops.source = RL_MEASURED;
    backend->ops = &ops;
    backend->recorded_at_ms = 0;
    *ret = backend;
    return 0;
}

int gpu_backend_list_cuda(struct rl_arena *arena, struct rl_device *ret_devices,
                          struct rl_environment *ret_environments, size_t count_max, size_t *ret_count,
                          struct rl_err *err)
{
    static const char *const uuids[] = {UUID("1"), UUID("2"), UUID("3"), UUID("4")};
    struct gpu_backend *backend = NULL;
    size_t count = getenv("STAND_IN_DEVICES") ? (size_t)strtoul(getenv("STAND_IN_DEVICES"), NULL, 10) : 3;
    if (gpu_backend_open_cuda(NULL, &backend, err) != 0)
        return -1;
    for (size_t i = 0; i < count && i < count_max; i++) {
        if (backend->ops->identify(backend, arena, &ret_devices[i], &ret_environments[i], err) != 0)
            return -1;
        ret_devices[i].id = ret_devices[i].uuid.value = rl_arena_strdup(arena, uuids[i]);
    }
    backend->ops->close(backend);
    *ret_count = count;
    return 0;
}
