/* Whose figures these are and when they were made. */
#ifndef GPU_IMPORT_IDENTITY_H
#define GPU_IMPORT_IDENTITY_H

#include "gpu/import/common/state.h"
#include "gpu/import/ncu/table.h"

/* Refuses a field that says what it cannot, and keeps the date. RL_E_BAD_FIELD. */
int import_fields_check(struct import *import);
/* Device, versions and dates of a run that came without them, from the fields and the counter file (NULL: none). */
int import_identify(struct import *import, const struct import_table *table);
/* A whole document's own identity beside what the fields and the counter file say: they may not disagree. */
int import_agree(struct import *import, const struct import_table *table);
/* Flop, asked bytes and shape of a catalogue kernel at the sizes that the fields name. */
int import_work(struct import *import, struct rl_row *row, const struct import_table *table);

#endif
