/* Ceilings: the best launch shape of each by a sweep, then the same sampling as any row. */
#include "gpu/engine/ceilings.h"

#include <math.h>
#include <string.h>

#include "gpu/engine/sample.h"
#include "gpu/engine/tell.h"
#include "gpu/engine/unit.h"

/* Launches per batch of a sweep. A copy of 1 GiB takes half a millisecond on an H200 and the FMA chain above two:
 * either is enough for a ranking. Smaller than any batch of a row, so that their samples keep numbers of their own. */
#define SWEEP_COPY_LAUNCHES 3
#define SWEEP_FMA_LAUNCHES  1
#define SWEEP_FINALISTS     3 /* shapes that are timed again before one is chosen */
#define SWEEP_BATCHES       3 /* of each finalist */
#define SCALING_BATCHES     3

static const char *variant_word(struct engine *e, const struct engine_unit *unit, unsigned variant)
{
    return engine_say(e, "%s shape %u", unit->unit->id, variant);
}

/* Times one shape; a shape that this card cannot launch counts as infinitely slow. */
static int time_variant(struct engine *e, const struct engine_unit *unit, unsigned variant, unsigned first,
                        unsigned count, double *ret_time_s, struct rl_err *err)
{
    struct gpu_work work = unit->work;
    int64_t launches = unit->unit->kind == RL_UNIT_COMPUTE_CEILING ? SWEEP_FMA_LAUNCHES : SWEEP_COPY_LAUNCHES;

    work.variant = variant;
    if (e->backend->ops->prepare(e->backend, &work, err) == 0 &&
        engine_quick(e, &work, launches, first, count, ret_time_s, err) == 0)
        return 0;
    if (!engine_error_is_local(err->code))
        return rl_wrap(err, "%s", variant_word(e, unit, variant));
    engine_log(e, "%s left out: %s", variant_word(e, unit, variant), err->message);
    *ret_time_s = INFINITY;
    return 0;
}

static unsigned fastest(const double *times, unsigned count)
{
    unsigned best = 0;

    for (unsigned i = 1; i < count; i++)
        if (times[i] < times[best])
            best = i;
    return best;
}

/* Every shape once, the best three again with the median of three batches: the ranking is by the latter. */
static int sweep(struct engine *e, struct engine_unit *unit, struct rl_err *err)
{
    unsigned variants = unit->unit->variants;
    double *times, best_time = INFINITY;

    if (variants <= 1)
        return 0;
    times = rl_arena_array(e->arena, variants, sizeof *times);
    if (!times)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for %u shapes of %s", variants, unit->unit->id);
    for (unsigned i = 0; i < variants; i++)
        if (time_variant(e, unit, i, 0, 1, &times[i], err))
            return -1;
    for (unsigned i = 0; i < SWEEP_FINALISTS && i < variants; i++) {
        unsigned variant = fastest(times, variants);
        double time_s;

        if (!isfinite(times[variant]))
            break;
        times[variant] = INFINITY; /* out of the next round's choice */
        if (time_variant(e, unit, variant, 1, SWEEP_BATCHES, &time_s, err))
            return -1;
        if (time_s < best_time) {
            best_time = unit->sweep_time_s = time_s;
            unit->work.variant = variant;
        }
    }
    if (!isfinite(best_time))
        unit->missing = engine_say(e, "not measured: none of %u launch shapes runs on this card", variants);
    else
        engine_log(e, "%s: best of %u shapes is %u, %.3f us", unit->unit->id, variants, unit->work.variant,
                   best_time * 1e6);
    return 0;
}

/* Twice the steps must take twice the time: a loop that the compiler or the card cuts short would not. */
static int fma_scaling(struct engine *e, struct engine_unit *unit, double time_s, struct rl_err *err)
{
    struct gpu_work twice = unit->work;
    double twice_s;

    twice.dims.steps *= 2;
    if (e->backend->ops->prepare(e->backend, &twice, err) ||
        engine_quick(e, &twice, unit->warm_launches, 0, SCALING_BATCHES, &twice_s, err)) {
        if (!engine_error_is_local(err->code))
            return rl_wrap(err, "%s with twice the steps", unit->unit->id);
        e->scaling.why = engine_say(e, "not measured: %s", err->message);
        return 0;
    }
    e->scaling.made = true;
    e->scaling.ratio = twice_s / time_s;
    engine_log(e, "%s: twice the steps take %.4f of the time", unit->unit->id, e->scaling.ratio);
    return 0;
}

