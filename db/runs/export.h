/* Runs as one long text, in pieces. */
#ifndef DB_RUNS_EXPORT_H
#define DB_RUNS_EXPORT_H

#include <stddef.h>

#include "db/core/store.h"
#include "db/runs/list.h"

enum store_export_format { STORE_EXPORT_JSON, STORE_EXPORT_CSV };
struct store_export;
/* The runs of a filter (its limit and cursor are not looked at; strings are copied), newest first, in pieces. Between
 * pieces anything may be stored: a run that comes meanwhile with a newer date is not in it.
 * JSON: {"items":[the run's document, ...]}. CSV: rl_csv_write's lines behind a column "run", one head. */
int store_export_start(struct store *store, const struct store_run_filter *filter, enum store_export_format format,
                       struct store_export **ret, struct rl_err *err);
/* Appends the next piece: whole runs until there are at least `bytes` more in out; of CSV one run, since its document
 * is parsed for it. *ret_done: that was the last. Nothing appended and not done: see store_export_beside. After an
 * error the export is only to be freed. */
int store_export_next(struct store_export *export, size_t bytes, struct rl_buf *out, bool *ret_done,
                      struct rl_err *err);
/* Of CSV: from now on a run whose document has over here_bytes is not parsed by store_export_next, which appends
 * nothing for it until it was made. That takes store_export_fetch, which reads the document unless it is held, and then
 * store_export_make, which touches the export alone, so that another thread may call it; its errors are those of the
 * next store_export_next. store_export_drop: the document is not held while the run waits to be made. */
void store_export_beside(struct store_export *export, size_t here_bytes);
int store_export_fetch(struct store_export *export, struct rl_err *err);
void store_export_drop(struct store_export *export);
void store_export_make(struct store_export *export);
void store_export_free(struct store_export *export); /* accepts NULL; before store_close */

#endif
