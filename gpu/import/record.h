/* A published table as data. */
#ifndef GPU_IMPORT_RECORD_H
#define GPU_IMPORT_RECORD_H

#include <stddef.h>

#include "gpu/import/common/state.h"

/* The run from the record's entry of the day that the field date names. */
int import_record(struct import *import, const struct import_file *file);
/* The dates of a published record's entries, as its file has them, each in a text of the caller. RL_E_TOO_LARGE where
 * there are more than `max`. */
#define IMPORT_DATE_MAX 32
int import_record_dates(const struct import_file *file, char dates[][IMPORT_DATE_MAX], size_t max, size_t *ret_count,
                        struct rl_err *err);

#endif
