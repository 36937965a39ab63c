/* From the store's draws to what server/compare/compare.h judges: the one place that knows both. */
#ifndef SERVER_ANSWERS_OBSERVATIONS_H
#define SERVER_ANSWERS_OBSERVATIONS_H

#include "db/history/observations.h"
#include "server/compare/compare.h"

struct compare_loaded { /* one side, ready to be judged */
    struct store_observations draws;
    struct compare_side side;
    struct rl_arena *arena;
};

/* Reads the runs of asked; label and asked's texts are borrowed. side.named is whether asked names runs. */
int compare_load(struct store *store, const struct store_side *asked, const char *label, struct compare_loaded *ret,
                 struct rl_err *err);
void compare_unload(struct compare_loaded *loaded); /* accepts a zeroed one */

struct compare_loaded_history {
    struct store_observations draws;
    struct compare_history history;
    struct rl_arena *arena;
};
/* Draws of the device of `like` in history with its suite, sizes, method and, as compare_past asks, its ECC, MIG and
 * power limit; newest first. A group is runs of one driver, CUDA runtime, source and kind of counting. Of asked:
 * source, kernels, rows_max, fewer_runs. */
int compare_load_history(struct store *store, const struct store_observation *like, const struct store_side *asked,
                         struct compare_loaded_history *ret, struct rl_err *err);
void compare_unload_history(struct compare_loaded_history *loaded); /* accepts a zeroed one */

#endif
