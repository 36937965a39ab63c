/* The judging of an import's answer on a worker thread. A run of 512 kernels takes tenths of a second to read, derive,
 * write and deflate: no handler may hold the loop for so long.
 *
 * The loop takes the upload, starts and watches the importing process, has its lines, and starts this.
 *
 * A thread of its own (server/loop/worker.h) parses the lines, checks and derives the run (import_accept) and frees
 * what it read.
 *
 * The loop looks for a run that lends it the roofs that it has not (run_lend): a few short questions to the store.
 *
 * A second thread derives the run again where it was lent some, writes its document and deflates it (run_stored_make).
 * Both threads are pure functions over memory that nobody else has meanwhile.
 *
 * The loop, in done, stores what the thread made, which is a transaction of rows and ready bytes, and answers. The
 * store, the sockets and the loop itself stay the loop's. */
#ifndef SERVER_IMPORTS_JUDGE_H
#define SERVER_IMPORTS_JUDGE_H

#include "server/imports/accept.h"
#include "server/loop/loop.h"
#include "server/runs/stored.h"

#define IMPORT_JUDGE_FILES 3u

struct import_judge;

struct import_judged { /* owned by the judge */
    int rc;            /* 0, or -1 with err */
    struct rl_err err;
    struct run_stored stored; /* when rc is 0: the run with its document and samples */
    char record_sha256[65];   /* of the record, without its notes, the build and the files' bytes, with their texts */
    char record_of_bytes[65]; /* the same with the files' bytes: under which earlier builds stored records */
};

/* Takes lines over (free), also on failure; expected and what it points to are copied; store is borrowed, and asked on
 * the loop alone. done is called once, from the loop, and may free the judge. On -1 it is not called. */
int import_judge_start(struct loop *loop, struct store *store, char *lines, size_t len,
                       const struct import_expected *expected,
                       void (*done)(void *arg, const struct import_judged *judged), void *arg,
                       struct import_judge **ret, struct rl_err *err);
void import_judge_free(struct import_judge *judge); /* accepts NULL; waits for one that has not ended */

#endif
