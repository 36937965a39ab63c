/* An import while it is made. */
#ifndef GPU_IMPORT_COMMON_STATE_H
#define GPU_IMPORT_COMMON_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "gpu/import/common/request.h"
#include "gpu/import/common/sample.h"
#include "gpu/record/run.h"

struct import_events; /* gpu/import/timings/events.h */
struct import_group;  /* gpu/import/ncu/table.h */

struct import_said { /* what a timings file tells beside times; 0 and NULL: nothing */
    const char *device, *cuda;
    int64_t date_ms;
};
struct import {
    const struct import_request *request;
    struct rl_arena *arena; /* for the import's own time; the run has its own */
    struct rl_run *run;
    struct import_sample *samples;
    size_t sample_count;
    int64_t date_ms; /* of the fields; 0: not said */
    bool document;   /* the run came as a whole document */
    struct import_said said;
    struct import_events *events;    /* of a trace of launches; NULL: the timings are others, or none */
    struct import_group **row_group; /* by row: its launches in the counter file; NULL before they were looked for */
    uint32_t stateless;              /* bit i: the line of ceiling i does not say its cache state */
    struct rl_err *err;
};

#endif
