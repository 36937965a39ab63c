/* Figures of a row that nothing is known of yet. */
#ifndef GPU_ENGINE_BLANK_H
#define GPU_ENGINE_BLANK_H

#include "gpu/record/run.h"

/* Every byte count unknown for this reason (borrowed). */
void engine_blank_bytes(struct rl_bytes *bytes, const char *why);
/* Everything unknown, and present: what is measured or derived later takes its place. */
void engine_blank_state(struct rl_row_state *state, const char *why);

#endif
