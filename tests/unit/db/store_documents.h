/* Runs of jobs with their real documents, for the store's tests. Beside tests/unit/db/store_fixture.h. */
#ifndef TESTS_UNIT_DB_STORE_DOCUMENTS_H
#define TESTS_UNIT_DB_STORE_DOCUMENTS_H

#include <jansson.h>

#include "gpu/suites/document.h"
#include "tests/unit/db/store_fixture.h"
#include "tests/unit/record/sample_run.h"

/* A run with its real document. */
static inline int64_t store_run(struct fixture *f, const struct rl_run *run, const char *spec)
{
    json_t *object = rl_run_to_json(run);
    char *document = json_dumps(object, JSON_COMPACT);
    struct store_job_new job = new_job(run->device.id);
    struct store_run_new new = {.run = run, .document = document_of(f, document)};
    struct store_transition t = {.from = JOB_RUNNING, .to = JOB_DONE, .now_ms = T0 + 5000, .run = &new};
    int64_t id = 0;

    assert_non_null(document);
    if (spec != NULL)
        job.spec = spec;
    OK(f, store_job_add(f->store, &job, &t.id, NULL, &f->err));
    OK(f, step(f, t.id, JOB_QUEUED, JOB_RUNNING));
    OK(f, store_job_transition(f->store, &t, &id, &f->err));
    free(document);
    json_decref(object);
    return id;
}

static inline int64_t store_small(struct fixture *f, int64_t date_ms, const char *spec)
{
    struct rl_run *run = sample_run_small();
    int64_t id;

    run->device.id = DEVICE_A;
    run->finished_at_ms = date_ms;
    id = store_run(f, run, spec);
    rl_run_free(run);
    return id;
}

#endif
