/* The record's tables as JSON Schema (2020-12), for the API's description. */
#ifndef GPU_RECORD_SCHEMA_H
#define GPU_RECORD_SCHEMA_H

#include <jansson.h>

#include "gpu/record/fields.h"

/* Sets in schemas, an object, the schema of this object and of every object inside it under their names; one without a
 * name stands where it is used. References are "#/components/schemas/NAME". A schema's nullable members are told by
 * their types alone; rl_schema_add_reasons says what stands beside them. 0, or -1 when memory ran out. */
int rl_object_schemas(const struct rl_object *object, json_t *schemas);

/* Wherever an object schema within value says "why": true, puts in its place what the API promises: each null member
 * has a sentence in "why", and some a code in "why_code". 0, or -1 when memory ran out. */
int rl_schema_add_reasons(json_t *value);

#endif
