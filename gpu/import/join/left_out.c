/* Kernels of the timings that find no launch: the run goes on without them, or is refused. */
#include "gpu/import/join/left_out.h"

#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/text/message.h"

bool import_is_partial(const struct import *import)
{
    return import->request->fields.partial != NULL && strcmp(import->request->fields.partial, "true") == 0;
}

int import_left_out(struct import *import, const char *names, size_t count, bool all)
{
    struct rl_run *run = import->run;
    const struct import_file *ncu = import_file_of(import->request, IMPORT_NCU);
    struct import_source source = {"ncu", ncu->name, 0, NULL};
    char more[64] = "";
    if (count > IMPORT_NAMES_LISTED)
        snprintf(more, sizeof more, " and %zu more", count - IMPORT_NAMES_LISTED);
    if (all && import_is_partial(import))
        return import_fail(import->err, RL_E_IMPORT_MISSING, &source,
                           "no kernel of the timings finds a launch there, so that nothing is left to import: %s%s",
                           names, more);
    if (!import_is_partial(import))
        return import_fail(import->err, RL_E_IMPORT_MISSING, &source,
                           "%zu kernel%s of the timings find%s no launch there: %s%s; \"partial\" (--partial) goes on "
                           "without %s",
                           count, rl_plural(count), count == 1 ? "s" : "", names, more, count == 1 ? "it" : "them");
    const char *reason =
        rl_arena_printf(run->arena, "%zu kernel%s of the timings found no launch and %s left out: %.380s%s", count,
                        rl_plural(count), count == 1 ? "was" : "were", names, more);
    size_t end = 0, len = reason != NULL ? strlen(reason) : 0;
    for (size_t step; end < len && (step = rl_utf8_step(reason + end, len - end)) > 0; end += step)
        ;
    char *clean = reason != NULL ? rl_arena_printf(run->arena, "%.*s", (int)end, reason) : NULL;
    if (clean == NULL || rl_strings_add(run->arena, &run->outcome_reasons, clean) != 0)
        return rl_fail(import->err, RL_E_NO_MEMORY, "timings", "no memory for the import");
    if (run->outcome == RL_OK)
        run->outcome = RL_PARTIAL;
    return 0;
}
