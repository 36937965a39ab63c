/* What the engine's tests share: a request, a run over the fake backend, and look-ups in its result. */
#ifndef TESTS_UNIT_ENGINE_ENGINE_FIXTURE_H
#define TESTS_UNIT_ENGINE_ENGINE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs the ones above */

#include "gpu/engine/engine.h"
#include "tests/unit/engine/fake_backend.h"

static inline struct engine_request whole_request(void)
{
    struct engine_request request = {.sizes = RL_COURSE, .state = {true, true}, .counters = true};

    for (size_t i = 0; i < rl_kernel_count; i++)
        request.kernel[i] = true;
    return request;
}

/* Runs to the end or fails the test; the caller frees the run. */
static inline struct rl_run *run_whole(struct fake_backend *fake, const struct engine_request *request)
{
    struct engine_request whole = whole_request();
    struct rl_run *run = NULL;
    struct rl_err err = {0};

    if (engine_run(&fake->base, request ? request : &whole, NULL, &run, &err))
        fail_msg("%s", err.message);
    assert_false(fake->prepared_wrong);
    assert_false(fake->requests.failed);
    return run;
}

static inline const struct rl_check *check_of(const struct rl_run *run, const char *name)
{
    const struct rl_check *found = NULL;

    for (size_t i = 0; i < run->check_count; i++)
        if (strcmp(run->checks[i].name, name) == 0) {
            assert_null(found); /* names are unique */
            found = &run->checks[i];
        }
    if (!found)
        fail_msg("no check %s", name);
    return found;
}

static inline void assert_passed(const struct rl_run *run, const char *name)
{
    const struct rl_check *check = check_of(run, name);

    if (check->passed.why || !check->passed.value)
        fail_msg("%s: %s, %s", name, check->passed.why ? check->passed.why : "failed", check->detail);
}

static inline void assert_failed(const struct rl_run *run, const char *name)
{
    const struct rl_check *check = check_of(run, name);

    if (check->passed.why || check->passed.value)
        fail_msg("%s: %s, %s", name, check->passed.why ? check->passed.why : "passed", check->detail);
}

static inline void assert_unknown(const struct rl_run *run, const char *name)
{
    const struct rl_check *check = check_of(run, name);

    if (!check->passed.why)
        fail_msg("%s: known, %s", name, check->detail);
}

static inline void free_both(struct fake_backend *fake, struct rl_run *run)
{
    rl_run_free(run);
    fake->base.ops->close(&fake->base);
}

/* A run over a fake that was broken in one place: nothing but the named checks fails. */
static inline void assert_only_failed(const struct rl_run *run, const char *first, const char *second)
{
    for (size_t i = 0; i < run->check_count; i++) {
        const struct rl_check *check = &run->checks[i];
        bool expected = strcmp(check->name, first) == 0 || (second && strcmp(check->name, second) == 0);

        if (!check->passed.why && check->passed.value == expected)
            fail_msg("%s %s: %s", check->name, expected ? "passed" : "failed too", check->detail);
    }
}

#endif
