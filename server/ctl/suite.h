/* Options of submit that are made from a suite's parameters. */
#ifndef SERVER_CTL_SUITE_H
#define SERVER_CTL_SUITE_H

#include <jansson.h>

#include "gpu/suites/base/suite.h"
#include "server/ctl/command.h"

/* By the parameter's index; NULL or false: not given. */
struct ctl_suite_values {
    const char *text[RL_PARAMS_MAX];
    bool on[RL_PARAMS_MAX];
};
struct ctl_suite_table {
    struct ctl_option options[RL_PARAMS_MAX];
    char what[RL_PARAMS_MAX][768];
};
/* One option for each parameter, its value in a struct ctl_suite_values that lies at `at`. The options point into ret
 * and suite. */
void ctl_suite_options(const struct rl_suite *suite, size_t at, struct ctl_suite_table *ret);
/* Adds what was given to a job's body. RL_E_USAGE or RL_E_BAD_FIELD, with the option, what was seen and what is
 * wanted. */
int ctl_suite_params(const struct rl_suite *suite, const struct ctl_suite_values *values, json_t *body,
                     struct rl_err *err);
/* The names of all suites, or of those that can be submitted, with text between. */
void ctl_suite_names(bool submittable, const char *between, char *text, size_t size);
/* The first suite that can be submitted and has the option; NULL: none. */
const struct rl_suite *ctl_suite_with(const char *name, size_t len);
/* The option of that suite, until the next call; NULL: none. */
const struct ctl_option *ctl_suite_any_option(const char *name, size_t len);

#endif
