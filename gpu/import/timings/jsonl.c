/* Timings in JSON: plain lines, an array of the same objects, and our own program's --json output (samples and a whole
 * run). */
#include "gpu/import/timings/jsonl.h"

#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/text/json.h"
#include "gpu/import/text/message.h"
#include "gpu/import/timings/plain.h"
#include "gpu/import/timings/samples.h"
#include "gpu/suites/document.h"
#include "kernels/unit/catalogue.h"

struct reader {
    struct import *import;
    struct import_place at;
    json_t *run; /* the document of the sizes wanted, borrowed from the line's object until it is read */
    size_t runs;
    json_t *sample_lines; /* array of [line's number, object] */
    struct import_plain plain;
};

static int no_memory(struct reader *r)
{
    return rl_fail(r->import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
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
    if (run->row_count + run->ceiling_count == 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "kernels", "has none, and no ceiling: nothing was measured");
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

/* ---- JSON Lines ---- */

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
    r->plain.at.line = r->at.line;
    return import_plain_line(&r->plain, object);
}

/* A value that is to be a timing's object. */
static int take_value(struct reader *r, json_t *value)
{
    char seen[IMPORT_QUOTE];
    if (json_is_object(value))
        return take_line(r, value);
    return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                          "is %s; an object like {\"kernel\": \"vadd\", \"ms\": 0.25} is expected",
                          import_json_seen(value, seen));
}

static bool nothing_yet(const struct reader *r)
{
    return r->plain.lines + r->runs + json_array_size(r->sample_lines) == 0;
}

/* A line's object; one that goes on in the next lines is read with them, and *at moves behind it. */
static int read_line(struct reader *r, const struct import_text *text, const char *line, size_t len, size_t *at)
{
    size_t first = r->at.line, begin = (size_t)(line - text->data);
    json_t *value = NULL;
    struct import_json json = import_json_begin(&r->at, line, len);
    int rc = import_json_value(&json, &value);
    if (rc != 0 && json.at >= len && *at < text->len) { /* cut by the line's end */
        struct rl_err kept = *r->import->err;
        r->at.line = first;
        json = import_json_begin(&r->at, text->data + begin, text->len - begin);
        rc = import_json_value(&json, &value);
        if (rc != 0)
            *r->import->err = kept;
        *at = rc == 0 ? begin + json.at : *at;
    }
    if (rc != 0)
        return -1;
    rc = take_value(r, value);
    json_decref(value);
    r->at.line = json.line;
    while (rc == 0 && json.at < json.len && strchr(" \t", json.text[json.at]) != NULL)
        json.at++;
    if (rc == 0 && json.at < json.len && json.text[json.at] != '\n')
        return import_json_wrong(&json, "the line's end (one object a line)");
    if (begin + json.at + 1 > *at) /* the rest of its last line */
        *at = begin + json.at + 1;
    return rc;
}

static int read_lines(struct reader *r, const struct import_text *text)
{
    const char *line;
    size_t at = 0, len;
    while (import_text_line(text, &at, &line, &len)) {
        r->at.line++;
        if (len > 4u * IMPORT_ROW_MAX)
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL, "has %zu bytes; at most %zu are read", len,
                                  4 * IMPORT_ROW_MAX);
        size_t blanks = 0;
        while (blanks < len && strchr(" \t", line[blanks]) != NULL)
            blanks++;
        if (blanks == len || line[0] == '#' || (len >= 2 && line[0] == '=' && line[1] == '='))
            continue;
        if (nothing_yet(r) && line[blanks] != '{')
            return import_fail_at(&r->at, RL_E_IMPORT_NOT_TIMINGS, NULL,
                                  "is no JSON: timings are JSON Lines, as "
                                  "{\"kernel\": \"vadd\", \"ms\": 0.25}, or another file of times");
        if (read_line(r, text, line, len, &at) != 0)
            return -1;
    }
    return 0;
}

/* An array of the same objects; of a trace's events, in the short form of a trace. */
static int read_array(struct reader *r, const struct import_text *text)
{
    r->at.line = 1;
    struct import_json start = import_json_begin(&r->at, text->data, text->len), *json = &start;
    if (import_json_take(json, '[') && import_json_take(json, ']'))
        return import_json_end(json);
    do {
        json_t *value = NULL;
        if (import_json_value(json, &value) != 0)
            return -1;
        int rc = take_value(r, value);
        json_decref(value);
        if (rc != 0)
            return -1;
    } while (import_json_take(json, ','));
    return import_json_take(json, ']') ? import_json_end(json)
                                       : import_json_wrong(json, "a comma, or ] for the array's end,");
}

static int finish_lines(struct reader *r)
{
    r->at.line = 0;
    if (r->run != NULL && r->plain.lines > 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "mixes a run of roofline-measure with plain timing lines; import them apart");
    if (r->run != NULL)
        return use_document(r);
    if (json_array_size(r->sample_lines) > 0)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "has samples and no run%s: the file is cut, or of other sizes",
                              r->import->request->fields.sizes != NULL ? " of the sizes asked for" : "");
    if (r->import->run->row_count + r->import->run->ceiling_count == 0)
        return import_fail_at(&r->at, RL_E_IMPORT_NOT_TIMINGS, NULL, "has no timing line");
    return import_plain_finish(&r->plain);
}

/* ---- the file ---- */

static int read_file(struct import *import, const struct import_file *file, const struct import_text *text,
                     int (*read)(struct reader *r, const struct import_text *text), const char **ret_format)
{
    struct reader r = {.import = import, .at = {import->err, file, 0}, .sample_lines = json_array()};
    int rc = import_plain_begin(&r.plain, import, file);
    if (rc == 0 && r.sample_lines == NULL)
        rc = no_memory(&r);
    if (rc == 0)
        rc = read(&r, text);
    if (rc == 0)
        rc = finish_lines(&r);
    if (r.run != NULL)
        *ret_format = "JSON Lines of roofline-measure --json";
    json_decref(r.run);
    json_decref(r.sample_lines);
    import_plain_end(&r.plain);
    return rc;
}

int import_jsonl(struct import *import, const struct import_file *file, const struct import_text *text,
                 const char **ret_format)
{
    return read_file(import, file, text, read_lines, ret_format);
}

bool import_is_json_array(const struct import_text *text, char first)
{
    (void)text;
    return first == '[';
}

int import_json_array(struct import *import, const struct import_file *file, const struct import_text *text,
                      const char **ret_format)
{
    return read_file(import, file, text, read_array, ret_format);
}
