/* The baseline of a trend: its newest runs, of which record/quantile.h makes the noise band. Pure. */
#ifndef DB_HISTORY_BASELINE_H
#define DB_HISTORY_BASELINE_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/record/derive/quantile.h"

#define BASELINE_MIN 5   /* runs; with fewer there is no band */
#define BASELINE_MAX 128 /* runs: of the newest days, as many whole ones as fit */
#define BASELINE_ADD 32  /* at once */

struct baseline { /* zeroed: empty */
    double ascending[BASELINE_MAX];
    uint32_t day_of[BASELINE_MAX]; /* of each value: when it was added */
    size_t count;
    unsigned char lengths[BASELINE_MAX]; /* a ring: how many were added on each of the days first_day to next_day - 1 */
    uint32_t first_day, next_day;
};

/* A day's values, ascending, no NaN, at most BASELINE_ADD. The oldest days go when they would be too many. */
void baseline_add(struct baseline *baseline, const double *ascending, size_t count);
struct rl_band baseline_band(const struct baseline *baseline); /* of at least one run */
/* Ascending, in place; at most BASELINE_ADD, no NaN: for few values quicker than qsort. */
void baseline_sort(double *values, size_t count);

#endif
