/* Field tables as JSON Schema. See schema.h. */
#include "gpu/record/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 512 /* of one word of a list: read.c */
#define TIME       "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"

static json_t *reference(const char *name)
{
    char at[128];
    snprintf(at, sizeof at, "#/components/schemas/%s", name);
    return json_pack("{s:s}", "$ref", at);
}

/* "integer", or ["integer", "null"]. */
static int set_type(json_t *schema, const char *type, bool nullable)
{
    return json_object_set_new(schema, "type", nullable ? json_pack("[s,s]", type, "null") : json_string(type));
}

static int set_words(json_t *schema, const char *const *words, bool nullable)
{
    json_t *list = json_array();
    int rc = list != NULL ? 0 : -1;
    for (size_t i = 0; words[i] != NULL; i++)
        rc |= json_array_append_new(list, json_string(words[i]));
    if (nullable)
        rc |= json_array_append_new(list, json_null());
    return json_object_set_new(schema, "enum", list) | rc;
}

static int set_text(json_t *schema, const struct rl_field *field, bool nullable)
{
    int rc = set_type(schema, "string", nullable);
    if (field->words != NULL)
        return rc | set_words(schema, field->words, nullable);
    if (field->pattern != NULL)
        return rc | json_object_set_new(schema, "pattern", json_string(field->pattern));
    return rc | json_object_set_new(schema, "maxLength", json_integer((json_int_t)field->max_count));
}

static int set_int(json_t *schema, const struct rl_field *field, bool nullable)
{
    return set_type(schema, "integer", nullable) |
           json_object_set_new(schema, "minimum", json_integer(field->int_min)) |
           json_object_set_new(schema, "maximum", json_integer(field->int_max));
}

static int set_real(json_t *schema, const struct rl_field *field)
{
    return set_type(schema, "number", true) |
           json_object_set_new(schema, field->above_min ? "exclusiveMinimum" : "minimum", json_real(field->min)) |
           json_object_set_new(schema, "maximum", json_real(field->max));
}

static int set_list(json_t *schema, json_t *items, size_t least, size_t most, bool nullable)
{
    int rc = set_type(schema, "array", nullable) | json_object_set_new(schema, "items", items);
    if (least > 0)
        rc |= json_object_set_new(schema, "minItems", json_integer((json_int_t)least));
    return rc | json_object_set_new(schema, "maxItems", json_integer((json_int_t)most));
}

static int set_int3(json_t *schema, const struct rl_field *field, bool nullable)
{
    json_t *item = json_object();
    int rc = item != NULL ? set_int(item, field, false) : -1;
    return set_list(schema, item, 3, 3, nullable) | rc;
}

static json_t *object_schema(const struct rl_object *object, json_t *schemas);

/* A reference to the object's schema, or the schema itself. */
static json_t *object_use(const struct rl_object *object, json_t *schemas)
{
    if (object->schema == NULL)
        return object_schema(object, schemas);
    return rl_object_schemas(object, schemas) < 0 ? NULL : reference(object->schema);
}

static int fill_field(json_t *schema, const struct rl_field *field, json_t *schemas)
{
    switch (field->kind) {
    case RL_KIND_STRING:
        return set_text(schema, field, false);
    case RL_KIND_TEXT:
        return set_text(schema, field, true);
    case RL_KIND_INT:
        return set_int(schema, field, false);
    case RL_KIND_COUNT:
    case RL_KIND_INT_OR_NULL:
        return set_int(schema, field, true);
    case RL_KIND_INT3:
        return set_int3(schema, field, false);
    case RL_KIND_INT3_OR_NULL:
        return set_int3(schema, field, true);
    case RL_KIND_BOOL:
        return set_type(schema, "boolean", false);
    case RL_KIND_FLAG3:
        return set_type(schema, "boolean", true);
    case RL_KIND_ENUM:
        return set_type(schema, "string", false) | set_words(schema, field->words, false);
    case RL_KIND_TIME:
        return set_type(schema, "string", false) | json_object_set_new(schema, "pattern", json_string(TIME));
    case RL_KIND_TIME_OR_NULL:
        return set_type(schema, "string", true) | json_object_set_new(schema, "pattern", json_string(TIME));
    case RL_KIND_WORDS:
        return set_list(schema, json_pack("{s:s,s:i}", "type", "string", "maxLength", WORD_BYTES), 0, field->max_count,
                        false);
    case RL_KIND_LIST:
        return set_list(schema, object_use(field->object, schemas), 0, field->max_count, false);
    case RL_KIND_REAL:
        return set_real(schema, field);
    case RL_KIND_OBJECT:
    case RL_KIND_STATE:
        break;
    }
    return -1;
}

