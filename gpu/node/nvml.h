/* What the driver's management library (NVML) tells about a card: identity, settings, clocks, power, processes.
 *
 * The library is loaded at run time and may be missing. Nothing here changes a setting of the card. A card is found by
 * UUID or PCI address, never by index: NVML's order is not CUDA's.
 */
#ifndef GPU_NODE_NVML_H
#define GPU_NODE_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/backend/backend.h"
#include "gpu/base/err.h"
#include "gpu/node/nvml_abi.h"
#include "gpu/record/run.h"

#define NVML_LIBRARY  "libnvidia-ml.so.1" /* the unversioned name is absent from run-time packages */
#define NVML_PIDS_MAX 256

struct nvml; /* the loaded library */

struct nvml_card {
    struct nvml_device *handle; /* the GPU, or the MIG device */
    struct nvml_device *gpu;    /* the GPU itself: handle unless MIG */
    bool mig;
    char name[96]; /* "NVIDIA H200", "NVIDIA H200 MIG 1g.18gb" */
};

struct nvml_pids {
    unsigned pid[NVML_PIDS_MAX];
    size_t count;
};

/* Loads `library` (NULL: NVML_LIBRARY) and initialises it. Errors: RL_E_NO_DRIVER (no such library, or the kernel
 * module is not loaded), RL_E_DRIVER_MISMATCH (library and kernel module are of different versions), RL_E_NO_DEVICE
 * (the device files may not be opened), RL_E_OLD_DRIVER (a required function is missing), RL_E_CUDA_FAILED (any other).
 */
int nvml_open(const char *library, struct nvml **ret, struct rl_err *err);
void nvml_close(struct nvml *nvml); /* accepts NULL */

/* The error code and the words for a result of NVML. Pure. */
enum rl_code nvml_code(int result);
const char *nvml_words(int result);
/* Why a value is unknown: the call and the words, in arena. */
const char *nvml_reason(struct rl_arena *arena, const char *call, int result);

/* Finds a card by UUID ("GPU-…" or "MIG-…", whole), or by PCI address when uuid is NULL. RL_E_DEVICE_GONE when there is
 * none. */
int nvml_find(const struct nvml *nvml, const char *uuid, const char *pci_bus_id, struct nvml_card *ret,
              struct rl_err *err);
/* GPUs that NVML sees. */
int nvml_count(const struct nvml *nvml, unsigned *ret, struct rl_err *err);

/* Asks the driver for its version: "580.159.04". */
int nvml_driver_version(const struct nvml *nvml, char *text, size_t size, struct rl_err *err);
/* Version in the name of the library file that NVML_LIBRARY leads to now ("libnvidia-ml.so.580.159.04"); -1 when the
 * name has none. After the driver was replaced under a running process it differs from the one at nvml_open. */
int nvml_file_version(const struct nvml *nvml, char *text, size_t size);
const char *nvml_file_version_at_open(const struct nvml *nvml); /* NULL when unknown */

/* Fills memory_bus_bits, max_sm_hz and max_memory_hz; nothing else. Reasons live in arena. */
void nvml_read_device(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                      struct rl_device *device);
/* Fills driver_version, ecc, mig, power_limit_w, compute_mode and persistence_mode; nothing else. */
void nvml_read_environment(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                           struct rl_environment *environment);
/* Fills all of ret but other_processes. Reasons that cannot be asked for are the one word "unknown". Four or five
 * calls, power and energy in one. */
void nvml_read_state(const struct nvml *nvml, const struct nvml_card *card, struct rl_arena *arena,
                     struct gpu_card_state *ret);
/* Process ids with a compute or graphics context on the card, each once, as NVML numbers them (in a container those may
 * be the node's). -1 when the list cannot be had or is longer than NVML_PIDS_MAX. */
int nvml_processes(const struct nvml *nvml, const struct nvml_card *card, struct nvml_pids *ret, struct rl_err *err);

/* Names of the set bits of clock event reasons, without NVML's prefix: "GpuIdle", "SwPowerCap", …; a bit without a
 * name is "Reason0x200". 0, or -1 when memory ran out. Pure. */
int nvml_reason_names(uint64_t bits, struct rl_arena *arena, struct rl_strings *ret);
/* A field's value as a number, whatever type the driver chose; unknown with NVML's words. Pure but for arena. */
struct rl_real nvml_field_number(const struct nvml_field *field, const char *name, struct rl_arena *arena);

#endif
