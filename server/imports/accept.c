/* See server/imports/accept.h. */
#include "server/imports/accept.h"

#include <jansson.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/derive/derive.h"
#include "gpu/record/derive/quantile.h"
#include "gpu/suites/document.h"

static int broken(struct rl_err *err, const char *field, const char *why)
{
    return rl_fail(err, RL_E_IMPORT_FAILED, field, "The importing process sent a run whose %s cannot be: %s.", field,
                   why);
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
    if (run->outcome != RL_REFUSED && rl_run_refused_by(run) != NULL)
        return broken(err, "outcome", "a check that refuses the run has failed");
    if (!rl_device_id_valid(&run->device))
        return broken(err, "device.id", "it is neither its UUID nor, without one, a slug");
    if (!rl_utf8_is_line(run->device.name))
        return broken(err, "device.name", "it has a control character or nothing that can be seen");
    if (run->row_count + run->ceiling_count == 0)
        return broken(err, "kernels", "it has none, and no ceiling");
    for (size_t i = 0; i < run->row_count; i++)
        if (!rl_kernel_name_valid(run->rows[i].kernel))
            return broken(err, "kernels", "a name has a control character or nothing that can be seen");
    return check_files(&run->import, expected, err);
}

/* Where raw samples came, the statistics have to be theirs. Plain timings bring none. The importer has said so of a
 * client's file, with its line: here the process itself is at fault. */
static int check_times(const char *unit, enum rl_state state, const struct rl_times *said,
                       const struct run_samples *samples, struct rl_err *err)
{
    struct rl_times_difference differs;
    const struct run_sample_row *row = run_samples_row(samples, unit, state);
    if (row == NULL || row->count == 0 || !rl_is_known(said->median))
        return 0;
    if (rl_times_check(said, row->times_s, row->count, row->launches, &differs) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to check samples.");
    return differs.member == NULL ? 0 : broken(err, "time_s", "its statistics are not those of its samples");
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

/* Roofs that a run of another database lent are not those of a run of this one. */
static int drop_lent(struct rl_run *run, struct rl_err *err)
{
    static const char note[] = "the roofs that another run had lent to this record were left out";
    if (!run->lent.present)
        return 0;
    run->lent = (struct rl_lent){0};
    return rl_strings_add(run->arena, &run->import.notes, note) == 0
               ? 0
               : rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for an import.");
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
    if (drop_lent(run, err) != 0) {
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
        json_error_t why;
        json_t *line = json_loads(lines + at, JSON_REJECT_DUPLICATES, &why);
        const char *kind = json_string_value(json_object_get(line, "t"));
        if (kind != NULL && strcmp(kind, "sample") == 0 && run == NULL)
            rc = run_samples_take(&samples, line, err);
        else if (kind != NULL && strcmp(kind, "result") == 0 && run == NULL)
            rc = accept_run(line, expected, &samples, &run, err);
        else if (line == NULL && json_error_code(&why) == json_error_out_of_memory)
            rc = rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for what the importing process sent.");
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
