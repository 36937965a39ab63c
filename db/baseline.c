/* The noise band of a trend. */
#include "db/baseline.h"

#include <string.h>

#include "record/quantile.h"

#define BAND_MADS 3.0
#define MAD_SCALE 1.4826 /* makes the MAD of a normal distribution its standard deviation: 1 / its 0.75 quantile */

static size_t position(const struct baseline *baseline, double value)
{
    size_t low = 0, high = baseline->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (baseline->ascending[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void baseline_add(struct baseline *baseline, double value)
{
    size_t at;

    if (baseline->count == BASELINE_MAX) {
        at = position(baseline, baseline->in_order[baseline->oldest]);
        memmove(&baseline->ascending[at], &baseline->ascending[at + 1],
                (baseline->count - at - 1) * sizeof baseline->ascending[0]);
        baseline->count--;
        baseline->in_order[baseline->oldest] = value;
        baseline->oldest = (baseline->oldest + 1) % BASELINE_MAX;
    } else {
        baseline->in_order[baseline->count] = value;
    }
    at = position(baseline, value);
    memmove(&baseline->ascending[at + 1], &baseline->ascending[at],
            (baseline->count - at) * sizeof baseline->ascending[0]);
    baseline->ascending[at] = value;
    baseline->count++;
}

/* Of the distances from the middle: those to the left of it grow leftwards, those to the right rightwards, so that the
 * smallest half is found by going outwards on both sides. */
static double median_distance(const struct baseline *baseline, double middle)
{
    size_t right = position(baseline, middle), left = right, wanted = baseline->count / 2;
    double last = 0, before = 0;

    for (size_t taken = 0; taken <= wanted; taken++) {
        bool take_left = right == baseline->count ||
                         (left > 0 && middle - baseline->ascending[left - 1] < baseline->ascending[right] - middle);

        before = last;
        last = take_left ? middle - baseline->ascending[--left] : baseline->ascending[right++] - middle;
    }
    return baseline->count % 2 == 1 ? last : (before + last) / 2;
}

struct band baseline_band(const struct baseline *baseline)
{
    double middle = rl_quantile_sorted(baseline->ascending, baseline->count, 0.5);
    double half = BAND_MADS * MAD_SCALE * median_distance(baseline, middle);

    return (struct band){middle - half, middle, middle + half};
}
