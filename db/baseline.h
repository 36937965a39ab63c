/* The noise band of a trend: median +- 3 x 1.4826 x MAD of the newest runs of a baseline. Pure. */
#ifndef DB_BASELINE_H
#define DB_BASELINE_H

#include <stddef.h>

#define BASELINE_MIN 5   /* runs; with fewer there is no band */
#define BASELINE_MAX 256 /* the newest so many */
#define BASELINE_ADD 32  /* at once */

struct baseline { /* zeroed: empty */
    double ascending[BASELINE_MAX], in_order[BASELINE_MAX];
    size_t count, oldest; /* in_order is a ring once it is full */
};
struct band {
    double low, median, high;
};

/* No NaN; at most BASELINE_ADD; the oldest go when it is full. The values oldest first, and again ascending. */
void baseline_add(struct baseline *baseline, const double *values, const double *ascending, size_t count);
struct band baseline_band(const struct baseline *baseline); /* of at least one run */
/* Ascending, in place: for few values quicker than qsort. */
void baseline_sort(double *values, size_t count);

#endif
