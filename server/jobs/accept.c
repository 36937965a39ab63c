/* Judging what a measuring process sent; see server/jobs/accept.h. */
#include "server/jobs/accept.h"
#include "kernels/unit/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/runs/document.h"
#include "gpu/record/derive/derive.h"
#include "gpu/record/derive/quantile.h"
#include "gpu/record/json.h"
#include "gpu/record/json_text.h"

/* Daemon and measuring process share the node's clock. */
#define CLOCK_ROOM_MS (24LL * 3600 * 1000)

static int broken(struct rl_err *err, const char *field, const char *why)
{
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, field, "The measuring process sent %s: %s.", field, why);
}

static bool text_is(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

static int check_head(const struct rl_run *run, const struct run_expected *expected, struct rl_err *err)
{
    const struct job_spec *spec = expected->spec;
    if (!text_is(run->suite, "verify"))
        return broken(err, "suite", "it is not the one asked for");
    if (!text_is(run->sizes, rl_sizes_name(spec->sizes)))
        return broken(err, "sizes", "they are not those asked for");
    if (!text_is(run->device.id, spec->device))
        return broken(err, "device.id", "it is not the device asked for");
    if (run->source != (expected->replayed ? RL_REPLAYED : RL_MEASURED))
        return broken(err, "source", expected->replayed ? "a replay must say so" : "nothing was replayed");
    if (expected->replayed != (run->recorded_at_ms != 0))
        return broken(err, "recorded_at",
                      expected->replayed ? "a replay has the date of its recording" : "it is no replay");
    if (run->started_at_ms > run->finished_at_ms)
        return broken(err, "finished_at", "it is before started_at");
    bool stepped = expected->clock_stepped || rl_strings_has(&run->flags, "clock_stepped");
    if (!stepped && (llabs(run->started_at_ms - expected->now_ms) > CLOCK_ROOM_MS ||
                     llabs(run->finished_at_ms - expected->now_ms) > CLOCK_ROOM_MS))
        return broken(err, "started_at", "it is more than a day away from now");
    bool off = text_is(run->counters.status, "off");
    if (off != !spec->counters)
        return broken(err, "counters.status", off ? "counters were asked for" : "counters were to be off");
    if (!off && !text_is(run->counters.status, "ok") &&
        (run->counters.status == NULL || rl_code_from_id(run->counters.status) == RL_E_NONE))
        return broken(err, "counters.status", "it is none of the catalogue");
    return 0;
}

/* Statistics of a row or ceiling beside those of its samples; without a median there is nothing to compare. */
static int check_times(const char *unit, enum rl_state state, const struct rl_times *said,
                       const struct run_samples *samples, struct rl_err *err)
{
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

/* Flop and asked bytes follow from the kernel and its sizes: they are the catalogue's, whatever a process says. */
static int check_work(const struct rl_run *run, size_t index, enum rl_sizes sizes, struct rl_err *err)
{
    const struct rl_row *row = &run->rows[index];
    const struct rl_unit *unit = rl_unit_find(row->kernel);
    const struct rl_count *l2 = &run->device.l2_bytes;
    struct rl_dims dims;
    char field[64];
    if (sizes == RL_SCALED && l2->why != NULL)
        return broken(err, "device.l2_bytes", "it is not known, and scaled sizes follow from it");
    if (unit == NULL || unit->dims(sizes, l2->why == NULL ? (uint64_t)l2->value : 0, &dims) != 0)
        return broken(err, "device.l2_bytes", "no sizes follow from it");
    const struct {
        const char *name;
        const struct rl_count *said;
        uint64_t right;
    } members[] = {{"flop", &row->flop, unit->flop(&dims)}, {"ask_bytes", &row->ask_bytes, unit->ask_bytes(&dims)}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].said->why == NULL && (uint64_t)members[i].said->value == members[i].right)
            continue;
        snprintf(field, sizeof field, "kernels[%zu].%s", index, members[i].name);
        if (members[i].said->why != NULL)
            return broken(err, field, "it is not known, and the catalogue has it");
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, field,
                       "The measuring process sent for %s the %s %" PRId64 ", which is %" PRIu64 " at %s sizes.",
                       row->kernel, members[i].name, members[i].said->value, members[i].right, rl_sizes_name(sizes));
    }
    return 0;
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
        return broken(err, field, "it is not that of its device line");
    }
    if (!json_equal(json_object_get(json_object_get(said, "environment"), "driver_version"),
                    json_object_get(json_object_get(document, "environment"), "driver_version")))
        return broken(err, "environment.driver_version", "it is not that of its device line");
    return 0;
}

static int check_rows(const struct rl_run *run, const struct run_expected *expected, const struct run_samples *samples,
                      struct rl_err *err)
{
    bool seen[RL_KERNEL_COUNT] = {false};
    bool asked[RL_STATE_COUNT] = {[RL_WARM] = expected->spec->warm, [RL_COLD] = expected->spec->cold};
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row *row = &run->rows[i];
        size_t index = run_unit_index(row->kernel);
        if (index >= rl_kernel_count || !expected->spec->kernel[index] || seen[index])
            return broken(err, "kernels", "a row was not asked for or comes twice");
        seen[index] = true;
        if (check_work(run, i, expected->spec->sizes, err) != 0)
            return -1;
        for (int state = 0; state < RL_STATE_COUNT; state++) {
            if (row->state[state].present != asked[state])
                return broken(err, "kernels", "a row has not exactly the cache states asked for");
            if (asked[state] &&
                check_times(row->kernel, (enum rl_state)state, &row->state[state].time_s, samples, err) != 0)
                return -1;
        }
    }
    for (size_t i = 0; i < rl_kernel_count; i++)
        if (expected->spec->kernel[i] && !seen[i])
            return broken(err, "kernels", "a row that was asked for is missing");
    return 0;
}

static int check_ceilings(const struct rl_run *run, const struct run_samples *samples, struct rl_err *err)
{
    bool seen[RL_UNIT_COUNT][RL_STATE_COUNT] = {{false}};
    for (size_t i = 0; i < run->ceiling_count; i++) {
        const struct rl_ceiling *ceiling = &run->ceilings[i];
        size_t index = run_unit_index(ceiling->name);
        if (index == SIZE_MAX || index < rl_kernel_count || seen[index][ceiling->state])
            return broken(err, "ceilings", "one is not of the catalogue or comes twice");
        seen[index][ceiling->state] = true;
        if (check_times(ceiling->name, ceiling->state, &ceiling->time_s, samples, err) != 0)
            return -1;
    }
    return 0;
}

/* A process may be harder on itself than the checks are, never softer. */
static int check_outcome(const struct rl_run *run, struct rl_err *err)
{
    if (run->outcome != RL_REFUSED && rl_run_refused_by(run) != NULL)
        return broken(err, "outcome", "a check that refuses the run has failed");
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
        check_rows(run, expected, samples, err) != 0 || check_ceilings(run, samples, err) != 0 ||
        check_outcome(run, err) != 0) {
        rl_run_free(run);
        return -1;
    }
    run->lent = (struct rl_lent){0}; /* the store's to give, never a process's */
    rl_derive(run);
    if (check_derived(run, err) != 0) {
        rl_run_free(run);
        return -1;
    }
    *ret = run;
    return 0;
}
