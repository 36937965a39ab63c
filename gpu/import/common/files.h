/* What a run was made of. */
#ifndef GPU_IMPORT_COMMON_FILES_H
#define GPU_IMPORT_COMMON_FILES_H

#include "gpu/import/common/state.h"

/* Adds the file to the run's list of what it was made of. */
int import_add_file(struct import *import, const struct import_file *file, const char *format);

#endif
