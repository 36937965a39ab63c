/* Samples that a measuring or importing process sent: how long each took, of every unit and state. Pure. */
#ifndef SERVER_RUNS_SAMPLES_H
#define SERVER_RUNS_SAMPLES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "kernels/unit/list.h"

#define RUN_SAMPLES_MAX 256u

/* Samples of each unit and state, by index in rl_units; the last sample line of a unit and state counts. */
struct run_samples {
    struct run_sample_row {
        int64_t launches; /* per sample */
        double *times_s;  /* count of them; NULL: none came */
        size_t count;
    } row[RL_UNIT_COUNT][RL_STATE_COUNT];
};
void run_samples_free(struct run_samples *samples); /* accepts a zeroed one */
/* Takes a sample line's body. Unknown unit or state, no or too many times, or one that is not finite and positive:
 * RL_E_MEASURE_PROTOCOL. */
int run_samples_take(struct run_samples *samples, const json_t *body, struct rl_err *err);
/* Those of a unit (by id) and state; NULL for a unit that the catalogue does not have. */
const struct run_sample_row *run_samples_row(const struct run_samples *samples, const char *unit, enum rl_state state);
size_t run_unit_index(const char *unit); /* in rl_units; SIZE_MAX when the catalogue does not have it */

#endif
