/* Plain timing lines. */
#ifndef GPU_IMPORT_TIMINGS_PLAIN_H
#define GPU_IMPORT_TIMINGS_PLAIN_H

#include <jansson.h>
#include <stddef.h>

#include "gpu/import/common/state.h"
#include "gpu/import/text/message.h"

#define IMPORT_MS_LEAST 1e-4 /* 0.1 us: less than any launch takes, and than an event's timer can tell */
#define IMPORT_MS_MOST  1e9

struct import_plain { /* a reader of kernel and ceiling lines */
    struct import *import;
    struct import_place at;
    size_t lines, row_capacity;
    json_t *kernels_of, *ceilings_of; /* [line's number, object] of each kernel and shape, each ceiling and state */
};
int import_plain_begin(struct import_plain *plain, struct import *import, const struct import_file *file);
void import_plain_end(struct import_plain *plain);
/* One object: a kernel's or a ceiling's. */
int import_plain_line(struct import_plain *plain, const json_t *object);
/* After the last: kernels of one name and several shapes get ids of their own. */
int import_plain_finish(struct import_plain *plain);
/* A place for one more row, RL_E_TOO_LARGE past IMPORT_ROWS_MAX; the caller fills it and adds to row_count. */
struct rl_row *import_plain_row(struct import_plain *plain);
/* One time as the only statistic of a state, with n and launches. */
void import_set_time(struct rl_row_state *s, double seconds, const char *why);
/* Gives ceilings whose lines do not say their state that of the times; RL_E_IMPORT_DISAGREES when one is there then
 * twice. */
int import_ceilings_state(struct import *import, enum rl_state times);

#endif
