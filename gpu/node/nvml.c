/* NVML by dlopen. A function that this driver lacks behaves as one that answers "function not found", so that a value
 * is missing with its reason and the rest goes on. */
#include "gpu/node/nvml.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device *device_t;

struct nvml {
    void *library;
    bool initialized;
    char path[PATH_MAX];   /* of the library, symbolic links not followed */
    char file_version[64]; /* at open; empty when the file's name has none */
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *, device_t *);
    int (*by_pci)(const char *, device_t *);
    int (*count)(unsigned *);
    int (*driver_version)(char *, unsigned);
    int (*name)(device_t, char *, unsigned);
    int (*is_mig_handle)(device_t, unsigned *);
    int (*mig_parent)(device_t, device_t *);
    int (*mig_mode)(device_t, unsigned *, unsigned *);
    int (*ecc_mode)(device_t, unsigned *, unsigned *);
    int (*power_limit)(device_t, unsigned *);
    int (*compute_mode)(device_t, unsigned *);
    int (*persistence_mode)(device_t, unsigned *);
    int (*clock)(device_t, unsigned, unsigned *);
    int (*max_clock)(device_t, unsigned, unsigned *);
    int (*bus_width)(device_t, unsigned *);
    int (*temperature)(device_t, unsigned, unsigned *);
    int (*reasons)(device_t, unsigned long long *);
    int (*fields)(device_t, int, struct nvml_field *);
    int (*compute_processes)(device_t, unsigned *, struct nvml_process *);
    int (*graphics_processes)(device_t, unsigned *, struct nvml_process *);
};

static const struct symbol {
    size_t offset;
    const char *newest, *older; /* older: same signature and layout */
    bool required;
} symbols[] = {
    {offsetof(struct nvml, init), "nvmlInit_v2", "nvmlInit", true},
    {offsetof(struct nvml, shutdown), "nvmlShutdown", NULL, true},
    {offsetof(struct nvml, by_uuid), "nvmlDeviceGetHandleByUUID", NULL, true},
    {offsetof(struct nvml, by_pci), "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId", true},
    {offsetof(struct nvml, count), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", false},
    {offsetof(struct nvml, driver_version), "nvmlSystemGetDriverVersion", NULL, false},
    {offsetof(struct nvml, name), "nvmlDeviceGetName", NULL, false},
    {offsetof(struct nvml, is_mig_handle), "nvmlDeviceIsMigDeviceHandle", NULL, false},
    {offsetof(struct nvml, mig_parent), "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", NULL, false},
    {offsetof(struct nvml, mig_mode), "nvmlDeviceGetMigMode", NULL, false},
    {offsetof(struct nvml, ecc_mode), "nvmlDeviceGetEccMode", NULL, false},
    {offsetof(struct nvml, power_limit), "nvmlDeviceGetEnforcedPowerLimit", NULL, false},
    {offsetof(struct nvml, compute_mode), "nvmlDeviceGetComputeMode", NULL, false},
    {offsetof(struct nvml, persistence_mode), "nvmlDeviceGetPersistenceMode", NULL, false},
    {offsetof(struct nvml, clock), "nvmlDeviceGetClockInfo", NULL, false},
    {offsetof(struct nvml, max_clock), "nvmlDeviceGetMaxClockInfo", NULL, false},
    {offsetof(struct nvml, bus_width), "nvmlDeviceGetMemoryBusWidth", NULL, false},
    {offsetof(struct nvml, temperature), "nvmlDeviceGetTemperature", NULL, false},
    {offsetof(struct nvml, reasons), "nvmlDeviceGetCurrentClocksEventReasons",
     "nvmlDeviceGetCurrentClocksThrottleReasons", false},
    {offsetof(struct nvml, fields), "nvmlDeviceGetFieldValues", NULL, false},
    /* the unversioned calls have a smaller record and are of drivers that CUDA 13 does not run on */
    {offsetof(struct nvml, compute_processes), "nvmlDeviceGetComputeRunningProcesses_v3",
     "nvmlDeviceGetComputeRunningProcesses_v2", false},
    {offsetof(struct nvml, graphics_processes), "nvmlDeviceGetGraphicsRunningProcesses_v3",
     "nvmlDeviceGetGraphicsRunningProcesses_v2", false},
};

/* Calls a function of the table, or answers that it is missing. */
#define CALL(nvml, function, ...) ((nvml)->function ? (nvml)->function(__VA_ARGS__) : (int)NVML_FUNCTION_NOT_FOUND)

static int fail(struct rl_err *err, const char *call, int result)
{
    return rl_fail(err, nvml_code(result), NULL, "%s failed: %s (%d)", call, nvml_words(result), result);
}

/* "libnvidia-ml.so.580.159.04" -> "580.159.04". The soname's own "1" is no version. */
static int version_of_file(const char *path, char *text, size_t size)
{
    const char *base = strrchr(path, '/');
    const char *version = strstr(base ? base : path, ".so.");
    if (!version || !strchr(version + 4, '.') || strlen(version + 4) >= size)
        return -1;
    snprintf(text, size, "%s", version + 4);
    return 0;
}

int nvml_file_version(const struct nvml *nvml, char *text, size_t size)
{
    char *path = nvml->path[0] ? realpath(nvml->path, NULL) : NULL;
    if (!path)
        return -1;
    int result = version_of_file(path, text, size);
    free(path);
    return result;
}

const char *nvml_file_version_at_open(const struct nvml *nvml)
{
    return nvml->file_version[0] ? nvml->file_version : NULL;
}

static int bind_symbols(struct nvml *nvml, struct rl_err *err)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const struct symbol *symbol = &symbols[i];
        void *address = dlsym(nvml->library, symbol->newest);
        if (!address && symbol->older)
            address = dlsym(nvml->library, symbol->older);
        if (!address && symbol->required)
            return rl_fail(err, RL_E_OLD_DRIVER, NULL,
                           "the driver's management library has no %s: it is too old or not NVML", symbol->newest);
        memcpy((char *)nvml + symbol->offset, &address, sizeof address);
    }
    return 0;
}

