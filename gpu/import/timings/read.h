/* Reading timings. */
#ifndef GPU_IMPORT_TIMINGS_READ_H
#define GPU_IMPORT_TIMINGS_READ_H

#include "gpu/import/common/state.h"

/* The run's rows, or import->events, from a file of timings of any format, compressed by gzip or not. Errors name line
 * and field; RL_E_IMPORT_NOT_TIMINGS where it is none. */
int import_timings(struct import *import, const struct import_file *file);

#endif
