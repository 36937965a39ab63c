/* Kernels of the timings that find no launch. */
#ifndef GPU_IMPORT_JOIN_LEFT_OUT_H
#define GPU_IMPORT_JOIN_LEFT_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/import/common/state.h"

#define IMPORT_NAMES_LISTED 6u /* kernels that a message names */

/* Marks the run as partial for kernels that found no launch: "…: a, b and 3 more". RL_E_IMPORT_MISSING without the
 * field partial, and where none is left (all: no kernel found one). */
int import_left_out(struct import *import, const char *names, size_t count, bool all);
bool import_is_partial(const struct import *import); /* the field partial is "true" */

#endif
