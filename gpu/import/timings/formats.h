/* The formats of timings that are read. A new one is its reader in this folder and a line in formats.c. */
#ifndef GPU_IMPORT_TIMINGS_FORMATS_H
#define GPU_IMPORT_TIMINGS_FORMATS_H

#include <stdbool.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/decode.h"

struct import_timings_format {
    const char *name; /* what the file is, for its entry; a reader may say it closer */
    /* Member of the one JSON object that a whole file of this format is, which a line of JSON Lines never has. NULL: it
     * is recognised otherwise. */
    const char *member;
    /* Whether the text, whose first character other than a blank is `first` ('\0': there is none), is of this format.
     * NULL: by its member alone. */
    bool (*is)(const struct import_text *text, char first);
    /* Reads all of it: into the run's rows, or as events (import->events). Errors name line and field. *ret_format is
     * the format's name, and may be set to a closer one that lives on. */
    int (*read)(struct import *import, const struct import_file *file, const struct import_text *text,
                const char **ret_format);
};
/* The format of the text; JSON Lines, whose reader says what is wrong, where no other recognises it. */
const struct import_timings_format *import_timings_format_of(const struct import_text *text);

#endif
