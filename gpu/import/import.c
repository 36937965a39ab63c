/* An import from end to end: which files go together, and in which order they become a run. */
#include "gpu/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/import/common/files.h"
#include "gpu/import/common/state.h"
#include "gpu/import/identity.h"
#include "gpu/import/join/events.h"
#include "gpu/import/join/match.h"
#include "gpu/import/join/merge.h"
#include "gpu/import/join/rows.h"
#include "gpu/import/join/timed.h"
#include "gpu/import/ncu/launches.h"
#include "gpu/import/ncu/read.h"
#include "gpu/import/ncu/table.h"
#include "gpu/import/power/log.h"
#include "gpu/import/record.h"
#include "gpu/import/recording.h"
#include "gpu/import/text/decode.h"
#include "gpu/import/text/number.h"
#include "gpu/import/timings/events.h"
#include "gpu/import/timings/plain.h"
#include "gpu/import/timings/read.h"
#include "gpu/record/derive/derive.h"
#include "gpu/suites/document.h"
#include "kernels/unit/catalogue.h"

#define ARENA_MAX ((size_t)192 << 20) /* of an import's own memory */

/* Each kind once; a recording and a record each alone. */
static int check_files(const struct import_request *request, struct rl_err *err)
{
    size_t seen[IMPORT_KIND_COUNT] = {0};
    for (size_t i = 0; i < request->file_count; i++) {
        const char *kind = import_kind_name(request->files[i].kind);
        if (++seen[request->files[i].kind] > 1)
            return rl_fail(err, RL_E_BAD_FIELD, kind, "%s is given twice", kind);
        if (request->files[i].len > IMPORT_FILE_MAX)
            return rl_fail(err, RL_E_TOO_LARGE, kind, "%s has %zu bytes; at most %zu are read", kind,
                           request->files[i].len, IMPORT_FILE_MAX);
    }
    if (request->file_count == 0)
        return rl_fail(err, RL_E_BAD_FIELD, "ncu", "nothing to import: give ncu, timings or both, or a recording");
    if (seen[IMPORT_POWER] == request->file_count)
        return rl_fail(err, RL_E_BAD_FIELD, "power",
                       "a power log stands beside a run's files: send ncu or timings with it");
    if ((seen[IMPORT_RECORDING] > 0 || seen[IMPORT_RECORD] > 0) && request->file_count > 1)
        return rl_fail(err, RL_E_BAD_FIELD, seen[IMPORT_RECORDING] > 0 ? "recording" : "record",
                       "a recording, or a record, is imported alone: it has its times and bytes");
    return 0;
}

static int rows_of_counters(struct import *import, struct import_table *table)
{
    struct import_group **groups = rl_arena_array(import->arena, table->group_count, sizeof(struct import_group *));
    if (groups == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for %zu kernels", table->group_count);
    for (size_t i = 0; i < table->group_count; i++)
        groups[i] = &table->groups[i];
    return import_rows_of(import, table, groups, table->group_count);
}

/* ---- the run as a whole ---- */

/* Rows of the suite's kernels alone. An entry of a published record is of the suite without rows too: its table was not
 * printed. */
static bool is_suite(const struct rl_run *run, bool published)
{
    if (run->row_count == 0)
        return published;
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_unit *unit = rl_unit_find(run->rows[i].kernel);
        if (unit == NULL || unit->kind != RL_UNIT_KERNEL)
            return false;
    }
    return true;
}

static bool all_timed(const struct rl_run *run)
{
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_ROW_STATES; state++)
            if (run->rows[i].state[state].present && !rl_is_known(run->rows[i].state[state].time_s.median))
                return false;
    return true;
}

static void begin_run(struct import *import)
{
    static const char why[] = "the imported files do not say";
    struct rl_run *run = import->run;
    const char *sizes = import->request->fields.sizes;
    run->source = RL_IMPORTED;
    run->suite = "verify";
    run->sizes = sizes != NULL ? rl_arena_strdup(run->arena, sizes) : "other";
    run->device.name = run->device.id = "unknown";
    rl_device_unknown(&run->device, why);
    rl_environment_unknown(&run->environment, why);
    run->environment.build = "roofline-import " RL_BUILD_ID;
    run->environment.method_version = RL_METHOD_VERSION;
    rl_counters_unknown(&run->counters, "an import has no counter session of its own");
    run->counters.status = "off";
    run->counters.why = (struct rl_text){"no counter file was imported", NULL};
    run->ridge_flop_per_byte = rl_unknown(why);
}

/* Rows, and which launches are whose. Timings of ceilings alone leave the rows to the counters. */
static int make_rows(struct import *import, struct import_table *table)
{
    if (import->events != NULL)
        return table != NULL ? import_events_match(import, table) : import_events_rows(import);
    if (table == NULL)
        return 0;
    return import->run->row_count > 0 || import->document ? import_match_rows(import, table)
                                                          : rows_of_counters(import, table);
}

/* The state that the rows' times are in; without rows the one that the field names. */
static enum rl_state state_of_times(const struct import *import)
{
    const char *times = import->request->fields.times;
    for (size_t i = 0; i < import->run->row_count; i++)
        if (import->run->rows[i].state[RL_COLD].present)
            return RL_COLD;
    return import->run->row_count == 0 && times != NULL && strcmp(times, "cold") == 0 ? RL_COLD : RL_WARM;
}

