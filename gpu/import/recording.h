/* A recording of raw answers. */
#ifndef GPU_IMPORT_RECORDING_H
#define GPU_IMPORT_RECORDING_H

#include "gpu/import/common/state.h"

/* The run from a replay of the recording, and its samples. */
int import_recording(struct import *import, const struct import_file *file);

#endif
