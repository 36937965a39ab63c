/* Reading power logs. */
#ifndef GPU_IMPORT_POWER_LOG_H
#define GPU_IMPORT_POWER_LOG_H

#include "gpu/import/common/state.h"

/* The run's power from a log; the run has its device. */
int import_power(struct import *import, const struct import_file *file);

#endif
