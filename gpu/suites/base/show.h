/* Sentences about values that are refused. */
#ifndef GPU_SUITES_BASE_SHOW_H
#define GPU_SUITES_BASE_SHOW_H

#include <jansson.h>

#include "gpu/base/err.h"

#define RL_WANTED_BYTES 512u

/* "an object", "a list", … */
const char *rl_json_type_name(const json_t *value);
/* RL_E_BAD_FIELD: what the value is, cut to 64 bytes and with control bytes escaped, and what it must be; of no value,
 * that it is missing. -1. */
int rl_param_bad(struct rl_err *err, const char *field, const json_t *value, const char *wanted);
/* RL_E_UNKNOWN_FIELD: prefix and key are no field of a job. -1. */
int rl_param_unknown(struct rl_err *err, const char *prefix, const char *key);

#endif
