/* CUDA's errors as ours, and the start of CUDA, where most of them show. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gpu/cuda/private.h"

enum rl_code cuda_error_code(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return RL_E_OUT_OF_MEMORY;
    case cudaErrorStubLibrary:
        return RL_E_NO_DRIVER;
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorCompatNotSupportedOnDevice:
        return RL_E_OLD_DRIVER;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorOperatingSystem: /* a device file that may not be opened */
        return RL_E_NO_DEVICE;
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
        return RL_E_COMPUTE_MODE;
    case cudaErrorSystemDriverMismatch:
        return RL_E_DRIVER_MISMATCH;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
        return RL_E_UNSUPPORTED_CHIP;
    case cudaErrorNotSupported:
    case cudaErrorInvalidConfiguration: /* a launch shape that this card does not take */
    case cudaErrorLaunchOutOfResources:
        return RL_E_NOT_IMPLEMENTED;
    default:
        return RL_E_CUDA_FAILED;
    }
}

/* What CUDA's own words leave out. */
static const char *hint(cudaError_t error)
{
    switch (error) {
    case cudaErrorDevicesUnavailable:
        return "; the GPU is in exclusive or prohibited compute mode and another process may hold it";
    case cudaErrorSystemNotReady:
        return "; on NVSwitch machines the fabric manager has to run";
    case cudaErrorUnknown:
        return "; often the nvidia-uvm module is not loaded";
    case cudaErrorStubLibrary:
        return "; the toolkit's stub of libcuda was loaded instead of the driver's library";
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
        return "; CUDA is told to go through an MPS daemon that does not answer";
    default:
        return "";
    }
}

int cuda_check(cudaError_t error, const char *call, struct rl_err *err)
{
    if (error == cudaSuccess)
        return 0;
    (void)cudaGetLastError(); /* a sticky error comes back with the next call by itself */
    return rl_fail(err, cuda_error_code(error), NULL, "%.*s failed: %s (%d): %s%s", (int)strcspn(call, "("), call,
                   cudaGetErrorName(error), (int)error, cudaGetErrorString(error), hint(error));
}

/* CUDA says "no device" also where the driver's kernel module is not loaded, or where it was told to see another;
 * NVML tells them apart. */
static int no_device(const char *uuid, struct rl_err *err)
{
    struct nvml *nvml = NULL;
    struct rl_err why = {0};
    if (nvml_open(NULL, &nvml, &why)) {
        if (why.code == RL_E_NO_DRIVER || why.code == RL_E_DRIVER_MISMATCH)
            return rl_fail(err, why.code, NULL, "CUDA sees no device, and NVML says why: %s", why.message);
        return rl_fail(err, RL_E_NO_DEVICE, NULL, "CUDA sees no device; NVML says: %s", why.message);
    }
    unsigned count = 0;
    int result = nvml_count(nvml, &count, &why);
    nvml_close(nvml);
    if (result || count == 0)
        return rl_fail(err, RL_E_NO_DEVICE, NULL, "neither CUDA nor NVML sees a device");
    if (uuid)
        return rl_fail(err, RL_E_DEVICE_GONE, "device", "CUDA does not see %s; NVML sees %u other or hidden GPUs", uuid,
                       count);
    return rl_fail(
        err, RL_E_NO_DEVICE, NULL,
        "CUDA sees no device, NVML sees %u: they are hidden by CUDA_VISIBLE_DEVICES or by device permissions", count);
}

int cuda_start(const char *uuid, int *ret_count, struct rl_err *err)
{
    /* the runtime answers 0 where it finds no libcuda, and "insufficient driver" for every other call */
    int driver = 0;
    if (CUDA_TRY(cudaDriverGetVersion(&driver), err))
        return -1;
    if (driver == 0)
        return rl_fail(err, RL_E_NO_DRIVER, NULL, "no NVIDIA driver: libcuda.so.1 cannot be loaded");
    if (driver / 1000 < CUDART_VERSION / 1000)
        return rl_fail(err, RL_E_OLD_DRIVER, NULL, "the driver supports CUDA %d.%d, this program needs %d.%d",
                       driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
        (void)cudaGetLastError();
        return no_device(uuid, err);
    }
    if (cuda_check(error, "cudaGetDeviceCount", err))
        return -1;
    *ret_count = count;
    return 0;
}

void cuda_uuid_text(const cudaUUID_t *uuid, char text[CUDA_UUID_TEXT])
{
    char *at = text;
    at += snprintf(at, CUDA_UUID_TEXT, "GPU-");
    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        at += snprintf(at, (size_t)(text + CUDA_UUID_TEXT - at), "%s%02x", dash, (unsigned char)uuid->bytes[i]);
    }
}

bool cuda_uuid_plausible(const char *text)
{
    size_t len = strlen(text);
    if (len <= 4 || len >= CUDA_UUID_TEXT || (strncmp(text, "GPU-", 4) && strncmp(text, "MIG-", 4)))
        return false;
    const char *rest = text + 4;
    if (!strncmp(text, "MIG-GPU-", 8)) /* drivers before R470: MIG-GPU-<uuid>/<gpu instance>/<compute instance> */
        rest += 4;
    if (!*rest)
        return false;
    for (; *rest; rest++)
        if (!isxdigit((unsigned char)*rest) && *rest != '-' && *rest != '/')
            return false;
    return true;
}
