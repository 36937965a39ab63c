/* A run's document. */
#ifndef DB_RUNS_DOCUMENT_H
#define DB_RUNS_DOCUMENT_H

#include "db/core/deflate.h"
#include "db/core/store.h"
#include "gpu/record/run.h"

/* text: the whole run as compact JSON, without id, job and label, which the store adds as its first members. It is not
 * kept. Touches its arguments alone: any thread may call it. RL_E_INTERNAL when text is no such object or no UTF-8,
 * RL_E_TOO_LARGE over STORE_DOCUMENT_MAX_BYTES, RL_E_NO_MEMORY. Free with store_document_fini. */
int store_document_make(const char *text, struct store_document *ret, struct rl_err *err);
void store_document_fini(struct store_document *document); /* accepts a zeroed one */

/* The bytes as stored: {"id":"7","job":"9",…}, then "label" if the run has one; an import: job null, with its reason in
 * why. RL_E_RUN_NOT_FOUND. */
int store_run_document(struct store *store, int64_t id, struct rl_buf *out, struct rl_err *err);
/* Such bytes as a struct, *ret the caller's: touches no store, so that any thread may call it. RL_E_STORE_CORRUPT;
 * RL_E_NO_MEMORY. 1.4 MB take some 50 ms (2026-11-29). */
int store_document_parse(const struct rl_buf *document, int64_t id, struct rl_run **ret, struct rl_err *err);

/* Inside a transaction: writes the document with "id", "job" (0: null) and, unless it is NULL, "label" as its first
 * members. */
int store_put_document(struct store *store, int64_t id, int64_t job_id, const char *label,
                       const struct store_document *document, struct rl_err *err);

#endif
