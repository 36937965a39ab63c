/* See server/runs/lend.h. */
#include "server/runs/lend.h"

#include <math.h>

#include "db/runs/lend.h"
#include "gpu/record/derive/derive.h"

int run_lend(struct store *store, struct rl_run *run, struct rl_err *err)
{
    const struct rl_text *driver = &run->environment.driver_version;
    struct store_borrower borrower = {.device = run->device.id,
                                      .name = run->device.name,
                                      .has_uuid = run->device.uuid.why == NULL,
                                      .driver = driver->why == NULL ? driver->value : "",
                                      .power_limit_w = rl_is_known(run->environment.power_limit_w)
                                                           ? run->environment.power_limit_w.value
                                                           : (double)NAN,
                                      .source = run->source};
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row_state *states = run->rows[i].state;
        borrower.warm = borrower.warm || states[RL_WARM].present || states[RL_MIXED].present;
        borrower.cold = borrower.cold || states[RL_COLD].present;
    }
    struct rl_lent lent;
    const char *why = NULL;
    if (store_find_lender(store, &borrower, 0, run->arena, &lent, &why, err) != 0)
        return -1;
    if (rl_lend(run, &lent) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for lent roofs");
    if (why != NULL && run->import.present && !run->lent.present && rl_lacks_roofs(run) &&
        rl_strings_add(run->arena, &run->import.notes, why) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a note on lent roofs");
    return 0;
}
