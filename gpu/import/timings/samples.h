/* Sample lines of roofline-measure --json. */
#ifndef GPU_IMPORT_TIMINGS_SAMPLES_H
#define GPU_IMPORT_TIMINGS_SAMPLES_H

#include <jansson.h>
#include <stddef.h>

#include "gpu/import/common/state.h"

/* The samples of a whole document (import->run, in line document_line of file) from its sample lines: an array of
 * [line's number, object]. RL_E_IMPORT_DISAGREES with the line for those that are not what the document was made of. */
int import_samples(struct import *import, const struct import_file *file, const json_t *lines, size_t document_line);
/* Leaves out samples of rows' states that the run has no more. A mixed row's times are the warm ones. */
void import_samples_drop(struct import *import);

#endif
