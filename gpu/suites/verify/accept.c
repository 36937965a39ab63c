/* Whether a verification that came back is the one that was asked for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpu/suites/verify/verify.h"

/* Flop and asked bytes follow from the kernel and its sizes: they are the catalogue's, whatever a process says. */
static int check_work(const struct rl_run *run, size_t index, enum rl_sizes sizes, struct rl_err *err)
{
    const struct rl_row *row = &run->rows[index];
    const struct rl_unit *unit = rl_unit_find(row->kernel);
    const struct rl_count *l2 = &run->device.l2_bytes;
    struct rl_dims dims;
    char field[64];
    if (sizes == RL_SCALED && l2->why != NULL)
        return rl_accept_refuse(err, "device.l2_bytes", "it is not known, and scaled sizes follow from it");
    if (unit == NULL || unit->dims(sizes, l2->why == NULL ? (uint64_t)l2->value : 0, &dims) != 0)
        return rl_accept_refuse(err, "device.l2_bytes", "no sizes follow from it");
    const struct {
        const char *name;
        const struct rl_count *said;
        uint64_t right;
    } members[] = {{"flop", &row->flop, unit->flop(&dims)}, {"ask_bytes", &row->ask_bytes, unit->ask_bytes(&dims)}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].said->why == NULL && (uint64_t)members[i].said->value == members[i].right)
            continue;
        snprintf(field, sizeof field, "kernels[%zu].%s", index, members[i].name);
        if (members[i].said->why != NULL)
            return rl_accept_refuse(err, field, "it is not known, and the catalogue has it");
        return rl_fail(err, RL_E_MEASURE_PROTOCOL, field,
                       "The measuring process sent for %s the %s %" PRId64 ", which is %" PRIu64 " at %s sizes.",
                       row->kernel, members[i].name, members[i].said->value, members[i].right, rl_sizes_name(sizes));
    }
    return 0;
}

static size_t unit_index(const char *id)
{
    for (size_t i = 0; i < rl_unit_count; i++)
        if (strcmp(rl_units[i]->id, id) == 0)
            return i;
    return SIZE_MAX;
}

static int check_rows(const struct rl_run *run, const struct rl_params *params, enum rl_sizes sizes, struct rl_err *err)
{
    const bool *wanted = params->value[VERIFY_KERNELS].has, *states = params->value[VERIFY_CACHE].has;
    bool seen[RL_KERNEL_COUNT] = {false};
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row *row = &run->rows[i];
        size_t index = unit_index(row->kernel);
        if (index >= rl_kernel_count || !wanted[index] || seen[index])
            return rl_accept_refuse(err, "kernels", "a row was not asked for or comes twice");
        seen[index] = true;
        if (check_work(run, i, sizes, err) != 0)
            return -1;
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++)
            if (row->state[state].present != states[state])
                return rl_accept_refuse(err, "kernels", "a row has not exactly the cache states asked for");
    }
    for (size_t i = 0; i < rl_kernel_count; i++)
        if (wanted[i] && !seen[i])
            return rl_accept_refuse(err, "kernels", "a row that was asked for is missing");
    return 0;
}

static int check_ceilings(const struct rl_run *run, struct rl_err *err)
{
    bool seen[RL_UNIT_COUNT][RL_STATE_COUNT] = {{false}};
    for (size_t i = 0; i < run->ceiling_count; i++) {
        size_t index = unit_index(run->ceilings[i].name);
        if (index == SIZE_MAX || index < rl_kernel_count || seen[index][run->ceilings[i].state])
            return rl_accept_refuse(err, "ceilings", "one is not of the catalogue or comes twice");
        seen[index][run->ceilings[i].state] = true;
    }
    return 0;
}

int verify_accept(const struct rl_run *run, const struct rl_params *params, struct rl_err *err)
{
    enum rl_sizes sizes = (enum rl_sizes)params->value[VERIFY_SIZES].number;
    bool off = run->counters.status != NULL && strcmp(run->counters.status, "off") == 0;
    if (run->sizes == NULL || strcmp(run->sizes, rl_sizes_name(sizes)) != 0)
        return rl_accept_refuse(err, "sizes", "they are not those asked for");
    if (off != !params->value[VERIFY_COUNTERS].number)
        return rl_accept_refuse(err, "counters.status", off ? "counters were asked for" : "counters were to be off");
    return check_rows(run, params, sizes, err) == 0 && check_ceilings(run, err) == 0 ? 0 : -1;
}
