/* Answers of the store as JSON, for its tests. */
#ifndef TESTS_UNIT_DB_STORE_ANSWER_H
#define TESTS_UNIT_DB_STORE_ANSWER_H

#include "tests/unit/db/store_fixture.h"

#include <jansson.h>

static inline json_t *parse(const char *text)
{
    json_error_t error;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    if (object == NULL)
        fail_msg("%s at %d in %s", error.text, error.position, text);
    return object;
}
static inline const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}
static inline int64_t int_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

#endif
