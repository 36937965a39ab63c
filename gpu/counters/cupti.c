/* A counter session on the current CUDA context. Call order: CUPTI's user guide, chapter on the Range Profiler (user
 * range, user replay). Ranges of several launches are what makes a warm state countable: one range around the batch. */
#include "gpu/counters/internal.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANGE_NAME_MAX 96
/* 50 + 100 + … + 800 ms: another profiler's session is often over within a second; then the status is counters_busy. */
#define BUSY_TRIES    6
#define BUSY_FIRST_MS 50

struct range_values {
    char name[RANGE_NAME_MAX];
    struct rl_real value[COUNTER_COUNT];
};

struct counters {
    const struct cupti_api *api;
    CUcontext context;
    CUresult (*synchronize)(void);
    char chip[32];
    uint8_t *availability;
    CUpti_RangeProfiler_Object *profiler; /* not NULL between set_begin and set_end */
    struct counter_plan plan;
    uint8_t *image;
    size_t image_size;
    size_t passes;
    struct range_values *ranges;
    size_t range_count, range_cap;
};

static const char *const not_counted = "the range was not counted";

static int driver_function(const char *name, void *ret, struct rl_err *err)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    cudaError_t result = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    if (result != cudaSuccess || found != cudaDriverEntryPointSuccess || !function)
        return rl_fail(err, RL_E_COUNTERS_DRIVER, NULL, "the driver offers no %s: it is older than this CUPTI", name);
    *(void **)ret = function;
    return 0;
}

/* Calls again while another profiler owns the counters, for a bounded time. */
#define RETRY_BUSY(result, call)                                                                                       \
    do {                                                                                                               \
        long wait_ms = BUSY_FIRST_MS;                                                                                  \
        for (int tries = 0;; tries++, wait_ms *= 2) {                                                                  \
            (result) = (call);                                                                                         \
            if ((result) != CUPTI_ERROR_HARDWARE_BUSY || tries == BUSY_TRIES - 1)                                      \
                break;                                                                                                 \
            nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000}, NULL);                             \
        }                                                                                                              \
    } while (0)

