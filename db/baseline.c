/* The noise band of a trend. */
#include "db/baseline.h"

#include <assert.h>
#include <math.h>
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

/* Both sorted; of equal values one goes for each. */
static void take_out(struct baseline *baseline, double *gone, size_t count)
{
    size_t kept = 0, at = 0;

    gone[count] = NAN; /* equals nothing */
    for (size_t i = 0; i < baseline->count; i++) {
        double value = baseline->ascending[i];
        size_t goes = value == gone[at];

        baseline->ascending[kept] = value;
        kept += 1 - goes;
        at += goes;
    }
    baseline->count = kept;
}

static void put_in(struct baseline *baseline, const double *sorted, size_t count)
{
    double *ascending = baseline->ascending;
    size_t from = baseline->count, to = from + count;

    baseline->count = to;
    while (count > 0 && from > 0) {
        double old = ascending[from - 1], new = sorted[count - 1];
        size_t takes_old = old > new;

        ascending[--to] = takes_old ? old : new;
        from -= takes_old;
        count -= 1 - takes_old;
    }
    memcpy(ascending, sorted, count * sizeof *ascending); /* what is left of either is where it belongs */
}

static void drop_oldest_day(struct baseline *baseline)
{
    double gone[BASELINE_ADD + 1];
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
