/* The checks of a run. */
#ifndef GPU_ENGINE_CHECKS_H
#define GPU_ENGINE_CHECKS_H

#include "gpu/engine/state.h"

/* Adds every named check to the run, in one order; the run's rows, ceilings and counters are final. */
int engine_checks(struct engine *e, struct rl_err *err);

#endif
