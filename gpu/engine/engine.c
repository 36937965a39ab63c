/* The order of a run: identify, spin up, ceilings, kernels, counters, checks, outcome. What is asked of the backend
 * depends on the request and on the backend's answers alone, never on a clock, so that a replay asks for what was
 * recorded. */
#include "gpu/engine/engine.h"

#include <string.h>

#include "gpu/base/time.h"
#include "gpu/engine/card.h"
#include "gpu/engine/ceilings.h"
#include "gpu/engine/checks.h"
#include "gpu/engine/counts.h"
#include "gpu/engine/rows.h"
#include "gpu/engine/tell.h"
#include "gpu/record/derive/derive.h"

#define SPIN_STEPS_MAX 25 /* of about 20 ms: a card that has not settled after half a second is said to be unsteady */
#define SPIN_WINDOW    3

/* The scalar copy and the memcpy are there to be compared with the copy, and only warm; an emptied L2 adds nothing. */
static bool measured_cold(const struct rl_unit *unit)
{
    return unit->kind == RL_UNIT_MEMORY_CEILING && strcmp(unit->id, "dram_copy_scalar") != 0 &&
           strcmp(unit->id, "dram_memcpy") != 0;
}

/* Units, their sizes on this card and the steps of progress. */
static int plan(struct engine *e, struct rl_err *err)
{
    const struct engine_request *request = e->request;
    struct rl_run *run = e->run;
    unsigned counted = 0;

    if (run->device.l2_bytes.why)
        return rl_fail(err, RL_E_UNSUPPORTED_CHIP, "device.l2_bytes",
                       "the size of the L2 is unknown (%s), and sizes and flushes follow from it",
                       run->device.l2_bytes.why);
    for (size_t i = 0; i < rl_unit_count; i++) {
        struct engine_unit *unit = &e->units[i];

        unit->unit = rl_units[i];
        unit->asked = i >= rl_kernel_count || request->kernel[i];
        unit->unchecked_why = "not reached";
        if (!unit->asked)
            continue;
        unit->work = (struct gpu_work){.unit = rl_units[i], .sizes = request->sizes};
        if (rl_units[i]->dims(request->sizes, (uint64_t)run->device.l2_bytes.value, &unit->work.dims))
            return rl_fail(err, RL_E_UNSUPPORTED_CHIP, rl_units[i]->id,
                           "the %s sizes of %s overflow with an L2 of %lld bytes", rl_sizes_name(request->sizes),
                           rl_units[i]->id, (long long)run->device.l2_bytes.value);
        unit->state[RL_WARM] = i >= rl_kernel_count || request->state[RL_WARM];
        unit->state[RL_COLD] = request->state[RL_COLD] && (i < rl_kernel_count || measured_cold(rl_units[i]));
        e->total += (unsigned)unit->state[RL_WARM] + (unsigned)unit->state[RL_COLD];
        if (i < rl_kernel_count || strcmp(rl_units[i]->id, "dram_copy") == 0)
            counted += (unsigned)unit->state[RL_WARM] + (unsigned)unit->state[RL_COLD];
    }
    e->total += 2 + (request->counters ? counted : 0); /* start and checks */
    return 0;
}

static int allocate(struct engine *e, struct rl_err *err)
{
    struct rl_run *run = e->run;
    size_t attempts = 1 + ENGINE_RETRIES_MAX;

    e->units = rl_arena_array(e->arena, rl_unit_count, sizeof *e->units);
    e->telemetry_max = 2 + rl_unit_count * RL_STATE_COUNT * 2 * attempts;
    run->telemetry = rl_arena_array(e->arena, e->telemetry_max, sizeof *run->telemetry);
    run->rows = rl_arena_array(e->arena, rl_kernel_count, sizeof *run->rows);
    run->ceilings = rl_arena_array(e->arena, (rl_unit_count - rl_kernel_count) * RL_STATE_COUNT, sizeof *run->ceilings);
    run->checks = rl_arena_array(e->arena, rl_unit_count + 16, sizeof *run->checks);
    if (!e->units || !run->telemetry || !run->rows || !run->ceilings || !run->checks)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a run of %zu units", rl_unit_count);
    return 0;
}

