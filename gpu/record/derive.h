/* Derived values: everything that follows from stored times and counts. Pure; no I/O. */
#ifndef RL_DERIVE_H
#define RL_DERIVE_H

#include "record/record.h"

#define RL_FLOOR_FACTOR 5.0 /* METHOD: below 5 x floor a byte count is "at the floor" */

/* Fills every derived member of run from its measured ones: ridge, dram sums, ratios, intensities, rates,
 * percents, bound, advice, percent_of_nominal, counter_backed, and the flags that are rules over stored values
 * (cache_resident, writeback_unpaid, at_floor, not_steady). Formulas and thresholds stand in derive.c beside
 * their source. Idempotent. Reasons are kept when a needed value is unknown. */
void rl_derive(struct rl_run *run);

#endif
