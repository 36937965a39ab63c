/* Runs of any suite as documents: which table reads and writes one is its suite's to say. */
#ifndef GPU_SUITES_DOCUMENT_H
#define GPU_SUITES_DOCUMENT_H

#include <jansson.h>

#include "gpu/suites/base/suite.h"

/* A run of the suite with an arena of its own, all zero; NULL when memory ran out. rl_run_free. */
struct rl_run *rl_suite_run_new(const struct rl_suite *suite);
/* The document of a run as a new reference, members in the order of its suite's table. Non-finite values are a
 * programming error and become null with the reason "not finite". NULL when memory ran out. */
json_t *rl_run_to_json(const struct rl_run *run);
/* Reads a document of any build and suite. Strictly, by its record_version (run.h; 1 without one): unknown or missing
 * members, wrong types, non-finite or out-of-range numbers, a null without its reason, too long strings and lists
 * (limits in gpu/record/table.h) fail, err.field naming the member's path ("kernels[3].warm.time_s.median"). Derived
 * members are read as they stand; call rl_run_derive to make them anew. What an older build did not write is unknown
 * with RL_WHY_NOT_RECORDED; of a newer one, what this does not know is left out. */
int rl_run_from_json(const json_t *document, struct rl_run **ret_run, struct rl_err *err);
/* The suite of a run; every run in memory has one. */
const struct rl_suite *rl_run_suite(const struct rl_run *run);
/* What follows from stored times and counts, by the run's suite. */
void rl_run_derive(struct rl_run *run);

#endif
