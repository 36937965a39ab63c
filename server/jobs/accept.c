/* Judging what a measuring process sent; see server/jobs/accept.h. */
#include "server/jobs/accept.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/runs/document.h"
#include "gpu/record/derive/quantile.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"

/* Daemon and measuring process share the node's clock. */
#define CLOCK_ROOM_MS (24LL * 3600 * 1000)

static bool text_is(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

static int check_head(const struct rl_run *run, const struct run_expected *expected, struct rl_err *err)
{
    const struct job_spec *spec = expected->spec;
    if (!text_is(run->suite, spec->params.suite->name))
        return rl_accept_refuse(err, "suite", "it is not the one asked for");
    if (!text_is(run->device.id, spec->device))
        return rl_accept_refuse(err, "device.id", "it is not the device asked for");
    if (run->source != (expected->replayed ? RL_REPLAYED : RL_MEASURED))
        return rl_accept_refuse(err, "source", expected->replayed ? "a replay must say so" : "nothing was replayed");
    if (expected->replayed != (run->recorded_at_ms != 0))
        return rl_accept_refuse(err, "recorded_at",
                                expected->replayed ? "a replay has the date of its recording" : "it is no replay");
    if (run->started_at_ms > run->finished_at_ms)
        return rl_accept_refuse(err, "finished_at", "it is before started_at");
    bool stepped = expected->clock_stepped || rl_strings_has(&run->flags, "clock_stepped");
    if (!stepped && (llabs(run->started_at_ms - expected->now_ms) > CLOCK_ROOM_MS ||
                     llabs(run->finished_at_ms - expected->now_ms) > CLOCK_ROOM_MS))
        return rl_accept_refuse(err, "started_at", "it is more than a day away from now");
    if (!text_is(run->counters.status, "off") && !text_is(run->counters.status, "ok") &&
        (run->counters.status == NULL || rl_code_from_id(run->counters.status) == RL_E_NONE))
        return rl_accept_refuse(err, "counters.status", "it is none of the catalogue");
    return 0;
}

/* Statistics of a row or ceiling beside those of its samples; without a median there is nothing to compare. */
static int check_times(void *arg, const char *unit, enum rl_state state, const char *at, const struct rl_times *said,
                       struct rl_err *err)
{
    const struct run_samples *samples = arg;
    (void)at;
    if (!rl_is_known(said->median))
        return 0;
    const struct run_sample_row *row = run_samples_row(samples, unit, state);
    struct rl_times_difference differs;
    char said_words[RL_TIMES_WORDS], made_words[RL_TIMES_WORDS];
    if (row == NULL || row->count == 0)
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, unit, "The measuring process sent times of %s %s without samples.",
                       unit, rl_state_name(state));
    if (rl_times_check(said, row->times_s, row->count, row->launches, &differs) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to check samples.");
    if (differs.member == NULL)
        return 0;
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, unit,
                   "The measuring process sent for %s %s the %s %s, its samples (%zu of %" PRId64 " launches) give %s.",
                   unit, rl_state_name(state), differs.member, rl_times_words(differs.said, said_words), row->count,
                   row->launches, rl_times_words(differs.made, made_words));
}

/* The result against what the process said of device and driver before it measured. */
static int check_device(const json_t *document, const struct run_expected *expected, struct rl_err *err)
{
    const json_t *said = expected->device_line, *device = json_object_get(said, "device"), *value;
    const json_t *result = json_object_get(document, "device");
    const char *name;
    char field[96];
    if (said == NULL)
        return 0;
    json_object_foreach((json_t *)(uintptr_t)device, name, value)
    {
        /* what it did not know yet, the chip's name before its counters are open, it may know in the end */
        if (json_is_null(value) || strcmp(name, "why") == 0 || json_equal(value, json_object_get(result, name)))
            continue;
        snprintf(field, sizeof field, "device.%s", name);
        return rl_accept_refuse(err, field, "it is not that of its device line");
    }
    if (!json_equal(json_object_get(json_object_get(said, "environment"), "driver_version"),
                    json_object_get(json_object_get(document, "environment"), "driver_version")))
        return rl_accept_refuse(err, "environment.driver_version", "it is not that of its device line");
    return 0;
}

/* What the suite asked for, and the statistics of each row beside its samples. */
static int check_suite(const struct rl_run *run, const struct run_expected *expected, const struct run_samples *samples,
                       struct rl_err *err)
{
    const struct rl_suite *suite = expected->spec->params.suite;
    if (suite->accept(run, &expected->spec->params, err) != 0)
        return -1;
    return suite->times == NULL ? 0 : suite->times(run, check_times, (void *)(uintptr_t)samples, err);
}

/* A process may be harder on itself than the checks are, never softer. */
static int check_outcome(const struct rl_run *run, struct rl_err *err)
{
    if (run->outcome != RL_REFUSED && rl_run_refused_by(run) != NULL)
        return rl_accept_refuse(err, "outcome", "a check that refuses the run has failed");
    return 0;
}

/* What was derived from values that can be may itself be none that can: a run that could not be read back is not
 * stored. */
static int check_derived(const struct rl_run *run, struct rl_err *err)
{
    struct rl_run *again = NULL;
    struct rl_err why = {0};
    json_t *document = rl_run_to_json(run);
    if (document == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to check the run.");
    int rc = rl_run_from_json(document, &again, &why);
    json_decref(document);
    rl_run_free(again);
    if (rc == 0)
        return 0;
    return rl_fail(err, why.code == RL_E_NO_MEMORY ? RL_E_NO_MEMORY : RL_E_MEASURE_PROTOCOL,
                   why.field[0] != '\0' ? why.field : NULL,
                   "The measuring process sent a run from which no valid values follow: %s", why.message);
}

int run_accept(const json_t *document, const struct run_expected *expected, const struct run_samples *samples,
               struct rl_run **ret, struct rl_err *err)
{
    struct rl_run *run = NULL;
    struct rl_err why = {0};
    if (rl_run_from_json(document, &run, &why) != 0)
        return rl_fail(err, why.code == RL_E_NO_MEMORY ? RL_E_NO_MEMORY : RL_E_MEASURE_PROTOCOL,
                       why.field[0] != '\0' ? why.field : NULL,
                       "The measuring process sent a run that is not valid: %s", why.message);
    if (check_head(run, expected, err) != 0 || check_device(document, expected, err) != 0 ||
        check_suite(run, expected, samples, err) != 0 || check_outcome(run, err) != 0) {
        rl_run_free(run);
        return -1;
    }
    run->lent = (struct rl_lent){0}; /* the store's to give, never a process's */
    rl_run_derive(run);
    if (check_derived(run, err) != 0) {
        rl_run_free(run);
        return -1;
    }
    *ret = run;
    return 0;
}
