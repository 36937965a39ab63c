/* The counter session of a run. */
#ifndef GPU_ENGINE_COUNTS_H
#define GPU_ENGINE_COUNTS_H

#include "gpu/engine/state.h"

/* Counts the copy and the rows that have times. Without counters every figure of theirs is unknown with one reason, and
 * the run goes on. */
int engine_counts(struct engine *e, struct rl_err *err);

#endif
