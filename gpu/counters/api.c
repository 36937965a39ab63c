/* Loading CUPTI and putting its errors into words. */
#include "gpu/counters/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpu/counters/counters.h"

/* The major version that the headers belong to: struct sizes grow between majors, so another one is not tried. */
#define CUPTI_LIBRARY "libcupti.so.13"

static struct cupti_api api;
static bool loaded;

const struct cupti_api *cupti_api_load(struct rl_err *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = {
#define CUPTI_SYMBOL(name) {#name, offsetof(struct cupti_api, name)},
        CUPTI_FUNCTIONS(CUPTI_SYMBOL)
#undef CUPTI_SYMBOL
    };
    if (loaded)
        return &api;
    void *library = dlopen(CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        rl_fail(err, RL_E_COUNTERS_LIBRARY, NULL, "%s cannot be loaded: counters need the CUPTI of CUDA 13",
                CUPTI_LIBRARY);
        return NULL;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol) {
            rl_fail(err, RL_E_COUNTERS_LIBRARY, NULL, "%s has no %s: it is not the CUPTI of CUDA 13.0 or newer",
                    CUPTI_LIBRARY, symbols[i].name);
            dlclose(library);
            return NULL;
        }
        *(void **)((char *)&api + symbols[i].offset) = symbol;
    }
    loaded = true; /* never unloaded: CUPTI keeps threads and callbacks of its own */
    return &api;
}

static void *preload(void *arg)
{
    (void)arg;
    dlopen("libnvperf_host.so", RTLD_NOW | RTLD_LOCAL);
    dlopen("libnvperf_target.so", RTLD_NOW | RTLD_LOCAL);
    return NULL; /* whoever opens a session finds out whether they are there */
}

void counters_preload(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, preload, NULL) == 0)
        pthread_detach(thread);
}

/* Meanings by cupti_result.h; 35 and 40 are permissions, 26 is another owner of the counters. */
static enum rl_code code_of(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return RL_E_COUNTERS_PERMISSION;
    case CUPTI_ERROR_HARDWARE_BUSY:
        return RL_E_COUNTERS_BUSY;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
        return RL_E_COUNTERS_SUBSCRIBER;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
        return RL_E_COUNTERS_UNSUPPORTED;
    case CUPTI_ERROR_NOT_INITIALIZED: /* libnvperf_* not found, or a driver older than this CUPTI */
        return RL_E_COUNTERS_DRIVER;
    default:
        return RL_E_COUNTERS_FAILED;
    }
}

int cupti_fail(struct rl_err *err, CUptiResult result, const char *call)
{
    const char *words = NULL;
    if (loaded)
        api.cuptiGetResultString(result, &words);
    const char *more = "";
    if (result == CUPTI_ERROR_NOT_INITIALIZED)
        more = "; libnvperf_host.so or libnvperf_target.so was not found, or the driver is older than CUPTI";
    return rl_fail(err, code_of(result), NULL, "%s answered %d (%s)%s", call, (int)result, words ? words : "no words",
                   more);
}
