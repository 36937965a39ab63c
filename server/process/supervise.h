/* One measuring process from start to reaped: reads its protocol stream, keeps its deadlines, ends it, and says once
 * how it ended. Knows nothing of jobs or of the store. */
#ifndef SERVER_PROCESS_SUPERVISE_H
#define SERVER_PROCESS_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpu/base/err.h"
#include "gpu/wire/wire.h"
#include "server/loop/loop.h"
#include "server/process/transcript.h"

struct supervise; /* one process */

struct supervise_limits {         /* ms; see limits.h */
    int64_t phase[RL_PHASES_MAX]; /* by the suite's phases, each from its first progress line; the first from the start.
                                   * A probe has that alone */
    int64_t total;                /* the whole process */
    int64_t exit_after_eof, exit_after_term, stuck;
};
/* The suite's limits of phases and those of limits.h. total_ms > 0: the phases' limits and the total in proportion to
 * it; 0: as they stand. A probe (suite NULL) has LIMIT_PROBE_MS in all. */
void supervise_limits_default(const struct rl_suite *suite, int64_t total_ms, struct supervise_limits *ret);

struct supervise_start {
    const char *exec;   /* program, or NULL */
    const char *socket; /* unix socket, or NULL; exactly one of the two */
    const char *replay; /* exec: recording, or NULL */
    const struct wire_request *request;
    struct supervise_limits limits;
};

struct supervise_end {
    bool complete;       /* a result came and the stream ended after it as it must */
    bool stuck;          /* the process could not be ended; it is watched further but may hold the GPU */
    struct rl_err error; /* when not complete: why. Message and field are of valid UTF-8 without control bytes */
};

struct supervise_events {
    void *arg;
    /* Each valid line as it comes, hello and result included; body lives during the call. -1 breaks the protocol. */
    int (*line)(void *arg, const struct wire_line *line, struct rl_err *err);
    /* Exactly once, and last: the process is gone (exec: reaped and its group empty) or stuck. May call supervise_free.
     */
    void (*ended)(void *arg, const struct supervise_end *end);
};

/* Starts a process. On -1 (RL_E_MEASURE_START, RL_E_NO_MEMORY) none is left and ended is not called. */
int supervise_start(struct loop *loop, const struct supervise_start *start, const struct supervise_events *events,
                    struct supervise **ret, struct rl_err *err);
/* Begins to end it, with why as its error (kept unless an earlier one is there): closes our end of the stream; then, by
 * exec, TERM and KILL to its group. ended is called later, from the loop. No-op once ending. */
void supervise_stop(struct supervise *s, const struct rl_err *why);
/* Its pid, or 0 as long as it is not known (socket, before hello). */
pid_t supervise_pid(const struct supervise *s);
/* Its transcript so far; owned by s. */
struct transcript *supervise_transcript(struct supervise *s);
/* "cuda", "replay", "null" as hello said it; "" before. */
const char *supervise_backend(const struct supervise *s);
/* Frees s and its descriptors; accepts NULL. A process still there is left behind: only after ended, or at exit. */
void supervise_free(struct supervise *s);

#endif
