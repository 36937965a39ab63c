/* What the engine says: sentences of the run, the transcript, warnings, progress. */
#include "gpu/engine/tell.h"

#include <stdarg.h>
#include <stdio.h>

const char *engine_say(struct engine *e, const char *fmt, ...)
{
    char text[512];
    const char *kept;
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    kept = rl_arena_strdup(e->arena, text);
    if (kept)
        return kept;
    e->memory_failed = true;
    return "memory ran out";
}

void engine_log(struct engine *e, const char *fmt, ...)
{
    char text[512];
    va_list args;

    if (!e->events || !e->events->log)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    e->events->log(e->events->arg, text);
}

void engine_warn(struct engine *e, enum rl_code code, const char *message)
{
    if (e->events && e->events->warning)
        e->events->warning(e->events->arg, code, message);
    engine_log(e, "warning: %s", message);
}

void engine_step_begin(struct engine *e, const char *phase, const char *what)
{
    if (e->events && e->events->progress)
        e->events->progress(e->events->arg, phase, what, e->done, e->total);
}

void engine_step_end(struct engine *e)
{
    if (e->done < e->total)
        e->done++;
}

int engine_flag(struct engine *e, struct rl_strings *list, const char *word, struct rl_err *err)
{
    return rl_strings_add(e->arena, list, word) ? rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for the run's words")
                                                : 0;
}