int nvml_open(const char *library, struct nvml **ret, struct rl_err *err)
{
    struct nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for NVML");
    nvml->library = dlopen(library ? library : NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library) {
        rl_fail(err, RL_E_NO_DRIVER, NULL, "no NVIDIA driver: %s cannot be loaded", NVML_LIBRARY);
        goto fail;
    }
    struct link_map *map = NULL;
    if (!dlinfo(nvml->library, RTLD_DI_LINKMAP, &map) && map && map->l_name)
        snprintf(nvml->path, sizeof nvml->path, "%s", map->l_name);
    if (nvml_file_version(nvml, nvml->file_version, sizeof nvml->file_version))
        nvml->file_version[0] = '\0';
    if (bind_symbols(nvml, err))
        goto fail;
    int result = nvml->init();
    if (result != NVML_OK) {
        fail(err, "nvmlInit", result);
        goto fail;
    }
    nvml->initialized = true;
    *ret = nvml;
    return 0;
fail:
    nvml_close(nvml);
    return -1;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml)
        return;
    if (nvml->initialized)
        nvml->shutdown();
    if (nvml->library)
        dlclose(nvml->library);
    free(nvml);
}

int nvml_find(const struct nvml *nvml, const char *uuid, const char *pci_bus_id, struct nvml_card *ret,
              struct rl_err *err)
{
    struct nvml_card card = {0};
    int result = uuid ? nvml->by_uuid(uuid, &card.handle) : nvml->by_pci(pci_bus_id, &card.handle);
    if (result == NVML_NOT_FOUND || result == NVML_INVALID_ARGUMENT) /* R580 answers the latter for a foreign UUID */
        return rl_fail(err, RL_E_DEVICE_GONE, "device", "NVML knows no device %s", uuid ? uuid : pci_bus_id);
    if (result != NVML_OK)
        return fail(err, uuid ? "nvmlDeviceGetHandleByUUID" : "nvmlDeviceGetHandleByPciBusId", result);
    card.gpu = card.handle;
    unsigned mig = 0;
    if (CALL(nvml, is_mig_handle, card.handle, &mig) == NVML_OK && mig) {
        card.mig = true;
        result = CALL(nvml, mig_parent, card.handle, &card.gpu);
        if (result != NVML_OK)
            return fail(err, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", result);
    }
    if (CALL(nvml, name, card.handle, card.name, sizeof card.name) != NVML_OK)
        card.name[0] = '\0';
    card.name[sizeof card.name - 1] = '\0';
    *ret = card;
    return 0;
}

int nvml_count(const struct nvml *nvml, unsigned *ret, struct rl_err *err)
{
    unsigned count = 0;
    int result = CALL(nvml, count, &count);
    if (result != NVML_OK)
        return fail(err, "nvmlDeviceGetCount", result);
    *ret = count;
    return 0;
}

int nvml_driver_version(const struct nvml *nvml, char *text, size_t size, struct rl_err *err)
{
    int result = CALL(nvml, driver_version, text, (unsigned)size);
    if (result != NVML_OK)
        return fail(err, "nvmlSystemGetDriverVersion", result);
    text[size - 1] = '\0';
    return 0;
}

/* ---- settings ---- */

static struct rl_count megahertz(struct rl_arena *arena, const char *call, int result, unsigned mhz)
{
    if (result != NVML_OK)
        return (struct rl_count){0, nvml_reason(arena, call, result)};
    return (struct rl_count){(int64_t)mhz * 1000000, NULL};
}

void nvml_read_device(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                      struct rl_device *device)
{
    unsigned value = 0;
    int result = CALL(nvml, bus_width, card->gpu, &value);
    device->memory_bus_bits = result == NVML_OK
                                  ? (struct rl_count){value, NULL}
                                  : (struct rl_count){0, nvml_reason(arena, "nvmlDeviceGetMemoryBusWidth", result)};
    result = CALL(nvml, max_clock, card->gpu, NVML_CLOCK_SM, &value);
    device->max_sm_hz = megahertz(arena, "nvmlDeviceGetMaxClockInfo(SM)", result, value);
    result = CALL(nvml, max_clock, card->gpu, NVML_CLOCK_MEM, &value);
    device->max_memory_hz = megahertz(arena, "nvmlDeviceGetMaxClockInfo(memory)", result, value);
}

/* "off", or the profile that NVML appends to a MIG device's name: "NVIDIA H200 MIG 1g.18gb". */
static struct rl_text read_mig(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena)
{
    if (card->mig) {
        const char *profile = strstr(card->name, " MIG ");
        return profile ? rl_text_copy(arena, profile + 5)
                       : (struct rl_text){NULL, "NVML's name of this MIG device has no profile in it"};
    }
    unsigned current = 0, pending = 0;
    int result = CALL(nvml, mig_mode, card->gpu, &current, &pending);
    /* a card or a driver that cannot partition is not partitioned */
    if (result == NVML_NOT_SUPPORTED || result == NVML_FUNCTION_NOT_FOUND)
        return (struct rl_text){"off", NULL};
    if (result != NVML_OK)
        return (struct rl_text){NULL, nvml_reason(arena, "nvmlDeviceGetMigMode", result)};
    return (struct rl_text){current ? "on" : "off", NULL};
}

static struct rl_text read_compute_mode(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena)
{
    static const char *const names[] = {"default", "exclusive_thread", "prohibited", "exclusive_process"};
    unsigned mode = 0;
    int result = CALL(nvml, compute_mode, card->gpu, &mode);
    if (result != NVML_OK)
        return (struct rl_text){NULL, nvml_reason(arena, "nvmlDeviceGetComputeMode", result)};
    if (mode >= sizeof names / sizeof *names)
        return (struct rl_text){NULL, "NVML answered a compute mode that has no name here"};
    return (struct rl_text){names[mode], NULL};
}

void nvml_read_environment(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                           struct rl_environment *environment)
{
    char version[96];
    struct rl_err err;
    if (nvml_driver_version(nvml, version, sizeof version, &err) == 0)
        environment->driver_version = rl_text_copy(arena, version);
    else
        environment->driver_version = (struct rl_text){NULL, rl_why_copy(arena, err.message)};

    unsigned current = 0, pending = 0;
    int result = CALL(nvml, ecc_mode, card->gpu, &current, &pending);
    environment->ecc = result == NVML_OK ? (struct rl_flag3){current != 0, NULL}
                                         : (struct rl_flag3){false, nvml_reason(arena, "nvmlDeviceGetEccMode", result)};
    environment->mig = read_mig(nvml, card, arena);

    unsigned value = 0;
    result = CALL(nvml, power_limit, card->gpu, &value);
    environment->power_limit_w = result == NVML_OK
                                     ? rl_known(value / 1e3)
                                     : rl_unknown(nvml_reason(arena, "nvmlDeviceGetEnforcedPowerLimit", result));
    environment->compute_mode = read_compute_mode(nvml, card, arena);
    result = CALL(nvml, persistence_mode, card->gpu, &value);
    environment->persistence_mode =
        result == NVML_OK ? (struct rl_text){value ? "on" : "off", NULL}
                          : (struct rl_text){NULL, nvml_reason(arena, "nvmlDeviceGetPersistenceMode", result)};
}

/* ---- state ---- */

static struct rl_real current_clock(const struct nvml *nvml, const struct nvml_card *card, unsigned which,
                                    const char *call, struct rl_arena *arena)
{
    unsigned mhz = 0;
    int result = CALL(nvml, clock, card->gpu, which, &mhz);
    return result == NVML_OK ? rl_known(mhz * 1e6) : rl_unknown(nvml_reason(arena, call, result));
}

static void read_power(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                       struct gpu_card_state *ret)
{
    struct nvml_field fields[] = {{.field = NVML_FIELD_POWER_INSTANT}, {.field = NVML_FIELD_TOTAL_ENERGY}};
    int result = CALL(nvml, fields, card->gpu, 2, fields);
    if (result != NVML_OK) {
        ret->power_w = rl_unknown(nvml_reason(arena, "nvmlDeviceGetFieldValues", result));
        ret->energy_j = ret->power_w;
        return;
    }
    ret->power_w = nvml_field_number(&fields[0], "instantaneous power", arena);
    ret->energy_j = nvml_field_number(&fields[1], "total energy", arena);
    ret->power_w.value /= 1e3;
    ret->energy_j.value /= 1e3;
}

void nvml_read_state(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                     struct gpu_card_state *ret)
{
    ret->sm_hz = current_clock(nvml, card, NVML_CLOCK_SM, "nvmlDeviceGetClockInfo(SM)", arena);
    ret->memory_hz = current_clock(nvml, card, NVML_CLOCK_MEM, "nvmlDeviceGetClockInfo(memory)", arena);
    unsigned celsius = 0;
    int result = CALL(nvml, temperature, card->gpu, NVML_TEMPERATURE_GPU, &celsius);
    ret->temperature_c =
        result == NVML_OK ? rl_known(celsius) : rl_unknown(nvml_reason(arena, "nvmlDeviceGetTemperature", result));
    unsigned long long bits = 0;
    ret->reasons = (struct rl_strings){0};
    result = CALL(nvml, reasons, card->gpu, &bits);
    if (result != NVML_OK || nvml_reason_names(bits, arena, &ret->reasons))
        rl_strings_add(arena, &ret->reasons, "unknown");
    read_power(nvml, card, arena, ret);
}

/* ---- processes ---- */

typedef int (*list_call)(device_t, unsigned *, struct nvml_process *);

/* Adds the pids of one list that are not there yet; a result of NVML. */
static int add_pids(list_call list, device_t device, struct nvml_pids *pids)
{
    struct nvml_process processes[NVML_PIDS_MAX];
    unsigned count = NVML_PIDS_MAX;
    int result = list ? list(device, &count, processes) : (int)NVML_FUNCTION_NOT_FOUND;
    if (result != NVML_OK)
        return result;
    for (unsigned i = 0; i < count && i < NVML_PIDS_MAX; i++) {
        bool known = false;
        for (size_t j = 0; j < pids->count; j++)
            known |= pids->pid[j] == processes[i].pid;
        if (known)
            continue;
        if (pids->count == NVML_PIDS_MAX)
            return NVML_INSUFFICIENT_SIZE;
        pids->pid[pids->count++] = processes[i].pid;
    }
    return NVML_OK;
}

int nvml_processes(const struct nvml *nvml, const struct nvml_card *card, struct nvml_pids *ret, struct rl_err *err)
{
    struct nvml_pids pids = {.count = 0};
    int result = add_pids(nvml->compute_processes, card->handle, &pids);
    if (result != NVML_OK)
        return fail(err, "nvmlDeviceGetComputeRunningProcesses", result);
    result = add_pids(nvml->graphics_processes, card->handle, &pids);
    /* a card or MIG device that runs no graphics says so: then there are none to count */
    if (result != NVML_OK && result != NVML_NOT_SUPPORTED && result != NVML_FUNCTION_NOT_FOUND)
        return fail(err, "nvmlDeviceGetGraphicsRunningProcesses", result);
    *ret = pids;
    return 0;
}
