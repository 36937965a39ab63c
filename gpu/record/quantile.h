/* Order statistics of raw samples. Pure. */
#ifndef RL_QUANTILE_H
#define RL_QUANTILE_H

#include <stddef.h>

#include "record/record.h"

/* Quantile q in [0,1] of ascending values by linear interpolation (Hyndman & Fan 1996, type 7). n >= 1. */
double rl_quantile_sorted(const double *ascending, size_t n, double q);
void rl_sort_doubles(double *values, size_t n);
/* McKean-Schrader standard error of the median (McKean & Schrader 1984): (x[n-c] - x[c-1 ... see .c) / (2 z). n >= 5, else NaN. */
double rl_median_std_error(const double *ascending, size_t n);
/* Fills median, p25, p75, min, std_error and n of ret from samples (any order, all finite and > 0), s per launch. */
int rl_times_from_samples(const double *samples, size_t n, struct rl_times *ret);

#endif
