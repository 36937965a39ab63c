/* CUPTI, loaded by name when counters are first wanted: the program starts without it, and its 36 MB of libraries cost
 * nothing to a run that counts nothing. Private to gpu/counters/cupti.c and gpu/counters/api.c. */
#ifndef GPU_COUNTERS_API_H
#define GPU_COUNTERS_API_H

#include <cuda.h>
#include <cupti_profiler_host.h> /* includes <string>, which gpu/compat answers with an empty file: the rest is C */
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include "gpu/base/err.h"

/* From cupti_version.h, which cannot be included alone in C without this prototype. */
CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version);

#define CUPTI_FUNCTIONS(X)                                                                                             \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiGetResultString)                                                                                            \
    X(cuptiDeviceGetChipName)                                                                                          \
    X(cuptiProfilerInitialize)                                                                                         \
    X(cuptiProfilerDeviceSupported)                                                                                    \
    X(cuptiProfilerGetCounterAvailability)                                                                             \
    X(cuptiProfilerHostInitialize)                                                                                     \
    X(cuptiProfilerHostDeinitialize)                                                                                   \
    X(cuptiProfilerHostGetSupportedChips)                                                                              \
    X(cuptiProfilerHostConfigAddMetrics)                                                                               \
    X(cuptiProfilerHostGetConfigImageSize)                                                                             \
    X(cuptiProfilerHostGetConfigImage)                                                                                 \
    X(cuptiProfilerHostGetNumOfPasses)                                                                                 \
    X(cuptiProfilerHostEvaluateToGpuValues)                                                                            \
    X(cuptiRangeProfilerEnable)                                                                                        \
    X(cuptiRangeProfilerDisable)                                                                                       \
    X(cuptiRangeProfilerSetConfig)                                                                                     \
    X(cuptiRangeProfilerStart)                                                                                         \
    X(cuptiRangeProfilerStop)                                                                                          \
    X(cuptiRangeProfilerPushRange)                                                                                     \
    X(cuptiRangeProfilerPopRange)                                                                                      \
    X(cuptiRangeProfilerDecodeData)                                                                                    \
    X(cuptiRangeProfilerGetCounterDataSize)                                                                            \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                                    \
    X(cuptiRangeProfilerGetCounterDataInfo)                                                                            \
    X(cuptiRangeProfilerCounterDataGetRangeInfo)

struct cupti_api {
#define CUPTI_MEMBER(name) __typeof__(&name) name;
    CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/* The loaded library, or NULL with err set (RL_E_COUNTERS_LIBRARY: the file or the symbol that is missing). Loads once.
 */
const struct cupti_api *cupti_api_load(struct rl_err *err);

/* Fills err from a CUPTI result: the catalogue's code that fits, the call's name, CUPTI's own words. Returns -1. */
int cupti_fail(struct rl_err *err, CUptiResult result, const char *call);

#endif
