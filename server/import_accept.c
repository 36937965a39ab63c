/* See import_accept.h. */
#include "server/import_accept.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "record/derive.h"
#include "record/quantile.h"
#include "record/record_json.h"

#define SAME_RELATIVE 1e-9 /* as of a measuring process: see run_accept.c */

static int broken(struct rl_err *err, const char *field, const char *why)
{
    return rl_fail(err, RL_E_IMPORT_FAILED, field, "The importing process sent a run whose %s cannot be: %s.", field,
                   why);
}

/* An import without a UUID has a slug for an id, so that it never becomes a run of a measured device. */
static int check_device(const struct rl_device *device, struct rl_err *err)
{
    if (device->uuid.why == NULL)
        return strcmp(device->id, device->uuid.value) == 0 ? 0 : broken(err, "device.id", "it is not its UUID");
    if (device->id[0] == '\0' || strspn(device->id, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(device->id))
        return broken(err, "device.id", "it has no UUID, and the id is no slug");
    return 0;
}

static int check_files(const struct rl_import *import, const struct import_expected *expected, struct rl_err *err)
{
    if (!import->present || import->file_count != expected->file_count)
        return broken(err, "import.files", "they are not those that were sent");
    for (size_t i = 0; i < expected->file_count; i++) {
        const struct import_expected_file *sent = &expected->files[i];
        bool found = false;
        for (size_t f = 0; f < import->file_count; f++)
            found |= strcmp(import->files[f].kind, sent->kind) == 0 && import->files[f].bytes == sent->bytes &&
                     strcmp(import->files[f].sha256, sent->sha256) == 0;
        if (!found)
            return broken(err, "import.files", "they are not those that were sent");
    }
    return 0;
}

static int check_head(const struct rl_run *run, const struct import_expected *expected, struct rl_err *err)
{
    if (run->source != RL_IMPORTED)
        return broken(err, "source", "an import is \"imported\"");
    if (run->started_at_ms > run->finished_at_ms)
        return broken(err, "finished_at", "it is before started_at");
    if (run->finished_at_ms > expected->now_ms)
        return broken(err, "finished_at", "it is in the future");
    for (size_t i = 0; i < run->check_count; i++)
        if (run->checks[i].refuses && run->checks[i].passed.why == NULL && !run->checks[i].passed.value &&
            run->outcome != RL_REFUSED)
            return broken(err, "outcome", "a check that refuses the run has failed");
    return check_device(&run->device, err) != 0 ? -1 : check_files(&run->import, expected, err);
}

static bool close_to(struct rl_real said, struct rl_real made)
{
    return rl_is_known(said) && rl_is_known(made) && fabs(said.value - made.value) <= SAME_RELATIVE * fabs(made.value);
}

/* Where raw samples came, the statistics have to be theirs. Plain timings bring none. */
static int check_times(const char *unit, enum rl_state state, const struct rl_times *said,
                       const struct run_samples *samples, struct rl_err *err)
{
    struct rl_times made = {0};
    const struct run_sample_row *row = run_samples_row(samples, unit, state);
    if (row == NULL || row->count == 0 || !rl_is_known(said->median))
        return 0;
    if (rl_times_from_samples(row->times_s, row->count, &made) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to check samples.");
    if (row->count == (size_t)said->n && row->launches == said->launches && close_to(said->median, made.median) &&
        close_to(said->p25, made.p25) && close_to(said->p75, made.p75) && close_to(said->min, made.min))
        return 0;
    return broken(err, "time_s", "its statistics are not those of its samples");
}

static int check_all_times(const struct rl_run *run, const struct run_samples *samples, struct rl_err *err)
{
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++)
            if (run->rows[i].state[state].present &&
                check_times(run->rows[i].kernel, state, &run->rows[i].state[state].time_s, samples, err) != 0)
                return -1;
    for (size_t i = 0; i < run->ceiling_count; i++)
        if (run->ceilings[i].state < RL_STATE_COUNT &&
            check_times(run->ceilings[i].name, run->ceilings[i].state, &run->ceilings[i].time_s, samples, err) != 0)
            return -1;
    return 0;
}

static int accept_run(const json_t *line, const struct import_expected *expected, struct run_samples *samples,
                      struct rl_run **ret, struct rl_err *err)
{
    struct rl_run *run = NULL;
    struct rl_err why = {0};
    if (json_object_size(line) != 3 || rl_run_from_json(json_object_get(line, "run"), &run, &why) != 0)
        return rl_fail(err, why.code == RL_E_NO_MEMORY ? RL_E_NO_MEMORY : RL_E_IMPORT_FAILED, why.field,
                       "The importing process sent a run that is not valid: %s", why.message);
    if (check_head(run, expected, err) != 0 || check_all_times(run, samples, err) != 0) {
        rl_run_free(run);
        return -1;
    }
    rl_derive(run);
    *ret = run;
    return 0;
}

int import_accept(const char *lines, size_t len, const struct import_expected *expected, struct rl_run **ret,
                  struct run_samples *ret_samples, struct rl_err *err)
{
    struct run_samples samples = {0};
    struct rl_run *run = NULL;
    int rc = 0;
    for (size_t at = 0; at < len && rc == 0; at += strlen(lines + at) + 1) {
        json_t *line = json_loads(lines + at, JSON_REJECT_DUPLICATES, NULL);
        const char *kind = json_string_value(json_object_get(line, "t"));
        if (kind != NULL && strcmp(kind, "sample") == 0 && run == NULL)
            rc = run_samples_take(&samples, line, err);
        else if (kind != NULL && strcmp(kind, "result") == 0 && run == NULL)
            rc = accept_run(line, expected, &samples, &run, err);
        else
            rc = rl_fail(err, RL_E_IMPORT_FAILED, NULL, "The importing process sent a line that is none.");
        json_decref(line);
    }
    if (rc == 0 && run == NULL)
        rc = rl_fail(err, RL_E_IMPORT_FAILED, NULL, "The importing process sent no run.");
    if (rc != 0) {
        if (err != NULL && err->code == RL_E_MEASURE_PROTOCOL)
            err->code = RL_E_IMPORT_FAILED;
        rl_run_free(run);
        run_samples_free(&samples);
        return -1;
    }
    *ret = run;
    *ret_samples = samples;
    return 0;
}
