/* What the device and its environment are, by CUDA's attributes and NVML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/base/time.h"
#include "gpu/counters/counters.h"
#include "gpu/cuda/private.h"
#include "gpu/node/environment.h"

/* NVML's process list costs milliseconds on some drivers, and a row takes as long: one answer serves this long. */
#define PROCESSES_FRESH_NS 200000000

static struct rl_count attribute(int device, enum cudaDeviceAttr which, const char *name, struct rl_arena *arena)
{
    int value = 0;
    cudaError_t error = cudaDeviceGetAttribute(&value, which, device);
    if (error == cudaSuccess)
        return (struct rl_count){value, NULL};
    (void)cudaGetLastError();
    const char *why = rl_arena_printf(arena, "cudaDeviceGetAttribute(%s): %s", name, cudaGetErrorName(error));
    return (struct rl_count){0, why ? why : "memory ran out"};
}
#define ATTRIBUTE(device, which, arena) attribute(device, cudaDevAttr##which, #which, arena)

struct rl_count cuda_fp32_lanes(int major, int minor)
{
    /* Results of 32-bit floating-point add, multiply and multiply-add per clock and SM: CUDA C++ Programming
     * Guide 13.0, table of arithmetic instruction throughput. */
    static const struct {
        int major, minor, lanes;
    } table[] = {
        {7, 5, 64},   {8, 0, 64},   {8, 6, 128},  {8, 7, 128},  {8, 9, 128},  {9, 0, 128},
        {10, 0, 128}, {10, 3, 128}, {11, 0, 128}, {12, 0, 128}, {12, 1, 128},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].major == major && table[i].minor == minor)
            return (struct rl_count){table[i].lanes, NULL};
    return (struct rl_count){0, "this compute capability is not in the program's table of FP32 lanes"};
}

/* kHz attributes, for what NVML did not tell. */
static void clock_by_attribute(struct rl_count *clock, struct rl_count khz)
{
    if (clock->why && !khz.why && khz.value > 0)
        *clock = (struct rl_count){khz.value * 1000, NULL};
}

/* ncu, nsys and compute-sanitizer come in by one of these. CUPTI loaded beside them would be the second of its kind. */
bool cuda_profiler_attached(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return getenv("CUDA_INJECTION64_PATH") ||
           (preload && (strcasestr(preload, "injection") || strcasestr(preload, "sanitizer")));
}
static const char *const attached_why = "CUPTI was not asked: another profiler is attached to this process";

/* Only for a probe: naming the chip loads and initialises CUPTI, and nothing is timed in a process that has. */
struct rl_text cuda_chip(int device, struct rl_arena *arena)
{
    char chip[32];
    struct rl_err err = {0};
    if (cuda_profiler_attached())
        return (struct rl_text){NULL, attached_why};
    if (counters_device_chip(device, chip, sizeof chip, &err))
        return (struct rl_text){NULL, rl_why_copy(arena, err.message)};
    return rl_text_copy(arena, chip);
}

void cuda_read_device(const struct cuda_identity *identity, struct rl_arena *arena, struct rl_device *ret)
{
    const int device = identity->device;
    const struct cudaDeviceProp *properties = identity->properties;
    struct rl_device d = {0};
    rl_device_unknown(&d, rl_why_copy(arena, identity->nvml_why ? identity->nvml_why : "not read"));
    d.uuid = rl_text_copy(arena, identity->uuid);
    d.id = d.uuid.value;
    d.name = rl_arena_strdup(arena, properties->name);
    d.chip = (struct rl_text){NULL, "CUPTI names the chip, and it is loaded for counters only"};
    char pci[32];
    if (cudaDeviceGetPCIBusId(pci, sizeof pci, device) == cudaSuccess)
        d.pci_bus_id = rl_text_copy(arena, pci);
    else
        d.pci_bus_id = (struct rl_text){NULL, "cudaDeviceGetPCIBusId failed"};
    d.compute_major = (struct rl_count){properties->major, NULL};
    d.compute_minor = (struct rl_count){properties->minor, NULL};
    d.sm_count = (struct rl_count){properties->multiProcessorCount, NULL};
    d.l2_bytes = properties->l2CacheSize > 0 ? (struct rl_count){properties->l2CacheSize, NULL}
                                             : (struct rl_count){0, "CUDA answered an L2 of 0 bytes"};
    d.memory_bytes = (struct rl_count){(int64_t)properties->totalGlobalMem, NULL};
    d.fp32_lanes_per_sm = cuda_fp32_lanes(properties->major, properties->minor);
    if (identity->card)
        nvml_read_device(identity->nvml, identity->card, arena, &d);
    struct rl_count bus = ATTRIBUTE(device, GlobalMemoryBusWidth, arena);
    if (!bus.why && bus.value > 0)
        d.memory_bus_bits = bus; /* CUDA's is that of the visible device, also under MIG */
    clock_by_attribute(&d.max_sm_hz, ATTRIBUTE(device, ClockRate, arena));
    clock_by_attribute(&d.max_memory_hz, ATTRIBUTE(device, MemoryClockRate, arena));
    d.warp_size = (struct rl_count){properties->warpSize, NULL};
    d.persisting_l2_bytes = ATTRIBUTE(device, MaxPersistingL2CacheSize, arena);
    d.max_threads_per_sm = ATTRIBUTE(device, MaxThreadsPerMultiProcessor, arena);
    *ret = d;
}

