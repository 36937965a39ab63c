/* Times as JSON Lines: our own program's --json output (samples and a whole run), or one object a kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "import_internal.h"
#include "kernels/catalogue.h"
#include "record/record_json.h"

#define MS_LEAST 1e-4 /* 0.1 us: less than any launch takes, and than an event's timer can tell */
#define MS_MOST  1e9

struct reader {
    struct import *import;
    struct import_place at;
    json_t *run; /* the document of the sizes wanted, borrowed from the line's object until it is read */
    size_t runs, plain;
    size_t row_capacity;
    json_t *sample_lines;             /* array of [line's number, object] */
    json_t *kernels_of, *ceilings_of; /* [line's number, object] of each name that plain lines gave */
};

static int no_memory(struct reader *r)
{
    return rl_fail(r->import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
}

/* ---- plain lines ---- */

static int read_real(struct reader *r, const json_t *object, const char *name, double least, double most, double *ret)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name, "is missing; a number from %g to %g is expected", least,
                              most);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= least && number <= most))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name, "is %s; a number from %g to %g is expected",
                              import_json_seen(value, seen), least, most);
    *ret = number;
    return 0;
}

static int read_count(struct reader *r, const json_t *object, const char *name, struct rl_count *ret)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return 0;
    double number = json_number_value(value);
    if (!json_is_number(value) || number < 0 || number > 1e18 || number != floor(number))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name, "is %s; a whole number from 0 to 1e18 is expected",
                              import_json_seen(value, seen));
    *ret = (struct rl_count){json_is_integer(value) ? (int64_t)json_integer_value(value) : (int64_t)number, NULL};
    return 0;
}

static int read_dims(struct reader *r, const json_t *object, const char *name, int64_t most, int64_t ret[3],
                     bool *ret_given)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    *ret_given = value != NULL;
    for (size_t i = 0; value != NULL && i < 3; i++) {
        const json_t *item = json_array_get(value, i);
        if (json_array_size(value) != 3 || !json_is_integer(item) || json_integer_value(item) < 1 ||
            json_integer_value(item) > most)
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name,
                                  "is %s; three whole numbers from 1 to %lld are expected",
                                  import_json_seen(value, seen), (long long)most);
        ret[i] = json_integer_value(item);
    }
    return 0;
}

static int read_name(struct reader *r, const json_t *object, const char *name, const char **ret)
{
    char seen[IMPORT_QUOTE];
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    if (value == NULL)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name, "is missing; a kernel's name is expected");
    if (text == NULL || text[0] == '\0' || strlen(text) > IMPORT_NAME_MAX || strlen(text) != json_string_length(value))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name, "is %s; a name of 1 to %u bytes is expected",
                              import_json_seen(value, seen), IMPORT_NAME_MAX);
    if (!rl_kernel_name_valid(text))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, name, IMPORT_BAD_NAME, import_quote(seen, text));
    *ret = rl_arena_strdup(r->import->run->arena, text);
    return *ret != NULL ? 0 : no_memory(r);
}

static int check_members(struct reader *r, const json_t *object, const char *const *names)
{
    const char *key;
    json_t *value;
    char quoted[IMPORT_QUOTE];
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (names[i] != NULL && strcmp(names[i], key) != 0)
            i++;
        if (names[i] == NULL)
            return import_fail_at(
                &r->at, RL_E_IMPORT_FORMAT, import_quote(quoted, key),
                "is no member of a timing line; kernel, ms, function, grid, block, flop and ask_bytes are");
    }
    return 0;
}

static bool same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b) && !(json_is_integer(a) && json_is_integer(b)))
        return json_number_value(a) == json_number_value(b); /* 1 and 1.0 */
    return a == b || (a != NULL && b != NULL && json_equal(a, b));
}

/* Whether an earlier line has this name, in all members the same; remembers the first. One that says anything else is
 * an error: whichever was taken, the other would be lost. */
