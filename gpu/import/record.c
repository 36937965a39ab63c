/* A published table as data: ratios and percentages as they were printed, all else that follows from them marked
 * derived. The file's form is in gpu/import/IMPORT.md. */
#include "gpu/import/record.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/time.h"
#include "gpu/import/common/files.h"
#include "gpu/import/common/note.h"
#include "gpu/import/common/rows.h"
#include "gpu/import/identity.h"
#include "gpu/import/text/decode.h"
#include "gpu/import/text/message.h"
#include "kernels/unit/catalogue.h"

#define MB_ROUNDING 0.05e6 /* a figure printed with one decimal, in megabytes */

static int bad(struct import *import, const struct import_file *file, const char *field, const char *what)
{
    struct import_source source = {"record", file->name, 0, field};
    return import_fail(import->err, RL_E_IMPORT_FORMAT, &source, "%s", what);
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* A number above 0, or NaN. */
static double number_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    return number > 0 && number < 1e18 ? number : NAN;
}

/* The entry of the day that the field names; without one, of the only entry. */
static const json_t *choose(struct import *import, const struct import_file *file, const json_t *entries)
{
    const json_t *found = NULL;
    char days[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        int64_t ms;
        const char *date = text_of(entry, "date");
        if (date == NULL || rl_time_parse(date, &ms) != 0) {
            bad(import, file, "date", "is no day like 2026-09-01");
            return NULL;
        }
        if (len < sizeof days - 32)
            len += (size_t)snprintf(days + len, sizeof days - len, "%s%.24s", i > 0 ? ", " : "", date);
        if ((import->date_ms == 0 && json_array_size(entries) == 1) ||
            (import->date_ms != 0 && rl_time_day(ms) == rl_time_day(import->date_ms))) {
            if (found != NULL) {
                struct import_source source = {"record", file->name, 0, "date"};
                import_fail(import->err, RL_E_IMPORT_DISAGREES, &source,
                            "is %.24s in two entries: date could not choose between them; leave one of them out", date);
                return NULL;
            }
            found = entry;
        }
    }
    if (found == NULL)
        rl_fail(import->err, RL_E_BAD_FIELD, "date", "date has to name one of the record's entries: %s", days);
    return found;
}

static struct rl_ceiling *add_ceiling(struct rl_run *run, const char *name, const char *unit, double value)
{
    struct rl_ceiling *ceiling = &run->ceilings[run->ceiling_count++];
    rl_ceiling_unknown(ceiling, "the record does not say");
    ceiling->name = name;
    ceiling->state = RL_WARM;
    ceiling->unit = unit;
    ceiling->method = "as the record prints it";
    ceiling->value = rl_known(value);
    return ceiling;
}

static int read_ceilings(struct import *import, const struct import_file *file, const json_t *entry)
{
    struct rl_run *run = import->run;
    double copy = number_of(entry, "copy_gb_per_s"), fma = number_of(entry, "fma_gflop_per_s"),
           ridge = number_of(entry, "ridge_flop_per_byte");
    run->ceilings = rl_arena_array(run->arena, 2, sizeof *run->ceilings);
    if (run->ceilings == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "record", "no memory for the record");
    if (isnan(copy) || isnan(ridge))
        return bad(import, file, "copy_gb_per_s", "copy_gb_per_s and ridge_flop_per_byte have to be numbers above 0");
    add_ceiling(run, "dram_copy", "byte_per_s", copy * 1e9);
    if (!isnan(fma) && fabs(fma / copy - ridge) > 0.01)
        return bad(import, file, "ridge_flop_per_byte", "is not fma_gflop_per_s over copy_gb_per_s");
    struct rl_ceiling *compute =
        add_ceiling(run, "fp32_fma", "flop_per_s", isnan(fma) ? ridge * copy * 1e9 : fma * 1e9);
    if (!isnan(fma))
        return 0;
    compute->method = "derived: the printed ridge times the printed copy ceiling";
    import_note(run, "the FMA ceiling is derived from the printed ridge and copy ceiling");
    return rl_strings_add(run->arena, &compute->flags, "derived") == 0
               ? 0
               : rl_fail(import->err, RL_E_NO_MEMORY, "record", "no memory for the record");
}

