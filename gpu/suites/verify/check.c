/* What no field of a verification's or an import's document can say alone. */
#include <stdio.h>
#include <string.h>

#include "gpu/suites/verify/verify.h"

/* A limit that a measured run has where an import's is wider. */
#define MEASURED_NAME_MAX 512u

/* What only an import may have. */
static int check_not_imported(const struct rl_run *run, struct rl_err *err)
{
    if (run->import.present)
        return rl_fail(err, RL_E_BAD_FIELD, "import", "import is there in a run that is not imported");
    if (run->power.present)
        return rl_fail(err, RL_E_BAD_FIELD, "power", "power is there in a run that is not imported");
    if (strcmp(run->suite, "import") == 0)
        return rl_fail(err, RL_E_BAD_FIELD, "suite", "suite is \"import\" in a run that is not imported");
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row *row = &run->rows[i];
        const char *long_name = strlen(row->kernel) > MEASURED_NAME_MAX  ? "kernel"
                                : strlen(row->title) > MEASURED_NAME_MAX ? "title"
                                                                         : NULL;
        if (long_name != NULL) {
            char where[64];
            snprintf(where, sizeof where, "kernels[%zu].%s", i, long_name);
            return rl_fail(err, RL_E_BAD_FIELD, where, "%s has more than %u bytes", where, MEASURED_NAME_MAX);
        }
        if (row->import.present || row->state[RL_MIXED].present || row->state[RL_WARM].profiled.present ||
            row->state[RL_COLD].profiled.present)
            return rl_fail(err, RL_E_BAD_FIELD, "kernels",
                           "kernels has \"%.64s\" with members of an import in a run that is not imported",
                           row->kernel);
        if (row->launch.dims_why != NULL || row->launch.shared_why != NULL)
            return rl_fail(err, RL_E_BAD_FIELD, "kernels",
                           "kernels has \"%.64s\" with an unknown launch in a run that is not imported", row->kernel);
    }
    return 0;
}

int verify_check(const struct rl_run *run, const json_t *document, struct rl_err *err)
{
    (void)document;
    for (size_t i = 0; i < run->row_count; i++)
        if (rl_run_row(run, run->rows[i].kernel) != &run->rows[i])
            return rl_fail(err, RL_E_BAD_FIELD, "kernels", "kernels has \"%.64s\" twice", run->rows[i].kernel);
    if (run->source != RL_IMPORTED && check_not_imported(run, err) < 0)
        return -1;
    for (size_t i = 0; i < run->ceiling_count; i++) {
        const struct rl_ceiling *ceiling = &run->ceilings[i];
        if (rl_run_ceiling(run, ceiling->name, ceiling->state) != ceiling)
            return rl_fail(err, RL_E_BAD_FIELD, "ceilings", "ceilings has \"%.64s\" twice in one state", ceiling->name);
    }
    return 0;
}
