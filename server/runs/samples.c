/* See server/runs/samples.h. */
#include "server/runs/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/unit/catalogue.h"

void run_samples_free(struct run_samples *samples)
{
    for (size_t unit = 0; unit < RL_UNIT_COUNT; unit++)
        for (size_t state = 0; state < RL_STATE_COUNT; state++) {
            free(samples->row[unit][state].times_s);
            samples->row[unit][state] = (struct run_sample_row){0};
        }
}

size_t run_unit_index(const char *id)
{
    for (size_t i = 0; id != NULL && i < rl_unit_count; i++)
        if (strcmp(rl_units[i]->id, id) == 0)
            return i;
    return SIZE_MAX;
}

const struct run_sample_row *run_samples_row(const struct run_samples *samples, const char *unit, enum rl_state state)
{
    size_t index = run_unit_index(unit);
    return index == SIZE_MAX ? NULL : &samples->row[index][state];
}

static int broken(struct rl_err *err, const char *why)
{
    return rl_fail(err, RL_E_MEASURE_PROTOCOL, "sample", "The measuring process sent sample: %s.", why);
}

int run_samples_take(struct run_samples *samples, const json_t *body, struct rl_err *err)
{
    size_t unit = run_unit_index(json_string_value(json_object_get(body, "unit")));
    const char *name = json_string_value(json_object_get(body, "state"));
    json_int_t launches = json_integer_value(json_object_get(body, "launches"));
    const json_t *times = json_object_get(body, "times_s");
    size_t count = json_array_size(times);
    int state = 0;
    while (state < RL_STATE_COUNT && (name == NULL || strcmp(name, rl_state_name((enum rl_state)state)) != 0))
        state++;
    if (unit == SIZE_MAX || state == RL_STATE_COUNT || launches < 1)
        return broken(err, "its unit, state or number of launches is not one that can be");
    if (count < 1 || count > RUN_SAMPLES_MAX)
        return broken(err, "the number of its times is not within 1 and 256");
    double *copy = calloc(count, sizeof *copy);
    if (copy == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for samples.");
    for (size_t i = 0; i < count; i++) {
        copy[i] = json_number_value(json_array_get(times, i));
        if (!isfinite(copy[i]) || copy[i] <= 0) {
            free(copy);
            return broken(err, "a time is not finite and positive");
        }
    }
    struct run_sample_row *row = &samples->row[unit][state];
    free(row->times_s);
    *row = (struct run_sample_row){.launches = launches, .times_s = copy, .count = count};
    return 0;
}
