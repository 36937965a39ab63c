/* Room for arrays that grow. */
#ifndef DB_HISTORY_GROW_H
#define DB_HISTORY_GROW_H

#include <stddef.h>

#include "gpu/base/err.h"

/* Room for `needed` items of this size. */
int trend_grow(void **items, size_t *capacity, size_t needed, size_t size, struct rl_err *err);

#endif
