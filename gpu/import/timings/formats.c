/* Which format a file of timings is of, by its content. */
#include "gpu/import/timings/formats.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "gpu/import/timings/jsonl.h"
#include "gpu/import/timings/nsys.h"
#include "gpu/import/timings/nvbench.h"
#include "gpu/import/timings/trace.h"

/* In the order of asking: the first that recognises a text reads it, and the last whatever no other recognises. */
static const struct import_timings_format formats[] = {
    {"Chrome trace of the PyTorch profiler", "traceEvents", import_is_trace, import_trace},
    {"nvbench JSON", "benchmarks", NULL, import_nvbench},
    {"nsys stats", NULL, import_is_nsys, import_nsys},
    {"JSON array of timings", NULL, import_is_json_array, import_json_array},
    {"timing JSON Lines", NULL, NULL, import_jsonl},
};
#define FORMATS (sizeof formats / sizeof formats[0])

/* A file of lines begins with an object that its first line holds whole and that is no format's document. */
static bool begins_with_line(const char *text, size_t len)
{
    json_error_t why;
    json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &why);
    bool is_line = object != NULL;
    for (size_t i = 0; i < FORMATS; i++)
        is_line = is_line && (formats[i].member == NULL || json_object_get(object, formats[i].member) == NULL);
    json_decref(object);
    return is_line;
}

static bool has_member(const struct import_text *text, const char *member)
{
    char quoted[64];
    int len = snprintf(quoted, sizeof quoted, "\"%s\"", member);
    return memmem(text->data, text->len, quoted, (size_t)len) != NULL;
}

const struct import_timings_format *import_timings_format_of(const struct import_text *text)
{
    size_t at = strspn(text->data, " \t\n");
    char first = text->data[at];
    const char *newline = strchr(text->data + at, '\n');
    size_t line = newline != NULL ? (size_t)(newline - text->data) - at : text->len - at;
    bool document = first == '{' && !begins_with_line(text->data + at, line);
    for (size_t i = 0; i < FORMATS; i++)
        if ((document && formats[i].member != NULL && has_member(text, formats[i].member)) ||
            (formats[i].is != NULL && formats[i].is(text, first)))
            return &formats[i];
    return &formats[FORMATS - 1];
}
