/* nvbench's JSON (--json FILE): of each benchmark's states the time of its GPU work, isolated (cold) and in batches
 * (warm). It prints numbers as texts, and has means and no medians. */
#include "gpu/import/timings/nvbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/buf.h"
#include "gpu/base/num.h"
#include "gpu/import/common/note.h"
#include "gpu/import/common/rows.h"
#include "gpu/import/text/json.h"
#include "gpu/import/text/message.h"
#include "gpu/import/timings/plain.h"

struct bench {
    struct import *import;
    struct import_place at;
    struct import_plain plain;
    size_t skipped;
    int64_t device; /* of the first state; -1: none yet */
};

static int wrong(struct bench *b, const char *name, const json_t *value, const char *expected)
{
    char seen[IMPORT_QUOTE];
    return value == NULL ? import_fail_at(&b->at, RL_E_IMPORT_FORMAT, name, "is missing; %s is expected", expected)
                         : import_fail_at(&b->at, RL_E_IMPORT_FORMAT, name, "is %s; %s is expected",
                                          import_json_seen(value, seen), expected);
}

/* The number of a summary by its tag; *ret_there false when the state has none. */
static int summary(struct bench *b, const json_t *state, const char *tag, double *ret, bool *ret_there)
{
    const json_t *summaries = json_object_get(state, "summaries"), *item;
    size_t i, d;
    *ret_there = false;
    if (!json_is_array(summaries))
        return wrong(b, "summaries", summaries, "an array");
    json_array_foreach(summaries, i, item)
    {
        const char *found = json_string_value(json_object_get(item, "tag"));
        const json_t *data = json_object_get(item, "data"), *entry;
        if (found == NULL || strcmp(found, tag) != 0)
            continue;
        json_array_foreach(data, d, entry)
        {
            const char *name = json_string_value(json_object_get(entry, "name"));
            const json_t *value = json_object_get(entry, "value");
            double number = json_number_value(value);
            if (name == NULL || strcmp(name, "value") != 0)
                continue;
            if (json_is_string(value) ? rl_parse_real(json_string_value(value), &number) != 0 : !json_is_number(value))
                return wrong(b, tag, value, "a number");
            *ret = number;
            *ret_there = true;
        }
    }
    return 0;
}

/* One of a state's two times to the row; the number of its samples. */
static int take_time(struct bench *b, const json_t *state, const char *time_tag, const char *count_tag,
                     struct rl_row_state *s)
{
    double time = 0, count = 0;
    bool there, counted;
    if (summary(b, state, time_tag, &time, &there) != 0 || summary(b, state, count_tag, &count, &counted) != 0)
        return -1;
    if (!there)
        return 0;
    if (!(time > 0 && time <= 1e6) || (counted && !(count >= 1 && count <= 1e9)))
        return import_fail_at(&b->at, RL_E_IMPORT_FORMAT, time_tag,
                              "is %.9g s of %.9g samples; a time above 0 and at most 1e6 s is expected", time, count);
    import_set_time(s, time, "nvbench gives the mean alone");
    s->time_s.n = counted && count <= 1e6 ? (int64_t)count : 1;
    s->time_s.launches = 1;
    return 0;
}

/* "name", or "name [T=I32, Elements=1024]" where a benchmark has axes. */
static int name_row(struct bench *b, const json_t *benchmark, const json_t *state, struct rl_row *row)
{
    const char *name = json_string_value(json_object_get(benchmark, "name"));
    const json_t *axes = json_object_get(state, "axis_values"), *axis;
    struct rl_buf text;
    char quoted[IMPORT_QUOTE];
    size_t i;
    if (name == NULL || name[0] == '\0')
        return wrong(b, "name", json_object_get(benchmark, "name"), "the benchmark's name");
    rl_buf_init(&text, IMPORT_NAME_MAX);
    rl_buf_puts(&text, name);
    json_array_foreach(axes, i, axis)
    {
        const char *axis_name = json_string_value(json_object_get(axis, "name"));
        const json_t *value = json_object_get(axis, "value");
        rl_buf_printf(&text, "%s%s=", i == 0 ? " [" : ", ", axis_name != NULL ? axis_name : "?");
        if (json_is_string(value))
            rl_buf_puts(&text, json_string_value(value));
        else
            rl_buf_printf(&text, "%.15g", json_number_value(value));
    }
    if (json_array_size(axes) > 0)
        rl_buf_puts(&text, "]");
    int rc = 0;
    if (text.failed || !rl_kernel_name_valid(text.data))
        rc = import_fail_at(&b->at, RL_E_IMPORT_FORMAT, "name", IMPORT_BAD_NAME, import_quote(quoted, name));
    else if ((row->kernel = row->title = rl_arena_strdup(b->import->run->arena, text.data)) == NULL)
        rc = rl_fail(b->import->err, RL_E_NO_MEMORY, "timings", "no memory for the timings");
    rl_buf_free(&text);
    return rc;
}