static int read_row(struct import *import, const struct import_file *file, const json_t *object, double copy)
{
    struct rl_run *run = import->run;
    struct rl_row *row = &run->rows[run->row_count];
    const struct rl_unit *unit = rl_unit_find(text_of(object, "kernel"));
    double ratio = number_of(object, "dram_per_ask"), percent = number_of(object, "percent_of_ceiling");
    double ask_mb = number_of(object, "ask_mb"), dram_mb = number_of(object, "dram_mb"),
           l1 = number_of(object, "l1_mb"), l2 = number_of(object, "l2_mb");
    if (unit == NULL || unit->kind != RL_UNIT_KERNEL || rl_run_row(run, unit->id) != NULL)
        return bad(import, file, "kernel", "is none of the catalogue's kernels, or there twice");
    import_blank_row(row, "the record does not say");
    row->kernel = unit->id;
    row->title = unit->title;
    if (isnan(ratio) || isnan(percent) || isnan(ask_mb) || isnan(dram_mb) || isnan(l1) || isnan(l2))
        return bad(import, file, unit->id,
                   "ask_mb, l1_mb, l2_mb, dram_mb, dram_per_ask and percent_of_ceiling have to be numbers above 0");
    if (import_work(import, row, NULL) != 0)
        return -1;
    double ask = (double)row->ask_bytes.value, dram = ratio * ask;
    if (row->ask_bytes.why != NULL || fabs(ask - ask_mb * 1e6) > MB_ROUNDING * 1.001)
        return bad(import, file, unit->id,
                   "ask_mb is not what the kernel asks for at these sizes, so that its ratio would give wrong bytes");
    /* the ratio has four decimals, the megabytes one */
    if (fabs(dram - dram_mb * 1e6) > MB_ROUNDING * 1.001 + 0.00005 * ask)
        return bad(import, file, unit->id, "dram_mb and dram_per_ask contradict each other");
    struct rl_row_state *s = &row->state[RL_MIXED];
    s->present = true;
    s->attempts = 1;
    s->bytes.l1 = rl_known(l1 * 1e6);
    s->bytes.l2 = rl_known(l2 * 1e6);
    s->bytes.dram = rl_known(dram);
    s->time_s.median = rl_known(dram / (percent / 100 * copy));
    if (rl_strings_add(run->arena, &s->flags, "time_derived") != 0)
        return rl_fail(import->err, RL_E_NO_MEMORY, "record", "no memory for the record");
    row->import = (struct rl_row_import){
        .present = true, .function = {NULL, "the record does not say"}, .combined = {NULL, "the record does not say"}};
    run->row_count++;
    return 0;
}

static int read_rows(struct import *import, const struct import_file *file, const json_t *entry)
{
    struct rl_run *run = import->run;
    const json_t *rows = json_object_get(entry, "rows");
    size_t count = json_array_size(rows);
    if (count == 0)
        return 0;
    if (count > rl_kernel_count)
        return bad(import, file, "rows", "has more rows than there are kernels");
    run->rows = rl_arena_array(run->arena, count, sizeof *run->rows);
    if (run->rows == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "record", "no memory for the record");
    for (size_t i = 0; i < count; i++)
        if (read_row(import, file, json_array_get(rows, i), run->ceilings[0].value.value) != 0)
            return -1;
    import_note(run, "DRAM bytes are the printed ratio times the exact ask; L1 and L2 bytes are as printed, to 0.1 MB");
    import_note(run, "times are derived from bytes, percent and ceiling: the table prints none");
    return 0;
}

