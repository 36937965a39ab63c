/* What an importing process sent, judged before it is stored: untrusted lines become a run that was made of the files
 * that were uploaded, with every derived value made again here. Pure. */
#ifndef SERVER_IMPORTS_ACCEPT_H
#define SERVER_IMPORTS_ACCEPT_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/base/err.h"
#include "gpu/record/run.h"
#include "server/runs/samples.h"

struct import_expected_file {
    const char *kind; /* "ncu", … */
    int64_t bytes;
    const char *sha256;  /* 64 hex, of its bytes */
    const char *content; /* likewise, of its text (server/imports/hash.h) */
};
struct import_expected {
    const struct import_expected_file *files; /* in the order of the request */
    size_t file_count;
    int64_t now_ms;
};

/* lines: as import_process gives them, len bytes, each ended by NUL. On success *ret and *ret_samples are the caller's.
 * RL_E_IMPORT_FAILED for anything that is not such a run, err->field the document's member. */
int import_accept(const char *lines, size_t len, const struct import_expected *expected, struct rl_run **ret,
                  struct run_samples *ret_samples, struct rl_err *err);

#endif
