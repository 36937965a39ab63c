/* A unit before it is sampled: found, prepared, described and checked. */
#include "gpu/engine/unit.h"

#include <string.h>

#include "gpu/engine/tell.h"

struct engine_unit *engine_unit_find(struct engine *e, const char *id)
{
    for (size_t i = 0; i < rl_unit_count; i++)
        if (strcmp(rl_units[i]->id, id) == 0)
            return &e->units[i];
    return NULL;
}

bool engine_error_is_local(enum rl_code code)
{
    return code == RL_E_OUT_OF_MEMORY || code == RL_E_NOT_IMPLEMENTED || code == RL_E_UNSUPPORTED_CHIP;
}

/* The code that ran, over all units: "sm_90", "ptx", or both when the driver compiled some of them. */
static void note_binary(struct engine *e, const char *binary)
{
    struct rl_text *cubin = &e->run->environment.cubin;

    if (!binary || (strncmp(binary, "sm_", 3) != 0 && strcmp(binary, "ptx") != 0))
        return; /* the driver's own copy is no code of this program */
    if (!cubin->value || cubin->why)
        *cubin = (struct rl_text){engine_say(e, "%s", binary), NULL};
    else if (!strstr(cubin->value, binary))
        *cubin = (struct rl_text){engine_say(e, "%s+%s", cubin->value, binary), NULL};
}

/* Whether a failed step is local; then *ret_why says what failed. */
static bool survives(struct engine *e, const struct engine_unit *unit, const char *step, const struct rl_err *err,
                     const char **ret_why)
{
    if (!engine_error_is_local(err->code))
        return false;
    *ret_why = engine_say(e, "%s: %s", step, err->message);
    engine_warn(e, err->code, engine_say(e, "%s %s", unit->unit->id, *ret_why));
    return true;
}

int engine_ready_unit(struct engine *e, struct engine_unit *unit, struct gpu_launch *ret_launch, struct rl_err *err)
{
    const struct gpu_backend_ops *ops = e->backend->ops;

    if (ops->prepare(e->backend, &unit->work, err)) {
        if (!survives(e, unit, "not prepared", err, &unit->missing))
            return rl_wrap(err, "preparing %s", unit->unit->id);
        unit->unchecked_why = unit->missing;
        return 0;
    }
    if (ops->describe(e->backend, e->arena, &unit->work, ret_launch, err)) {
        if (!survives(e, unit, "not described", err, &unit->missing))
            return rl_wrap(err, "describing %s", unit->unit->id);
        unit->unchecked_why = unit->missing;
        return 0;
    }
    note_binary(e, ret_launch->binary);
    if (ops->check(e->backend, &unit->work, &unit->result, err)) {
        if (!survives(e, unit, "not checked", err, &unit->unchecked_why))
            return rl_wrap(err, "checking the result of %s", unit->unit->id);
        return 0;
    }
    unit->checked = true;
    if (!unit->result.passed)
        engine_log(e, "%s: wrong result: %s", unit->unit->id, unit->result.detail);
    return 0;
}

bool engine_result_is_right(const struct gpu_result *result)
{
    return result->passed && result->wrong == 0 && result->compared_device + result->compared_host > 0;
}

const char *engine_unproven(struct engine *e, const struct engine_unit *unit)
{
    if (!unit->checked)
        return engine_say(e, "the result could not be checked (%s)", unit->unchecked_why);
    return engine_result_is_right(&unit->result) ? NULL
                                                 : engine_say(e, "the result is wrong (%s)", unit->result.detail);
}
