/* What the engine says: sentences of the run, the transcript, warnings, progress. */
#ifndef GPU_ENGINE_TELL_H
#define GPU_ENGINE_TELL_H

#include "gpu/engine/state.h"

/* A sentence in the run's arena; never NULL (a reason that is NULL would make its value known). */
const char *engine_say(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void engine_log(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void engine_warn(struct engine *e, enum rl_code code, const char *message);
void engine_step_begin(struct engine *e, const char *phase, const char *what); /* reports; done counts finished steps */
void engine_step_end(struct engine *e);
/* Adds a word to the list, in the run's arena; once. RL_E_NO_MEMORY. */
int engine_flag(struct engine *e, struct rl_strings *list, const char *word, struct rl_err *err);

#endif
