/* What the files of derivation share. Private to gpu/record/derive. */
#ifndef GPU_RECORD_DERIVE_INTERNAL_H
#define GPU_RECORD_DERIVE_INTERNAL_H

#include <math.h>

#include "gpu/record/derive/derive.h"

enum derive_level { DERIVE_DRAM, DERIVE_L2, DERIVE_L1, DERIVE_COMPUTE, DERIVE_LEVELS };

struct derive_view { /* what the rules of one row and state share */
    struct rl_run *run;
    struct rl_row *row;
    struct rl_row_state *s;
    enum rl_state state;
    bool lent;                           /* lent roofs judge this run: imports */
    struct rl_real flop;                 /* rl_flop_used */
    struct rl_real roof, compute;        /* memory roof of its own mix, compute roof of its own precisions */
    struct rl_real owed;                 /* rl_dram_owed */
    struct rl_real level[DERIVE_LEVELS]; /* percent of its roof */
    bool constants;                      /* derive_constants_alone */
    bool at_floor;
    const char *why_floor;  /* which floor */
    double floor_bytes;     /* per launch: 5 x the floor of a range over its launches; 0 when the floor is unknown */
    const char *above_roof; /* the sentence of a row above a roof of its own; NULL */
};

extern const char derive_why_no_flop[], derive_why_mixed[];

static inline struct rl_real derive_count(struct rl_count count)
{
    return count.why == NULL ? rl_known((double)count.value) : rl_unknown(count.why);
}
static inline struct rl_real derive_quotient(struct rl_real above, struct rl_real below, const char *why_zero)
{
    if (!rl_is_known(above))
        return above;
    if (!rl_is_known(below))
        return below;
    if (below.value <= 0)
        return rl_unknown(why_zero);
    double value = above.value / below.value;
    return isfinite(value) ? rl_known(value) : rl_unknown("the quotient is not finite");
}
static inline struct rl_real derive_percent(struct rl_real part, struct rl_real whole)
{
    struct rl_real ratio = derive_quotient(part, whole, "the roof is zero");
    return rl_is_known(ratio) ? rl_known(100 * ratio.value) : ratio;
}

/* ---- gpu/record/derive/roofs.c ---- */

/* A ceiling's value: the run's own, or with lent, where the run has none of its kind, the one lent to it. */
struct rl_real derive_ceiling_value(const struct rl_run *run, const char *name, enum rl_state state, bool lent,
                                    const char *why_absent);
struct rl_real derive_copy_ceiling(const struct rl_run *run, enum rl_state state, bool lent);
struct rl_real derive_fma_ceiling(const struct rl_run *run, bool lent);
/* Of the row's own mix of reads and writes. */
struct rl_real derive_memory_roof(const struct derive_view *v, bool lent);
/* Of the row's own precisions: total flop over the sum of each precision's flop over its ceiling. */
struct rl_real derive_compute_roof(const struct derive_view *v, bool lent);
/* Percent of each level's roof under these two, into ret; l2 and l1 (may be NULL): their roofs. */
void derive_level_percents(const struct derive_view *v, struct rl_real roof, struct rl_real compute, bool lent,
                           struct rl_real ret[DERIVE_LEVELS], struct rl_real *l2, struct rl_real *l1);
/* The sentence of the level that is further above its roof than can be, in the run's arena; NULL when none is. */
const char *derive_above_roof(const struct derive_view *v);
/* Which roof is missing for the row's mix ("read" or "write"): the copy's stands in its place. NULL: none. */
const char *derive_missing_mix(const struct derive_view *v);
/* Whether the flop are taken as FP32 because nothing tells their precision: an import's own kernels. */
bool derive_fp32_assumed(const struct derive_view *v);
/* Whether the row's flop, which are not known, are at most what loads constants, and too few to matter to its roof. */
bool derive_constants_alone(const struct derive_view *v);
void derive_set_levels(const struct derive_view *v);

/* ---- gpu/record/derive/bytes.c ---- */

void derive_bytes(const struct derive_view *v); /* dram, dram_settled, dram_4n */

/* ---- gpu/record/derive/advice.c ---- */

void derive_judge(struct derive_view *v); /* bound and advice */
void derive_explain(const struct derive_view *v);
/* The flags that are rules' own, of a state and of a row; flags of other names are kept. */
void derive_state_flags(const struct derive_view *v);
void derive_row_flags(struct rl_run *run, struct rl_row *row);
/* Settled bytes under three spreads are unknown, yet certainly far below the ask. */
bool derive_is_next_to_nothing(struct rl_real per_ask);

#endif
