/* How much work a row is and how it was launched, and the one rule of whether two rows are the same work, which trends
 * and comparisons share. Pure. */
#ifndef DB_SAME_WORK_H
#define DB_SAME_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* How much work a launch is, as far as it is known: rows of one name and of other work are not held against each other.
 */
struct store_work {
    int64_t flop, ask_bytes; /* per launch; -1 unknown */
    const char *dims;        /* of what is worked on, in words; NULL unknown */
};
/* How it is launched; NULL unknown. Equal work launched in another way is the same row. */
struct store_launch {
    const char *grid, *block; /* "65536 x 1 x 1" */
    const char *function;     /* of imports: the kernel's name as the profiler gave it */
    const char *shape;        /* of ceilings: the launch in words */
};

enum work_member { WORK_FLOP, WORK_ASK_BYTES, WORK_DIMS, WORK_MEMBERS };
bool work_knows(const struct store_work *work, enum work_member member);
/* Both know the member, and it is not equal. */
bool work_differs_in(const struct store_work *a, const struct store_work *b, enum work_member member);
/* A member differs that both know; what only one knows, or neither, is no difference. */
bool work_is_other(const struct store_work *a, const struct store_work *b);
/* *known gets the members that it has not. Texts are borrowed. */
void work_learn(struct store_work *known, const struct store_work *work);
/* Both known (not NULL), and not equal. */
bool work_texts_differ(const char *a, const char *b);

#endif
