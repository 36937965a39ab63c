/* Members of the JSON objects of timings. */
#ifndef GPU_IMPORT_TIMINGS_MEMBERS_H
#define GPU_IMPORT_TIMINGS_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpu/import/text/message.h"
#include "gpu/record/run.h"

/* A number from least to most. */
int import_member_real(const struct import_place *at, const json_t *object, const char *name, double least, double most,
                       double *ret);
/* Three whole numbers from 1 to most; *ret_given false, and 0, when the member is not there. */
int import_member_dims(const struct import_place *at, const json_t *object, const char *name, int64_t most,
                       int64_t ret[3], bool *ret_given);
/* A kernel's name, the object's own text. */
int import_member_text(const struct import_place *at, const json_t *object, const char *name, const char **ret);

/* A whole number from 0 to 1e18; *ret stays as it is where the member is not there. */
int import_member_count(const struct import_place *at, const json_t *object, const char *name, struct rl_count *ret);

#endif
