/* The noise band of a trend. */
#include "db/baseline.h"

#include <assert.h>

void baseline_sort(double *values, size_t count)
{
    static const size_t gaps[] = {57, 23, 10, 4, 1}; /* Ciura 2001 */

    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        size_t gap = gaps[g];

        for (size_t i = gap; i < count; i++) {
            double value = values[i];
            size_t at = i;

            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
    }
}

/* Both sorted; of equal values one goes for each. */
static void take_out(struct baseline *baseline, const double *gone, size_t count)
{
    size_t kept = 0, at = 0;

    for (size_t i = 0; i < baseline->count; i++) {
        if (at < count && baseline->ascending[i] == gone[at])
            at++;
        else
            baseline->ascending[kept++] = baseline->ascending[i];
    }
    baseline->count = kept;
}

static void put_in(struct baseline *baseline, const double *sorted, size_t count)
{
    size_t from = baseline->count, to = from + count;

    baseline->count = to;
    while (count > 0) {
        if (from > 0 && baseline->ascending[from - 1] > sorted[count - 1])
            baseline->ascending[--to] = baseline->ascending[--from];
        else
            baseline->ascending[--to] = sorted[--count];
    }
}

static void drop_oldest_day(struct baseline *baseline)
{
    double gone[BASELINE_ADD];
    size_t count = baseline->lengths[baseline->first_day];

    for (size_t i = 0; i < count; i++)
        gone[i] = baseline->days[(baseline->first_value + i) % BASELINE_MAX];
    take_out(baseline, gone, count);
    baseline->first_value = (baseline->first_value + count) % BASELINE_MAX;
    baseline->first_day = (baseline->first_day + 1) % BASELINE_MAX;
    baseline->day_count--;
}

void baseline_add(struct baseline *baseline, const double *ascending, size_t count)
{
    assert(count <= BASELINE_ADD);
    if (count == 0)
        return;
    while (baseline->count + count > BASELINE_MAX)
        drop_oldest_day(baseline);
    for (size_t i = 0; i < count; i++)
        baseline->days[(baseline->first_value + baseline->count + i) % BASELINE_MAX] = ascending[i];
    baseline->lengths[(baseline->first_day + baseline->day_count++) % BASELINE_MAX] = (unsigned char)count;
    put_in(baseline, ascending, count);
}

struct rl_band baseline_band(const struct baseline *baseline)
{
    return rl_band_sorted(baseline->ascending, baseline->count);
}
