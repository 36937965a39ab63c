/* The noise band of a trend: median +- 3 x 1.4826 x MAD of the newest runs of a baseline. Pure. */
#ifndef DB_BASELINE_H
#define DB_BASELINE_H

#include <stddef.h>

#define BASELINE_MIN 5   /* runs; with fewer there is no band */
#define BASELINE_MAX 256 /* the newest so many */

struct baseline { /* zeroed: empty */
    double ascending[BASELINE_MAX], in_order[BASELINE_MAX];
    size_t count, oldest; /* in_order is a ring once it is full */
};
struct band {
    double low, median, high;
};

void baseline_add(struct baseline *baseline, double value); /* no NaN; the oldest goes when it is full */
struct band baseline_band(const struct baseline *baseline); /* of at least one run */

#endif
