/* Sample lines of roofline-measure --json: raw samples for the store, whose statistics have to be the document's. */
#include "gpu/import/timings/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/import/text/json.h"
#include "gpu/import/text/message.h"
#include "gpu/record/derive/quantile.h"
#include "kernels/unit/catalogue.h"

#define SAMPLES_MAX 256u /* of one line; as the daemon takes them */

struct reader {
    struct import *import;
    struct import_place at;
    size_t document_line;
    size_t *lines; /* of the samples that were taken */
};

static int no_memory(const struct reader *r)
{
    return rl_fail(r->import->err, RL_E_NO_MEMORY, "timings", "no memory for the samples");
}

/* A sample line as the store takes it; times_s NULL: of other sizes. */
static int read_sample(struct reader *r, const json_t *object, struct import_sample *ret)
{
    struct rl_run *run = r->import->run;
    const char *unit = json_string_value(json_object_get(object, "unit"));
    const char *state = json_string_value(json_object_get(object, "state"));
    const char *sizes = json_string_value(json_object_get(object, "sizes"));
    const json_t *times = json_object_get(object, "times_s");
    json_int_t launches = json_integer_value(json_object_get(object, "launches"));
    size_t count = json_array_size(times);
    const struct rl_unit *known = rl_unit_find(unit);
    ret->times_s = NULL;
    if (sizes == NULL)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "sizes",
                              "is missing; course or scaled is expected in a line of samples");
    if (strcmp(sizes, run->sizes) != 0)
        return 0;
    if (known == NULL || state == NULL || (strcmp(state, "warm") != 0 && strcmp(state, "cold") != 0) || launches < 1 ||
        count < 1 || count > SAMPLES_MAX)
        return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, NULL,
                              "is no line of samples: unit, state, launches or the number of times is wrong");
    double *copy = rl_arena_array(run->arena, count, sizeof *copy);
    if (copy == NULL)
        return no_memory(r);
    for (size_t i = 0; i < count; i++) {
        char seen[IMPORT_QUOTE];
        copy[i] = json_number_value(json_array_get(times, i));
        if (!isfinite(copy[i]) || copy[i] <= 0)
            return import_fail_at(&r->at, RL_E_IMPORT_FORMAT, "times_s", "has %s; a time above 0 is expected",
                                  import_json_seen(json_array_get(times, i), seen));
    }
    *ret = (struct import_sample){known->id, strcmp(state, "cold") == 0 ? RL_COLD : RL_WARM, launches, copy, count};
    return 0;
}

/* The run's statistics of what was sampled, or NULL. */
static const struct rl_times *times_of(const struct rl_run *run, const struct import_sample *sample)
{
    const struct rl_row *row = rl_run_row(run, sample->unit);
    const struct rl_ceiling *ceiling = rl_run_ceiling(run, sample->unit, sample->state);
    if (row != NULL && row->state[sample->state].present)
        return &row->state[sample->state].time_s;
    return ceiling != NULL ? &ceiling->time_s : NULL;
}

/* The daemon holds samples and statistics against each other too, but it knows no lines of the file. */
static int check_sample(struct reader *r, const struct import_sample *sample, const struct rl_times *said)
{
    struct rl_times_difference differs;
    char said_words[RL_TIMES_WORDS], made_words[RL_TIMES_WORDS];
    if (!rl_is_known(said->median))
        return 0;
    if (rl_times_check(said, sample->times_s, sample->count, sample->launches, &differs) != 0)
        return no_memory(r);
    if (differs.member == NULL)
        return 0;
    return import_fail_at(
        &r->at, RL_E_IMPORT_DISAGREES, strcmp(differs.member, "launches") == 0 ? "launches" : "times_s",
        "the samples of %s %s give %s %s, but the run's document in line %zu says %s: one of the two was "
        "changed or cut",
        sample->unit, rl_state_name(sample->state), differs.member, rl_times_words(differs.made, made_words),
        r->document_line, rl_times_words(differs.said, said_words));
}

/* The same line twice is one; others of one unit and state cannot both be the document's. */
static int take_sample(struct reader *r, const struct import_sample *sample)
{
    struct import *import = r->import;
    for (size_t i = 0; i < import->sample_count; i++) {
        const struct import_sample *before = &import->samples[i];
        if (strcmp(before->unit, sample->unit) != 0 || before->state != sample->state)
            continue;
        if (before->launches == sample->launches && before->count == sample->count &&
            memcmp(before->times_s, sample->times_s, sample->count * sizeof *sample->times_s) == 0)
            return 0;
        return import_fail_at(&r->at, RL_E_IMPORT_DISAGREES, "times_s", "has other samples of %s %s than line %zu",
                              sample->unit, rl_state_name(sample->state), r->lines[i]);
    }
    r->lines[import->sample_count] = r->at.line;
    import->samples[import->sample_count++] = *sample;
    return 0;
}

int import_samples(struct import *import, const struct import_file *file, const json_t *lines, size_t document_line)
{
    struct reader r = {.import = import, .at = {import->err, file, 0}, .document_line = document_line};
    size_t count = json_array_size(lines);
    import->samples = rl_arena_array(import->run->arena, count + 1, sizeof *import->samples);
    r.lines = rl_arena_array(import->arena, count + 1, sizeof *r.lines);
    if (import->samples == NULL || r.lines == NULL)
        return no_memory(&r);
    for (size_t i = 0; i < count; i++) {
        const json_t *line = json_array_get(lines, i);
        struct import_sample sample;
        r.at.line = (size_t)json_integer_value(json_array_get(line, 0));
        if (read_sample(&r, json_array_get(line, 1), &sample) != 0)
            return -1;
        const struct rl_times *said = sample.times_s != NULL ? times_of(import->run, &sample) : NULL;
        if (said == NULL)
            continue; /* of other sizes, or of a ceiling or row that the document left out */
        if (check_sample(&r, &sample, said) != 0 || take_sample(&r, &sample) != 0)
            return -1;
    }
    return 0;
}

void import_samples_drop(struct import *import)
{
    size_t kept = 0;
    for (size_t i = 0; i < import->sample_count; i++) {
        const struct import_sample *sample = &import->samples[i];
        const struct rl_row *row = rl_run_row(import->run, sample->unit);
        if (row == NULL || row->state[sample->state].present ||
            (sample->state == RL_WARM && row->state[RL_MIXED].present))
            import->samples[kept++] = *sample;
    }
    import->sample_count = kept;
}
