/* One importing process from start to reaped: sends it its request, reads its lines, keeps its time, ends it, and says
 * once what it answered. Knows nothing of HTTP or of the store. gpu/import/IMPORT.md specifies the protocol. */
#ifndef SERVER_PROCESS_IMPORTER_H
#define SERVER_PROCESS_IMPORTER_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/base/buf.h"
#include "gpu/base/err.h"
#include "server/loop/loop.h"

struct import_process;

struct import_process_start {
    const char *exec;    /* the program */
    const int *files;    /* descriptors; the process gets them as 4 and on; they stay the caller's */
    size_t file_count;   /* at most 4 */
    const char *request; /* one line, its line feed included */
    int64_t wall_ms;     /* from the start to the end of its answer; over it RL_E_IMPORT_TIMEOUT */
};

struct import_process_end {
    /* The sample lines and, last, the result line, each NUL-terminated and of valid UTF-8 or not: as they came.
     * NULL when the process told an error or ended without an answer. Owned by the caller (free). */
    char *lines;
    size_t len;
    struct rl_err error; /* when lines is NULL: its own error, or what became of it (RL_E_IMPORT_FAILED, _TIMEOUT) */
};

/* ended is called once, from the loop, when the process is gone. It may free the process. On -1 none was started. */
int import_process_start(struct loop *loop, const struct import_process_start *start,
                         void (*ended)(void *arg, struct import_process_end *end), void *arg,
                         struct import_process **ret, struct rl_err *err);
/* Kills it; ended comes later, with why as its error unless it had ended in another way before. */
void import_process_stop(struct import_process *process, const struct rl_err *why);
void import_process_free(
    struct import_process *process); /* accepts NULL; one that is still there is killed and reaped */

#endif