static struct rl_text version_text(cudaError_t error, int version, const char *call, struct rl_arena *arena)
{
    const char *text;
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        text = rl_arena_printf(arena, "%s: %s", call, cudaGetErrorName(error));
        return (struct rl_text){NULL, text ? text : "memory ran out"};
    }
    text = rl_arena_printf(arena, "%d.%d", version / 1000, version % 1000 / 10);
    return text ? (struct rl_text){text, NULL} : (struct rl_text){NULL, "memory ran out"};
}

/* What CUDA knows of the settings, for a node without NVML. */
static void settings_by_attribute(const struct cuda_identity *identity, struct rl_arena *arena,
                                  struct rl_environment *environment)
{
    static const char *const modes[] = {"default", "exclusive_thread", "prohibited", "exclusive_process"};
    struct rl_count ecc = ATTRIBUTE(identity->device, EccEnabled, arena);
    if (environment->ecc.why && !ecc.why)
        environment->ecc = (struct rl_flag3){ecc.value != 0, NULL};
    struct rl_count mode = ATTRIBUTE(identity->device, ComputeMode, arena);
    if (environment->compute_mode.why && !mode.why && mode.value >= 0 && mode.value < 4)
        environment->compute_mode = (struct rl_text){modes[mode.value], NULL};
    char version[64];
    if (environment->driver_version.why && environment_module_version(version, sizeof version) == 0)
        environment->driver_version = rl_text_copy(arena, version);
}

void cuda_read_environment(const struct cuda_identity *identity, struct rl_arena *arena, struct rl_environment *ret)
{
    struct rl_environment e = {0};
    rl_environment_unknown(&e, rl_why_copy(arena, identity->nvml_why ? identity->nvml_why : "not read"));
    e.build = RL_BUILD_ID;
    e.method_version = RL_METHOD_VERSION;
    environment_read(arena, &e);
    int version = 0;
    cudaError_t error = cudaDriverGetVersion(&version);
    e.cuda_driver_version = version_text(error, version, "cudaDriverGetVersion", arena);
    error = cudaRuntimeGetVersion(&version);
    e.cuda_runtime_version = version_text(error, version, "cudaRuntimeGetVersion", arena);
    char cupti[64];
    struct rl_err err = {0};
    if (cuda_profiler_attached())
        e.cupti_version = (struct rl_text){NULL, attached_why};
    else if (counters_library_version(cupti, sizeof cupti, &err))
        e.cupti_version = (struct rl_text){NULL, rl_why_copy(arena, err.message)};
    else
        e.cupti_version = rl_text_copy(arena, cupti);
    if (identity->card)
        nvml_read_environment(identity->nvml, identity->card, arena, &e);
    settings_by_attribute(identity, arena, &e);
    e.cubin = (struct rl_text){NULL, "no context was made, so no code was chosen"};
    *ret = e;
}

struct rl_text cuda_binary_text(int binary_version, struct rl_arena *arena)
{
    static const int built[] = {RL_CUDA_ARCH_LIST}; /* what the kernels were compiled for, by the build */
    const char *forced = getenv("CUDA_FORCE_PTX_JIT");
    if (forced && forced[0] == '1')
        return (struct rl_text){"ptx", NULL};
    for (size_t i = 0; i < sizeof built / sizeof *built; i++)
        if (built[i] == binary_version) {
            const char *text = rl_arena_printf(arena, "sm_%d", binary_version);
            return text ? (struct rl_text){text, NULL} : (struct rl_text){NULL, "memory ran out"};
        }
    /* code of a version that was not compiled in can only be the driver's */
    return (struct rl_text){"ptx", NULL};
}

static struct cuda_identity identity_of(const struct cuda_backend *cuda)
{
    return (struct cuda_identity){
        .device = cuda->device,
        .properties = &cuda->properties,
        .uuid = cuda->uuid,
        .nvml = cuda->nvml,
        .card = cuda->has_card ? &cuda->card : NULL,
        .nvml_why = cuda->nvml_why[0] ? cuda->nvml_why : NULL,
    };
}

int cuda_identify(struct gpu_backend *b, struct rl_arena *arena, struct rl_device *ret_device,
                  struct rl_environment *ret_environment, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    struct cuda_identity identity = identity_of(cuda);
    struct rl_device device;
    struct rl_environment environment;
    cuda_read_device(&identity, arena, &device);
    cuda_read_environment(&identity, arena, &environment);
    struct rl_dims dims;
    struct rl_launch_info info = {0};
    const struct rl_unit_ops *first = rl_unit_ops[0];
    if (first->unit->dims(RL_COURSE, cuda->l2_bytes, &dims))
        return rl_fail(err, RL_E_INTERNAL, NULL, "no course sizes of %s for an L2 of %llu bytes", first->unit->id,
                       (unsigned long long)cuda->l2_bytes);
    if (cuda_check((cudaError_t)first->describe(&dims, 0, &info), "describing the first kernel", err))
        return -1;
    environment.cubin = cuda_binary_text(info.binary_version, arena);
    if (!device.id || !device.name)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the device's description");
    *ret_device = device;
    *ret_environment = environment;
    return 0;
}