static int read_entry(struct import *import, const struct import_file *file, const json_t *record, const json_t *entry)
{
    struct rl_run *run = import->run;
    struct import_request request = *import->request;
    const char *counters = text_of(entry, "counters"), *note = text_of(entry, "note");
    request.fields.device = text_of(record, "device");
    request.fields.driver = text_of(entry, "driver");
    request.fields.cuda = text_of(entry, "cuda");
    request.fields.date = text_of(entry, "date");
    request.fields.sizes = text_of(record, "sizes");
    struct import own = *import;
    own.request = &request;
    if (request.fields.device == NULL || request.fields.driver == NULL || request.fields.cuda == NULL ||
        request.fields.sizes == NULL)
        return bad(import, file, "entries", "device, sizes, driver and cuda have to be there");
    if (import_fields_check(&own) != 0 || import_identify(&own, NULL) != 0)
        return -1;
    run->sizes = rl_arena_strdup(run->arena, request.fields.sizes);
    if (run->sizes == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "record", "no memory for the record");
    if (note != NULL)
        import_note(run, "%s", note);
    if (read_ceilings(&own, file, entry) != 0 || read_rows(&own, file, entry) != 0)
        return -1;
    if (run->row_count == 0)
        return 0;
    rl_counters_unknown(&run->counters, "the record does not say");
    run->counters.status = "ok";
    run->counters.why = (struct rl_text){NULL, "the counters are there"};
    if (counters != NULL)
        import_note(run, "counters: %s", counters);
    return 0;
}

/* What the importer says beside the record has to be what it says itself. */
static int fields_agree(struct import *import)
{
    const struct import_fields *fields = &import->request->fields;
    const struct rl_run *run = import->run;
    bool agree = (fields->device == NULL || strcmp(fields->device, run->device.name) == 0) &&
                 (fields->driver == NULL || strcmp(fields->driver, run->environment.driver_version.value) == 0) &&
                 (fields->cuda == NULL || strcmp(fields->cuda, run->environment.cuda_runtime_version.value) == 0) &&
                 (fields->sizes == NULL || strcmp(fields->sizes, run->sizes) == 0);
    return agree
               ? 0
               : rl_fail(
                     import->err, RL_E_IMPORT_DISAGREES, "record",
                     "device, driver, cuda or sizes are not those that the record's entry has itself; leave them out");
}

static json_t *load(const struct import_file *file, struct rl_err *err)
{
    struct import_text text = {0};
    json_error_t why;
    char quoted[IMPORT_QUOTE];
    struct import_source source = {"record", file->name, 0, NULL};
    if (import_text_decode(file, &text, err) != 0)
        return NULL;
    json_t *record = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &why);
    free(text.data);
    source.line = record == NULL && why.line > 0 ? (size_t)why.line : 0;
    if (record == NULL)
        import_fail(err, RL_E_IMPORT_FORMAT, &source, "is not JSON: %s", import_quote(quoted, why.text));
    else if (json_integer_value(json_object_get(record, "rooflined_record")) == 1)
        return record;
    else
        import_fail(err, RL_E_IMPORT_OTHER_FILE, &source,
                    "is no published record: \"rooflined_record\": 1 is not there");
    json_decref(record);
    return NULL;
}

int import_record_dates(const struct import_file *file, char dates[][IMPORT_DATE_MAX], size_t max, size_t *ret_count,
                        struct rl_err *err)
{
    json_t *record = load(file, err);
    if (record == NULL)
        return -1;
    const json_t *entries = json_object_get(record, "entries");
    size_t count = 0;
    if (json_array_size(entries) > max) {
        struct import_source source = {"record", file->name, 0, "entries"};
        import_fail(err, RL_E_TOO_LARGE, &source, "has %zu entries; without a date at most %zu are imported at once",
                    json_array_size(entries), max);
        json_decref(record);
        return -1;
    }
    for (; count < json_array_size(entries); count++) {
        const char *date = text_of(json_array_get(entries, count), "date");
        snprintf(dates[count], IMPORT_DATE_MAX, "%s", date != NULL ? date : "");
    }
    json_decref(record);
    *ret_count = count;
    return 0;
}

int import_record(struct import *import, const struct import_file *file)
{
    json_t *record = load(file, import->err);
    if (record == NULL)
        return -1;
    const json_t *entry = choose(import, file, json_object_get(record, "entries"));
    int rc = entry != NULL ? read_entry(import, file, record, entry) : -1;
    if (rc == 0)
        rc = fields_agree(import);
    json_decref(record);
    return rc == 0 ? import_add_file(import, file, "a published table, figures as printed") : -1;
}
