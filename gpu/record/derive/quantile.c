/* Quantiles and the median's standard error. Sources: quantile.h. */
#include "gpu/record/derive/quantile.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX 1000000u
#define Z_995       2.5758293035489004 /* 0.995 quantile of the standard normal */
/* see rl_times_check */
#define SAME_RELATIVE 1e-9

double rl_quantile_sorted(const double *ascending, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t low = (size_t)floor(at);
    if (low >= n - 1)
        return ascending[n - 1];
    double part = at - (double)low;
    return ascending[low] + part * (ascending[low + 1] - ascending[low]);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void rl_sort_doubles(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, compare);
}

/* The first that is not below value. */
static size_t position(const double *ascending, size_t n, double value)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ascending[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the distances from the middle: those to the left of it grow leftwards, those to the right rightwards. The smallest
 * k are some of either; how many of the left is found by halving: too few while the next on the left is nearer than the
 * last taken on the right. Returns the k-th, k from 1. */
static double nearest(const double *ascending, size_t n, double middle, size_t at, size_t k)
{
    size_t low = k > n - at ? k - (n - at) : 0, high = k < at ? k : at;
    while (low < high) {
        size_t left = low + (high - low) / 2;
        if (middle - ascending[at - 1 - left] < ascending[at + k - 1 - left] - middle)
            low = left + 1;
        else
            high = left;
    }
    double last_left = low > 0 ? middle - ascending[at - low] : 0;
    double last_right = k > low ? ascending[at + k - low - 1] - middle : 0;
    return last_left > last_right ? last_left : last_right;
}

static double median_distance(const double *ascending, size_t n, double middle)
{
    size_t at = position(ascending, n, middle);
    double last = nearest(ascending, n, middle, at, n / 2 + 1);
    return n % 2 == 1 ? last : (nearest(ascending, n, middle, at, n / 2) + last) / 2;
}

double rl_scaled_mad_sorted(const double *ascending, size_t n)
{
    return RL_MAD_SCALE * median_distance(ascending, n, rl_quantile_sorted(ascending, n, 0.5));
}

struct rl_band rl_band_sorted(const double *ascending, size_t n)
{
    double middle = rl_quantile_sorted(ascending, n, 0.5);
    double half = RL_BAND_MADS * RL_MAD_SCALE * median_distance(ascending, n, middle);
    return (struct rl_band){middle - half, middle, middle + half};
}

double rl_median_std_error(const double *ascending, size_t n)
{
    if (n < 5)
        return NAN;
    double k = nearbyint(((double)n + 1) / 2 - Z_995 * sqrt((double)n / 4));
    size_t low = k < 1 ? 1 : (size_t)k;
    return (ascending[n - low] - ascending[low - 1]) / (2 * Z_995);
}

int rl_times_from_samples(const double *samples, size_t n, struct rl_times *ret)
{
    if (n == 0 || n > SAMPLES_MAX)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(samples[i]) || samples[i] <= 0)
            return -1;
    double *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return -1;
    memcpy(sorted, samples, n * sizeof *sorted);
    rl_sort_doubles(sorted, n);
    double error = rl_median_std_error(sorted, n);
    ret->median = rl_known(rl_quantile_sorted(sorted, n, 0.5));
    ret->p25 = rl_known(rl_quantile_sorted(sorted, n, 0.25));
    ret->p75 = rl_known(rl_quantile_sorted(sorted, n, 0.75));
    ret->min = rl_known(sorted[0]);
    ret->std_error = isnan(error) ? rl_unknown("fewer than 5 samples") : rl_known(error);
    ret->n = (int64_t)n;
    free(sorted);
    return 0;
}

static double or_nan(struct rl_real real)
{
    return rl_is_known(real) ? real.value : NAN;
}

int rl_times_check(const struct rl_times *said, const double *samples, size_t n, int64_t launches,
                   struct rl_times_difference *ret)
{
    struct rl_times made = {0};
    if (rl_times_from_samples(samples, n, &made) != 0)
        return -1;
    *ret = (struct rl_times_difference){NULL, 0, 0};
    if (said->n != made.n || said->launches != launches) {
        *ret = said->n != made.n ? (struct rl_times_difference){"n", (double)said->n, (double)made.n}
                                 : (struct rl_times_difference){"launches", (double)said->launches, (double)launches};
        return 0;
    }
    const struct {
        const char *name;
        struct rl_real said, made;
    } members[] = {{"median", said->median, made.median},
                   {"p25", said->p25, made.p25},
                   {"p75", said->p75, made.p75},
                   {"min", said->min, made.min},
                   {"std_error", said->std_error, made.std_error}};
    for (size_t i = 0; i < sizeof members / sizeof members[0] && ret->member == NULL; i++) {
        double value = or_nan(members[i].said), own = or_nan(members[i].made);
        if (!(fabs(value - own) <= SAME_RELATIVE * own) && !(isnan(value) && isnan(own)))
            *ret = (struct rl_times_difference){members[i].name, value, own};
    }
    return 0;
}

const char *rl_times_words(double value, char out[RL_TIMES_WORDS])
{
    if (isnan(value))
        return "null";
    snprintf(out, RL_TIMES_WORDS, "%.9g", value);
    return out;
}
