/* See tests/unit/node/fake_nvml.h. Prototypes follow NVML's documentation, not our declarations of them. */
#include "tests/unit/node/fake_nvml.h"

#include <stdio.h>
#include <string.h>

static struct fake_nvml settings;
static char gpu_object, mig_object;

#define GPU ((struct nvml_device *)(void *)&gpu_object)
#define MIG ((struct nvml_device *)(void *)&mig_object)

struct fake_nvml *fake_nvml_settings(void)
{
    return &settings;
}

static int init(void)
{
    if (settings.init_result == 0)
        settings.inits++;
    return settings.init_result;
}
int nvmlShutdown(void)
{
    settings.shutdowns++;
    return 0;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device)
{
    if (!settings.uuid || strcmp(uuid, settings.uuid))
        return NVML_NOT_FOUND;
    *device = settings.mig ? MIG : GPU;
    return 0;
}

#ifdef FAKE_NVML_OLD
int nvmlInit(void)
{
    return init();
}
int nvmlDeviceGetHandleByPciBusId(const char *pci, struct nvml_device **device)
{
    if (!settings.pci || strcmp(pci, settings.pci))
        return NVML_NOT_FOUND;
    *device = GPU;
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *reasons)
{
    (void)device;
    *reasons = settings.reasons;
    return settings.result;
}
#else
int nvmlInit_v2(void)
{
    return init();
}
#ifndef FAKE_NVML_BROKEN
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, struct nvml_device **device)
{
    if (!settings.pci || strcmp(pci, settings.pci))
        return NVML_NOT_FOUND;
    *device = GPU;
    return 0;
}
#endif
int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = settings.uuid ? 1 : 0;
    return settings.result;
}
int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    if (settings.result == 0)
        snprintf(text, size, "%s", settings.driver);
    return settings.result;
}
int nvmlDeviceGetName(struct nvml_device *device, char *text, unsigned size)
{
    (void)device;
    snprintf(text, size, "%s", settings.name ? settings.name : "");
    return 0;
}
int nvmlDeviceIsMigDeviceHandle(struct nvml_device *device, unsigned *is_mig)
{
    *is_mig = device == MIG;
    return 0;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvml_device *mig, struct nvml_device **gpu)
{
    if (mig != MIG)
        return NVML_INVALID_ARGUMENT;
    *gpu = GPU;
    return 0;
}

/* Answers only for the GPU itself: a MIG device has no clocks of its own. */
static int answer(const struct nvml_device *device, unsigned value, unsigned *ret)
{
    if (device != GPU)
        return NVML_NOT_SUPPORTED;
    if (settings.result == 0)
        *ret = value;
    return settings.result;
}
int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned *current, unsigned *pending)
{
    (void)device;
    *current = *pending = settings.mig_mode;
    return settings.mig_mode_result;
}
int nvmlDeviceGetEccMode(struct nvml_device *device, unsigned *current, unsigned *pending)
{
    *pending = !settings.ecc; /* a change that waits for a reset is not the state */
    return answer(device, settings.ecc, current);
}
int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *device, unsigned *mw)
{
    return answer(device, settings.power_limit_mw, mw);
}
int nvmlDeviceGetComputeMode(struct nvml_device *device, unsigned *mode)
{
    return answer(device, settings.compute_mode, mode);
}
int nvmlDeviceGetPersistenceMode(struct nvml_device *device, unsigned *mode)
{
    return answer(device, settings.persistence, mode);
}
int nvmlDeviceGetClockInfo(struct nvml_device *device, unsigned which, unsigned *mhz)
{
    return answer(device, which == 1 ? settings.sm_mhz : which == 2 ? settings.memory_mhz : 0, mhz);
}
int nvmlDeviceGetMaxClockInfo(struct nvml_device *device, unsigned which, unsigned *mhz)
{
    return answer(device, which == 1 ? settings.max_sm_mhz : which == 2 ? settings.max_memory_mhz : 0, mhz);
}
int nvmlDeviceGetMemoryBusWidth(struct nvml_device *device, unsigned *bits)
{
    return answer(device, settings.bus_bits, bits);
}
int nvmlDeviceGetTemperature(struct nvml_device *device, unsigned sensor, unsigned *celsius)
{
    return sensor == 0 ? answer(device, settings.celsius, celsius) : (int)NVML_INVALID_ARGUMENT;
}
int nvmlDeviceGetCurrentClocksEventReasons(struct nvml_device *device, unsigned long long *reasons)
{
    (void)device;
    *reasons = settings.reasons;
    return settings.result;
}
int nvmlDeviceGetFieldValues(struct nvml_device *device, int count, struct nvml_field *fields)
{
    (void)device;
    for (int i = 0; i < count; i++) {
        unsigned field = fields[i].field;
        if (field == 186)
            fields[i] = settings.power;
        else if (field == 83)
            fields[i] = settings.energy;
        else
            fields[i].result = NVML_NOT_SUPPORTED;
        fields[i].field = field;
    }
    return settings.result;
}
static int list(const unsigned *pids, unsigned have, unsigned *count, struct nvml_process *processes)
{
    unsigned room = *count;
    *count = have;
    if (have > room)
        return NVML_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < have; i++)
        processes[i] = (struct nvml_process){pids[i], 1 << 20, ~0u, ~0u};
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned *count, struct nvml_process *processes)
{
    (void)device;
    return settings.result ? settings.result : list(settings.compute_pids, settings.compute_count, count, processes);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(struct nvml_device *device, unsigned *count,
                                             struct nvml_process *processes)
{
    (void)device;
    return settings.graphics_result ? settings.graphics_result
                                    : list(settings.graphics_pids, settings.graphics_count, count, processes);
}
#endif
