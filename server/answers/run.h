/* A run's table and CSV, and the run under the roofs of another one, made of its stored document. To parse that of a
 * run of 512 kernels, 1.4 MB, takes some 50 ms: such a one (LIMIT_VIEW_HERE_BYTES) is made on a worker thread, in turn
 * (server/loop/work_queue.h), while its client waits. The loop reads the document, the thread parses it and writes the
 * text, the loop answers. */
#ifndef SERVER_ANSWERS_RUN_H
#define SERVER_ANSWERS_RUN_H

#include <stdint.h>

#include "gpu/base/err.h"
#include "server/answers/later.h"

enum run_view_form { RUN_VIEW_TABLE, RUN_VIEW_CSV, RUN_VIEW_JSON };
struct run_view_question {
    int64_t run;
    enum run_view_form form;
    const char *state; /* of a table, "warm", "cold" or "mixed"; NULL: the first of them that a row has */
    /* "newest" or a run's id: derived again under the roofs that the newest run that may lend, or that one, has
     * (db/runs/lend.h), in place of any that were lent when it was stored; as it is stored where no run may lend, and
     * with NULL. */
    const char *roofs;
    const char *share; /* of who asks */
};

/* Answers now, or sets answer->later; of a large run not while the daemon shuts down (RL_E_SHUTTING_DOWN).
 * RL_E_RUN_NOT_FOUND; RL_E_BAD_FIELD ("roofs") when that one may not lend. */
int run_view(const struct answers *answers, const struct run_view_question *question, struct http_answer *answer,
             struct rl_err *err);

#endif
