/* Notes of an imported run. */
#include "gpu/import/common/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"

void import_note(struct rl_run *run, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t end = 0, len = strlen(text);
    for (size_t step; end < len && (step = rl_utf8_step(text + end, len - end)) > 0; end += step)
        ;
    text[end] = '\0';
    if (run->import.notes.count < 63)
        rl_strings_add(run->arena, &run->import.notes, text);
    else
        rl_strings_add(run->arena, &run->import.notes, "more notes were left out");
}
