/* JSON with places. */
#ifndef GPU_IMPORT_TEXT_JSON_H
#define GPU_IMPORT_TEXT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpu/import/text/message.h"

/* Values one after the other in a text; errors name line and column. */
struct import_json {
    const char *text;
    size_t len, at;
    size_t line, line_start; /* of `at`: counted from 1; where it begins */
    bool reals;              /* read whole numbers as reals: those of a trace may pass 64 bits */
    struct import_place *place;
};
/* place->line says the line of the first byte. */
struct import_json import_json_begin(struct import_place *place, const char *text, size_t len);
/* Moves over blanks; the character there, or '\0' at the end. */
char import_json_peek(struct import_json *json);
/* Takes the character when it is the next one after blanks. */
bool import_json_take(struct import_json *json, char character);
/* The value there, a new reference; place->line becomes the line in which it begins. RL_E_IMPORT_FORMAT with line and
 * column, what stands there and what to do. */
int import_json_value(struct import_json *json, json_t **ret);
/* Fails at the next character: "has X there; WHAT is expected". */
int import_json_wrong(struct import_json *json, const char *expected);

/* A document is a whole file: what stands behind it would be lost without a word. Fails where something does. */
int import_json_end(struct import_json *json);
const char *import_json_seen(const json_t *value, char out[IMPORT_QUOTE]); /* a value as JSON, for a message */

#endif
