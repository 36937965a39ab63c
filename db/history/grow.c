/* Room for arrays that grow. */
#include "db/history/grow.h"

#include <stdlib.h>

int trend_grow(void **items, size_t *capacity, size_t needed, size_t size, struct rl_err *err)
{
    size_t bigger = *capacity == 0 ? 64 : *capacity;
    void *moved;

    if (needed <= *capacity)
        return 0;
    while (bigger < needed)
        bigger *= 2;
    moved = realloc(*items, bigger * size);
    if (moved == NULL)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for a trend");
    *items = moved;
    *capacity = bigger;
    return 0;
}