static int check_request(const struct engine_request *request, struct rl_err *err)
{
    bool kernel = false;

    if (!request->state[RL_WARM] && !request->state[RL_COLD])
        return rl_fail(err, RL_E_BAD_FIELD, "cache", "no cache state was asked for: name warm, cold or both");
    for (size_t i = 0; i < RL_KERNEL_COUNT; i++)
        kernel = kernel || request->kernel[i];
    if (!kernel)
        return rl_fail(err, RL_E_BAD_FIELD, "kernels", "no kernel was asked for: name at least one");
    return 0;
}

static int identify(struct engine *e, struct rl_err *err)
{
    struct rl_run *run = e->run;
    const struct gpu_backend_ops *ops = e->backend->ops;

    if (ops->identify(e->backend, e->arena, &run->device, &run->environment, err))
        return -1;
    run->suite = "verify";
    run->sizes = rl_sizes_name(e->request->sizes);
    run->source = ops->source;
    run->recorded_at_ms = e->backend->recorded_at_ms;
    run->environment.method_version = RL_METHOD_VERSION;
    if (e->events && e->events->device)
        e->events->device(e->events->arg, &run->device, &run->environment);
    engine_log(e, "%s, driver %s, CUDA %s, sizes %s, %s", run->device.name,
               run->environment.driver_version.value ? run->environment.driver_version.value : "unknown",
               run->environment.cuda_runtime_version.value ? run->environment.cuda_runtime_version.value : "unknown",
               run->sizes, rl_source_name(run->source));
    return 0;
}

static int reserve(struct engine *e, struct rl_err *err)
{
    struct gpu_work *works = rl_arena_array(e->arena, 2 * rl_unit_count, sizeof *works);
    size_t count = 0;

    if (!works)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the list of works");
    for (size_t i = 0; i < rl_unit_count; i++) {
        if (!e->units[i].asked)
            continue;
        works[count++] = e->units[i].work;
        if (rl_units[i]->kind == RL_UNIT_COMPUTE_CEILING) { /* for the scaling check */
            works[count] = e->units[i].work;
            works[count++].dims.steps *= 2;
        }
    }
    return e->backend->ops->reserve(e->backend, works, count, err);
}

/* Warms the card up until its SM clock is steady: the newest three within 1 percent. */
static int spin(struct engine *e, struct rl_err *err)
{
    double newest[SPIN_WINDOW] = {0};

    while (e->spin.steps < SPIN_STEPS_MAX && !e->spin.steady) {
        double hz = 0, low, high;

        if (e->backend->ops->spin(e->backend, e->spin.steps, &hz, err))
            return -1;
        newest[e->spin.steps % SPIN_WINDOW] = hz;
        e->spin.steps++;
        e->spin.hz = hz > 0 ? hz : e->spin.hz;
        low = high = newest[0];
        for (size_t i = 1; i < SPIN_WINDOW; i++) {
            low = newest[i] < low ? newest[i] : low;
            high = newest[i] > high ? newest[i] : high;
        }
        e->spin.steady = low > 0 && high <= low * (1 + ENGINE_CLOCK_TOLERANCE);
    }
    if (e->spin.steady)
        engine_log(e, "SM clock steady at %.0f MHz after %u spins", e->spin.hz / 1e6, e->spin.steps);
    else
        engine_log(e, "SM clock not steady after %u spins, last seen %.0f MHz", e->spin.steps, e->spin.hz / 1e6);
    return 0;
}

static int start(struct engine *e, struct rl_err *err)
{
    struct gpu_card_state state;

    if (identify(e, err) || plan(e, err) || engine_note_sharing(e, err))
        return -1;
    engine_step_begin(e, "start", e->run->device.name);
    e->backend->will_count = e->request->counters;
    if (engine_card_state(e, "start", &state, err) || reserve(e, err) || spin(e, err))
        return -1;
    engine_step_end(e);
    return 0;
}

/* What the card and the driver look like once nothing runs any more. */
static int look_again(struct engine *e, struct rl_err *err)
{
    struct gpu_card_state state;

    if (engine_card_state(e, "end", &state, err) || engine_note_sharing(e, err)) /* counting takes a lock of its own */
        return -1;
    return e->backend->ops->driver_now(e->backend, e->arena, &e->driver_at_end, err);
}

static int add_reason(struct engine *e, const char *reason, struct rl_err *err)
{
    return engine_flag(e, &e->run->outcome_reasons, reason, err);
}

