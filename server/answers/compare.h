/* From a question about two sides to its answer: reads the runs, has them judged (server/compare/compare.h), writes the
 * verdicts. Those of a large run (LIMIT_COMPARE_HERE_ROWS, LIMIT_COMPARE_HERE_BYTES) are made on a worker thread, in
 * turn (server/loop/work_queue.h), while the client waits: the loop reads the runs, the thread judges them and writes
 * the text, the loop answers. */
#ifndef SERVER_ANSWERS_COMPARE_H
#define SERVER_ANSWERS_COMPARE_H

#include "gpu/base/said.h"
#include "server/answers/later.h"
#include "server/compare/compare.h"
#include "server/limits/limits.h"

#define COMPARE_QUESTION_BYTES                                                                                         \
    (LIMIT_URL_BYTES + 8u * 1024u) /* a question with its texts, which came in an address                              \
                                    */

struct compare_asked { /* one side: runs, or else a driver, a label or both */
    const char *label; /* the side as asked */
    int64_t runs[COMPARE_RUNS_MAX];
    size_t run_count;
    char driver[LIMIT_DRIVER_CHARACTERS + 1], cuda[LIMIT_CUDA_CHARACTERS + 1]; /* "": not asked for */
    char run_label[RL_LABEL_BYTES + 1];                                        /* likewise */
};
struct compare_question {
    struct compare_asked sides[2];               /* base, head */
    const char *device, *suite, *sizes, *source; /* NULL: not asked for */
    const char *kernels[LIMIT_COMPARE_KERNELS];  /* none: all */
    size_t kernel_count;
    const char *share;      /* of who asks */
    struct rl_arena *arena; /* holds it all */
};

/* Answers now, or sets answer->later; of a large run not while the daemon shuts down (RL_E_SHUTTING_DOWN). Takes the
 * question over, also on -1: RL_E_RUN_NOT_FOUND with "base" or "head" as its field, RL_E_NOT_FOUND of a kernel,
 * RL_E_BAD_FIELD, RL_E_TOO_LARGE above LIMIT_COMPARE_ROWS of a side or COMPARE_ROWS_MAX. */
int compare_answer(const struct answers *answers, struct compare_question *question, struct http_answer *answer,
                   struct rl_err *err);

#endif
