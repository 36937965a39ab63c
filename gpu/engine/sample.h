/* Sampling one unit in one state. */
#ifndef GPU_ENGINE_SAMPLE_H
#define GPU_ENGINE_SAMPLE_H

#include "gpu/engine/state.h"

/* Median seconds per launch of `count` (at most 16) batches, no stopping rule and no events: sweeps, scaling. */
int engine_quick(struct engine *e, const struct gpu_work *work, int64_t launches, unsigned first_sample, unsigned count,
                 double *ret_time_s, struct rl_err *err);
/* Samples a unit in one state until the stopping rule is content, with the card's state around it and retries. Warm:
 * sets unit->warm_launches. A local error becomes ret->missing. */
int engine_measure(struct engine *e, struct engine_unit *unit, enum rl_state state, struct engine_measure *ret,
                   struct rl_err *err);
/* The largest relative difference between the clocks of consecutive parts of a series, and how much of it noise and the
 * timer's grain explain; entries with hz 0 are skipped. 0 with fewer than 6 entries. */
double engine_clock_change(const double *hz, const double *batch_s, size_t count, double *ret_noise);

#endif
