/* The names of kernels and ceilings, each kept once, and those of states. */
#ifndef DB_ROWS_UNITS_H
#define DB_ROWS_UNITS_H

#include "db/core/store.h"
#include "gpu/record/run.h"

/* kind is "kernel" or "ceiling". 1 found, 0 not, -1. */
int store_unit_find(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err);
int store_unit_put(struct store *store, const char *name, const char *kind, int64_t *ret_id, struct rl_err *err);
int store_state_from_name(const char *name, enum rl_state *ret);

#endif
