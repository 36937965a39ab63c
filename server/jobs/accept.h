/* What came back from a measuring process, judged before it is stored: untrusted samples and an untrusted document
 * become a run that is what was asked for, with every derived value made again here. Pure. */
#ifndef SERVER_JOBS_ACCEPT_H
#define SERVER_JOBS_ACCEPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "server/jobs/spec.h"
#include "server/runs/samples.h"

struct run_expected {
    const struct job_spec *spec; /* device resolved */
    bool replayed;               /* the process said that it replays */
    const json_t *device_line;   /* the body of its device line, borrowed; NULL: none came */
    int64_t now_ms;              /* by the clock of the job's start */
    bool clock_stepped;          /* somebody has set it since: dates say nothing about the process then */
};
/* Checks that document is the run that was asked for: suite, sizes, device, source, exactly the kernels and states,
 * and what else its suite holds it to (rl_suite.accept), device and driver those of the device line, times of this day,
 * an outcome that its checks allow, and each row's statistics those of its samples. Then derives again.
 * RL_E_MEASURE_PROTOCOL otherwise, err->field the document's member. */
int run_accept(const json_t *document, const struct run_expected *expected, const struct run_samples *samples,
               struct rl_run **ret, struct rl_err *err);

#endif
