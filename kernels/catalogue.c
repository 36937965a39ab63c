/* The list of units, each of which says of itself in its own room what it is. */
#include "kernels/unit/catalogue.h"

#include <string.h>

#include "kernels/unit/units.h"

#define RL_UNIT(id) &rl_unit_##id,
const struct rl_unit *const rl_units[] = {RL_UNITS(RL_UNIT)};
#undef RL_UNIT
const size_t rl_unit_count = RL_UNIT_COUNT;
const size_t rl_kernel_count = RL_KERNEL_COUNT;

const struct rl_unit *rl_unit_find(const char *id)
{
    for (size_t i = 0; id != NULL && i < rl_unit_count; i++) {
        if (strcmp(rl_units[i]->id, id) == 0)
            return rl_units[i];
    }
    return NULL;
}

static const char *const sizes_names[RL_SIZES_COUNT] = {"course", "scaled"};

int rl_sizes_from_name(const char *name, enum rl_sizes *ret)
{
    for (unsigned i = 0; name != NULL && i < RL_SIZES_COUNT; i++) {
        if (strcmp(sizes_names[i], name) == 0) {
            *ret = (enum rl_sizes)i;
            return 0;
        }
    }
    return -1;
}

const char *rl_sizes_name(enum rl_sizes sizes)
{
    return (unsigned)sizes < RL_SIZES_COUNT ? sizes_names[sizes] : NULL;
}