static int seen_before(struct reader *r, json_t *earlier, const char *name, const json_t *object,
                       const char *const *members, bool *ret)
{
    char quoted[IMPORT_QUOTE], seen[IMPORT_QUOTE] = "missing", other[IMPORT_QUOTE] = "none";
    const json_t *line = json_object_get(earlier, name), *before = json_array_get(line, 1);
    *ret = line != NULL;
    if (line == NULL)
        return json_object_set_new(earlier, name, json_pack("[I, O]", (json_int_t)r->at.line, object)) == 0
                   ? 0
                   : no_memory(r);
    for (; *members != NULL; members++) {
        const json_t *mine = json_object_get(object, *members), *its = json_object_get(before, *members);
        if (same_value(mine, its))
            continue;
        if (mine != NULL)
            import_json_seen(mine, seen);
        if (its != NULL)
            import_json_seen(its, other);
        return import_fail_at(&r->at, RL_E_IMPORT_DISAGREES, *members, "is %s for \"%s\", but line %lld has %s", seen,
                              import_quote(quoted, name), (long long)json_integer_value(json_array_get(line, 0)),
                              other);
    }
    return 0;
}

static struct rl_row *new_row(struct reader *r)
{
    struct rl_run *run = r->import->run;
    if (run->row_count == r->row_capacity) {
        size_t capacity = r->row_capacity > 0 ? 2 * r->row_capacity : 16;
        struct rl_row *rows = rl_arena_array(run->arena, capacity, sizeof *rows);
        if (rows == NULL)
            return NULL;
        if (run->row_count > 0)
            memcpy(rows, run->rows, run->row_count * sizeof *rows);
        run->rows = rows;
        r->row_capacity = capacity;
    }
    return &run->rows[run->row_count];
}

static void set_time(struct rl_row_state *s, double seconds)
{
    s->present = true;
    s->attempts = 1;
    s->time_s.median = rl_known(seconds);
    s->time_s.p25 = s->time_s.p75 = s->time_s.min = s->time_s.std_error =
        rl_unknown("one time was imported, without its samples");
    s->time_s.stop = (struct rl_text){NULL, "the import does not say"};
    s->time_s.n = 1;
}

/* A kernel's line to a row; its name is read. */
static int read_kernel(struct reader *r, const json_t *object, enum rl_state state, struct rl_row *row)
{
    double ms = 0;
    bool grid, block;
    if (read_real(r, object, "ms", MS_LEAST, MS_MOST, &ms) != 0 || read_count(r, object, "flop", &row->flop) != 0 ||
        read_count(r, object, "ask_bytes", &row->ask_bytes) != 0 ||
        read_dims(r, object, "grid", INT32_MAX, row->launch.grid, &grid) != 0 ||
        read_dims(r, object, "block", 1024, row->launch.block, &block) != 0)
        return -1;
    if (grid != block)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, grid ? "block" : "grid",
                              "is missing beside the other: a shape is both");
    if (grid)
        row->launch.dims_why = NULL;
    if (json_object_get(object, "function") != NULL) {
        if (read_name(r, object, "function", &row->import.function.value) != 0)
            return -1;
        row->import.function.why = NULL;
    }
    const struct rl_unit *unit = rl_unit_find(row->kernel);
    row->title = unit != NULL ? unit->title : row->kernel;
    set_time(&row->state[state], ms * 1e-3);
    return 0;
}

static int add_kernel(struct reader *r, const json_t *object)
{
    static const char *const names[] = {"kernel", "ms", "function", "grid", "block", "flop", "ask_bytes", NULL};
    const char *times = r->import->request->fields.times;
    struct rl_row row;
    bool seen;
    import_blank_row(&row, "the imported files do not say");
    if (check_members(r, object, names) != 0 || read_name(r, object, "kernel", &row.kernel) != 0 ||
        read_kernel(r, object, times != NULL && strcmp(times, "cold") == 0 ? RL_COLD : RL_WARM, &row) != 0 ||
        seen_before(r, r->kernels_of, row.kernel, object, names, &seen) != 0)
        return -1;
    if (seen)
        return 0;
    if (r->import->run->row_count >= IMPORT_ROWS_MAX)
        return import_fail_at(&r->at, RL_E_TOO_LARGE, NULL, "more than %u kernels; import them in parts",
                              IMPORT_ROWS_MAX);
    struct rl_row *place = new_row(r);
    if (place == NULL)
        return no_memory(r);
    *place = row;
    r->import->run->row_count++;
    return 0;
}

