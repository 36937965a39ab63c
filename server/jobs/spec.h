/* A job's specification: from a POSTed JSON object to a checked struct with every default filled in, and to its
 * canonical text. Pure: no store, no devices, no clock. */
#ifndef SERVER_JOBS_SPEC_H
#define SERVER_JOBS_SPEC_H

#include <jansson.h>
#include <stdbool.h>

#include "gpu/base/err.h"
#include "gpu/base/said.h"
#include "gpu/suites/base/params.h"
#include "gpu/wire/wire.h"
#include "server/limits/limits.h"

#define JOB_SPEC_DEVICE_BYTES 64

/* What every job has; the rest are its suite's parameters, flat beside these in the JSON. */
struct job_spec {
    struct rl_params params;            /* and with them the suite */
    char device[JOB_SPEC_DEVICE_BYTES]; /* empty: not named, the caller resolves it */
    bool retry_on_interrupt;            /* default false */
    char note[LIMIT_NOTE_BYTES + 1];    /* default empty */
    char label[RL_LABEL_BYTES + 1];     /* default empty: none */
};

/* Reads {"suite", "device"?, "on_interrupt"?, "note"?, "label"?} and the suite's parameters, each optional.
 * The object must have been parsed with duplicate keys rejected. RL_E_UNKNOWN_FIELD or RL_E_BAD_FIELD with err->field
 * the member's path ("cache[1]", "predictions.vector_add") and a message that says what was wrong with the value or
 * type seen; RL_E_BAD_JSON when body is no object. */
int job_spec_read(const json_t *body, struct job_spec *ret, struct rl_err *err);

/* The specification as a new object with every member present; note and label are null when there is none. NULL when
 * memory ran out. */
json_t *job_spec_to_json(const struct job_spec *spec);
/* job_spec_to_json as compact text (free with free), or NULL. */
char *job_spec_text(const struct job_spec *spec);
/* Reads what job_spec_text wrote. Anything else is RL_E_STORE_CORRUPT. */
int job_spec_parse(const char *text, struct job_spec *ret, struct rl_err *err);

/* The measuring request of a job. */
void job_spec_request(const struct job_spec *spec, int64_t job, struct wire_request *ret);

#endif
