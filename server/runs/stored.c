/* See server/runs/stored.h. */
#include "server/runs/stored.h"

#include <stdlib.h>

#include "db/core/deflate.h"
#include "db/runs/document.h"
#include "db/runs/insert.h"
#include "gpu/record/json_text.h"
#include "gpu/suites/document.h"
#include "kernels/unit/catalogue.h"

char *run_document(const struct rl_run *run)
{
    json_t *document = rl_run_to_json(run);
    if (run->source == RL_IMPORTED) { /* the store writes "job": null, and every null has its reason */
        json_t *why = json_object_get(document, "why");
        if (why == NULL && json_object_set_new(document, "why", json_object()) == 0)
            why = json_object_get(document, "why");
        if (json_object_set_new(why, "job", json_string("an import has no job")) != 0) {
            json_decref(document);
            return NULL;
        }
    }
    char *text = rl_json_dumps(document);
    json_decref(document);
    return text;
}

int run_stored_make(const struct rl_run *run, const struct run_samples *samples, struct run_stored *ret,
                    struct rl_err *err)
{
    struct store_document document;
    char *text = run_document(run);
    if (text == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory for the run's document.");
    int rc = store_document_make(text, &document, err);
    free(text);
    if (rc != 0)
        return -1;
    size_t count = 0;
    *ret = (struct run_stored){.document = document};
    for (size_t unit = 0; unit < rl_unit_count; unit++)
        for (int state = 0; state < RL_STATE_COUNT; state++) {
            const struct run_sample_row *row = &samples->row[unit][state];
            if (row->count == 0)
                continue;
            ret->samples[count++] = (struct store_samples){.unit = rl_units[unit]->id,
                                                           .state = (enum rl_state)state,
                                                           .launches = row->launches,
                                                           .times_s = row->times_s,
                                                           .count = row->count};
        }
    /* points into *ret: valid as long as the caller does not move it */
    ret->row =
        (struct store_run_new){.run = run, .document = &ret->document, .samples = ret->samples, .sample_count = count};
    return 0;
}

void run_stored_fini(struct run_stored *stored)
{
    store_document_fini(&stored->document);
    *stored = (struct run_stored){0};
}