static int import_counters_and_timings(struct import *import)
{
    const struct import_file *ncu = import_file_of(import->request, IMPORT_NCU);
    const struct import_file *timings = import_file_of(import->request, IMPORT_TIMINGS);
    struct import_table *table = NULL;
    int rc = -1;
    if (timings != NULL && import_timings(import, timings) != 0)
        return -1;
    if (ncu != NULL) {
        struct import_text text = {0};
        table = rl_arena_alloc(import->arena, sizeof *table);
        if (table == NULL)
            return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for the counter file");
        table->arena = import->arena;
        if (import_text_decode(ncu, &text, import->err) != 0)
            return -1;
        rc = import_table_read(ncu, &text, table, import->err);
        if (rc == 0)
            rc = import_table_values(table, import->err);
        char format[256];
        snprintf(format, sizeof format, "Nsight Compute CSV, %s, %s, %zu launch%s, %s",
                 strcmp(table->shape != NULL ? table->shape : "", "raw") == 0 ? "raw page (one launch a row)"
                                                                              : "one metric a row",
                 text.encoding, table->launch_count, table->launch_count == 1 ? "" : "es",
                 import_number_words(table->format));
        free(text.data);
        if (rc != 0 || import_add_file(import, ncu, format) != 0)
            return -1;
    }
    if (import->document ? import_agree(import, table) != 0 : import_identify(import, table) != 0)
        return -1;
    if (make_rows(import, table) != 0)
        return -1;
    for (size_t i = 0; i < import->run->row_count && !import->document; i++)
        if (import_work(import, &import->run->rows[i], table) != 0)
            return -1;
    if (table != NULL && import_merge(import, table) != 0)
        return -1;
    return import_ceilings_state(import, state_of_times(import));
}

static int finish_run(struct import *import)
{
    struct rl_run *run = import->run;
    if (!is_suite(run, import_file_of(import->request, IMPORT_RECORD) != NULL))
        run->suite = "import";
    if (run->outcome == RL_OK && !all_timed(run)) {
        run->outcome = RL_PARTIAL;
        if (rl_strings_add(run->arena, &run->outcome_reasons, "kernels have no times: none were imported") != 0)
            return rl_fail(import->err, RL_E_NO_MEMORY, NULL, "no memory for the import");
    }
    rl_derive(run);
    return 0;
}

/* Each figure in a file can be within its bounds and what follows from two of them not: 7.1e15 flop in 5 ms. Whoever
 * reads the record would refuse it, so it is refused here, where the cause can still be named. */
static int check_record(struct import *import)
{
    struct rl_run *again = NULL;
    struct rl_err why = {.code = RL_E_NONE};
    json_t *document = rl_run_to_json(import->run);
    if (document == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, NULL, "no memory for the import's record");
    int rc = rl_run_from_json(document, &again, &why);
    json_decref(document);
    rl_run_free(again);
    if (rc == 0)
        return 0;
    if (why.code == RL_E_NO_MEMORY)
        return rl_fail(import->err, RL_E_NO_MEMORY, NULL, "%s", why.message);
    /* Of two files the timings are the one written by hand. */
    const struct import_file *timings = import_file_of(import->request, IMPORT_TIMINGS),
                             *file = timings != NULL ? timings : &import->request->files[0];
    return rl_fail(import->err, RL_E_IMPORT_FORMAT, import_kind_name(file->kind),
                   "%s: its figures%s give a record that cannot be: %s", file->name,
                   import->request->file_count > 1 ? " and the counters" : "", why.message);
}

int import_make(const struct import_request *request, struct import_result *ret, struct rl_err *err)
{
    struct rl_err own;
    struct import import = {.request = request, .err = err != NULL ? err : &own};
    int rc = -1;
    if (check_files(request, import.err) != 0 || import_fields_check(&import) != 0)
        return -1;
    import.arena = rl_arena_new(ARENA_MAX);
    import.run = rl_run_new();
    if (import.arena == NULL || import.run == NULL) {
        rl_fail(import.err, RL_E_NO_MEMORY, NULL, "no memory for an import");
        goto out;
    }
    begin_run(&import);
    import.run->import.present = true;
    if (import_file_of(request, IMPORT_RECORD) != NULL)
        rc = import_record(&import, import_file_of(request, IMPORT_RECORD));
    else if (import_file_of(request, IMPORT_RECORDING) != NULL)
        rc = import_recording(&import, import_file_of(request, IMPORT_RECORDING));
    else
        rc = import_counters_and_timings(&import);
    if (rc == 0 && import_file_of(request, IMPORT_POWER) != NULL)
        rc = import_power(&import, import_file_of(request, IMPORT_POWER));
    if (rc == 0)
        rc = finish_run(&import);
    if (rc == 0)
        rc = check_record(&import);
    if (rc == 0) {
        *ret = (struct import_result){import.run, import.samples, import.sample_count};
        import.run = NULL;
    }
out:
    import_events_free(import.events);
    rl_run_free(import.run);
    rl_arena_free(import.arena);
    return rc;
}

void import_result_fini(struct import_result *result)
{
    rl_run_free(result->run);
    *result = (struct import_result){0};
}
