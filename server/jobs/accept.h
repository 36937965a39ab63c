/* What came back from a measuring process, judged before it is stored: untrusted samples and an untrusted document
 * become a run that is what was asked for, with every derived value made again here. Pure. */
#ifndef SERVER_JOBS_ACCEPT_H
#define SERVER_JOBS_ACCEPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/runs/insert.h"
#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "server/jobs/spec.h"

#define RUN_UNITS_MAX   32u /* units of the catalogue at most */
#define RUN_SAMPLES_MAX 256u

/* Samples of each unit and state, by index in rl_units; the last sample line of a unit and state counts. */
struct run_samples {
    struct run_sample_row {
        int64_t launches; /* per sample */
        double *times_s;  /* count of them; NULL: none came */
        size_t count;
    } row[RUN_UNITS_MAX][RL_STATE_COUNT];
};
void run_samples_free(struct run_samples *samples); /* accepts a zeroed one */
/* Takes a sample line's body. Unknown unit or state, no or too many times, or one that is not finite and positive:
 * RL_E_MEASURE_PROTOCOL. */
int run_samples_take(struct run_samples *samples, const json_t *body, struct rl_err *err);
/* Those of a unit (by id) and state; NULL for a unit that the catalogue does not have. */
const struct run_sample_row *run_samples_row(const struct run_samples *samples, const char *unit, enum rl_state state);

struct run_expected {
    const struct job_spec *spec; /* device resolved */
    bool replayed;               /* the process said that it replays */
    const json_t *device_line;   /* the body of its device line, borrowed; NULL: none came */
    int64_t now_ms;              /* by the clock of the job's start */
    bool clock_stepped;          /* somebody has set it since: dates say nothing about the process then */
};
/* Checks that document is the run that was asked for: suite, sizes, device, source, exactly the kernels and states,
 * each kernel's flop and asked bytes those of the catalogue, device and driver those of the device line, counters off
 * when not wanted, ceilings of the catalogue, times of this day, an outcome that its checks allow, and each row's
 * statistics those of its samples. Then derives again. RL_E_MEASURE_PROTOCOL otherwise, err->field the document's
 * member. */
int run_accept(const json_t *document, const struct run_expected *expected, const struct run_samples *samples,
               struct rl_run **ret, struct rl_err *err);

/* A run as the store takes it. run and samples are borrowed, the rest is owned: free with run_stored_fini. */
struct run_stored {
    struct store_run_new row;
    struct store_document document;
    struct store_samples samples[RUN_UNITS_MAX * RL_STATE_COUNT];
};
/* The run's whole document as compact JSON, the caller's (free); NULL when memory ran out. */
char *run_document(const struct rl_run *run);
/* Writes and deflates the document: that of a run of 512 kernels takes a tenth of a second. RL_E_NO_MEMORY,
 * RL_E_TOO_LARGE. Any thread may. */
int run_stored_make(const struct rl_run *run, const struct run_samples *samples, struct run_stored *ret,
                    struct rl_err *err);
void run_stored_fini(struct run_stored *stored); /* accepts a zeroed one */

#endif
