/* What the card looks like beside the samples. */
#ifndef GPU_ENGINE_CARD_H
#define GPU_ENGINE_CARD_H

#include "gpu/engine/state.h"

/* Asks the backend for the card's state and keeps it as telemetry. */
int engine_card_state(struct engine *e, const char *at, struct gpu_card_state *ret, struct rl_err *err);
/* Warns, once, and flags the run when the backend could not lock the GPU or the node for itself. */
int engine_note_sharing(struct engine *e, struct rl_err *err);
/* "thermal", "power" or "slowdown" in an event reason's name. */
bool engine_reason_throttles(const char *reason);

#endif
