/* Notes of an imported run. */
#ifndef GPU_IMPORT_COMMON_NOTE_H
#define GPU_IMPORT_COMMON_NOTE_H

#include "gpu/record/run.h"

/* Adds a sentence to the run's notes, cut at what a note may have; past the last that fit, says so once. */
void import_note(struct rl_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