static json_t *field_schema(const struct rl_field *field, json_t *schemas)
{
    bool nested = field->kind == RL_KIND_OBJECT || field->kind == RL_KIND_STATE;
    json_t *schema = nested ? object_use(field->object, schemas) : json_object();
    if (schema == NULL || (!nested && fill_field(schema, field, schemas) != 0) ||
        (field->help != NULL && json_object_set_new(schema, "description", json_string(field->help)) < 0)) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

static bool is_required(const struct rl_field *field)
{
    return field->kind != RL_KIND_STATE && field->since <= 1;
}

static json_t *object_schema(const struct rl_object *object, json_t *schemas)
{
    json_t *schema = json_object(), *required = json_array(), *properties = json_object();
    int rc = schema != NULL && required != NULL && properties != NULL ? set_type(schema, "object", false) : -1;
    bool nullable = false;
    if (rc == 0 && object->help != NULL)
        rc = json_object_set_new(schema, "description", json_string(object->help));
    for (size_t i = 0; rc == 0 && i < object->count; i++) {
        const struct rl_field *field = &object->fields[i];
        nullable = nullable || field->kind >= RL_KIND_REAL || field->kind == RL_KIND_TIME_OR_NULL;
        if (is_required(field))
            rc |= json_array_append_new(required, json_string(field->name));
        rc |= json_object_set_new(properties, field->name, field_schema(field, schemas));
    }
    rc |= schema != NULL ? json_object_set_new(schema, "required", required) : -1;
    rc |= schema != NULL ? json_object_set_new(schema, "properties", properties) : -1;
    if (nullable)
        rc |= json_object_set_new(schema, "why", json_true());
    if (rc == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

int rl_object_schemas(const struct rl_object *object, json_t *schemas)
{
    if (json_object_get(schemas, object->schema) != NULL)
        return 0;
    json_t *schema = object_schema(object, schemas);
    return schema != NULL ? json_object_set_new(schemas, object->schema, schema) : -1;
}

/* ---- reasons ---- */

static bool is_nullable(const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    size_t i;
    json_t *name;
    json_array_foreach(type, i, name) if (strcmp(json_string_value(name), "null") == 0) return true;
    json_array_foreach(json_object_get(schema, "anyOf"), i,
                       name) if (json_is_string(json_object_get(name, "type")) &&
                                 strcmp(json_string_value(json_object_get(name, "type")), "null") == 0) return true;
    return false;
}

/* "A null member of this name has a reason." */
static json_t *promise(const char *name)
{
    return json_pack("{s:{s:[s],s:{s:{s:s}}},s:{s:[s],s:{s:{s:[s]}}}}", "if", "required", name, "properties", name,
                     "type", "null", "then", "required", "why", "properties", "why", "required", name);
}

static int expand(json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties"), *reasons = json_object(), *promises = json_array();
    const char *name;
    json_t *member;
    int rc = reasons != NULL && promises != NULL ? 0 : -1;
    json_object_foreach(properties, name, member)
    {
        if (!is_nullable(member))
            continue;
        rc |= json_object_set_new(reasons, name, json_pack("{s:s,s:i}", "type", "string", "minLength", 1));
        rc |= json_array_append_new(promises, promise(name));
    }
    rc |= json_object_set_new(properties, "why",
                              json_pack("{s:s,s:s,s:o}", "type", "object", "description",
                                        "Why each null member is null.", "properties", reasons));
    rc |= json_object_set_new(properties, "why_code", reference("WhyCode"));
    if (json_array_size(promises) > 0)
        rc |= json_object_set(schema, "allOf", promises);
    json_decref(promises);
    return rc == 0 ? json_object_del(schema, "why") : -1;
}

int rl_schema_add_reasons(json_t *value)
{
    const char *name;
    json_t *member;
    size_t i;
    if (json_is_true(json_object_get(value, "why")) && expand(value) < 0)
        return -1;
    json_object_foreach(value, name, member) if (rl_schema_add_reasons(member) < 0) return -1;
    json_array_foreach(value, i, member) if (rl_schema_add_reasons(member) < 0) return -1;
    return 0;
}
