/* A stand-in for CUDA's runtime, the kernels and the counters under the cuda backend's files: each call writes one word
 * into a trace, and what a test sets is what it answers. */
#ifndef TESTS_UNIT_CUDA_FAKE_CUDA_H
#define TESTS_UNIT_CUDA_FAKE_CUDA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/counters/counters.h"
#include "gpu/cuda/private.h"

struct fake_cuda {
    char text[1 << 17];
    size_t len;
    unsigned char memory[1 << 16]; /* what "device" addresses point into */
    cudaError_t malloc_error, launch_error, persist_error;
    float elapsed_ms;
    uint32_t second_sm;
    enum rl_code open_fails, range_fails, set_fails, lock_fails;
    size_t range_fails_at, ranges;
    unsigned hardware_passes, passes, passes_of_set;
    enum counter_set set;
    double probe_bytes;
    unsigned locks, unlocks, opens, closes;
    const char *unknown_range;          /* counters_value of it has a reason that lives in the session */
    const struct cuda_backend *backend; /* whose flush buffers and marks are named in the trace */
};
extern struct fake_cuda fake;
extern const struct rl_unit fake_add, fake_copy, fake_chain; /* fake_chain: "fp32_fma", the load of spin */

void fake_clear_trace(void);

#endif
