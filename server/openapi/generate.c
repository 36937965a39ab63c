/* usage: openapi_generate SKELETON OUT
 *
 * Writes the API's description: the skeleton, with the schemas of a run's document out of the tables of gpu/record, the
 * codes of err.def, and what is promised of null members said at each of them. Runs when rooflined is built. */
#include <stdio.h>

#include "gpu/record/schema.h"

/* A schema of the skeleton that has the name of a generated one says what stands there besides. */
static int add_besides(json_t *schema, const json_t *besides)
{
    size_t i;
    json_t *name;
    json_t *any = json_object_get(besides, "anyOf"), *properties = json_object_get(besides, "properties");
    int rc = 0;
    if (properties != NULL)
        rc |= json_object_update_missing(json_object_get(schema, "properties"), properties);
    if (any != NULL)
        rc |= json_object_set(schema, "anyOf", any);
    json_array_foreach(json_object_get(besides, "required"), i, name)
    {
        rc |= json_array_append(json_object_get(schema, "required"), name);
    }
    return rc;
}

/* The codes of err.def, in their order. */
static int add_codes(json_t *schemas)
{
    json_t *codes = json_array();
    int rc = codes != NULL ? 0 : -1;
    for (enum rl_code code = RL_E_NONE + 1; code < RL_E_COUNT; code++)
        rc |= json_array_append_new(codes, json_string(rl_code_id(code)));
    return json_object_set_new(json_object_get(schemas, "ErrorCode"), "enum", codes) | rc;
}

static int add_schemas(json_t *document)
{
    json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas"), *made = json_object();
    const char *name;
    json_t *schema;
    int rc = made != NULL && rl_object_schemas(&rl_object_run, made) == 0 ? 0 : -1;
    json_object_foreach(made, name, schema)
    {
        const json_t *besides = json_object_get(schemas, name);
        if (besides != NULL)
            rc |= add_besides(schema, besides);
        rc |= json_object_set(schemas, name, schema);
    }
    json_decref(made);
    rc |= add_codes(schemas);
    return rc == 0 ? rl_schema_add_reasons(document) : -1;
}

int main(int argc, char **argv)
{
    json_error_t error;
    if (argc != 3) {
        fprintf(stderr, "usage: openapi_generate SKELETON OUT\n");
        return 64;
    }
    json_t *document = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
        return 65;
    }
    if (add_schemas(document) != 0 ||
        json_dump_file(document, argv[2], JSON_INDENT(1) | JSON_REAL_PRECISION(15)) != 0) {
        fprintf(stderr, "%s could not be made\n", argv[2]);
        return 74;
    }
    json_decref(document);
    return 0;
}
