/* The rows of a run. */
#ifndef GPU_ENGINE_ROWS_H
#define GPU_ENGINE_ROWS_H

#include "gpu/engine/state.h"

/* A row of each kernel that was asked for, in the states that were; one that cannot be measured says why. */
int engine_kernels(struct engine *e, struct rl_err *err);

#endif
