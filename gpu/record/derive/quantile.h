/* Order statistics of raw samples. Pure. */
#ifndef RL_QUANTILE_H
#define RL_QUANTILE_H

#include <stddef.h>

#include "gpu/record/run.h"

/* Quantile q in [0,1] of ascending values by linear interpolation (Hyndman & Fan 1996, type 7). n >= 1. */
double rl_quantile_sorted(const double *ascending, size_t n, double q);
void rl_sort_doubles(double *values, size_t n); /* ascending; values hold no NaN */
/* Median absolute deviation times RL_MAD_SCALE (Rousseeuw & Croux 1993): the standard deviation of a normal sample,
 * little moved by outliers. n >= 1. */
#define RL_MAD_SCALE 1.4826022185056018 /* 1 / the 0.75 quantile of the normal */
double rl_scaled_mad_sorted(const double *ascending, size_t n);
/* What is usual: median +- RL_BAND_MADS scaled MADs. n >= 1. */
#define RL_BAND_MADS 3.0
struct rl_band {
    double low, median, high;
};
struct rl_band rl_band_sorted(const double *ascending, size_t n);
/* McKean-Schrader standard error of the median (McKean & Schrader 1984; Wilcox 2012, section 3.3.4):
 * (x[n-k+1] - x[k]) / (2 z), one-based, k = round((n+1)/2 - z sqrt(n/4)), z = 2.5758 (the 0.995 quantile of the
 * normal). Halves round to even, as in numpy and R. n >= 5, else NaN: with fewer k would be below 1. Where k still
 * comes out below 1 (n = 5 and 6) it is 1: the whole range. */
double rl_median_std_error(const double *ascending, size_t n);
/* Fills median, p25, p75, min, std_error and n of ret from samples (any order, all finite and > 0; n 1 to 1,000,000),
 * in seconds per launch; launches and stop stay as they are. 0, or -1 with ret untouched: a sample is out of range, n
 * is 0, or memory ran out. std_error is unknown with its reason below 5 samples. */
int rl_times_from_samples(const double *samples, size_t n, struct rl_times *ret);
/* The first statistic that is not that of its samples. */
struct rl_times_difference {
    const char *member; /* "n", "launches", "median", "p25", "p75", "min" or "std_error"; NULL: none */
    double said, made;  /* the statistic, and what the samples give: seconds, or counts; NaN when unknown */
};
/* Holds said against its n raw samples of `launches` launches each (limits as above). Counts have to be equal, times
 * equal to a relative 1e-9: samples and statistics are made of the same doubles and travel with 17 digits, so that the
 * room is for another order of additions, not for rounding. A statistic is unknown where the samples give none.
 * stop is not looked at. 0, or -1 with ret untouched: a sample is out of range, n is 0, or memory ran out. */
int rl_times_check(const struct rl_times *said, const double *samples, size_t n, int64_t launches,
                   struct rl_times_difference *ret);
#define RL_TIMES_WORDS 32
const char *rl_times_words(double value, char out[RL_TIMES_WORDS]); /* said or made, for a message; "null" */

#endif
