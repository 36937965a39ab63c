/* See db/same/work.h. */
#include "db/same/work.h"

#include <string.h>

static bool counts_differ(int64_t a, int64_t b)
{
    return a >= 0 && b >= 0 && a != b;
}

bool work_texts_differ(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) != 0;
}

bool work_knows(const struct store_work *work, enum work_member member)
{
    return member == WORK_FLOP ? work->flop >= 0 : member == WORK_ASK_BYTES ? work->ask_bytes >= 0 : work->dims != NULL;
}

bool work_differs_in(const struct store_work *a, const struct store_work *b, enum work_member member)
{
    return member == WORK_FLOP        ? counts_differ(a->flop, b->flop)
           : member == WORK_ASK_BYTES ? counts_differ(a->ask_bytes, b->ask_bytes)
                                      : work_texts_differ(a->dims, b->dims);
}

bool work_is_other(const struct store_work *a, const struct store_work *b)
{
    bool other = false;

    for (enum work_member member = WORK_FLOP; member < WORK_MEMBERS; member++)
        other = other || work_differs_in(a, b, member);
    return other;
}

void work_learn(struct store_work *known, const struct store_work *work)
{
    known->flop = known->flop >= 0 ? known->flop : work->flop;
    known->ask_bytes = known->ask_bytes >= 0 ? known->ask_bytes : work->ask_bytes;
    known->dims = known->dims != NULL ? known->dims : work->dims;
}
