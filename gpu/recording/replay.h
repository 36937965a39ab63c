/* What the measuring program and tests need of the replay backend beside gpu/backend/backend.h. */
#ifndef GPU_RECORDING_REPLAY_H
#define GPU_RECORDING_REPLAY_H

#include "gpu/backend/backend.h"
#include "gpu/recording/recording.h"

/* A replay of a recording in memory, which belongs to the backend from now on (and is freed on failure). */
int gpu_backend_new_replay(struct recording *recording, const char *uuid, struct gpu_backend **ret, struct rl_err *err);

#endif
