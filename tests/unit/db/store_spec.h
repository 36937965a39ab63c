/* Runs of a few words, for the store's tests of what many runs say together. Beside tests/unit/db/store_fixture.h. */
#ifndef TESTS_UNIT_DB_STORE_SPEC_H
#define TESTS_UNIT_DB_STORE_SPEC_H

#include "db/rows/trend_day.h"
#include "tests/unit/db/store_fixture.h"
#include "tests/unit/record/sample_run.h"

#define DAY0 (20000 * TREND_DAY_MS) /* 2024-10-04 */

struct spec { /* of a run; 0 and NULL: the usual */
    int64_t date_ms;
    const char *device, *driver, *cuda, *flag, *kernel; /* kernel: in place of the first's name */
    double time_s;
    enum rl_source source;
    enum rl_outcome outcome;
    bool timed_only;
    int64_t method;
    const char *label; /* without quotes and backslashes */
};

static inline int64_t store_run(struct fixture *f, struct spec spec)
{
    struct rl_run *run = sample_run_small();
    char job[400];
    int64_t id;

    run->device.id = spec.device != NULL ? spec.device : DEVICE_A;
    run->environment.driver_version = text_known(spec.driver != NULL ? spec.driver : "580.1");
    if (spec.cuda != NULL)
        run->environment.cuda_runtime_version = spec.cuda[0] != '\0' ? text_known(spec.cuda) : text_unknown();
    run->finished_at_ms = spec.date_ms;
    run->started_at_ms = spec.date_ms - 4000;
    run->source = spec.source;
    run->outcome = spec.outcome;
    run->counter_backed = !spec.timed_only;
    if (spec.kernel != NULL)
        run->rows[0].kernel = spec.kernel;
    if (spec.time_s > 0)
        run->rows[0].state[RL_WARM].time_s.median = rl_known(spec.time_s);
    if (spec.flag != NULL)
        assert_int_equal(rl_strings_add(run->arena, &run->flags, spec.flag), 0);
    if (spec.method != 0)
        run->environment.method_version = spec.method;
    snprintf(job, sizeof job, "{\"suite\":\"verify\",\"label\":\"%s\"}", spec.label != NULL ? spec.label : "");
    f->spec = spec.label != NULL ? job : NULL;
    id = add_run(f, run);
    f->spec = NULL;
    rl_run_free(run);
    return id;
}

static inline uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

#endif
