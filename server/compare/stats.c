/* Distributions, ranks, shifts and spreads. Sources: server/compare/stats.h. The family and the bootstrap:
 * server/compare/family.c.
 */
#include "server/compare/stats.h"

#include <math.h>
#include <string.h>

#include "gpu/record/derive/quantile.h"

/* ---- distributions ---- */

double stats_normal_upper(double z)
{
    return 0.5 * erfc(z / M_SQRT2);
}

double stats_student_upper(double t, size_t df)
{
    double angle = atan(t / sqrt((double)df));
    double cosine = cos(angle), sine = sin(angle);
    double term = df % 2 ? cosine : 1, sum = 0;
    /* even: 1, 1/2 cos^2, 1·3/(2·4) cos^4 … to cos^(df-2); odd: cos, 2/3 cos^3 … likewise */
    for (size_t power = df % 2; power + 2 <= df; power += 2) {
        sum += term;
        term *= cosine * cosine * (double)(power + 1) / (double)(power + 2);
    }
    double within = df % 2 ? (angle + sine * sum) * M_2_PI : sine * sum;
    return within >= 1 ? 0 : (1 - within) / 2;
}

double stats_student_quantile(double p, size_t df)
{
    double low = 0, high = 1;
    while (stats_student_upper(high, df) > p && high < 1e15) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 100 && high - low > 1e-15 * high; i++) {
        double middle = low + (high - low) / 2;
        if (stats_student_upper(middle, df) > p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

/* ---- the null distribution of U ---- */

void stats_null_fill(size_t base, size_t head, struct stats_null *null)
{
    if (null->base == base && null->head == head)
        return;
    null->base = base;
    null->head = head;
    null->exact = base + head <= STATS_EXACT_MAX;
    if (!null->exact)
        return;
    size_t half = base * head / 2;
    uint64_t *count = null->below;
    memset(count, 0, (half + 1) * sizeof *count);
    count[0] = 1;
    /* Intermediate products may wrap around: arithmetic modulo 2^64 is exact for a result below it. */
    for (size_t i = 1; i <= base; i++) {
        for (size_t u = half; u >= head + i; u--)
            count[u] -= count[u - head - i];
        for (size_t u = i; u <= half; u++)
            count[u] += count[u - i];
    }
    for (size_t u = 1; u <= half; u++)
        count[u] += count[u - 1];
    double total = 1;
    for (size_t i = 1; i <= base; i++)
        total = total * (double)(head + i) / (double)i;
    null->total = nearbyint(total);
}

double stats_null_lower(const struct stats_null *null, size_t u)
{
    size_t pairs = null->base * null->head;
    if (u >= pairs)
        return 1;
    if (!null->exact) {
        double mean = (double)pairs / 2;
        double sd = sqrt((double)pairs * (double)(null->base + null->head + 1) / 12);
        return stats_normal_upper((mean - (double)u - 0.5) / sd);
    }
    if (u <= pairs / 2)
        return (double)null->below[u] / null->total;
    return 1 - (double)null->below[pairs - u - 1] / null->total;
}

/* ---- rank test ---- */

struct pooled { /* both sides in ascending order, with twice their mid-ranks: whole numbers */
    double value[2 * STATS_SIDE_MAX];
    size_t rank2[2 * STATS_SIDE_MAX];
    size_t n, ties;
    double tie_sum; /* sum over groups of t^3 - t */
};

static void pool(const double *base, size_t base_n, const double *head, size_t head_n, struct pooled *ret)
{
    memcpy(ret->value, base, base_n * sizeof *base);
    memcpy(ret->value + base_n, head, head_n * sizeof *head);
    ret->n = base_n + head_n;
    ret->ties = 0;
    ret->tie_sum = 0;
    rl_sort_doubles(ret->value, ret->n);
    for (size_t from = 0, to; from < ret->n; from = to) {
        for (to = from + 1; to < ret->n && ret->value[to] <= ret->value[from];)
            to++;
        for (size_t i = from; i < to; i++)
            ret->rank2[i] = from + to + 1; /* mean of from + 1 … to, doubled */
        double group = (double)(to - from);
        ret->tie_sum += group * group * group - group;
        ret->ties += to - from > 1 ? to - from : 0;
    }
}

/* Share of the ways to choose base_n of the tied ranks whose sum lies at least as far from the middle as sum2 does. */
static double tied_exact(const struct pooled *all, size_t base_n, size_t sum2)
{
    enum { SUM_MAX = STATS_TIES_EXACT_MAX * (STATS_TIES_EXACT_MAX + 1) };
    double ways[STATS_TIES_EXACT_MAX / 2 + 1][SUM_MAX + 1] = {{0}}; /* [chosen][doubled rank sum] */
    ways[0][0] = 1;
    for (size_t i = 0; i < all->n; i++)
        for (size_t chosen = base_n; chosen >= 1; chosen--)
            for (size_t sum = SUM_MAX; sum >= all->rank2[i]; sum--)
                ways[chosen][sum] += ways[chosen - 1][sum - all->rank2[i]];
    size_t middle = base_n * (all->n + 1); /* of doubled sums */
    size_t far = sum2 > middle ? sum2 - middle : middle - sum2;
    double total = 0, beyond = 0;
    for (size_t sum = 0; sum <= SUM_MAX; sum++) {
        total += ways[base_n][sum];
        if ((sum > middle ? sum - middle : middle - sum) >= far)
            beyond += ways[base_n][sum];
    }
    return beyond / total;
}

static double tied_normal(const struct pooled *all, size_t base_n, size_t head_n, double u)
{
    double n = (double)all->n, pairs = (double)(base_n * head_n);
    double variance = pairs / 12 * (n + 1 - all->tie_sum / (n * (n - 1)));
    double far = fabs(u - pairs / 2) - 0.5;
    if (!(variance > 0) || far <= 0)
        return 1;
    return fmin(1, 2 * stats_normal_upper(far / sqrt(variance)));
}

void stats_rank_test(const double *base, size_t base_n, const double *head, size_t head_n,
                     const struct stats_null *null, struct stats_rank *ret)
{
    size_t wins2 = 0; /* twice u */
    for (size_t i = 0; i < base_n; i++)
        for (size_t j = 0; j < head_n; j++)
            wins2 += head[j] > base[i] ? 2 : head[j] >= base[i] ? 1 : 0;
    struct pooled all;
    pool(base, base_n, head, head_n, &all);
    ret->u = (double)wins2 / 2;
    ret->ties = all.ties;
    if (all.ties == 0 && null->exact) {
        size_t u = wins2 / 2, other = base_n * head_n - u;
        ret->exact = true;
        ret->p = fmin(1, 2 * stats_null_lower(null, u < other ? u : other));
        return;
    }
    ret->exact = all.n <= STATS_TIES_EXACT_MAX;
    if (!ret->exact) {
        ret->p = tied_normal(&all, base_n, head_n, ret->u);
        return;
    }
    /* head's doubled rank sum is twice U more than that of the lowest ranks; ranks of the smaller side are chosen */
    size_t head_sum2 = wins2 + head_n * (head_n + 1);
    size_t all_sum2 = all.n * (all.n + 1);
    ret->p = base_n < head_n ? tied_exact(&all, base_n, all_sum2 - head_sum2) : tied_exact(&all, head_n, head_sum2);
}

/* ---- shift ---- */

/* The k-th smallest (from 0) of values, which are reordered: Hoare's FIND (1961), the middle one of three as pivot. */
static double select_smallest(double *values, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        double a = values[low], b = values[low + (high - low) / 2], c = values[high];
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        /* all up to j are at most the pivot, all from i at least; between them, if anything, the pivot itself */
        if (i == j && values[i] <= pivot && values[i] >= pivot) {
            if (k == i)
                return values[k];
            if (k < i)
                high = i - 1;
            else
                low = i + 1;
        } else if (k <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return values[k];
}

static size_t differences(const double *base, size_t base_n, const double *head, size_t head_n, double *ret)
{
    for (size_t i = 0; i < base_n; i++)
        for (size_t j = 0; j < head_n; j++)
            ret[i * head_n + j] = head[j] - base[i];
    return base_n * head_n;
}

/* The median of n values, which are reordered. */
static double middle_of(double *values, size_t n)
{
    double upper = select_smallest(values, n, n / 2);
    if (n % 2)
        return upper;
    double lower = values[0]; /* the selection left the n / 2 smallest in front */
    for (size_t i = 1; i < n / 2; i++)
        lower = fmax(lower, values[i]);
    return (lower + upper) / 2;
}

double stats_shift(const double *base, size_t base_n, const double *head, size_t head_n)
{
    double all[STATS_SIDE_MAX * STATS_SIDE_MAX];
    return middle_of(all, differences(base, base_n, head, head_n, all));
}

/* The largest k with P(U <= k - 1) <= tail; 0 when there is none. */
static size_t critical(const struct stats_null *null, double tail)
{
    size_t low = 0, high = null->base * null->head / 2; /* low fits, high + 1 is not asked for */
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (stats_null_lower(null, middle - 1) <= tail)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int stats_shift_interval(const double *base, size_t base_n, const double *head, size_t head_n,
                         const struct stats_null *null, double alpha, struct stats_interval *ret)
{
    size_t k = critical(null, alpha / 2);
    if (k == 0)
        return -1;
    double all[STATS_SIDE_MAX * STATS_SIDE_MAX];
    size_t n = differences(base, base_n, head, head_n, all);
    ret->shift = middle_of(all, n);
    /* The smaller half stands in front now, so that the ends are looked for in one half each; k is at most n / 2. */
    ret->low = select_smallest(all, n / 2, k - 1);
    ret->high = select_smallest(all + n / 2, n - n / 2, n - k - n / 2);
    ret->level = 1 - 2 * stats_null_lower(null, k - 1);
    return 0;
}

/* ---- spread ---- */

double stats_scaled_mad(double *values, size_t n)
{
    rl_sort_doubles(values, n);
    return rl_scaled_mad_sorted(values, n);
}

double stats_pooled_sd(const double *values, const int64_t *group, size_t n, size_t *ret_df)
{
    double squares = 0;
    size_t df = 0;
    for (size_t first = 0; first < n; first++) {
        bool seen = false;
        double sum = 0;
        size_t members = 0;
        for (size_t i = 0; i < first && !seen; i++)
            seen = group[i] == group[first];
        if (seen)
            continue;
        for (size_t i = first; i < n; i++)
            if (group[i] == group[first]) {
                sum += values[i];
                members++;
            }
        for (size_t i = first; i < n; i++)
            if (group[i] == group[first])
                squares += (values[i] - sum / (double)members) * (values[i] - sum / (double)members);
        df += members - 1;
    }
    *ret_df = df;
    return df == 0 ? 0 : sqrt(squares / (double)df);
}
