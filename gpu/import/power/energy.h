/* Samples of power logs, and the averages made of them. */
#ifndef GPU_IMPORT_POWER_ENERGY_H
#define GPU_IMPORT_POWER_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/import/common/state.h"

#define IMPORT_POWER_GPUS 64u

struct import_power_gpu { /* "" where the log does not say */
    char index[16], uuid[80], bus[32], name[128];
};
struct import_power_sample {
    int64_t ms; /* of the log's own clock, whose time zone it does not say */
    double watts;
    size_t gpu, line;
};
struct import_power {
    const struct import_file *file;
    const char *source;
    bool timed, dated, told; /* lines have a time, with its day; they say which GPU they are of */
    struct import_power_gpu gpu[IMPORT_POWER_GPUS];
    size_t gpu_count;
    struct import_power_sample *samples; /* in the file's order */
    size_t count, capacity;
    size_t missing, missing_line; /* lines without a value; the first */
};
/* import->run->power from the samples of the run's GPU within the fields' window. */
int import_energy(struct import *import, struct import_power *power);

#endif