static int add_ceiling(struct reader *r, const json_t *object)
{
    static const char *const names[] = {"ceiling", "byte_per_s", "flop_per_s", NULL};
    struct rl_run *run = r->import->run;
    const char *name = NULL;
    char quoted[IMPORT_QUOTE];
    double value = 0;
    bool seen;
    if (check_members(r, object, names) != 0 || read_name(r, object, "ceiling", &name) != 0)
        return -1;
    const struct rl_unit *unit = rl_unit_find(name);
    if (unit == NULL || unit->kind == RL_UNIT_KERNEL)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "ceiling",
                              "is \"%s\"; dram_copy, fp32_fma or another ceiling of the catalogue is expected",
                              import_quote(quoted, name));
    bool memory = unit->kind == RL_UNIT_MEMORY_CEILING;
    const char *mine = memory ? "byte_per_s" : "flop_per_s", *other = memory ? "flop_per_s" : "byte_per_s";
    if (read_real(r, object, mine, 1, 1e21, &value) != 0)
        return -1;
    if (json_object_get(object, other) != NULL)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, other, "is no member of the ceiling %s; %s is", unit->id,
                              mine);
    if (seen_before(r, r->ceilings_of, unit->id, object, names, &seen) != 0)
        return -1;
    if (seen)
        return 0;
    if (run->ceilings == NULL && (run->ceilings = rl_arena_array(run->arena, 32, sizeof *run->ceilings)) == NULL)
        return no_memory(r);
    struct rl_ceiling *ceiling = &run->ceilings[run->ceiling_count++];
    rl_ceiling_unknown(ceiling, "the imported files do not say");
    ceiling->name = unit->id;
    ceiling->state = RL_WARM;
    ceiling->value = rl_known(value);
    ceiling->unit = mine;
    ceiling->method = "as the imported file gives it";
    return 0;
}

/* ---- our own lines ---- */

static bool sizes_wanted(const struct reader *r, const json_t *run)
{
    const char *wanted = r->import->request->fields.sizes, *have = json_string_value(json_object_get(run, "sizes"));
    return wanted == NULL || (have != NULL && strcmp(wanted, have) == 0);
}

static int take_run(struct reader *r, const json_t *object)
{
    json_t *run = json_object_get(object, "run");
    const char *sizes = json_string_value(json_object_get(run, "sizes"));
    if (json_object_size(object) != 2 || !json_is_object(run))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "run",
                              "a line of kind \"run\" has the run's document and nothing else");
    if (!sizes_wanted(r, run))
        return 0;
    if (r->run != NULL)
        return import_fail_at(
            &r->at, RL_E_IMPORT_DISAGREES, "sizes",
            "a second run (%s) stands here beside that of another line; say by the field sizes which one is meant",
            sizes != NULL ? sizes : "?");
    r->run = json_incref(run);
    r->runs = r->at.line;
    return 0;
}

static int take_line(struct reader *r, json_t *object)
{
    const char *kind = json_string_value(json_object_get(object, "t"));
    char quoted[IMPORT_QUOTE];
    if (kind != NULL && strcmp(kind, "run") == 0)
        return take_run(r, object);
    if (kind != NULL && strcmp(kind, "sample") == 0)
        return json_array_append_new(r->sample_lines, json_pack("[I, O]", (json_int_t)r->at.line, object)) == 0
                   ? 0
                   : no_memory(r);
    if (kind != NULL)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "t", "is \"%s\"; sample or run is expected",
                              import_quote(quoted, kind));
    r->plain++;
    return json_object_get(object, "ceiling") != NULL ? add_ceiling(r, object) : add_kernel(r, object);
}

/* What the daemon would refuse as a fault of ours, and a replay: it has the samples of its recording again under a day
 * of its own, so that it would count as another draw. */
static int check_document(struct reader *r, const struct rl_run *run)
{
    char one[IMPORT_QUOTE], two[IMPORT_QUOTE];
    if (run->source == RL_IMPORTED)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "source",
                              "is \"imported\": import the files that this run was made of");
    if (run->source == RL_REPLAYED)
        return import_fail_at(
            &r->at, RL_E_IMPORT_OTHER_FILE, "source",
            "is \"replayed\": a replay measures nothing; import the recording that was replayed, by itself, as "
            "recording: it is of the day on which it was measured");
    if (!rl_device_id_valid(&run->device))
        return run->device.uuid.why == NULL
                   ? import_fail_at(&r->at, RL_E_IMPORT_DISAGREES, "device.id",
                                    "is \"%s\", but uuid is \"%s\": they have to be the same",
                                    import_quote(one, run->device.id), import_quote(two, run->device.uuid.value))
                   : import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "device.id",
                                    "is \"%s\" without a uuid; lower-case letters, digits and dashes are expected",
                                    import_quote(one, run->device.id));
    if (!rl_utf8_is_line(run->device.name))
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "device.name", IMPORT_BAD_DEVICE,
                              import_quote(one, run->device.name));
    for (size_t i = 0; i < run->row_count; i++) {
        char member[48];
        snprintf(member, sizeof member, "kernels[%zu].kernel", i);
        if (!rl_kernel_name_valid(run->rows[i].kernel))
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, member, IMPORT_BAD_NAME,
                                  import_quote(one, run->rows[i].kernel));
    }
    const struct rl_check *check = rl_run_refused_by(run);
    if (check != NULL && run->outcome != RL_REFUSED)
        return import_fail_at(&r->at, RL_E_IMPORT_DISAGREES, "outcome",
                              "is \"%s\", but the check %s has failed, which refuses a run",
                              rl_outcome_name(run->outcome), import_quote(one, check->name));
    return 0;
}