static int missing_parts(struct engine *e, bool *ret_any, struct rl_err *err)
{
    struct rl_run *run = e->run;

    for (size_t i = 0; i < run->ceiling_count; i++) {
        if (rl_is_known(run->ceilings[i].value))
            continue;
        *ret_any = true;
        if (add_reason(e,
                       engine_say(e, "no %s %s ceiling", run->ceilings[i].name, rl_state_name(run->ceilings[i].state)),
                       err))
            return -1;
    }
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
            const struct rl_row_state *row = &run->rows[i].state[state];

            if (!row->present || rl_is_known(row->time_s.median))
                continue;
            *ret_any = true;
            if (add_reason(e, engine_say(e, "no %s %s row", run->rows[i].kernel, rl_state_name(state)), err))
                return -1;
        }
    return 0;
}

/* What was beside the run comes before what failed because of it. */
static int shared_first(struct engine *e, struct rl_err *err)
{
    struct rl_strings *reasons = &e->run->outcome_reasons;
    const char *name = "not_shared failed";

    for (size_t i = 0; i < e->run->check_count; i++)
        if (strcmp(e->run->checks[i].name, "not_shared") == 0 && e->run->checks[i].passed.why)
            name = "not_shared could not be made";
    if (add_reason(e, name, err))
        return -1;
    name = reasons->items[reasons->count - 1];
    memmove(reasons->items + 1, reasons->items, (reasons->count - 1) * sizeof *reasons->items);
    reasons->items[0] = name;
    return 0;
}

/* ok, refused when a result is wrong, else partial when something asked for is missing; and why. */
static int decide_outcome(struct engine *e, struct rl_err *err)
{
    struct rl_run *run = e->run;
    bool refused = false, partial = false;

    for (size_t i = 0; i < run->check_count; i++) {
        const struct rl_check *check = &run->checks[i];
        /* with working counters a kernel without a DRAM row is a missing row, as in a merge that fails */
        bool row_lost = strcmp(check->name, "every_kernel_has_dram_row") == 0;

        if (check->passed.why ? !check->refuses : check->passed.value || !(check->refuses || row_lost))
            continue;
        refused = refused || (!check->passed.why && check->refuses);
        partial = true;
        if (add_reason(e, engine_say(e, "%s %s", check->name, check->passed.why ? "could not be made" : "failed"), err))
            return -1;
    }
    if (missing_parts(e, &partial, err))
        return -1;
    run->outcome = refused ? RL_REFUSED : partial ? RL_PARTIAL : RL_OK;
    if (partial && rl_strings_has(&run->flags, "shared") && shared_first(e, err))
        return -1;
    engine_log(e, "outcome %s%s%s", rl_outcome_name(run->outcome), run->outcome_reasons.count ? ": " : "",
               run->outcome_reasons.count ? run->outcome_reasons.items[0] : "");
    return 0;
}

/* What every run of this device, driver and request does, in order. */
static int run_phases(struct engine *e, struct rl_err *err)
{
    if (allocate(e, err) || start(e, err) || engine_ceilings(e, err) || engine_kernels(e, err) ||
        engine_counts(e, err) || look_again(e, err))
        return -1;
    rl_derive(e->run);
    engine_step_begin(e, "checks", "checks");
    if (engine_checks(e, err) || decide_outcome(e, err))
        return -1;
    bool stepped;
    e->run->finished_at_ms = rl_moment_since(&e->began, &stepped);
    if (stepped && engine_flag(e, &e->run->flags, "clock_stepped", err))
        return -1;
    e->done = e->total;
    engine_step_begin(e, "checks", "done");
    if (e->memory_failed)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "the run outgrew its memory");
    return 0;
}

int engine_run(struct gpu_backend *backend, const struct engine_request *request, const struct engine_events *events,
               struct rl_run **ret_run, struct rl_err *err)
{
    struct rl_err own = {0}; /* local errors are told by warnings; the caller's carrier is for those that end the run */
    struct engine e = {.backend = backend, .request = request, .events = events, .started_ns = rl_monotonic_ns()};

    if (check_request(request, &own))
        goto failed;
    backend->sizes = request->sizes;
    e.run = rl_run_new();
    if (!e.run) {
        rl_fail(&own, RL_E_NO_MEMORY, NULL, "no memory for a run");
        goto failed;
    }
    e.arena = e.run->arena;
    e.began = rl_moment_now();
    e.run->started_at_ms = e.began.ms;
    if (run_phases(&e, &own))
        goto failed;
    *ret_run = e.run;
    return 0;
failed:
    rl_run_free(e.run);
    if (err)
        *err = own;
    return -1;
}
