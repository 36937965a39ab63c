/* See gpu/suites/document.h. */
#include "gpu/suites/document.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/suites/suites.h"

struct rl_run *rl_suite_run_new(const struct rl_suite *suite)
{
    struct rl_run *run = rl_run_new_of(suite->document->size);
    if (run != NULL)
        run->suite = suite->name;
    return run;
}

const struct rl_suite *rl_run_suite(const struct rl_run *run)
{
    return rl_suite_find(run->suite);
}

json_t *rl_run_to_json(const struct rl_run *run)
{
    return rl_object_to_json(rl_run_suite(run)->document, run);
}

void rl_run_derive(struct rl_run *run)
{
    const struct rl_suite *suite = rl_run_suite(run);
    if (suite->derive != NULL)
        suite->derive(run);
}

/* What a document says of its version; 1 where it says nothing. Its type and range are read with the other members. */
static int64_t version_of(const json_t *document)
{
    const json_t *version = json_object_get(document, "record_version");
    return json_is_integer(version) && json_integer_value(version) >= 1 ? json_integer_value(version) : 1;
}

/* The suite whose table reads a document. One that is no object or has no suite is read by the first, which says so. */
static const struct rl_suite *suite_of(const json_t *document, struct rl_err *err)
{
    const char *name = json_string_value(json_object_get(document, "suite"));
    const struct rl_suite *suite = name != NULL ? rl_suite_find(name) : rl_suites[0];
    char names[256] = "";
    size_t len = 0;
    if (suite != NULL)
        return suite;
    for (size_t i = 0; i < rl_suite_count && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i > 0 ? ", " : "", rl_suites[i]->name);
    rl_fail(err, RL_E_BAD_FIELD, "suite", "suite is \"%.64s\", which this build does not know: it has %s", name, names);
    return NULL;
}

int rl_run_from_json(const json_t *document, struct rl_run **ret_run, struct rl_err *err)
{
    const struct rl_suite *suite = suite_of(document, err);
    struct rl_run *run = suite != NULL ? rl_suite_run_new(suite) : NULL;
    if (suite == NULL)
        return -1;
    if (run == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "a run does not fit in memory");
    if (rl_object_from_json(suite->document, document, version_of(document), run->arena, run, err) < 0 ||
        rl_run_check(run, document, err) < 0 || (suite->check != NULL && suite->check(run, document, err) < 0)) {
        rl_run_free(run);
        return -1;
    }
    run->record_version = RL_RECORD_VERSION;
    *ret_run = run;
    return 0;
}
