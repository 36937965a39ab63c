/* JSON of clients: values one after the other, and errors in our own words with line and column. */
#include "gpu/import/text/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"

#define NEAR_MAX 40u /* bytes of what stands at fault */

struct import_json import_json_begin(struct import_place *place, const char *text, size_t len)
{
    return (struct import_json){.text = text, .len = len, .line = place->line, .place = place};
}

/* Moves to `to`, counting lines. */
static void advance(struct import_json *json, size_t to)
{
    const char *newline;
    while (json->at < to && (newline = memchr(json->text + json->at, '\n', to - json->at)) != NULL) {
        json->at = (size_t)(newline - json->text) + 1;
        json->line++;
        json->line_start = json->at;
    }
    json->at = to;
}

char import_json_peek(struct import_json *json)
{
    size_t to = json->at;
    while (to < json->len && strchr(" \t\r\n", json->text[to]) != NULL)
        to++;
    advance(json, to);
    return to < json->len ? json->text[to] : '\0';
}

bool import_json_take(struct import_json *json, char character)
{
    if (import_json_peek(json) != character || json->at >= json->len)
        return false;
    advance(json, json->at + 1);
    return true;
}

const char *import_json_seen(const json_t *value, char out[IMPORT_QUOTE])
{
    char *text =
        json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15)); /* 0.1 as it was written */
    import_quote(out, text != NULL ? text : "?");
    free(text);
    return out;
}

/* The word that begins at `from`, or its one character. */
static const char *near_text(const struct import_json *json, size_t from, char out[IMPORT_QUOTE])
{
    char copy[NEAR_MAX + 8];
    size_t len = 0;
    while (from + len < json->len && len < NEAR_MAX && strchr(" \t\r\n,:{}[]\"", json->text[from + len]) == NULL)
        len++;
    if (len == 0 && from < json->len)
        len = rl_utf8_step(json->text + from, json->len - from);
    memcpy(copy, json->text + from, len);
    copy[len] = '\0';
    return import_quote(out, copy);
}

static size_t column_of(const struct import_json *json)
{
    size_t column = 1;
    for (size_t i = json->line_start; i < json->at; i++)
        column += ((unsigned char)json->text[i] & 0xC0) != 0x80;
    return column;
}

/* "NAME, line N: column M: …" */
static int fail_here(struct import_json *json, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int fail_here(struct import_json *json, const char *fmt, ...)
{
    char what[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    json->place->line = json->line;
    return import_fail_at(json->place, RL_E_IMPORT_FORMAT, NULL, "column %zu: %s", column_of(json), what);
}

int import_json_wrong(struct import_json *json, const char *expected)
{
    char quoted[IMPORT_QUOTE];
    if (import_json_peek(json) == '\0' && json->at >= json->len)
        return fail_here(json, "the file ends where %s is expected: it is cut, or a bracket is not closed", expected);
    return fail_here(json, "\"%s\" stands where %s is expected", near_text(json, json->at, quoted), expected);
}

/* ---- a value that the library does not read ---- */

static size_t back_over_blanks(const struct import_json *json, size_t at)
{
    while (at > 0 && strchr(" \t\r\n", json->text[at - 1]) != NULL)
        at--;
    return at;
}

/* Where the word begins that ends before `end`. */
static size_t word_start(const struct import_json *json, size_t least, size_t end)
{
    size_t at = end;
    if (at > least && json->text[at - 1] == '"') { /* a text: to its other quote */
        for (at--; at > least; at--)
            if (json->text[at - 1] == '"' && (at < 2 || json->text[at - 2] != '\\'))
                return at - 1;
        return least;
    }
    while (at > least && strchr(" \t\r\n,:{}[]\"", json->text[at - 1]) == NULL)
        at--;
    return at == end && at > least ? at - 1 : at;
}

static bool is_no_number(const char *word)
{
    static const char *const words[] = {"NaN", "nan", "-nan", "-NaN", "inf", "Infinity", "-Infinity", "-inf"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(word, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static const char *expected_of(const json_error_t *why)
{
    static const struct {
        const char *mark, *words;
    } kinds[] = {{"string or '}'", "a member's name in double quotes"},
                 {"':'", "a colon after the member's name"},
                 {"'}'", "a comma, or } for the object's end,"},
                 {"']'", "a comma, or ] for the array's end,"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(why->text, kinds[i].mark) != NULL)
            return kinds[i].words;
    return "a value";
}

/* The library stopped behind `stopped` bytes: what stands there, and what was expected instead. */
static int broken(struct import_json *json, size_t begin, size_t stopped, const json_error_t *why)
{
    size_t at = word_start(json, begin, begin + stopped), before = back_over_blanks(json, at);
    char quoted[IMPORT_QUOTE], last = before > begin ? json->text[before - 1] : '\0',
                               first = at < json->len ? json->text[at] : '\0';
    near_text(json, at, quoted);
    if ((first == '}' || first == ']') && last == ',') {
        advance(json, before - 1);
        return fail_here(json, "nothing stands between this comma and the %c", first);
    }
    advance(json, at);
    if (is_no_number(quoted))
        return fail_here(json, "%s is no number: leave the member out, or give one", quoted);
    if (first >= '0' && first <= '9' && last == ',')
        return fail_here(json, "\"%s\" stands behind a comma: decimals are written with a point, as 0.25", quoted);
    return import_json_wrong(json, expected_of(why));
}

static int not_read(struct import_json *json, size_t begin, const json_error_t *why)
{
    size_t stopped = why->position > 0 ? (size_t)why->position : 0;
    const char *name = strchr(why->text, '"');
    char quoted[IMPORT_QUOTE];
    if (stopped > json->len - begin)
        stopped = json->len - begin;
    switch (json_error_code(why)) {
    case json_error_out_of_memory:
        return rl_fail(json->place->err, RL_E_NO_MEMORY, import_kind_name(json->place->file->kind),
                       "no memory for the file's JSON");
    case json_error_premature_end_of_input:
        advance(json, json->len);
        return fail_here(json, "the JSON ends before it is complete: the file is cut, or a quote or bracket is not "
                               "closed");
    case json_error_duplicate_key:
        advance(json, begin + stopped);
        return fail_here(json, "a member is there twice (%s); leave one of the two out",
                         import_quote(quoted, name != NULL ? name : "?"));
    case json_error_null_character:
    case json_error_null_byte_in_key:
        advance(json, begin + stopped);
        return fail_here(json, "a text has a NUL character (\\u0000); leave it out");
    case json_error_numeric_overflow:
        advance(json, begin + stopped);
        return fail_here(json, "a number is larger than can be read");
    case json_error_stack_overflow:
        advance(json, begin + stopped);
        return fail_here(json, "brackets are nested more than 2048 deep");
    default:
        return broken(json, begin, stopped, why);
    }
}

int import_json_value(struct import_json *json, json_t **ret)
{
    json_error_t why = {.position = 0};
    if (import_json_peek(json) == '\0' && json->at >= json->len)
        return import_json_wrong(json, "a value");
    size_t begin = json->at;
    json->place->line = json->line;
    *ret = json_loadb(json->text + begin, json->len - begin,
                      JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY |
                          (json->reals ? JSON_DECODE_INT_AS_REAL : 0),
                      &why);
    if (*ret == NULL)
        return not_read(json, begin, &why);
    advance(json, begin + (size_t)why.position);
    return 0;
}

int import_json_end(struct import_json *json)
{
    return import_json_peek(json) == '\0' && json->at >= json->len ? 0 : import_json_wrong(json, "the file's end");
}
