/* What the fuzzers of imports demand of every input. */
#ifndef TESTS_IMPORT_FUZZ_H
#define TESTS_IMPORT_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/import.h"
#include "gpu/suites/document.h"

/* A run reads back as what was written. */
static inline void check_document(const struct rl_run *run)
{
    struct rl_err err = {.code = RL_E_NONE};
    struct rl_run *again = NULL;
    json_t *document = rl_run_to_json(run), *second;
    if (document == NULL || rl_run_from_json(document, &again, &err) != 0)
        abort();
    second = rl_run_to_json(again);
    if (!json_equal(document, second))
        abort();
    json_decref(document);
    json_decref(second);
    rl_run_free(again);
}

/* Whether a run was made, to be freed with import_result_fini; a refusal has a code and words, and leaves none. */
static inline bool made(const struct import_request *request, struct import_result *result)
{
    struct rl_err err = {.code = RL_E_NONE};
    *result = (struct import_result){0};
    if (import_make(request, result, &err) != 0) {
        if (err.code == RL_E_NONE || err.message[0] == '\0' || !rl_utf8_valid(err.message, strlen(err.message)) ||
            result->run != NULL)
            abort();
        return false;
    }
    check_document(result->run);
    return true;
}

#endif
