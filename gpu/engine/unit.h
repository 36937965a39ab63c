/* A unit before it is sampled: found, prepared, described and checked. */
#ifndef GPU_ENGINE_UNIT_H
#define GPU_ENGINE_UNIT_H

#include "gpu/engine/state.h"

struct engine_unit *engine_unit_find(struct engine *e, const char *id); /* NULL: there is none of this id */
/* Whether an error spoils one unit only: its row or ceiling is then missing and the run goes on as partial. All others
 * end the run: after a CUDA error nothing that follows can be trusted, and a recording's gap is an error by design. */
bool engine_error_is_local(enum rl_code code);
/* Prepare, describe and check of a unit. A local error becomes unit->missing or unchecked_why. */
int engine_ready_unit(struct engine *e, struct engine_unit *unit, struct gpu_launch *ret_launch, struct rl_err *err);
/* A check that compared nothing has not passed, whatever it says. */
bool engine_result_is_right(const struct gpu_result *result);
/* Why a unit's output proves nothing: its check found it wrong, compared nothing or could not be made. NULL: right. */
const char *engine_unproven(struct engine *e, const struct engine_unit *unit);

#endif
