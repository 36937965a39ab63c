/* Raw samples of an import. */
#ifndef GPU_IMPORT_COMMON_SAMPLE_H
#define GPU_IMPORT_COMMON_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/record/run.h"

/* Raw samples that a file brought, for the store: of the run's arena. */
struct import_sample {
    const char *unit;
    enum rl_state state;
    int64_t launches;
    const double *times_s; /* seconds per launch */
    size_t count;
};

#endif
