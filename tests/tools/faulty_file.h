/* Files of faults: tests/data/faults and what tests write themselves. */
#ifndef TESTS_TOOLS_FAULTY_FILE_H
#define TESTS_TOOLS_FAULTY_FILE_H

#include <jansson.h>

#include "gpu/base/err.h"

/* A file of faults is the header of an overlay and nothing but faults after it. Appends the faults of path to the array
 * rules, then those of its base where that is such a file too, and so on; *ret_recording (to be freed) is the first
 * that is none: path itself, where it is a recording or cannot be read. RL_E_REPLAY_FORMAT names file, line and
 * member. */
int faulty_file_read(const char *path, json_t *rules, char **ret_recording, struct rl_err *err);

#endif
