/* Imports: files that somebody else's measurement left (an Nsight Compute CSV, timing JSON Lines, a recording, a
 * published record) become one run. Pure but for memory: no file is opened, no clock is read. gpu/import/IMPORT.md says
 * what is accepted.
 */
#ifndef GPU_IMPORT_IMPORT_H
#define GPU_IMPORT_IMPORT_H

#include <stddef.h>

#include "gpu/base/err.h"
#include "gpu/import/common/request.h"
#include "gpu/import/common/sample.h"
#include "gpu/record/run.h"

struct import_result {
    struct rl_run *run; /* derived; source imported */
    struct import_sample *samples;
    size_t sample_count;
};

/* One run from the files, or -1 with nothing made. Errors name the file, the line and the column or field, what stands
 * there and what was expected; err.field is the file's kind, or the field of import_fields at fault. A kernel of the
 * timings without DRAM bytes in the counters is RL_E_IMPORT_MISSING. */
int import_make(const struct import_request *request, struct import_result *ret, struct rl_err *err);
void import_result_fini(struct import_result *result); /* accepts a zeroed one */

#endif
