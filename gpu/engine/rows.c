/* Rows: each kernel prepared, checked and sampled in the states that were asked for. */
#include <string.h>

#include "gpu/engine/internal.h"

void engine_blank_bytes(struct rl_bytes *bytes, const char *why)
{
    struct rl_real none = rl_unknown(why);

    *bytes = (struct rl_bytes){.l1 = none,
                               .l2 = none,
                               .l2_sm = none,
                               .dram = none,
                               .dram_read = none,
                               .dram_write = none,
                               .dram_settled = none,
                               .dram_4n = none};
}

/* Everything unknown: what is measured or derived later takes its place. */
static void blank_state(struct rl_row_state *state, const char *why)
{
    struct rl_real none = rl_unknown(why);
    struct rl_text no_text = {NULL, why};

    memset(state, 0, sizeof *state);
    state->present = true;
    state->time_s =
        (struct rl_times){.median = none, .p25 = none, .p75 = none, .min = none, .std_error = none, .stop = no_text};
    engine_blank_bytes(&state->bytes, why);
    state->dram_per_ask = none;
    state->intensity = (struct rl_intensity){none, none, none, none};
    state->flop_per_s = state->dram_byte_per_s = state->percent_of_ceiling = none;
    state->bound = state->advice = state->advice_code = no_text;
    state->attainable_flop_per_s = state->percent_of_roof = none;
    state->occupancy = state->local_bytes = none;
    state->sm_hz = state->memory_hz = state->temperature_c = none;
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

static void fill_state(struct rl_row_state *state, const struct engine_measure *measure)
{
    state->time_s = measure->times;
    state->sm_hz = measure->sm_hz;
    state->memory_hz = measure->memory_hz;
    state->temperature_c = measure->temperature_c;
    state->reasons = measure->reasons;
    state->flags = measure->flags;
    state->attempts = measure->attempts;
}

static struct rl_row *add_row(struct engine *e, struct engine_unit *unit)
{
    struct rl_row *row = &e->run->rows[e->run->row_count++];
    const char *why = "not described";

    *row = (struct rl_row){
        .kernel = unit->unit->id,
        .title = unit->unit->title,
        .flop = {(int64_t)unit->unit->flop(&unit->work.dims), NULL},
        .flop_counted = rl_unknown("not counted"),
        .ask_bytes = {(int64_t)unit->unit->ask_bytes(&unit->work.dims), NULL},
        .launch = {.registers = {0, why}, .local_bytes = {0, why}, .max_blocks_per_sm = {0, why}, .shape = {NULL, why}},
    };
    unit->row = row;
    return row;
}

static int measure_kernel(struct engine *e, struct engine_unit *unit, struct rl_err *err)
{
    struct gpu_launch launch = {0};
    struct rl_row *row = add_row(e, unit);

    if (engine_ready_unit(e, unit, &launch, err))
        return -1;
    if (!unit->missing)
        row->launch = launch.launch;
    for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
        struct engine_measure measure;

        if (!unit->state[state])
            continue;
        engine_step_begin(e, "kernels", engine_say(e, "%s %s", unit->unit->id, rl_state_name(state)));
        blank_state(&row->state[state], unit->missing ? unit->missing : "not measured");
        if (!unit->missing) {
            if (engine_measure(e, unit, state, &measure, err))
                return -1;
            fill_state(&row->state[state], &measure);
        }
        engine_step_end(e);
    }
    return 0;
}

int engine_kernels(struct engine *e, struct rl_err *err)
{
    for (size_t i = 0; i < rl_kernel_count; i++)
        if (e->units[i].asked && measure_kernel(e, &e->units[i], err))
            return -1;
    return 0;
}
