/* Parts of a run as JSON and back. Whole runs: gpu/suites/document.h. */
#ifndef GPU_RECORD_JSON_H
#define GPU_RECORD_JSON_H

#include <jansson.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"

/* A stored document holds, beside what rl_run_to_json made, its id, its job and, where that is null, the job's reason,
 * and the label of a run that has one: takes them out, so that rl_run_from_json takes the rest. */
void rl_run_json_bare(json_t *document);

/* Parts used by the protocol's device and telemetry lines, and by recordings; version: the record version of the
 * document that they stand in. */
json_t *rl_device_to_json(const struct rl_device *device);
json_t *rl_environment_to_json(const struct rl_environment *environment);
json_t *rl_telemetry_to_json(const struct rl_telemetry *telemetry);
int rl_device_from_json(const json_t *object, int64_t version, struct rl_arena *arena, struct rl_device *ret,
                        struct rl_err *err);
int rl_environment_from_json(const json_t *object, int64_t version, struct rl_arena *arena, struct rl_environment *ret,
                             struct rl_err *err);
int rl_telemetry_from_json(const json_t *object, int64_t version, struct rl_arena *arena, struct rl_telemetry *ret,
                           struct rl_err *err);

#endif