static int check_support(const struct counters *c, CUdevice device, struct rl_err *err)
{
    CUpti_Profiler_DeviceSupported_Params p = {.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE};
    p.cuDevice = device;
    p.api = CUPTI_PROFILER_RANGE_PROFILING;
    CUptiResult result = c->api->cuptiProfilerDeviceSupported(&p);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerDeviceSupported");
    if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return 0;
    const struct {
        CUpti_Profiler_Support_Level level;
        const char *words;
    } causes[] = {
        {p.architecture, "its architecture is older than Volta"},
        {p.sli, "SLI is on"},
        {p.vGpu, "it is a vGPU and its host has profiling off"},
        {p.confidentialCompute, "confidential computing is on"},
        {p.cmp, "it is a mining processor"},
        {p.wsl, "it is used through WSL"},
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
            causes[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return rl_fail(err, RL_E_COUNTERS_UNSUPPORTED, NULL, "CUPTI does not profile this device: %s",
                           causes[i].words);
    return rl_fail(err, RL_E_COUNTERS_UNSUPPORTED, NULL, "CUPTI does not profile this device and gives no cause");
}

/* The earliest call that fails for lack of permission (35): Enable and SetConfig still succeed without it. */
static int get_availability(struct counters *c, struct rl_err *err)
{
    CUpti_Profiler_GetCounterAvailability_Params p = {.structSize =
                                                          CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
    p.ctx = c->context;
    CUptiResult result;
    RETRY_BUSY(result, c->api->cuptiProfilerGetCounterAvailability(&p));
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerGetCounterAvailability");
    c->availability = calloc(1, p.counterAvailabilityImageSize);
    if (!c->availability)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the counter availability image");
    p.pCounterAvailabilityImage = c->availability;
    RETRY_BUSY(result, c->api->cuptiProfilerGetCounterAvailability(&p));
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerGetCounterAvailability");
    return 0;
}

/* Once a process; never undone, since sessions and chip names may follow one another. */
static int initialize(const struct cupti_api *api, struct rl_err *err)
{
    static bool initialized;
    if (initialized)
        return 0;
    CUpti_Profiler_Initialize_Params p = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUptiResult result = api->cuptiProfilerInitialize(&p);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerInitialize");
    initialized = true;
    return 0;
}

int counters_device_chip(int cuda_device, char *text, size_t size, struct rl_err *err)
{
    const struct cupti_api *api = cupti_api_load(err);
    /* 13.0 crashes in cuptiDeviceGetChipName when the profiler was not initialized before (H200, 2026-11-29) */
    if (!api || initialize(api, err))
        return -1;
    CUpti_Device_GetChipName_Params p = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    p.deviceIndex = (size_t)cuda_device;
    CUptiResult result = api->cuptiDeviceGetChipName(&p);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiDeviceGetChipName");
    snprintf(text, size, "%s", p.pChipName);
    return 0;
}

static int open_session(struct counters *c, int cuda_device, struct rl_err *err)
{
    CUresult (*get_current)(CUcontext *) = NULL;
    if (driver_function("cuCtxGetCurrent", &get_current, err) ||
        driver_function("cuCtxSynchronize", &c->synchronize, err))
        return -1;
    if (get_current(&c->context) != CUDA_SUCCESS || !c->context)
        return rl_fail(err, RL_E_INTERNAL, NULL, "counters_open was called without a current CUDA context");
    if (initialize(c->api, err))
        return -1;
    if (check_support(c, cuda_device, err) || counters_device_chip(cuda_device, c->chip, sizeof c->chip, err))
        return -1;
    return get_availability(c, err);
}

int counters_open(int cuda_device, struct counters **ret, struct rl_err *err)
{
    const struct cupti_api *api = cupti_api_load(err);
    if (!api)
        return -1;
    struct counters *c = calloc(1, sizeof *c);
    if (!c)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a counter session");
    c->api = api;
    if (open_session(c, cuda_device, err)) {
        counters_close(c);
        return -1;
    }
    *ret = c;
    return 0;
}

const char *counters_chip(const struct counters *c)
{
    return c->chip;
}
size_t counters_passes(const struct counters *c)
{
    return c->passes;
}

static int make_image(struct counters *c, size_t max_ranges, struct rl_err *err)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
    size.pRangeProfilerObject = c->profiler;
    size.pMetricNames = c->plan.metric;
    size.numMetrics = c->plan.metric_count;
    size.maxNumOfRanges = max_ranges;
    size.maxNumRangeTreeNodes = (uint32_t)max_ranges;
    CUptiResult result = c->api->cuptiRangeProfilerGetCounterDataSize(&size);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiRangeProfilerGetCounterDataSize");
    c->image = calloc(1, size.counterDataSize);
    if (!c->image)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a counter image of %zu bytes", size.counterDataSize);
    c->image_size = size.counterDataSize;
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params init = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
    init.pRangeProfilerObject = c->profiler;
    init.counterDataSize = c->image_size;
    init.pCounterData = c->image;
    result = c->api->cuptiRangeProfilerCounterDataImageInitialize(&init);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiRangeProfilerCounterDataImageInitialize");
    return 0;
}

static int set_config(struct counters *c, size_t max_ranges, struct rl_err *err)
{
    CUpti_RangeProfiler_SetConfig_Params p = {.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
    p.pRangeProfilerObject = c->profiler;
    p.configSize = c->plan.config_size;
    p.pConfig = c->plan.config;
    p.counterDataImageSize = c->image_size;
    p.pCounterDataImage = c->image;
    p.range = CUPTI_UserRange;
    p.replayMode = CUPTI_UserReplay;
    p.maxRangesPerPass = max_ranges;
    p.numNestingLevels = 1;
    p.minNestingLevel = 1;
    p.passIndex = 0;
    p.targetNestingLevel = 1;
    CUptiResult result = c->api->cuptiRangeProfilerSetConfig(&p);
    return result == CUPTI_SUCCESS ? 0 : cupti_fail(err, result, "cuptiRangeProfilerSetConfig");
}

/* Ends what set_begin began; accepts any half of it. */
static void drop_set(struct counters *c)
{
    if (c->profiler) {
        CUpti_RangeProfiler_Disable_Params p = {.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
        p.pRangeProfilerObject = c->profiler;
        c->api->cuptiRangeProfilerDisable(&p);
        c->profiler = NULL;
    }
    counter_plan_free(c->api, &c->plan);
    free(c->image);
    c->image = NULL;
    c->image_size = 0;
}

int counters_set_begin(struct counters *c, enum counter_set set, size_t max_ranges, struct rl_err *err)
{
    if (counter_plan_make(c->api, c->chip, set, c->availability, &c->plan, err))
        return -1;
    CUpti_RangeProfiler_Enable_Params p = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
    p.ctx = c->context;
    CUptiResult result;
    RETRY_BUSY(result, c->api->cuptiRangeProfilerEnable(&p));
    if (result != CUPTI_SUCCESS) {
        cupti_fail(err, result, "cuptiRangeProfilerEnable");
        goto fail;
    }
    c->profiler = p.pRangeProfilerObject;
    if (make_image(c, max_ranges, err) || set_config(c, max_ranges, err))
        goto fail;
    return 0;
fail:
    drop_set(c);
    return -1;
}

int counters_pass_begin(struct counters *c, struct rl_err *err)
{
    CUpti_RangeProfiler_Start_Params p = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
    p.pRangeProfilerObject = c->profiler;
    CUptiResult result;
    RETRY_BUSY(result, c->api->cuptiRangeProfilerStart(&p));
    return result == CUPTI_SUCCESS ? 0 : cupti_fail(err, result, "cuptiRangeProfilerStart");
}

static int synchronize(struct counters *c, struct rl_err *err)
{
    CUresult result = c->synchronize();
    if (result == CUDA_SUCCESS)
        return 0;
    return rl_fail(err, RL_E_CUDA_FAILED, NULL, "cuCtxSynchronize answered %d while counting", (int)result);
}

int counters_range_begin(struct counters *c, const char *name, struct rl_err *err)
{
    if (synchronize(c, err)) /* what was launched before must not fall into the range */
        return -1;
    CUpti_RangeProfiler_PushRange_Params p = {.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE};
    p.pRangeProfilerObject = c->profiler;
    p.pRangeName = name;
    CUptiResult result = c->api->cuptiRangeProfilerPushRange(&p);
    return result == CUPTI_SUCCESS ? 0 : cupti_fail(err, result, "cuptiRangeProfilerPushRange");
}

int counters_range_end(struct counters *c, struct rl_err *err)
{
    if (synchronize(c, err))
        return -1;
    CUpti_RangeProfiler_PopRange_Params p = {.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE};
    p.pRangeProfilerObject = c->profiler;
    CUptiResult result = c->api->cuptiRangeProfilerPopRange(&p);
    return result == CUPTI_SUCCESS ? 0 : cupti_fail(err, result, "cuptiRangeProfilerPopRange");
}

int counters_pass_end(struct counters *c, bool *ret_more, struct rl_err *err)
{
    CUpti_RangeProfiler_Stop_Params p = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
    p.pRangeProfilerObject = c->profiler;
    CUptiResult result = c->api->cuptiRangeProfilerStop(&p);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiRangeProfilerStop");
    c->passes++;
    *ret_more = !p.isAllPassSubmitted;
    return 0;
}

static struct range_values *range_slot(struct counters *c, const char *name)
{
    for (size_t i = 0; i < c->range_count; i++)
        if (!strcmp(c->ranges[i].name, name))
            return &c->ranges[i];
    if (c->range_count == c->range_cap) {
        size_t cap = c->range_cap ? c->range_cap * 2 : 64;
        struct range_values *grown = reallocarray(c->ranges, cap, sizeof *grown);
        if (!grown)
            return NULL;
        c->ranges = grown;
        c->range_cap = cap;
    }
    struct range_values *slot = &c->ranges[c->range_count++];
    snprintf(slot->name, sizeof slot->name, "%s", name);
    for (int i = 0; i < COUNTER_COUNT; i++)
        slot->value[i] = rl_unknown(not_counted);
    return slot;
}

static int read_range(struct counters *c, size_t index, struct rl_err *err)
{
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params info = {
        .structSize = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE};
    info.pCounterDataImage = c->image;
    info.counterDataImageSize = c->image_size;
    info.rangeIndex = index;
    info.rangeDelimiter = "/";
    CUptiResult result = c->api->cuptiRangeProfilerCounterDataGetRangeInfo(&info);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiRangeProfilerCounterDataGetRangeInfo");
    struct range_values *slot = range_slot(c, info.rangeName);
    if (!slot)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the values of a range");

    double values[COUNTER_METRICS_MAX];
    CUpti_Profiler_Host_EvaluateToGpuValues_Params p = {.structSize =
                                                            CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
    p.pHostObject = c->plan.host;
    p.pCounterDataImage = c->image;
    p.counterDataImageSize = c->image_size;
    p.rangeIndex = index;
    p.ppMetricNames = c->plan.metric;
    p.numMetrics = c->plan.metric_count;
    p.pMetricValues = values;
    result = c->api->cuptiProfilerHostEvaluateToGpuValues(&p);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerHostEvaluateToGpuValues");
    for (size_t i = 0; i < c->plan.metric_count; i++) {
        struct rl_real *value = &slot->value[c->plan.id[i]];
        bool packed = c->plan.weight[i] > 1; /* always after its plain form */
        if (!isfinite(values[i]) || values[i] < 0)
            *value = rl_unknown("CUPTI answered no number for it");
        else if (!packed)
            *value = rl_known(values[i]);
        else if (rl_is_known(*value))
            value->value += c->plan.weight[i] * values[i];
    }
    return 0;
}

static int decode(struct counters *c, struct rl_err *err)
{
    CUpti_RangeProfiler_DecodeData_Params p = {.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
    p.pRangeProfilerObject = c->profiler;
    CUptiResult result = c->api->cuptiRangeProfilerDecodeData(&p);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiRangeProfilerDecodeData");
    if (p.numOfRangeDropped)
        return rl_fail(err, RL_E_COUNTERS_FAILED, NULL, "CUPTI dropped %zu ranges", p.numOfRangeDropped);
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
    info.pCounterDataImage = c->image;
    info.counterDataImageSize = c->image_size;
    result = c->api->cuptiRangeProfilerGetCounterDataInfo(&info);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiRangeProfilerGetCounterDataInfo");
    for (size_t i = 0; i < info.numTotalRanges; i++)
        if (read_range(c, i, err))
            return -1;
    return 0;
}

int counters_set_end(struct counters *c, struct rl_err *err)
{
    int result = decode(c, err);
    drop_set(c);
    return result;
}

struct rl_real counters_value(const struct counters *c, const char *range, enum counter_id id)
{
    const char *why = NULL;
    if (!counter_metric(c->chip, id, &why))
        return rl_unknown(why);
    for (size_t i = 0; i < c->range_count; i++)
        if (!strcmp(c->ranges[i].name, range))
            return c->ranges[i].value[id];
    return rl_unknown(not_counted);
}

void counters_close(struct counters *c)
{
    if (!c)
        return;
    drop_set(c);
    free(c->availability);
    free(c->ranges);
    free(c);
}