/* What the queried attributes and the clocks seen allow: an annotation, nothing is computed from it. */
static void nominal(struct engine *e, const struct engine_unit *unit, struct rl_ceiling *ceiling)
{
    const struct rl_device *device = &e->run->device;
    const char *why;

    if (unit->unit->kind == RL_UNIT_MEMORY_CEILING) {
        why = ceiling->memory_hz.why ? ceiling->memory_hz.why : device->memory_bus_bits.why;
        ceiling->nominal_of = (struct rl_text){"memory clock seen x 2 x bus width / 8", NULL};
        ceiling->nominal =
            why ? rl_unknown(why) : rl_known(ceiling->memory_hz.value * 2 * (double)device->memory_bus_bits.value / 8);
        return;
    }
    why = ceiling->sm_hz.why ? ceiling->sm_hz.why : device->sm_count.why;
    why = why ? why : device->fp32_lanes_per_sm.why;
    ceiling->nominal_of = (struct rl_text){"SMs x FP32 lanes x 2 x SM clock seen inside the kernel", NULL};
    ceiling->nominal = why ? rl_unknown(why)
                           : rl_known((double)device->sm_count.value * (double)device->fp32_lanes_per_sm.value * 2 *
                                      ceiling->sm_hz.value);
}

static const char *method(struct engine *e, const struct engine_unit *unit, enum rl_state state)
{
    bool memory = unit->unit->kind == RL_UNIT_MEMORY_CEILING;
    const char *formula = memory ? unit->unit->ask_formula : unit->unit->flop_formula;

    if (state == RL_WARM)
        return engine_say(e, "%s: %s %s per launch over the median time of a launch in back-to-back batches",
                          unit->unit->title, formula, memory ? "bytes" : "flop");
    return engine_say(e, "%s: %s bytes over the median time of single launches, each on an L2 emptied by reading",
                      unit->unit->title, formula);
}

/* A ceiling with everything unknown for the given reason. */
static struct rl_ceiling *add_ceiling(struct engine *e, struct engine_unit *unit, enum rl_state state, const char *why)
{
    struct rl_ceiling *ceiling = &e->run->ceilings[e->run->ceiling_count++];
    bool memory = unit->unit->kind == RL_UNIT_MEMORY_CEILING;
    uint64_t work = memory ? unit->unit->ask_bytes(&unit->work.dims) : unit->unit->flop(&unit->work.dims);

    *ceiling = (struct rl_ceiling){
        .name = unit->unit->id,
        .state = state,
        .value = rl_unknown(why),
        .unit = memory ? "byte_per_s" : "flop_per_s",
        .method = method(e, unit, state),
        .shape = {NULL, why},
        .time_s = {.median = rl_unknown(why),
                   .p25 = rl_unknown(why),
                   .p75 = rl_unknown(why),
                   .min = rl_unknown(why),
                   .std_error = rl_unknown(why),
                   .stop = {NULL, why}},
        .work = {(int64_t)work, NULL},
        .dram = rl_unknown(memory ? "not counted" : "a compute ceiling is not counted"),
        .dram_per_ask = rl_unknown(memory ? "not counted" : "asks for no memory"),
        .nominal = rl_unknown(why),
        .nominal_of = {NULL, why},
        .percent_of_nominal = rl_unknown(why),
        .sm_hz = rl_unknown(why),
        .memory_hz = rl_unknown(why),
    };
    unit->ceiling[state] = ceiling;
    return ceiling;
}

