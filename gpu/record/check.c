/* What no field of a document can say alone. */
#include <string.h>

#include "gpu/record/fields.h"

int rl_run_check(const struct rl_run *run, const json_t *document, struct rl_err *err)
{
    if (strcmp(json_string_value(json_object_get(document, "date")),
               json_string_value(json_object_get(document, "finished_at"))) != 0)
        return rl_fail(err, RL_E_BAD_FIELD, "date", "date has to be the same time as finished_at");
    if (run->source == RL_REPLAYED && run->recorded_at_ms == 0)
        return rl_fail(err, RL_E_BAD_FIELD, "recorded_at", "recorded_at is null in a replayed run");
    if (run->source == RL_MEASURED && run->recorded_at_ms != 0)
        return rl_fail(err, RL_E_BAD_FIELD, "recorded_at", "recorded_at is set in a measured run");
    if (run->source != RL_IMPORTED && strcmp(run->sizes, "other") == 0)
        return rl_fail(err, RL_E_BAD_FIELD, "sizes", "sizes is \"other\" in a run that is not imported");
    return 0;
}
