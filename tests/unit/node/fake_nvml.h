/* A stand-in for libnvidia-ml.so.1: what a test sets is what it answers. Built three times: whole, FAKE_NVML_OLD (no
 * optional function but the oldest names), FAKE_NVML_BROKEN (a required function is missing). */
#ifndef TESTS_UNIT_NODE_FAKE_NVML_H
#define TESTS_UNIT_NODE_FAKE_NVML_H

#include <stddef.h>

#include "gpu/node/nvml_abi.h"

struct fake_nvml {
    int init_result; /* of nvmlInit */
    int result;      /* of every question about a card */
    int inits, shutdowns;
    const char *uuid, *pci, *name, *driver;
    int mig; /* uuid names a MIG device */
    int mig_mode_result;
    unsigned mig_mode, ecc, compute_mode, persistence, power_limit_mw;
    unsigned sm_mhz, memory_mhz, max_sm_mhz, max_memory_mhz, bus_bits, celsius;
    unsigned long long reasons;
    struct nvml_field power, energy;
    unsigned compute_pids[512], graphics_pids[16];
    unsigned compute_count, graphics_count;
    int graphics_result;
};

/* Exported by the stand-in: its settings, for the test to change. */
typedef struct fake_nvml *(*fake_nvml_settings_fn)(void);

#endif
