/* The cuda backend of a build without the CUDA toolkit: says so. */
#include "gpu/backend/backend.h"

static int no_cuda(struct rl_err *err)
{
    return rl_fail(err, RL_E_NO_CUDA_BUILD, NULL,
                   "this build has no cuda backend: it was configured without the CUDA toolkit");
}

int gpu_backend_open_cuda(const char *uuid, struct gpu_backend **ret, struct rl_err *err)
{
    (void)uuid, (void)ret;
    return no_cuda(err);
}

int gpu_backend_list_cuda(struct rl_arena *arena, struct rl_device *ret_devices,
                          struct rl_environment *ret_environments, size_t count_max, size_t *ret_count,
                          struct rl_err *err)
{
    (void)arena, (void)ret_devices, (void)ret_environments, (void)count_max, (void)ret_count;
    return no_cuda(err);
}
