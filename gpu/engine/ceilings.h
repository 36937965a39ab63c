/* The ceilings of a run. */
#ifndef GPU_ENGINE_CEILINGS_H
#define GPU_ENGINE_CEILINGS_H

#include "gpu/engine/state.h"

/* Sweeps, checks and samples every ceiling; one that is not proven, or cannot be measured, is unknown with its reason.
 */
int engine_ceilings(struct engine *e, struct rl_err *err);

#endif
