/* A run as JSON and back: the one place where members are named. */
#ifndef GPU_RECORD_JSON_H
#define GPU_RECORD_JSON_H

#include <jansson.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"

/* The document of a run as a new reference, members in the order of the structs. Non-finite values are a
 * programming error and become null with the reason "not finite". NULL when memory ran out. */
json_t *rl_run_to_json(const struct rl_run *run);

/* Reads a document of any build. Strictly, by its record_version (run.h; 1 without one): unknown or missing members,
 * wrong types, non-finite or out-of-range numbers, a null without its reason, too long strings and lists (limits in
 * table.h) fail, err.field naming the member's path
 * ("kernels[3].warm.time_s.median"). Derived members are read as they stand; call rl_derive to make them anew.
 * What an older build did not write is unknown with RL_WHY_NOT_RECORDED; of a newer one, what this does not know is
 * left out. */
int rl_run_from_json(const json_t *document, struct rl_run **ret_run, struct rl_err *err);

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
