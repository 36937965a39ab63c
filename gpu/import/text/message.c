/* How the importer says what is wrong where. */
#include "gpu/import/text/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"

static int fail(struct rl_err *err, enum rl_code code, const struct import_source *source, const char *fmt,
                va_list args)
{
    char what[768], where[256], name[IMPORT_QUOTE], column[IMPORT_QUOTE];
    vsnprintf(what, sizeof what, fmt, args);
    int len = snprintf(where, sizeof where, "%s", import_quote(name, source->name));
    if (source->line > 0)
        len += snprintf(where + len, sizeof where - (size_t)len, ", line %zu", source->line);
    if (source->column != NULL)
        snprintf(where + len, sizeof where - (size_t)len, ", \"%s\"", import_quote(column, source->column));
    return rl_fail(err, code, source->kind, "%s: %s", where, what);
}

int import_fail(struct rl_err *err, enum rl_code code, const struct import_source *source, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int rc = fail(err, code, source, fmt, args);
    va_end(args);
    return rc;
}

int import_fail_at(const struct import_place *at, enum rl_code code, const char *column, const char *fmt, ...)
{
    struct import_source source = {import_kind_name(at->file->kind), at->file->name, at->line, column};
    va_list args;
    va_start(args, fmt);
    int rc = fail(at->err, code, &source, fmt, args);
    va_end(args);
    return rc;
}

static const char *shorten(char *out, size_t most, const char *text)
{
    size_t at = 0, len = strlen(text);
    for (size_t i = 0; i < len;) {
        size_t step = rl_utf8_step(text + i, len - i);
        size_t width = step > 0 ? step : 1;
        if (at + width > most) {
            memcpy(out + at, "…", sizeof "…");
            return out;
        }
        if (step == 0 || rl_utf8_control(text + i, step) != 0)
            out[at++] = '?';
        else {
            memcpy(out + at, text + i, step);
            at += step;
        }
        i += width;
    }
    out[at] = '\0';
    return out;
}

const char *import_quote(char out[IMPORT_QUOTE], const char *text)
{
    return shorten(out, 64, text);
}

const char *import_words(char out[IMPORT_WORDS], const char *text)
{
    return shorten(out, 300, text);
}
