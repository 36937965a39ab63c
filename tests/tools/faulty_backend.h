/* A backend that lays faults over what another one answers. */
#ifndef TESTS_TOOLS_FAULTY_BACKEND_H
#define TESTS_TOOLS_FAULTY_BACKEND_H

#include <jansson.h>

#include "gpu/backend/backend.h"
#include "tests/tools/faults.h"

/* Wraps inner, which belongs to the new backend from now on and is closed on failure. rules: an array of faults that
 * fault_check has allowed, of which a reference is kept. */
int faulty_backend_open(struct gpu_backend *inner, json_t *rules, struct gpu_backend **ret, struct rl_err *err);
/* Its faults, for those that strike at protocol lines; they live as long as the backend. */
struct faults *faulty_backend_faults(struct gpu_backend *faulty);

#endif
