/* The matrix of history: device x driver x CUDA x day. */
#ifndef DB_HISTORY_MATRIX_H
#define DB_HISTORY_MATRIX_H

#include "db/core/store.h"

#define STORE_MATRIX_CELLS_MAX 200000 /* of one answer; over it: RL_E_TOO_LARGE, naming what to ask for instead */

struct store_matrix_query {
    const char *device;         /* NULL: all; an unknown one gives no rows */
    const char *source;         /* NULL: measured and imported */
    const char *label;          /* NULL: any */
    int64_t since_ms, until_ms; /* widened to whole UTC days; inclusive, exclusive; 0: up to today, for 365 days */
    int64_t now_ms;             /* what "today" is */
};
/* {"since":"2025-11-30","until":"2026-11-30","source":"measured,imported","label"?,"rows":[{"device":{"id","name"},"driver",
 * "cuda","why":{},"cells":[{"day":"2026-11-29","counters":"counter-backed"|"timed-only","counter_backed":n,
 * "timed_only":n}]}],"excluded":[…as of a trend]}: runs with the outcome ok. until is exclusive. A day without a cell
 * has none. Rows come in the order in which device, driver and CUDA were first seen, cells by day. */
int store_history_matrix(struct store *store, const struct store_matrix_query *query, struct rl_buf *out,
                         struct rl_err *err);

#endif
