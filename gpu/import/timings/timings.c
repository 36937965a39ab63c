/* Timing files: which kind one is, by its content, and our own program's --json output (samples and a whole run). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/timings/times.h"
#include "gpu/record/json.h"
#include "kernels/unit/catalogue.h"

struct reader {
    struct import *import;
    struct import_place at;
    json_t *run; /* the document of the sizes wanted, borrowed from the line's object until it is read */
    size_t runs;
    json_t *sample_lines; /* array of [line's number, object] */
    struct import_plain plain;
    const char *format; /* what the file is, for its entry; NULL: JSON Lines */
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

/* A document is a whole file: what stands behind it would be lost without a word. */
static int read_end(struct import_json *json)
{
    return import_json_peek(json) == '\0' && json->at >= json->len ? 0 : import_json_wrong(json, "the file's end");
}

/* An array of the same objects; of a trace's events, in the short form of a trace. */
static int read_array(struct reader *r, struct import_json *json)
{
    r->format = "JSON array of timings";
    if (import_json_take(json, '[') && import_json_take(json, ']'))
        return read_end(json);
    do {
        json_t *value = NULL;
        if (import_json_value(json, &value) != 0)
            return -1;
        int rc = take_value(r, value);
        json_decref(value);
        if (rc != 0)
            return -1;
    } while (import_json_take(json, ','));
    return import_json_take(json, ']') ? read_end(json) : import_json_wrong(json, "a comma, or ] for the array's end,");
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

/* ---- which kind of file it is ---- */

enum content { LINES, ARRAY, TRACE, NVBENCH, NSYS };

static bool has_word(const struct import_text *text, const char *word)
{
    return memmem(text->data, text->len, word, strlen(word)) != NULL;
}

/* Columns that tables of nsys stats have whatever --timeunit they are of. Older releases write no unit at all. */
static bool is_nsys_header(const char *line, size_t len)
{
    static const char *const headers[][3] = {
        {"Start", "Duration", "GrdX"}, {"Start", "Duration", "Name"}, {"Time", "Total Time", "Name"}};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        size_t found = memchr(line, ',', len) != NULL;
        for (size_t w = 0; w < 3; w++)
            found += memmem(line, len, headers[i][w], strlen(headers[i][w])) != NULL;
        if (found == 4)
            return true;
    }
    return false;
}

static bool is_nsys(const struct import_text *text)
{
    const char *line;
    size_t at = 0, len;
    if (has_word(text, "(ns)") || has_word(text, "Instances"))
        return true;
    while (import_text_line(text, &at, &line, &len))
        if (is_nsys_header(line, len))
            return true;
    return false;
}

/* By what stands first and by the members that one kind alone has. A file of lines begins with a line that is whole. */
static enum content content_of(const struct import_text *text)
{
    size_t at = strspn(text->data, " \t\n");
    char first = text->data[at];
    const char *newline = strchr(text->data + at, '\n');
    size_t line = newline != NULL ? (size_t)(newline - text->data) - at : text->len - at;
    if (first == '[')
        return memmem(text->data, text->len < 65536 ? text->len : 65536, "\"ph\"", 4) != NULL ? TRACE : ARRAY;
    if (first != '{')
        return first != '#' && first != '=' && is_nsys(text) ? NSYS : LINES;
    json_error_t why;
    json_t *object = json_loadb(text->data + at, line, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &why);
    bool is_line = object != NULL && json_object_get(object, "traceEvents") == NULL &&
                   json_object_get(object, "benchmarks") == NULL;
    json_decref(object);
    if (!is_line && has_word(text, "\"traceEvents\""))
        return TRACE;
    return !is_line && has_word(text, "\"benchmarks\"") ? NVBENCH : LINES;
}

static int read_nvbench(struct reader *r, struct import_json *json)
{
    json_t *document = NULL;
    if (import_json_value(json, &document) != 0)
        return -1;
    int rc = read_end(json);
    if (rc == 0)
        rc = import_nvbench(r->import, r->at.file, document);
    json_decref(document);
    r->format = "nvbench JSON";
    return rc;
}

static int read_text(struct reader *r, const struct import_text *text)
{
    enum content content = content_of(text);
    r->at.line = content == LINES ? 0 : 1;
    struct import_json json = import_json_begin(&r->at, text->data, text->len);
    switch (content) {
    case TRACE:
        r->format = "Chrome trace of the PyTorch profiler";
        return import_trace(r->import, r->at.file, &json);
    case NVBENCH:
        return read_nvbench(r, &json);
    case NSYS:
        return import_nsys(r->import, r->at.file, text, &r->format);
    case ARRAY:
        if (read_array(r, &json) != 0)
            return -1;
        break;
    default:
        if (read_lines(r, text) != 0)
            return -1;
    }
    return finish_lines(r);
}

/* ---- the file ---- */

static int read_file(struct reader *r, const struct import_file *file, struct import_text *text)
{
    struct import_file plain = *file;
    char *unpacked = NULL;
    if (import_is_gzip(file)) {
        if (import_inflate(&r->at, &unpacked, &plain.len) != 0) {
            free(unpacked);
            return -1;
        }
        plain.data = unpacked;
    }
    int rc = import_text_decode(&plain, text, r->import->err);
    free(unpacked);
    if (rc != 0 && r->import->err->code == RL_E_IMPORT_OTHER_FILE)
        r->import->err->code = RL_E_IMPORT_NOT_TIMINGS;
    return rc == 0 ? read_text(r, text) : -1;
}

int import_timings(struct import *import, const struct import_file *file)
{
    struct reader r = {.import = import, .at = {import->err, file, 0}, .sample_lines = json_array()};
    struct import_text text = {0};
    char format[128];
    int rc = import_plain_begin(&r.plain, import, file);
    if (rc == 0 && r.sample_lines == NULL)
        rc = no_memory(&r);
    if (rc == 0)
        rc = read_file(&r, file, &text);
    snprintf(format, sizeof format, "%s, %s%s",
             r.run != NULL      ? "JSON Lines of roofline-measure --json"
             : r.format != NULL ? r.format
                                : "timing JSON Lines",
             text.encoding != NULL ? text.encoding : "", import_is_gzip(file) ? ", compressed by gzip" : "");
    json_decref(r.run);
    json_decref(r.sample_lines);
    import_plain_end(&r.plain);
    free(text.data);
    return rc == 0 ? import_add_file(import, file, format) : -1;
}
