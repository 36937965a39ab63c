/* The card's state as telemetry, whether the run has the card alone, and what holds its clocks down. */
#include "gpu/engine/card.h"

#include <string.h>

#include "gpu/base/time.h"
#include "gpu/engine/tell.h"

bool engine_reason_throttles(const char *reason)
{
    /* NVML's names: SwPowerCap, HwSlowdown, SwThermalSlowdown, HwThermalSlowdown, HwPowerBrakeSlowdown */
    return strcasestr(reason, "thermal") || strcasestr(reason, "power") || strcasestr(reason, "slowdown");
}

int engine_card_state(struct engine *e, const char *at, struct gpu_card_state *ret, struct rl_err *err)
{
    struct gpu_card_state got = {0};
    struct rl_telemetry *entry;

    if (e->backend->ops->card_state(e->backend, e->arena, at, &got, err))
        return -1;
    if (e->run->telemetry_count >= e->telemetry_max)
        return rl_fail(err, RL_E_INTERNAL, NULL, "more than %zu telemetry entries", e->telemetry_max);
    entry = &e->run->telemetry[e->run->telemetry_count++];
    *entry = (struct rl_telemetry){
        .at = at,
        .time_s = rl_known((double)(rl_monotonic_ns() - e->started_ns) * 1e-9),
        .sm_hz = got.sm_hz,
        .memory_hz = got.memory_hz,
        .temperature_c = got.temperature_c,
        .power_w = got.power_w,
        .energy_j = got.energy_j,
        .reasons = got.reasons,
        .other_processes = got.other_processes,
    };
    if (e->events && e->events->telemetry)
        e->events->telemetry(e->events->arg, entry);
    *ret = got;
    return 0;
}

int engine_note_sharing(struct engine *e, struct rl_err *err)
{
    if (e->not_alone || !e->backend->shared_why)
        return 0;
    e->not_alone = engine_say(e, "the GPU is not locked for this run alone: %s", e->backend->shared_why);
    engine_warn(e, RL_E_FORBIDDEN, e->not_alone);
    return engine_flag(e, &e->run->flags, "shared", err);
}
