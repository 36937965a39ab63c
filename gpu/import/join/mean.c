/* Means over launches. */
#include "gpu/import/join/mean.h"

/* Whole numbers are summed whole, and rounded once. A cell that holds no number is left out, which a note says. */
struct rl_real import_mean(const struct import_group *group, enum import_value value, const char *why)
{
    __int128 whole = 0;
    double sum = 0;
    size_t count = 0;
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group) {
        if (l->left_out != NULL || (l->from[value] == NULL && import_has_bit(l->odd, value)))
            continue;
        if (l->from[value] == NULL)
            return rl_unknown(why);
        if (value < IMPORT_WHOLE_VALUES)
            whole += l->whole[value];
        sum += l->value[value];
        count++;
    }
    if (count == 0)
        return rl_unknown("the counter file has no number there");
    return rl_known(value < IMPORT_WHOLE_VALUES ? (double)((long double)whole / (long double)count)
                                                : sum / (double)count);
}
