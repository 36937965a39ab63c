/* The statistics of a comparison: pure functions of numbers, no I/O, no memory of their own.
 *
 * "base" and "head" are two samples of independent draws; a shift is positive where head is larger. Values are finite.
 * Sources: [HWC] Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3rd ed. 2014, chapter 4;
 * [L] Lehmann, Nonparametrics: Statistical Methods Based on Ranks, 1975, sections 1 and 2; [AS] Abramowitz & Stegun,
 * Handbook of Mathematical Functions, 1964; others where they are used.
 */
#ifndef SERVER_COMPARE_STATS_H
#define SERVER_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_SIDE_MAX  64 /* draws a side; callers pass no more */
#define STATS_EXACT_MAX 60 /* draws of both sides up to which the rank distribution is counted, not approximated */
/* Draws of both sides up to which it is counted under ties too: the work grows with the fourth power of their number,
 * and the normal approximation errs towards a larger p in the tail. */
#define STATS_TIES_EXACT_MAX 20

/* ---- distributions ---- */
double stats_normal_upper(double z); /* P(Z > z) */
/* P(T > t) of Student's t with df >= 1 degrees of freedom and t >= 0: the finite series [AS] 26.7.3 and 26.7.4, exact
 * for whole df; absolute error below 1e-14. */
double stats_student_upper(double t, size_t df);
double stats_student_quantile(double p, size_t df); /* t with P(T > t) = p, 1e-12 < p <= 0.5; by bisection */

/* ---- the null distribution of U ---- */
/* below[u] of total = number of orders of the pooled draws, no two alike, with U <= u; u up to base * head / 2, the
 * rest by symmetry. Counted by the generating function prod (1 - q^(head+i)) / (1 - q^i), i = 1 … base (Gaussian
 * polynomials: Andrews, The Theory of Partitions, 1976, chapter 3), in whole numbers: C(60, 30) is 1.2e17. */
struct stats_null {
    size_t base, head;
    bool exact; /* base + head <= STATS_EXACT_MAX; else below is not filled */
    double total;
    uint64_t below[STATS_EXACT_MAX * STATS_EXACT_MAX / 8 + 1];
};
/* base and head are 1 to STATS_SIDE_MAX. Does nothing when null already holds these two numbers. */
void stats_null_fill(size_t base, size_t head, struct stats_null *null);
/* P(U <= u) without ties: counted, or by the normal with continuity correction beyond STATS_EXACT_MAX. */
double stats_null_lower(const struct stats_null *null, size_t u);

/* ---- rank test ---- */
struct stats_rank {
    double u;    /* pairs in which head is larger, a tie counting one half (Mann & Whitney 1947) */
    double p;    /* two-sided */
    bool exact;  /* counted, not approximated */
    size_t ties; /* draws that are equal to another one */
};
/* Mann-Whitney's test (Wilcoxon's rank sum). Without ties P is 2 P(U >= max(u, mn - u)), at most 1, as counted. With
 * ties: up to STATS_TIES_EXACT_MAX draws all assignments of the tied ranks are counted (Streitberg & Röhmel 1986) and p
 * is the share that lies as far from mn / 2 as u does; beyond, the normal with the variance's tie correction
 * mn/12 (N + 1 - sum (t^3 - t) / (N (N - 1))) and a continuity correction of 1/2 ([L], [HWC] 4.1). All draws alike:
 * p is 1. */
void stats_rank_test(const double *base, size_t base_n, const double *head, size_t head_n,
                     const struct stats_null *null, struct stats_rank *ret);

/* ---- shift ---- */
/* Hodges-Lehmann estimate: the median of all differences head[j] - base[i] (Hodges & Lehmann 1963; [HWC] 4.2). */
double stats_shift(const double *base, size_t base_n, const double *head, size_t head_n);
struct stats_interval {
    double shift;     /* Hodges-Lehmann */
    double low, high; /* around it */
    double level;     /* confidence reached */
};
/* The interval of shifts that the two-sided rank test at level alpha does not reject: [D(k), D(mn + 1 - k)] of the
 * ordered differences with the largest k for which P(U <= k - 1) <= alpha / 2 (Moses 1965; Bauer 1972; [HWC] 4.3).
 * Closed, so that under ties its confidence is at least that of the continuous case (Noether 1967). level is
 * 1 - 2 P(U <= k - 1). 0, or -1 with nothing written: there is no such k, too few draws. */