static int use_document(struct reader *r)
{
    struct import *import = r->import;
    struct rl_err why = {.code = RL_E_NONE};
    struct rl_run *run = NULL;
    r->at.line = r->runs;
    if (rl_run_from_json(r->run, &run, &why) != 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, why.field[0] != '\0' ? why.field : NULL,
                              "is not a run that this build reads: %s", why.message);
    rl_run_free(import->run); /* nothing is in it yet: files are added later */
    import->run = run;
    if (check_document(r, run) != 0)
        return -1;
    run->source = RL_IMPORTED;
    run->import.present = true;
    import->document = true;
    return import_samples(import, r->at.file, r->sample_lines, r->runs);
}

static int read_lines(struct reader *r, const struct import_text *text)
{
    const char *line;
    size_t at = 0, len;
    while (import_text_line(text, &at, &line, &len)) {
        json_error_t why;
        char quoted[IMPORT_QUOTE];
        r->at.line++;
        if (len > 4u * IMPORT_ROW_MAX)
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL, "has %zu bytes; at most %zu are read", len,
                                  4 * IMPORT_ROW_MAX);
        if (len == 0 || line[0] == '#' || (len >= 2 && line[0] == '=' && line[1] == '='))
            continue;
        json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
        if (object == NULL && r->plain + r->runs + json_array_size(r->sample_lines) == 0 && line[0] != '{')
            return import_fail_at(
                &r->at, RL_E_IMPORT_OTHER_FILE, NULL,
                "is no JSON: timings are JSON Lines, as roofline-measure --json prints, or {\"kernel\": "
                "\"vadd\", \"ms\": 0.25}");
        if (object == NULL)
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                                  "is no JSON object: %s (NaN and Infinity are none of JSON's numbers)",
                                  import_quote(quoted, why.text));
        int rc = json_is_object(object) ? take_line(r, object)
                                        : import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL, "is JSON, but no object");
        json_decref(object);
        if (rc != 0)
            return -1;
    }
    r->at.line = 0;
    if (r->run != NULL && r->plain > 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "mixes a run of roofline-measure with plain timing lines; import them apart");
    if (r->run != NULL)
        return use_document(r);
    if (json_array_size(r->sample_lines) > 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "has samples and no run%s: the file is cut, or of other sizes",
                              r->import->request->fields.sizes != NULL ? " of the sizes asked for" : "");
    if (r->import->run->row_count + r->import->run->ceiling_count == 0)
        return import_fail_at(&r->at, RL_E_IMPORT_OTHER_FILE, NULL, "has no timing line");
    return 0;
}

int import_timings(struct import *import, const struct import_file *file)
{
    struct reader r = {.import = import,
                       .at = {import->err, file, 0},
                       .sample_lines = json_array(),
                       .kernels_of = json_object(),
                       .ceilings_of = json_object()};
    struct import_text text = {0};
    char format[128];
    int rc = -1;
    if (r.sample_lines == NULL || r.kernels_of == NULL || r.ceilings_of == NULL)
        rc = no_memory(&r);
    else if (import_text_decode(file, &text, import->err) == 0)
        rc = read_lines(&r, &text);
    snprintf(format, sizeof format, "%s, %s",
             r.run != NULL ? "JSON Lines of roofline-measure --json" : "timing JSON Lines",
             text.encoding != NULL ? text.encoding : "");
    json_decref(r.run);
    json_decref(r.sample_lines);
    json_decref(r.kernels_of);
    json_decref(r.ceilings_of);
    free(text.data);
    return rc == 0 ? import_add_file(import, file, format) : -1;
}
