/* Counters in a build without CUPTI: every call says so. */
#include "gpu/counters/counters.h"

static int no_cupti(struct rl_err *err)
{
    return rl_fail(err, RL_E_COUNTERS_LIBRARY, NULL,
                   "this build has no CUPTI: it was configured without the CUDA toolkit");
}

int counters_plan(const char *chip, enum counter_set set, size_t *ret_passes, struct rl_err *err)
{
    (void)chip, (void)set, (void)ret_passes;
    return no_cupti(err);
}
void counters_preload(void) {}
int counters_library_version(char *text, size_t size, struct rl_err *err)
{
    (void)text, (void)size;
    return no_cupti(err);
}
int counters_device_chip(int cuda_device, char *text, size_t size, struct rl_err *err)
{
    (void)cuda_device, (void)text, (void)size;
    return no_cupti(err);
}
int counters_open(int cuda_device, struct counters **ret, struct rl_err *err)
{
    (void)cuda_device, (void)ret;
    return no_cupti(err);
}
const char *counters_chip(const struct counters *c)
{
    (void)c;
    return "";
}
int counters_set_begin(struct counters *c, enum counter_set set, size_t max_ranges, struct rl_err *err)
{
    (void)c, (void)set, (void)max_ranges;
    return no_cupti(err);
}
int counters_pass_begin(struct counters *c, struct rl_err *err)
{
    (void)c;
    return no_cupti(err);
}
int counters_range_begin(struct counters *c, const char *name, struct rl_err *err)
{
    (void)c, (void)name;
    return no_cupti(err);
}
int counters_range_end(struct counters *c, struct rl_err *err)
{
    (void)c;
    return no_cupti(err);
}
int counters_pass_end(struct counters *c, bool *ret_more, struct rl_err *err)
{
    (void)c, (void)ret_more;
    return no_cupti(err);
}
int counters_set_end(struct counters *c, struct rl_err *err)
{
    (void)c;
    return no_cupti(err);
}
struct rl_real counters_value(const struct counters *c, const char *range, enum counter_id id)
{
    (void)c, (void)range, (void)id;
    return rl_unknown("this build has no CUPTI");
}
size_t counters_passes(const struct counters *c)
{
    (void)c;
    return 0;
}
void counters_close(struct counters *c)
{
    (void)c;
}
