/* Rows: each kernel prepared, checked and sampled in the states that were asked for. */
#include "gpu/engine/rows.h"

#include <string.h>

#include "gpu/engine/blank.h"
#include "gpu/engine/sample.h"
#include "gpu/engine/tell.h"
#include "gpu/engine/unit.h"

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
        engine_blank_state(&row->state[state], unit->missing ? unit->missing : "not measured");
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
