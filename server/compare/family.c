/* A family of shifts judged together, and the bootstrap. Sources: server/compare/stats.h. */
#include <math.h>

#include "gpu/record/derive/quantile.h"
#include "server/compare/stats.h"

/* Standard error of the Hodges-Lehmann shift when every draw has this spread. */
static double shift_error(const struct stats_item *item)
{
    double efficiency = item->base_n == 1 && item->head_n == 1 ? 1 : M_PI / 3;
    return item->spread * sqrt(efficiency * (1 / (double)item->base_n + 1 / (double)item->head_n));
}

static double spread_p(const struct stats_item *item)
{
    double error = shift_error(item), shift = fabs(item->shift);
    if (error > 0)
        return 2 * stats_student_upper(shift / error, item->spread_df);
    return shift > 0 ? 0 : 1;
}

static bool by_rank(const struct stats_item *item, size_t rank_min)
{
    return item->base_n >= rank_min && item->head_n >= rank_min;
}

/* Whether the rank interval of this confidence exists: no order of the draws is rarer than the one all on one side. */
static bool attainable(const struct stats_null *null, double alpha)
{
    return 2 * stats_null_lower(null, 0) <= alpha;
}

/* Chooses each item's method, given how many there are to be, and counts those that have one. */
static size_t choose(struct stats_item *items, size_t count, double alpha, size_t rank_min, struct stats_null *null)
{
    size_t judged = 0;
    for (size_t i = 0; i < count; i++)
        judged += by_rank(&items[i], rank_min) || items[i].spread_df > 0;
    size_t family = judged;
    for (size_t i = 0; i < count; i++) {
        struct stats_item *item = &items[i];
        item->method = STATS_NONE;
        if (by_rank(item, rank_min)) {
            stats_null_fill(item->base_n, item->head_n, null);
            if (attainable(null, alpha / (double)family))
                item->method = STATS_RANK;
        }
        if (item->method == STATS_NONE && item->spread_df > 0)
            item->method = STATS_SPREAD;
        if (item->method == STATS_NONE && by_rank(item, rank_min))
            judged--;
    }
    return judged;
}

static void interval(struct stats_item *item, double alpha, struct stats_null *null)
{
    if (item->method == STATS_RANK) {
        stats_null_fill(item->base_n, item->head_n, null);
        struct stats_interval found;
        if (stats_shift_interval(item->base, item->base_n, item->head, item->head_n, null, alpha, &found) != 0)
            return; /* not reached: choose() saw that the interval exists at a smaller alpha */
        item->shift = found.shift;
        item->low = found.low;
        item->high = found.high;
        item->level = found.level;
    } else {
        double reach = stats_student_quantile(alpha / 2, item->spread_df) * shift_error(item);
        item->low = item->shift - reach;
        item->high = item->shift + reach;
        item->level = 1 - alpha;
    }
}

/* The judged item with the smallest p that is not done yet: the first of equals. */
static struct stats_item *smallest(struct stats_item *items, size_t count)
{
    struct stats_item *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (items[i].method != STATS_NONE && isnan(items[i].p_holm) && (found == NULL || items[i].p < found->p))
            found = &items[i];
    return found;
}

void stats_family(struct stats_item *items, size_t count, double alpha, size_t rank_min)
{
    struct stats_null null = {.base = 0};
    size_t family = choose(items, count, alpha, rank_min, &null);
    for (size_t i = 0; i < count; i++) {
        struct stats_item *item = &items[i];
        item->p_holm = NAN;
        if (item->method != STATS_RANK) /* with the interval's */
            item->shift = stats_shift(item->base, item->base_n, item->head, item->head_n);
        if (item->method == STATS_RANK) {
            stats_null_fill(item->base_n, item->head_n, &null);
            stats_rank_test(item->base, item->base_n, item->head, item->head_n, &null, &item->rank);
            item->p = item->rank.p;
        } else if (item->method == STATS_SPREAD) {
            item->p = spread_p(item);
        }
    }
    double largest = 0;
    size_t left = family;
    bool rejecting = true;
    size_t divisor = family;
    for (struct stats_item *item; (item = smallest(items, count)) != NULL; left--) {
        largest = fmax(largest, fmin(1, item->p * (double)left));
        item->p_holm = largest;
        if (rejecting) {
            divisor = left;
            rejecting = largest <= alpha;
        }
        interval(item, alpha / (double)divisor, &null);
    }
}

uint64_t stats_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void redraw(size_t n, uint64_t *seed, size_t *ret)
{
    /* The high half scaled to n: the bias is below n / 2^32. */
    for (size_t i = 0; i < n; i++)
        ret[i] = (size_t)(((stats_random(seed) >> 32) * n) >> 32);
}

void stats_bootstrap(size_t base_n, size_t head_n, stats_statistic *statistic, const void *arg, double level,
                     uint64_t seed, double *ret_low, double *ret_high)
{
    double values[STATS_BOOTSTRAP_DRAWS];
    size_t base[STATS_SIDE_MAX], head[STATS_SIDE_MAX];
    for (size_t i = 0; i < STATS_BOOTSTRAP_DRAWS; i++) {
        redraw(base_n, &seed, base);
        redraw(head_n, &seed, head);
        values[i] = statistic(arg, base, head);
    }
    rl_sort_doubles(values, STATS_BOOTSTRAP_DRAWS);
    *ret_low = rl_quantile_sorted(values, STATS_BOOTSTRAP_DRAWS, (1 - level) / 2);
    *ret_high = rl_quantile_sorted(values, STATS_BOOTSTRAP_DRAWS, (1 + level) / 2);
}
