/* Values of a suite's parameters: from a client's or the daemon's JSON object, checked against the suite's table, and
 * back. */
#ifndef GPU_SUITES_BASE_PARAMS_H
#define GPU_SUITES_BASE_PARAMS_H

#include <jansson.h>

#include "gpu/suites/base/suite.h"

/* All defaults. */
void rl_params_default(const struct rl_suite *suite, struct rl_params *ret);
/* Index of a parameter in the suite's table, or SIZE_MAX. */
size_t rl_param_find(const struct rl_suite *suite, const char *name);
/* Reads one value. RL_E_BAD_FIELD or RL_E_UNKNOWN_FIELD, err->field the member's path ("cache[1]",
 * "predictions.vector_add"), with what was seen and what is wanted. */
int rl_param_read(struct rl_params *params, size_t index, const json_t *value, struct rl_err *err);
/* What only shows when all are read: a UNIT_WORDS about a unit that is not asked for. */
int rl_params_check(const struct rl_params *params, struct rl_err *err);
/* An object of all parameters, without local ones where wire is set: reads members and refuses others. */
int rl_params_read(const struct rl_suite *suite, const json_t *object, bool wire, struct rl_params *ret,
                   struct rl_err *err);
/* Adds each parameter to object with its value; lists in the order of words, of the suite's units, or as given. wire:
 * without local ones. 0, or -1 when memory ran out. */
int rl_params_write(const struct rl_params *params, bool wire, json_t *object);
/* What is wanted of a parameter, for messages: "\"course\" or \"scaled\"". */
void rl_param_wanted(const struct rl_param *param, char *text, size_t size);
#endif