static int take_state(struct bench *b, const json_t *benchmark, const json_t *state)
{
    const char *times = b->import->request->fields.times;
    const json_t *device = json_object_get(state, "device");
    if (!json_is_object(state))
        return wrong(b, "states", state, "an object");
    if (json_is_true(json_object_get(state, "is_skipped"))) {
        b->skipped++;
        return 0;
    }
    if (json_is_integer(device)) {
        if (b->device >= 0 && json_integer_value(device) != b->device)
            return import_fail_at(&b->at, RL_E_IMPORT_DISAGREES, "device",
                                  "is %lld, and an earlier state's %lld: states of one GPU make a run (nvbench "
                                  "--devices)",
                                  (long long)json_integer_value(device), (long long)b->device);
        b->device = json_integer_value(device);
    }
    struct rl_row *row = import_plain_row(&b->plain);
    if (row == NULL || name_row(b, benchmark, state, row) != 0 ||
        (!(times != NULL && strcmp(times, "warm") == 0) &&
         take_time(b, state, "nv/cold/time/gpu/mean", "nv/cold/sample_size", &row->state[RL_COLD]) != 0) ||
        (!(times != NULL && strcmp(times, "cold") == 0) &&
         take_time(b, state, "nv/batch/time/gpu/mean", "nv/batch/sample_size", &row->state[RL_WARM]) != 0))
        return -1;
    if (!row->state[RL_COLD].present && !row->state[RL_WARM].present) {
        b->skipped++;
        return 0;
    }
    if (rl_run_row(b->import->run, row->kernel) != NULL)
        return import_fail_at(&b->at, RL_E_IMPORT_DISAGREES, "states", "has \"%s\" twice", row->kernel);
    b->import->run->row_count++;
    return 0;
}

static int take_benchmark(struct bench *b, const json_t *benchmark)
{
    const json_t *states = json_object_get(benchmark, "states"), *state;
    size_t i;
    if (!json_is_array(states))
        return wrong(b, "states", states, "an array");
    json_array_foreach(states, i, state) if (take_state(b, benchmark, state) != 0) return -1;
    return 0;
}

static void say_device(struct bench *b, const json_t *document)
{
    const json_t *device;
    size_t i;
    json_array_foreach(json_object_get(document, "devices"), i, device)
    {
        const char *name = json_string_value(json_object_get(device, "name"));
        if (name != NULL && json_integer_value(json_object_get(device, "id")) == b->device)
            b->import->said.device = rl_arena_strdup(b->import->run->arena, name);
    }
}

static int take_document(struct import *import, const struct import_file *file, const json_t *document)
{
    struct bench b = {.import = import, .at = {import->err, file, 0}, .device = -1};
    const json_t *benchmarks = json_object_get(document, "benchmarks"), *benchmark;
    size_t i;
    int rc = import_plain_begin(&b.plain, import, file);
    b.plain.at = b.at;
    if (rc == 0 && !json_is_array(benchmarks))
        rc = wrong(&b, "benchmarks", benchmarks, "an array");
    json_array_foreach(benchmarks, i, benchmark) if (rc == 0) rc = take_benchmark(&b, benchmark);
    if (rc == 0 && import->run->row_count == 0)
        rc = import_fail_at(&b.at, RL_E_IMPORT_NOT_TIMINGS, NULL,
                            "is nvbench's JSON, and none of its states has a time (nv/cold/time/gpu/mean or "
                            "nv/batch/time/gpu/mean): run the benchmarks with --json FILE to their end");
    if (rc == 0) {
        say_device(&b, document);
        import_note(import->run, "times are nvbench's means of the GPU work of a call: it gives no medians, and a call "
                                 "may launch several kernels");
        if (b.skipped > 0)
            import_note(import->run, "%zu state%s of nvbench %s without a time and left out", b.skipped,
                        rl_plural(b.skipped), b.skipped == 1 ? "was" : "were");
    }
    import_plain_end(&b.plain);
    return rc;
}

int import_nvbench(struct import *import, const struct import_file *file, const struct import_text *text,
                   const char **ret_format)
{
    struct import_place at = {import->err, file, 1};
    struct import_json json = import_json_begin(&at, text->data, text->len);
    json_t *document = NULL;
    (void)ret_format;
    if (import_json_value(&json, &document) != 0)
        return -1;
    int rc = import_json_end(&json);
    if (rc == 0)
        rc = take_document(import, file, document);
    json_decref(document);
    return rc;
}
