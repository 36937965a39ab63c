/* Hardware counters by the CUPTI Range Profiler: user ranges, user replay. The only header of counters that
 * the cuda backend sees; CUPTI's own headers are included by gpu/counters/cupti.c alone.
 */
#ifndef GPU_COUNTERS_COUNTERS_H
#define GPU_COUNTERS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"

enum counter_id { /* our names; gpu/counters/metrics.c maps them to each chip's metrics */
                  COUNTER_DRAM_READ,
                  COUNTER_DRAM_WRITE,
                  COUNTER_L2,
                  COUNTER_L2_SM_SECTORS,
                  COUNTER_L1,
                  COUNTER_WARPS_ACTIVE,
                  COUNTER_HARDWARE_COUNT,
                  COUNTER_FP64_ADD = COUNTER_HARDWARE_COUNT,
                  COUNTER_FP64_MUL,
                  COUNTER_FP64_FMA,
                  COUNTER_FP32_ADD,
                  COUNTER_FP32_MUL,
                  COUNTER_FP32_FMA,
                  COUNTER_FP16_ADD,
                  COUNTER_FP16_MUL,
                  COUNTER_FP16_FMA,
                  COUNTER_LOCAL_BYTES,
                  COUNTER_COUNT
};
enum counter_set { COUNTERS_HARDWARE, COUNTERS_SASS };

/* ---- gpu/counters/metrics.c: pure data, no CUPTI ---- */
/* The metric of a counter on a chip ("dram__bytes_read.sum"), or NULL with *ret_why when the chip has none. Unknown
 * chip: NULL. */
const char *counter_metric(const char *chip, enum counter_id id, const char **ret_why);
/* The metric of the packed form of the same operation, whose threads do two each and which is added with weight two
 * (FADD2, FMUL2, FFMA2 of GB10x), or NULL when the chip has none. */
const char *counter_packed_metric(const char *chip, enum counter_id id);
const char *counter_name(enum counter_id id); /* "dram_read" */
size_t counter_chip_count(void);
const char *counter_chip(size_t index); /* every chip of the table */

/* ---- gpu/counters/cupti.c (or gpu/counters/none.c in a build without CUPTI) ---- */
/* Host side only, needs no GPU: whether this CUPTI can configure the set for the chip, and in how many passes. */
int counters_plan(const char *chip, enum counter_set set, size_t *ret_passes, struct rl_err *err);
/* CUPTI's API version as text ("130001"). Loads the library. 0 or -1. */
int counters_library_version(char *text, size_t size, struct rl_err *err);
/* CUPTI's name of a CUDA device's chip ("GH100"). Needs cuInit, no context. 0 or -1. */
int counters_device_chip(int cuda_device, char *text, size_t size, struct rl_err *err);

/* Loads CUPTI's own two libraries in a thread of its own and returns at once; nothing of them is called. Loading
 * them takes 0.11 s (2026-11-29), which opening a session would wait for. */
void counters_preload(void);

struct counters; /* a session on the current CUDA context */
/* Checks support (cuptiProfilerDeviceSupported) and permission (the first call that needs it), retries busy with
 * back-off (bounded: about 2 s). On failure err->code is the RL_E_COUNTERS_… that fits. */
int counters_open(int cuda_device, struct counters **ret, struct rl_err *err);
const char *counters_chip(const struct counters *c);
/* Begins a set for at most max_ranges ranges. Then: for each pass, counters_pass_begin; every range in the same order
 * (counters_range_begin, launches, counters_range_end); counters_pass_end, which says whether another pass is needed.
 */
int counters_set_begin(struct counters *c, enum counter_set set, size_t max_ranges, struct rl_err *err);
int counters_pass_begin(struct counters *c, struct rl_err *err);
int counters_range_begin(struct counters *c, const char *name, struct rl_err *err);
int counters_range_end(struct counters *c,
                       struct rl_err *err); /* synchronises the context before it closes the range */
int counters_pass_end(struct counters *c, bool *ret_more, struct rl_err *err);
/* Decodes; then counters_value answers by range name. A dropped range or a non-finite value is unknown with its reason.
 */
int counters_set_end(struct counters *c, struct rl_err *err);
struct rl_real counters_value(const struct counters *c, const char *range, enum counter_id id);
size_t counters_passes(const struct counters *c); /* passes run so far, over all sets */
void counters_close(struct counters *c);          /* accepts NULL and a half-open session */

#endif
