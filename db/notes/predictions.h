/* Predictions as they came out, and why the most wrong ones were wrong. */
#ifndef DB_NOTES_PREDICTIONS_H
#define DB_NOTES_PREDICTIONS_H

#include <stddef.h>

#include "db/core/store.h"

/* What the job's sender said, scored when the run was stored: {"run","predicted":10,"scored":9,"right":7,
 * "items":[{"kernel","state","said","found","dram_per_ask","right","why":{}}],"most_wrong":[the ids of at most two
 * misses with the largest |ln(DRAM/ask)|],"why_wrong":[{"kernel","text"}],"version","principal","changed_at","why":{}}:
 * version is 0, principal and changed_at null with why while nothing was said of why. A run without predictions has 0
 * and none. RL_E_RUN_NOT_FOUND. */
int store_predictions_json(struct store *store, int64_t run_id, struct rl_buf *out, int64_t *ret_version,
                           struct rl_err *err);

#define STORE_WRONG_CHARACTERS 1024 /* of one text; over it, or without any: RL_E_BAD_FIELD */
struct store_wrong {
    const char *kernel; /* one of the run's most_wrong, once: else RL_E_BAD_FIELD, "why_wrong.KERNEL" */
    const char *text;
};
struct store_wrong_new {
    int64_t run_id;
    const struct store_wrong *items;
    size_t count;
    const char *principal;
    int64_t if_version; /* as of a note */
    int64_t now_ms;
};
/* Replaces all that was said of the run's predictions. RL_E_RUN_NOT_FOUND, RL_E_CONFLICT. */
int store_predictions_put(struct store *store, const struct store_wrong_new *said, int64_t *ret_version,
                          struct rl_err *err);

#endif
