/* Planning counters: metrics of a chip into a config image and its passes. Needs CUPTI's host library, no GPU. */
#include "gpu/counters/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_metric(struct counter_plan *plan, enum counter_id id, const char *metric, double weight)
{
    if (!metric)
        return;
    plan->metric[plan->metric_count] = metric;
    plan->id[plan->metric_count] = id;
    plan->weight[plan->metric_count++] = weight;
}

static int choose_metrics(const char *chip, enum counter_set set, struct counter_plan *plan, struct rl_err *err)
{
    int first = set == COUNTERS_HARDWARE ? 0 : COUNTER_HARDWARE_COUNT;
    int end = set == COUNTERS_HARDWARE ? COUNTER_HARDWARE_COUNT : COUNTER_COUNT;
    const char *why = "the chip has none of the counters";
    for (int i = first; i < end; i++) {
        add_metric(plan, (enum counter_id)i, counter_metric(chip, (enum counter_id)i, &why), 1);
        add_metric(plan, (enum counter_id)i, counter_packed_metric(chip, (enum counter_id)i), 2);
    }
    if (!plan->metric_count)
        return rl_fail(err, RL_E_COUNTERS_UNSUPPORTED, NULL, "chip %s: %s", chip, why);
    return 0;
}

static CUptiResult host_begin(const struct cupti_api *api, const char *chip, const uint8_t *availability,
                              CUpti_Profiler_Host_Object **ret)
{
    CUpti_Profiler_Host_Initialize_Params p = {.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
    p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    p.pChipName = chip;
    p.pCounterAvailabilityImage = availability;
    CUptiResult result = api->cuptiProfilerHostInitialize(&p);
    if (result == CUPTI_SUCCESS)
        *ret = p.pHostObject;
    return result;
}

static void host_end(const struct cupti_api *api, CUpti_Profiler_Host_Object *host)
{
    CUpti_Profiler_Host_Deinitialize_Params p = {.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
    p.pHostObject = host;
    api->cuptiProfilerHostDeinitialize(&p);
}

static CUptiResult host_add(const struct cupti_api *api, CUpti_Profiler_Host_Object *host, const char **metrics,
                            size_t count)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params p = {.structSize =
                                                         CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
    p.pHostObject = host;
    p.ppMetricNames = metrics;
    p.numMetrics = count;
    return api->cuptiProfilerHostConfigAddMetrics(&p);
}

/* One unknown name fails the whole list with INVALID_PARAMETER and no hint which, and spoils the host object: so each
 * is tried alone on a host object of its own. */
static int name_culprit(const struct cupti_api *api, struct counter_plan *plan, const char *chip,
                        const uint8_t *availability, struct rl_err *err)
{
    for (size_t i = 0; i < plan->metric_count; i++) {
        CUpti_Profiler_Host_Object *host = NULL;
        CUptiResult result = host_begin(api, chip, availability, &host);
        if (result != CUPTI_SUCCESS)
            return cupti_fail(err, result, "cuptiProfilerHostInitialize");
        result = host_add(api, host, &plan->metric[i], 1);
        host_end(api, host);
        if (result != CUPTI_SUCCESS)
            return rl_fail(err, RL_E_COUNTERS_UNSUPPORTED, NULL, "this CUPTI cannot configure %s for chip %s",
                           plan->metric[i], chip);
    }
    return rl_fail(err, RL_E_COUNTERS_UNSUPPORTED, NULL,
                   "this CUPTI cannot configure the counters for chip %s together", chip);
}

static int make_config(const struct cupti_api *api, struct counter_plan *plan, struct rl_err *err)
{
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    size.pHostObject = plan->host;
    CUptiResult result = api->cuptiProfilerHostGetConfigImageSize(&size);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerHostGetConfigImageSize");
    plan->config = calloc(1, size.configImageSize);
    if (!plan->config)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a config image of %zu bytes", size.configImageSize);
    plan->config_size = size.configImageSize;

    CUpti_Profiler_Host_GetConfigImage_Params image = {.structSize =
                                                           CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    image.pHostObject = plan->host;
    image.configImageSize = plan->config_size;
    image.pConfigImage = plan->config;
    result = api->cuptiProfilerHostGetConfigImage(&image);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerHostGetConfigImage");

    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {.structSize =
                                                            CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
    passes.configImageSize = plan->config_size;
    passes.pConfigImage = plan->config;
    result = api->cuptiProfilerHostGetNumOfPasses(&passes);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerHostGetNumOfPasses");
    plan->passes = passes.numOfPasses;
    return 0;
}

int counter_plan_make(const struct cupti_api *api, const char *chip, enum counter_set set, const uint8_t *availability,
                      struct counter_plan *ret, struct rl_err *err)
{
    struct counter_plan plan = {0};
    if (choose_metrics(chip, set, &plan, err))
        return -1;
    CUptiResult result = host_begin(api, chip, availability, &plan.host);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiProfilerHostInitialize");
    if (host_add(api, plan.host, plan.metric, plan.metric_count) != CUPTI_SUCCESS) {
        name_culprit(api, &plan, chip, availability, err);
        goto fail;
    }
    if (make_config(api, &plan, err))
        goto fail;
    *ret = plan;
    return 0;
fail:
    counter_plan_free(api, &plan);
    return -1;
}

void counter_plan_free(const struct cupti_api *api, struct counter_plan *plan)
{
    if (plan->host)
        host_end(api, plan->host);
    free(plan->config);
    memset(plan, 0, sizeof *plan);
}

int counters_plan(const char *chip, enum counter_set set, size_t *ret_passes, struct rl_err *err)
{
    const struct cupti_api *api = cupti_api_load(err);
    if (!api)
        return -1;
    struct counter_plan plan;
    if (counter_plan_make(api, chip, set, NULL, &plan, err))
        return -1;
    *ret_passes = plan.passes;
    counter_plan_free(api, &plan);
    return 0;
}

int counters_library_version(char *text, size_t size, struct rl_err *err)
{
    const struct cupti_api *api = cupti_api_load(err);
    if (!api)
        return -1;
    uint32_t version = 0;
    CUptiResult result = api->cuptiGetVersion(&version);
    if (result != CUPTI_SUCCESS)
        return cupti_fail(err, result, "cuptiGetVersion");
    snprintf(text, size, "%u", version);
    return 0;
}
