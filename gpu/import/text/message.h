/* How the importer says what is wrong where. */
#ifndef GPU_IMPORT_TEXT_MESSAGE_H
#define GPU_IMPORT_TEXT_MESSAGE_H

#include <stddef.h>

#include "gpu/base/err.h"
#include "gpu/import/common/file.h"

struct import_source { /* what a message points at */
    const char *kind, *name;
    size_t line;        /* 0: the file as a whole */
    const char *column; /* or field; NULL */
};
/* "NAME, line N, column "C": …"; err.field is the kind. Returns -1. */
int import_fail(struct rl_err *err, enum rl_code code, const struct import_source *source, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
struct import_place { /* where a reader is */
    struct rl_err *err;
    const struct import_file *file;
    size_t line; /* 0: the file as a whole */
};
/* import_fail at that place. */
int import_fail_at(const struct import_place *at, enum rl_code code, const char *column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Of a name that rl_kernel_name_valid refuses, quoted. */
#define IMPORT_BAD_NAME                                                                                                \
    "is \"%s\"; a kernel's name is one line of text that can be seen: no control character (where '?' stands), and "   \
    "not blanks alone"
#define IMPORT_BAD_DEVICE                                                                                              \
    "is \"%s\"; a GPU's name is one line of text that can be seen: no control character (where '?' stands), and not "  \
    "blanks alone"
/* text for a message: at most 64 bytes, cut between characters, what rl_utf8_control names as '?'. */
#define IMPORT_QUOTE 80
const char *import_quote(char out[IMPORT_QUOTE], const char *text);
/* The same for a sentence, of at most 300 bytes. */
#define IMPORT_WORDS 320
const char *import_words(char out[IMPORT_WORDS], const char *text);

#endif