int cuda_driver_now(struct gpu_backend *b, struct rl_arena *arena, struct rl_text *ret, struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    char version[96], file[64];
    struct rl_err why = {0};
    (void)err;
    if (!cuda->nvml || nvml_driver_version(cuda->nvml, version, sizeof version, &why)) {
        if (environment_module_version(version, sizeof version)) {
            *ret = (struct rl_text){NULL, rl_why_copy(arena, cuda->nvml ? why.message : cuda->nvml_why)};
            return 0;
        }
    }
    /* a driver replaced under a running process: its module stays loaded, its files are the new ones */
    const char *at_open = cuda->nvml ? nvml_file_version_at_open(cuda->nvml) : NULL;
    if (at_open && nvml_file_version(cuda->nvml, file, sizeof file) == 0 && strcmp(file, at_open)) {
        const char *text = rl_arena_printf(arena, "%s, its files replaced by %s", version, file);
        *ret = text ? (struct rl_text){text, NULL} : (struct rl_text){NULL, "memory ran out"};
        return 0;
    }
    *ret = rl_text_copy(arena, version);
    return 0;
}

/* ---- other processes ---- */

static bool has_pid(const struct nvml_pids *pids, unsigned pid)
{
    for (size_t i = 0; i < pids->count; i++)
        if (pids->pid[i] == pid)
            return true;
    return false;
}

void cuda_find_own_pid(struct cuda_backend *b, const struct nvml_pids *before)
{
    struct nvml_pids now;
    struct rl_err err = {0};
    if (!before || !b->has_card || nvml_processes(b->nvml, &b->card, &now, &err)) {
        snprintf(b->pids_why, sizeof b->pids_why, "%.255s",
                 err.message[0] ? err.message : "the list of processes on the card could not be had");
        return;
    }
    unsigned own = (unsigned)getpid(), fresh = 0;
    size_t fresh_count = 0;
    for (size_t i = 0; i < now.count; i++)
        if (!has_pid(before, now.pid[i])) {
            fresh = now.pid[i];
            fresh_count++;
        }
    /* the number of another process may equal ours by chance where the list is of another pid namespace: a new entry
     * is ours, an old one is not */
    if (has_pid(&now, own) && !has_pid(before, own)) {
        b->nvml_pid = own;
        b->has_nvml_pid = true;
    } else if (fresh_count == 1) {
        b->nvml_pid = fresh;
        b->has_nvml_pid = true;
    } else {
        snprintf(b->pids_why, sizeof b->pids_why,
                 fresh_count
                     ? "several processes came onto the card at once, so the list does not tell which one is this"
                     : "the driver's list of processes does not show this one, so it may not show others either");
    }
}

static struct rl_count read_other_processes(struct cuda_backend *b)
{
    struct nvml_pids now;
    struct rl_err err = {0};
    if (!b->has_nvml_pid)
        return (struct rl_count){0, b->pids_why};
    if (nvml_processes(b->nvml, &b->card, &now, &err)) {
        snprintf(b->other_processes_why, sizeof b->other_processes_why, "%.255s", err.message);
        return (struct rl_count){0, b->other_processes_why};
    }
    if (!has_pid(&now, b->nvml_pid))
        return (struct rl_count){0, "this process has gone from the driver's list of processes"};
    return (struct rl_count){(int64_t)now.count - 1, NULL};
}

int cuda_card_state(struct gpu_backend *b, struct rl_arena *arena, const char *at, struct gpu_card_state *ret,
                    struct rl_err *err)
{
    struct cuda_backend *cuda = (struct cuda_backend *)b;
    struct gpu_card_state state = {0};
    (void)at, (void)err;
    if (!cuda->has_card) {
        struct rl_real unknown = rl_unknown(rl_why_copy(arena, cuda->nvml_why));
        state.sm_hz = state.memory_hz = state.temperature_c = state.power_w = state.energy_j = unknown;
        state.other_processes = (struct rl_count){0, unknown.why};
        rl_strings_add(arena, &state.reasons, "unknown");
        *ret = state;
        return 0;
    }
    nvml_read_state(cuda->nvml, &cuda->card, arena, &state);
    int64_t now_ns = rl_monotonic_ns();
    if (!cuda->other_processes_ns || now_ns - cuda->other_processes_ns > PROCESSES_FRESH_NS) {
        cuda->other_processes = read_other_processes(cuda);
        cuda->other_processes_ns = now_ns;
    }
    state.other_processes = cuda->other_processes;
    if (state.other_processes.why)
        state.other_processes.why = rl_why_copy(arena, state.other_processes.why);
    *ret = state;
    return 0;
}
