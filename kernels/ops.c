/* The CUDA side of every unit, in the catalogue's order. */
#include "kernels/unit/launch.h"

#include <string.h>

#include "kernels/unit/units.h"

#define RL_OPS(id) &rl_ops_##id,
const struct rl_unit_ops *const rl_unit_ops[] = {RL_UNITS(RL_OPS)};
#undef RL_OPS

const struct rl_unit_ops *rl_unit_ops_find(const char *id)
{
    for (size_t i = 0; id != NULL && i < sizeof rl_unit_ops / sizeof rl_unit_ops[0]; i++) {
        if (strcmp(rl_unit_ops[i]->unit->id, id) == 0)
            return rl_unit_ops[i];
    }
    return NULL;
}