int stats_shift_interval(const double *base, size_t base_n, const double *head, size_t head_n,
                         const struct stats_null *null, double alpha, struct stats_interval *ret);

/* ---- spread ---- */
/* rl_scaled_mad_sorted of values in any order; they are sorted. n >= 1. */
double stats_scaled_mad(double *values, size_t n);
/* Standard deviation within groups, pooled: sqrt(sum over groups of (x - mean of group)^2 / (n - groups)). group[i] is
 * any number that is equal for draws of one group; groups of one draw say nothing and are left out. *ret_df is
 * n - groups of what is left, 0 when nothing is, and the result then 0. O(n^2).
 *
 * Not a MAD: this spread stands for that of single draws, and a history in which one draw in ten lies far out says that
 * the next one may. It also has n - groups degrees of freedom, where a MAD, 37 percent efficient (Rousseeuw & Croux
 * 1993), is worth about a third of them. */
double stats_pooled_sd(const double *values, const int64_t *group, size_t n, size_t *ret_df);

/* ---- a family of shifts ---- */
enum stats_method {
    STATS_NONE,   /* could not be judged */
    STATS_RANK,   /* both sides have enough draws: rank test and interval */
    STATS_SPREAD, /* a spread known from elsewhere: normal draws of that standard deviation, Student's t */
};
struct stats_item {
    const double *base, *head; /* draws; 1 to STATS_SIDE_MAX each */
    size_t base_n, head_n;
    double spread;    /* standard deviation of a draw, >= 0; used when a side has fewer than rank_min draws */
    size_t spread_df; /* its degrees of freedom; 0: there is none */
    /* answers */
    enum stats_method method;
    double shift;           /* Hodges-Lehmann, always */
    double p, p_holm;       /* unless method is STATS_NONE */
    double low, high;       /* likewise */
    double level;           /* confidence of low … high, at least 1 - alpha / divisor */
    struct stats_rank rank; /* STATS_RANK */
};
/* Judges items as one family: P(any false change) <= alpha, whatever the items' dependence, by Holm's step-down rule
 * (Holm 1979): the k-th smallest p of m is held against alpha / (m - k + 1), and the first that fails ends it. Each
 * interval is at the level at which its item was tested (1 - alpha / (m - k + 1), or 1 - alpha / (m - rejected) when it
 * was not rejected), so that test and interval agree; where nothing changed that is Bonferroni's, whose intervals hold
 * all together. p_holm is Holm's adjusted p.
 *
 * An item is judged by ranks when both sides have rank_min draws or more and the interval at alpha / m exists; else by
 * its spread when spread_df > 0: shift +- t(df) spread sqrt(c (1/m + 1/n)), c = pi/3 for the Hodges-Lehmann estimate's
 * variance over the mean's ([HWC] 4.5) and 1 for one draw a side; else not, and then it does not count in m. */
void stats_family(struct stats_item *items, size_t count, double alpha, size_t rank_min);

/* ---- bootstrap ---- */
/* Percentile interval (Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13) of a statistic of two
 * samples of runs: the runs of each side are drawn with replacement, whole, and statistic sees their indices. Two-sided
 * at `level`; quantiles by linear interpolation. splitmix64 (Steele, Lea & Flood 2014) seeded with seed, so equal input
 * gives equal output everywhere. statistic returns finite numbers. base_n, head_n 1 to
 * STATS_SIDE_MAX. */
#define STATS_BOOTSTRAP_DRAWS 400
typedef double stats_statistic(const void *arg, const size_t *base, const size_t *head);
void stats_bootstrap(size_t base_n, size_t head_n, stats_statistic *statistic, const void *arg, double level,
                     uint64_t seed, double *ret_low, double *ret_high);
uint64_t stats_random(uint64_t *seed); /* the next 64 bits of splitmix64 */

#endif