/* The value is needed at once, by what is measured next; what else follows from it is rl_derive's. */
static void fill(struct engine *e, struct engine_unit *unit, struct rl_ceiling *ceiling,
                 const struct gpu_launch *launch, const struct engine_measure *measure)
{
    ceiling->shape = launch->launch.shape;
    ceiling->time_s = measure->times;
    ceiling->sm_hz = measure->sm_hz;
    ceiling->memory_hz = measure->memory_hz;
    ceiling->reasons = measure->reasons;
    ceiling->flags = measure->flags;
    nominal(e, unit, ceiling);
    if (measure->missing) {
        ceiling->value = rl_unknown(measure->missing);
        return;
    }
    ceiling->value = rl_known((double)ceiling->work.value / measure->times.median.value);
    engine_log(e, "ceiling %s %s: %.1f %s, %s", ceiling->name, rl_state_name(ceiling->state),
               ceiling->value.value / 1e9, unit->unit->kind == RL_UNIT_MEMORY_CEILING ? "GB/s" : "GFLOP/s",
               ceiling->shape.value ? ceiling->shape.value : "shape unknown");
}

/* METHOD "Ceilings": why the chain's time does not follow its length; NULL when it does. */
static const char *chain_fault(struct engine *e)
{
    if (!e->scaling.made)
        return engine_say(e, "twice the steps: %s", e->scaling.why);
    if (fabs(e->scaling.ratio / 2 - 1) <= ENGINE_SCALING)
        return NULL;
    return engine_say(e, "twice the steps took %.3f times the time, not 2 within 5 percent", e->scaling.ratio);
}

/* No ceiling from code that is not known to have done its work. */
static void withhold(struct engine *e, struct engine_unit *unit, const char *why)
{
    for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
        struct rl_ceiling *ceiling = unit->ceiling[state];

        if (!ceiling || !rl_is_known(ceiling->value))
            continue;
        ceiling->value = rl_unknown(engine_say(e, "withheld: %s", why));
        engine_log(e, "ceiling %s %s %s", ceiling->name, rl_state_name(state), ceiling->value.why);
    }
}

static int measure_ceiling(struct engine *e, struct engine_unit *unit, struct rl_err *err)
{
    struct gpu_launch launch = {0};
    struct rl_device *device = &e->run->device;

    if (sweep(e, unit, err))
        return -1;
    if (!unit->missing && engine_ready_unit(e, unit, &launch, err))
        return -1;
    for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
        struct engine_measure measure;
        struct rl_ceiling *ceiling;

        if (!unit->state[state])
            continue;
        engine_step_begin(e, "ceilings", engine_say(e, "%s %s", unit->unit->id, rl_state_name(state)));
        ceiling = add_ceiling(e, unit, state, unit->missing ? unit->missing : "not measured");
        if (!unit->missing) {
            if (engine_measure(e, unit, state, &measure, err))
                return -1;
            fill(e, unit, ceiling, &launch, &measure);
        }
        /* the sampling of what follows needs to know what an emptied L2 costs: 4 x L2 read at about the copy's rate */
        if (strcmp(unit->unit->id, "dram_copy") == 0 && state == RL_WARM && rl_is_known(ceiling->value))
            e->flush_cost_s = 4 * (double)device->l2_bytes.value / ceiling->value.value;
        engine_step_end(e);
    }
    return 0;
}

int engine_ceilings(struct engine *e, struct rl_err *err)
{
    e->scaling.why = "the FMA chain was not measured";
    for (size_t i = rl_kernel_count; i < rl_unit_count; i++) {
        struct engine_unit *unit = &e->units[i];
        const struct rl_ceiling *warm;
        const char *why;

        if (measure_ceiling(e, unit, err))
            return -1;
        why = engine_unproven(e, unit);
        warm = unit->ceiling[RL_WARM];
        if (strcmp(unit->unit->id, "fp32_fma") == 0) {
            if (rl_is_known(warm->value) && fma_scaling(e, unit, warm->time_s.median.value, err))
                return -1;
            why = why ? why : chain_fault(e);
        }
        if (why)
            withhold(e, unit, why);
    }
    return 0;
}
