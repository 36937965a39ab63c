/* What NVML's numbers mean: results, clock event reasons, field values. Pure. */
#include <math.h>
#include <stdio.h>

#include "gpu/node/nvml.h"

const char *nvml_words(int result)
{
    switch (result) {
    case NVML_OK:
        return "no error";
    case NVML_UNINITIALIZED:
        return "NVML is not initialised";
    case NVML_INVALID_ARGUMENT:
        return "invalid argument";
    case NVML_NOT_SUPPORTED:
        return "not supported on this card";
    case NVML_NO_PERMISSION:
        return "no permission";
    case NVML_NOT_FOUND:
    case NVML_GPU_NOT_FOUND:
        return "not found";
    case NVML_INSUFFICIENT_SIZE:
        return "more than there was room for";
    case NVML_DRIVER_NOT_LOADED:
        return "the driver's kernel module is not loaded";
    case NVML_TIMEOUT:
        return "timed out";
    case NVML_IRQ_ISSUE:
        return "the kernel sees a problem with the card's interrupts";
    case NVML_LIBRARY_NOT_FOUND:
        return "a library of the driver is missing";
    case NVML_FUNCTION_NOT_FOUND:
        return "this driver's NVML has no such function";
    case NVML_GPU_IS_LOST:
        return "the card has fallen off the bus";
    case NVML_RESET_REQUIRED:
        return "the card has to be reset";
    case NVML_OPERATING_SYSTEM:
        return "the operating system or a cgroup denies the device";
    case NVML_LIB_RM_VERSION_MISMATCH:
        return "the driver's library and its kernel module are of different versions";
    case NVML_IN_USE:
        return "the card is in use";
    case NVML_MEMORY:
        return "out of memory";
    case NVML_NO_DATA:
        return "no data";
    default:
        return "an internal driver error";
    }
}

enum rl_code nvml_code(int result)
{
    switch (result) {
    case NVML_DRIVER_NOT_LOADED:
    case NVML_LIBRARY_NOT_FOUND:
        return RL_E_NO_DRIVER;
    case NVML_LIB_RM_VERSION_MISMATCH:
        return RL_E_DRIVER_MISMATCH;
    case NVML_FUNCTION_NOT_FOUND:
        return RL_E_OLD_DRIVER;
    case NVML_NO_PERMISSION:
    case NVML_OPERATING_SYSTEM:
        return RL_E_NO_DEVICE;
    case NVML_NOT_FOUND:
    case NVML_GPU_NOT_FOUND:
    case NVML_GPU_IS_LOST:
        return RL_E_DEVICE_GONE;
    default:
        return RL_E_CUDA_FAILED;
    }
}

const char *nvml_reason(struct rl_arena *arena, const char *call, int result)
{
    const char *text = rl_arena_printf(arena, "%s: %s (%d)", call, nvml_words(result), result);
    return text ? text : "memory ran out";
}

int nvml_reason_names(uint64_t bits, struct rl_arena *arena, struct rl_strings *ret)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {
        {NVML_REASON_GPU_IDLE, "GpuIdle"},
        {NVML_REASON_APPLICATIONS_CLOCKS, "ApplicationsClocksSetting"},
        {NVML_REASON_SW_POWER_CAP, "SwPowerCap"},
        {NVML_REASON_HW_SLOWDOWN, "HwSlowdown"},
        {NVML_REASON_SYNC_BOOST, "SyncBoost"},
        {NVML_REASON_SW_THERMAL, "SwThermalSlowdown"},
        {NVML_REASON_HW_THERMAL, "HwThermalSlowdown"},
        {NVML_REASON_HW_POWER_BRAKE, "HwPowerBrakeSlowdown"},
        {NVML_REASON_DISPLAY_CLOCK, "DisplayClockSetting"},
    };
    struct rl_strings list = {0};
    for (unsigned shift = 0; shift < 64; shift++) {
        uint64_t bit = bits & (uint64_t)1 << shift;
        if (!bit)
            continue;
        const char *name = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (names[i].bit == bit)
                name = names[i].name;
        char unnamed[32];
        if (!name) {
            snprintf(unnamed, sizeof unnamed, "Reason0x%llx", (unsigned long long)bit);
            name = unnamed;
        }
        if (rl_strings_add(arena, &list, name))
            return -1;
    }
    *ret = list;
    return 0;
}

struct rl_real nvml_field_number(const struct nvml_field *field, const char *name, struct rl_arena *arena)
{
    if (field->result != NVML_OK)
        return rl_unknown(nvml_reason(arena, name, (int)field->result));
    double value = -1;
    switch (field->type) {
    case NVML_TYPE_DOUBLE:
        value = field->value.as_double;
        break;
    case NVML_TYPE_UINT:
        value = field->value.as_uint;
        break;
    case NVML_TYPE_ULONG:
        value = (double)field->value.as_ulong;
        break;
    case NVML_TYPE_ULLONG: /* all ones: NVML's "not available" */
        value = field->value.as_ullong == ~0ull ? -1 : (double)field->value.as_ullong;
        break;
    case NVML_TYPE_LLONG:
        value = (double)field->value.as_llong;
        break;
    case NVML_TYPE_INT:
        value = field->value.as_int;
        break;
    case NVML_TYPE_USHORT:
        value = field->value.as_ushort;
        break;
    default:
        break;
    }
    if (!isfinite(value) || value < 0) {
        const char *text = rl_arena_printf(arena, "%s: the driver answered no number", name);
        return rl_unknown(text ? text : "memory ran out");
    }
    return rl_known(value);
}
