/* A job's specification: from a POSTed JSON object to a checked struct with every default filled in, and to its
 * canonical text. Pure: no store, no devices, no clock. */
#ifndef SERVER_JOBS_SPEC_H
#define SERVER_JOBS_SPEC_H

#include <jansson.h>
#include <stdbool.h>

#include "gpu/base/err.h"
#include "gpu/base/said.h"
#include "gpu/wire/wire.h"
#include "kernels/unit/catalogue.h"
#include "kernels/unit/list.h"
#include "server/limits/limits.h"

#define JOB_SPEC_DEVICE_BYTES 64

enum job_prediction { PREDICT_NONE, PREDICT_ABOVE, PREDICT_NEAR, PREDICT_BELOW };

struct job_spec {
    char device[JOB_SPEC_DEVICE_BYTES];              /* empty: not named, the caller resolves it */
    enum rl_sizes sizes;                             /* default course */
    bool warm, cold;                                 /* default both */
    bool kernel[RL_KERNEL_COUNT];                    /* by index in rl_units; default all */
    bool counters;                                   /* default true */
    bool retry_on_interrupt;                         /* default false */
    char note[LIMIT_NOTE_BYTES + 1];                 /* default empty */
    char label[RL_LABEL_BYTES + 1];                  /* default empty: none */
    enum job_prediction prediction[RL_KERNEL_COUNT]; /* by index in rl_units; default none */
};

/* Reads {"suite", "device"?, "sizes"?, "cache"?, "kernels"?, "counters"?, "on_interrupt"?, "note"?, "label"?,
 * "predictions"?}.
 * The object must have been parsed with duplicate keys rejected. RL_E_UNKNOWN_FIELD or RL_E_BAD_FIELD with err->field
 * the member's path ("cache[1]", "predictions.vector_add") and a message that says what was wrong with the value or
 * type seen; RL_E_BAD_JSON when body is no object. A prediction for a kernel that is not asked for is an error: it
 * could never be scored. */
int job_spec_read(const json_t *body, struct job_spec *ret, struct rl_err *err);

/* The specification as a new object with every member present, kernels and cache in catalogue order; note and label are
 * null when there is none, predictions {} when there are none. NULL when memory ran out. */
json_t *job_spec_to_json(const struct job_spec *spec);
/* job_spec_to_json as compact text (free with free), or NULL. */
char *job_spec_text(const struct job_spec *spec);
/* Reads what job_spec_text wrote. Anything else is RL_E_STORE_CORRUPT. */
int job_spec_parse(const char *text, struct job_spec *ret, struct rl_err *err);

/* The measuring request of a job. */
void job_spec_request(const struct job_spec *spec, int64_t job, struct wire_request *ret);
/* "above", "near", "below"; NULL for PREDICT_NONE. */
const char *job_prediction_name(enum job_prediction prediction);

#endif
