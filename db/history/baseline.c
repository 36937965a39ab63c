/* The noise band of a trend. */
#include "db/history/baseline.h"

#include <assert.h>
#include <string.h>

/* Here and below a branch on measured values would be guessed wrongly half of the time: these sums and choices take a
 * third of the time of the usual loops (2026-11-30). */
void baseline_sort(double *values, size_t count)
{
    double sorted[BASELINE_ADD];

    assert(count <= BASELINE_ADD);
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        size_t rank = 0;

        for (size_t k = 0; k < i; k++)
            rank += values[k] <= value;
        for (size_t k = i + 1; k < count; k++)
            rank += values[k] < value;
        sorted[rank] = value;
    }
    memcpy(values, sorted, count * sizeof *values);
}

static void drop_days(struct baseline *baseline, uint32_t first)
{
    size_t kept = 0;

    for (size_t i = 0; i < baseline->count; i++) {
        double value = baseline->ascending[i];
        uint32_t day = baseline->day_of[i];

        baseline->ascending[kept] = value;
        baseline->day_of[kept] = day;
        kept += day >= first;
    }
    baseline->count = kept;
    baseline->first_day = first;
}

static void put_in(struct baseline *baseline, const double *sorted, size_t count, uint32_t day)
{
    double *ascending = baseline->ascending;
    uint32_t *day_of = baseline->day_of;
    size_t from = baseline->count, to = from + count;

    baseline->count = to;
    while (count > 0 && from > 0) {
        double old = ascending[from - 1], new = sorted[count - 1];
        uint32_t day_of_old = day_of[from - 1];
        size_t takes_old = old > new;

        ascending[--to] = takes_old ? old : new;
        day_of[to] = takes_old ? day_of_old : day;
        from -= takes_old;
        count -= 1 - takes_old;
    }
    while (count > 0) { /* what is left of the old ones is where it belongs */
        ascending[count - 1] = sorted[count - 1];
        day_of[--count] = day;
    }
}

void baseline_add(struct baseline *baseline, const double *ascending, size_t count)
{
    uint32_t first = baseline->first_day, day = baseline->next_day;
    size_t left = baseline->count;

    assert(count <= BASELINE_ADD);
    if (count == 0)
        return;
    for (; left + count > BASELINE_MAX; first++)
        left -= baseline->lengths[first % BASELINE_MAX];
    if (first != baseline->first_day)
        drop_days(baseline, first);
    baseline->lengths[day % BASELINE_MAX] = (unsigned char)count;
    baseline->next_day = day + 1;
    put_in(baseline, ascending, count, day);
}

struct rl_band baseline_band(const struct baseline *baseline)
{
    return rl_band_sorted(baseline->ascending, baseline->count);
}
