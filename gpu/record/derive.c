/* Rates, ratios, bounds and advice from times and counts. Definitions and thresholds: derive.h. */
#include "record/derive.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

static const char why_settled[] = RL_WHY_SETTLED;
static const char why_at_floor[] = "the DRAM bytes are at the counter's floor";
static const char why_changing[] = "the DRAM bytes are below 0.0001 of the asked bytes, and others in each run";
static const char why_no_flop[] = "the kernel does no floating-point work";
static const char why_no_memory[] = "memory ran out";
static const char why_mixed[] = "bytes of cold launches with times of warm ones are shown, not judged";

static struct rl_real known_count(struct rl_count count)
{
    return count.why == NULL ? rl_known((double)count.value) : rl_unknown(count.why);
}

static struct rl_real quotient(struct rl_real above, struct rl_real below, const char *why_zero)
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

static struct rl_real percent(struct rl_real part, struct rl_real whole)
{
    struct rl_real ratio = quotient(part, whole, "the roof is zero");
    return rl_is_known(ratio) ? rl_known(100 * ratio.value) : ratio;
}

static struct rl_text text_or_why(const char *text)
{
    return text != NULL ? (struct rl_text){text, NULL} : (struct rl_text){NULL, why_no_memory};
}

/* ---- ceilings ---- */

static void derive_ceiling(struct rl_ceiling *ceiling)
{
    struct rl_real work = known_count(ceiling->work);
    struct rl_real rate = quotient(work, ceiling->time_s.median, "the median time is zero");
    if (rl_is_known(ceiling->value) && rl_is_known(rate))
        ceiling->value = rate;
    if (strcmp(ceiling->unit, "byte_per_s") == 0)
        ceiling->dram_per_ask = quotient(ceiling->dram, work, "the ceiling asks for no bytes");
    else
        ceiling->dram_per_ask = rl_unknown("a compute ceiling asks for no bytes");
    ceiling->percent_of_nominal = percent(ceiling->value, ceiling->nominal);
}

static struct rl_real ceiling_value(const struct rl_run *run, const char *name, enum rl_state state,
                                    const char *why_absent)
{
    const struct rl_ceiling *ceiling = rl_run_ceiling(run, name, state);
    if (ceiling == NULL)
        return rl_unknown(why_absent);
    if (rl_is_known(ceiling->value) && ceiling->value.value <= 0)
        return rl_unknown("the ceiling is zero");
    return ceiling->value;
}

static struct rl_real copy_ceiling(const struct rl_run *run, enum rl_state state)
{
    state = state == RL_MIXED ? RL_WARM : state; /* by its times */
    return ceiling_value(run, "dram_copy", state,
                         state == RL_COLD ? "the run has no cold dram_copy ceiling"
                                          : "the run has no warm dram_copy ceiling");
}

static struct rl_real fma_ceiling(const struct rl_run *run)
{
    return ceiling_value(run, "fp32_fma", RL_WARM, "the run has no fp32_fma ceiling");
}

/* Ceilings of the envelope by the share of their DRAM bytes that are reads. */
static const struct mix {
    const char *name;
    double read_share;
} mixes[] = {{"dram_write", 0}, {"dram_copy", 0.5}, {"dram_triad", 2.0 / 3}, {"dram_read", 1}};

static struct rl_real memory_roof(const struct rl_run *run, enum rl_state state, const struct rl_bytes *bytes)
{
    state = state == RL_MIXED ? RL_WARM : state;
    struct rl_real copy = copy_ceiling(run, state);
    if (!rl_is_known(copy) || !rl_is_known(bytes->dram_read) || !rl_is_known(bytes->dram_write))
        return copy;
    double total = bytes->dram_read.value + bytes->dram_write.value;
    if (total <= 0)
        return copy;
    double share = bytes->dram_read.value / total;
    /* The nearest measured mix on each side; seconds per byte there. */
    double below = -1, above = 2, below_cost = 0, above_cost = 0;
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        struct rl_real value = ceiling_value(run, mixes[i].name, state, "not measured");
        if (!rl_is_known(value))
            continue;
        if (mixes[i].read_share <= share && mixes[i].read_share > below) {
            below = mixes[i].read_share;
            below_cost = 1 / value.value;
        }
        if (mixes[i].read_share >= share && mixes[i].read_share < above) {
            above = mixes[i].read_share;
            above_cost = 1 / value.value;
        }
    }
    if (below < 0)
        return rl_known(1 / above_cost);
    if (above > 1)
        return rl_known(1 / below_cost);
    double weight = above > below ? (share - below) / (above - below) : 0;
    return rl_known(1 / (below_cost + weight * (above_cost - below_cost)));
}

/* ---- one row in one state ---- */

enum level { DRAM, L2, L1, COMPUTE, LEVEL_COUNT };
static const char *const level_names[LEVEL_COUNT] = {"DRAM", "L2", "L1", "compute"};

struct rl_real rl_dram_owed(const struct rl_run *run, const struct rl_row *row, enum rl_state state)
{
    const struct rl_bytes *bytes = &row->state[state].bytes;
    bool unsettled = state == RL_COLD && run->source == RL_IMPORTED && !rl_is_known(bytes->dram_settled) &&
                     strcmp(bytes->dram_settled.why, why_settled) != 0;
    return state == RL_MIXED || unsettled ? bytes->dram : bytes->dram_settled;
}

struct view { /* what the rules of one row and state share */
    struct rl_run *run;
    struct rl_row *row;
    struct rl_row_state *s;
    enum rl_state state;
    struct rl_real flop, roof, fma;
    struct rl_real owed;               /* rl_dram_owed */
    struct rl_real level[LEVEL_COUNT]; /* percent of its roof */
    bool at_floor;
    const char *why_floor; /* which floor */
    double floor_bytes;    /* per launch: 5 x the floor of a range over its launches; 0 when the floor is unknown */
};

static void derive_bytes(const struct view *v)
{
    struct rl_bytes *bytes = &v->s->bytes;
    if (rl_is_known(bytes->dram_read) && rl_is_known(bytes->dram_write))
        bytes->dram = rl_known(bytes->dram_read.value + bytes->dram_write.value);
    if (v->state == RL_WARM) {
        bytes->dram_settled = bytes->dram;
        return;
    }
    bytes->dram_4n = rl_unknown("a single launch is counted when cold");
    if (v->state == RL_MIXED) {
        bytes->dram_settled = rl_unknown("a profiler counts the launch alone, not what it leaves dirty");
        return;
    }
    struct rl_real spread = v->run->counters.flush_spread_bytes;
    if (rl_is_known(bytes->dram_settled) && rl_is_known(spread) &&
        bytes->dram_settled.value < RL_SETTLED_SPREADS * spread.value)
        bytes->dram_settled = rl_unknown(why_settled);
}

static void judge_floor(struct view *v)
{
    struct rl_real floor = v->run->counters.floor_dram_bytes;
    int64_t launches = v->state == RL_WARM && v->s->time_s.launches > 0 ? v->s->time_s.launches : 1;
    struct rl_real bytes = v->owed;
    if (rl_is_known(floor))
        v->floor_bytes = RL_FLOOR_FACTOR * floor.value / (double)launches;
    if (rl_is_known(bytes)) {
        /* No bytes at all are at the floor of any counter. */
        v->at_floor = bytes.value < v->floor_bytes || bytes.value <= 0;
        double next_to_nothing = v->row->ask_bytes.why == NULL ? RL_STEADY_ASK * (double)v->row->ask_bytes.value : 0;
        if (v->state == RL_WARM && bytes.value < next_to_nothing) {
            v->why_floor = v->at_floor ? v->why_floor : why_changing;
            v->at_floor = true;
            v->floor_bytes = fmax(v->floor_bytes, next_to_nothing);
        }
    } else if (strcmp(bytes.why, why_settled) == 0) {
        v->at_floor = true;
        v->floor_bytes = fmax(v->floor_bytes, RL_SETTLED_SPREADS * v->run->counters.flush_spread_bytes.value);
    }
}

static void derive_intensity(const struct view *v)
{
    struct rl_intensity *intensity = &v->s->intensity;
    const struct rl_bytes *bytes = &v->s->bytes;
    if (rl_is_known(v->flop) && v->flop.value <= 0) {
        struct rl_real none = rl_unknown(why_no_flop);
        *intensity = (struct rl_intensity){none, none, none, none};
        return;
    }
    intensity->ask = quotient(v->flop, known_count(v->row->ask_bytes), "the kernel asks for no bytes");
    intensity->l1 = quotient(v->flop, bytes->l1, "no L1 bytes were counted");
    intensity->l2 = quotient(v->flop, bytes->l2_sm, "no bytes were counted between SMs and L2");
    intensity->dram = v->at_floor ? rl_unknown(v->why_floor) : quotient(v->flop, v->owed, why_at_floor);
}

static void derive_rates(const struct view *v)
{
    struct rl_row_state *s = v->s;
    static const char why_zero[] = "the median time is zero";
    s->dram_per_ask = quotient(v->owed, known_count(v->row->ask_bytes), "the kernel asks for no bytes");
    s->flop_per_s = quotient(v->flop, s->time_s.median, why_zero);
    s->dram_byte_per_s = quotient(s->bytes.dram, s->time_s.median, why_zero);
    s->percent_of_ceiling = percent(s->dram_byte_per_s, copy_ceiling(v->run, v->state));
}

static struct rl_real attainable(const struct view *v)
{
    if (!rl_is_known(v->flop))
        return v->flop;
    if (v->flop.value <= 0)
        return rl_unknown(why_no_flop);
    if (!rl_is_known(v->fma))
        return v->fma;
    if (!rl_is_known(v->roof))
        return v->roof;
    if (rl_is_known(v->s->intensity.dram))
        return rl_known(fmin(v->fma.value, v->s->intensity.dram.value * v->roof.value));
    if (v->at_floor && v->floor_bytes > 0 && v->flop.value / v->floor_bytes * v->roof.value >= v->fma.value)
        return v->fma;
    return rl_unknown(v->s->intensity.dram.why);
}

static void derive_roof(const struct view *v)
{
    struct rl_row_state *s = v->s;
    if (v->state == RL_MIXED) {
        s->attainable_flop_per_s = s->percent_of_roof = rl_unknown(why_mixed);
        return;
    }
    s->attainable_flop_per_s = attainable(v);
    if (rl_is_known(v->flop) && v->flop.value <= 0)
        s->percent_of_roof = percent(s->dram_byte_per_s, v->roof);
    else
        s->percent_of_roof = percent(s->flop_per_s, s->attainable_flop_per_s);
}

static void derive_levels(struct view *v)
{
    const struct rl_bytes *bytes = &v->s->bytes;
    struct rl_real time = v->s->time_s.median;
    static const char why_zero[] = "the median time is zero";
    v->level[DRAM] = percent(v->s->dram_byte_per_s, v->roof);
    v->level[L2] =
        percent(quotient(bytes->l2_sm, time, why_zero), ceiling_value(v->run, "l2_read", v->state, "no L2 roof"));
    v->level[L1] =
        percent(quotient(bytes->l1, time, why_zero), ceiling_value(v->run, "l1_read", v->state, "no L1 roof"));
    v->level[COMPUTE] = percent(v->s->flop_per_s, v->fma);
}

/* The level nearest to its roof among those whose roof was measured; LEVEL_COUNT when DRAM is not one of them: without
 * it the row cannot be judged. */
static enum level nearest(const struct view *v)
{
    if (!rl_is_known(v->level[DRAM]))
        return LEVEL_COUNT;
    enum level best = DRAM;
    for (enum level level = DRAM; level < LEVEL_COUNT; level++)
        if (rl_is_known(v->level[level]) && v->level[level].value > v->level[best].value)
            best = level;
    return best;
}

static struct rl_text bound(const struct view *v)
{
    enum level best = nearest(v);
    if (v->state == RL_MIXED)
        return (struct rl_text){NULL, why_mixed};
    if (best == LEVEL_COUNT)
        return (struct rl_text){NULL, v->level[DRAM].why};
    /* A row with flop is judged only where its flop rate can be: a compute-bound row must not read as latency. */
    bool has_flop = !rl_is_known(v->flop) || v->flop.value > 0;
    if (has_flop && !rl_is_known(v->level[COMPUTE]))
        return (struct rl_text){NULL, v->level[COMPUTE].why};
    if (v->level[best].value <= RL_LATENCY_PERCENT)
        return (struct rl_text){"latency", NULL};
    if (!has_flop)
        return (struct rl_text){"memory", NULL};
    if (!rl_is_known(v->s->attainable_flop_per_s))
        return (struct rl_text){NULL, v->s->attainable_flop_per_s.why};
    return (struct rl_text){v->s->attainable_flop_per_s.value < v->fma.value ? "memory" : "compute", NULL};
}

/* printf's %f follows the locale; a stored sentence must not. */
static const char *fixed(char text[32], double value, int decimals)
{
    return rl_format_fixed(text, 32, value, decimals) < 0 ? "?" : text;
}

static void set_advice(const struct view *v, const char *code, const char *sentence)
{
    v->s->advice_code = (struct rl_text){code, NULL};
    v->s->advice = text_or_why(sentence);
}

/* Settled bytes under three spreads are unknown, yet certainly far below the ask. */
static bool is_next_to_nothing(struct rl_real per_ask)
{
    return !rl_is_known(per_ask) && strcmp(per_ask.why, why_settled) == 0;
}

/* Waste on the way to DRAM, or between SMs and caches only. false: none is seen, and nothing is written. */
static bool advise_access(const struct view *v, bool little)
{
    struct rl_real dram = v->s->dram_per_ask;
    struct rl_real l1 = quotient(v->s->bytes.l1, known_count(v->row->ask_bytes), "the kernel asks for no bytes");
    bool in_dram = !little && dram.value > RL_ACCESS_DRAM_PER_ASK;
    char number[32];
    if (!in_dram && !(rl_is_known(l1) && l1.value > RL_ACCESS_L1_PER_ASK))
        return false;
    set_advice(v, "fix_access",
               rl_arena_printf(v->run->arena,
                               "%s %s bytes for each byte that the kernel asks for%s. Fix the access pattern first: "
                               "let neighbouring threads use every byte of a sector while it is in the cache.",
                               in_dram ? "DRAM moves" : "L1 moves", fixed(number, in_dram ? dram.value : l1.value, 2),
                               in_dram ? "" : ", waste that the L2 keeps from DRAM"));
    return true;
}

static void derive_advice(const struct view *v)
{
    struct rl_arena *arena = v->run->arena;
    struct rl_real ratio = v->s->dram_per_ask;
    bool little = is_next_to_nothing(ratio);
    enum level best = nearest(v);
    char number[32];
    const char *why = v->state == RL_MIXED ? why_mixed : !rl_is_known(ratio) && !little ? ratio.why : NULL;
    if (why == NULL && advise_access(v, little))
        return;
    if (why == NULL && best == LEVEL_COUNT)
        why = v->level[DRAM].why;
    if (why != NULL) {
        v->s->advice_code = (struct rl_text){NULL, why};
        v->s->advice = (struct rl_text){NULL, why};
        return;
    }
    fixed(number, v->level[best].value, 0);
    if (v->level[best].value >= RL_AT_CEILING_PERCENT)
        set_advice(v, "change_algorithm",
                   rl_arena_printf(
                       arena,
                       "At the ceiling: %s runs at %s percent of its measured roof. This code is as good as its "
                       "data flow allows, so change the algorithm: %s.",
                       level_names[best], number,
                       best == COMPUTE ? "fewer operations per result"
                                       : "fewer bytes per result, by larger tiles, fusion or another formulation"));
    else
        set_advice(
            v, "fix_kernel",
            rl_arena_printf(arena,
                            "Below every measured roof: the nearest is %s at %s percent. Fix the kernel: find what it "
                            "waits for, then give each SM more independent work in flight.",
                            level_names[best], number));
}

/* ---- flags ---- */

static const char *const rule_flags[] = {"cache_resident", "at_floor",      "writeback_unpaid",
                                         "not_steady",     "above_ceiling", "unsettled"};

static void drop_rule_flags(struct rl_arena *arena, struct rl_strings *flags)
{
    const char **items = rl_arena_array(arena, flags->count, sizeof *items);
    size_t kept = 0;
    if (items == NULL)
        return;
    for (size_t i = 0; i < flags->count; i++) {
        bool rule = false;
        for (size_t r = 0; r < sizeof rule_flags / sizeof rule_flags[0]; r++)
            rule = rule || strcmp(flags->items[i], rule_flags[r]) == 0;
        if (!rule)
            items[kept++] = flags->items[i];
    }
    *flags = (struct rl_strings){items, kept};
}

double rl_unsteadiness(const struct rl_run *run, const struct rl_row *row)
{
    const struct rl_row_state *s = &row->state[RL_WARM];
    struct rl_real one = s->bytes.dram, four = s->bytes.dram_4n, floor = run->counters.floor_dram_bytes;
    if (!rl_is_known(one) || !rl_is_known(four))
        return NAN;
    double apart = fabs(one.value - four.value);
    if (rl_is_known(floor) && s->time_s.launches > 0 &&
        apart <= RL_FLOOR_FACTOR * floor.value / (double)s->time_s.launches)
        return 0;
    if (!row->ask_bytes.why && apart <= RL_STEADY_ASK * (double)row->ask_bytes.value)
        return 0;
    return apart > 0 ? apart / fmax(one.value, four.value) : 0;
}

static bool is_unsteady(const struct view *v)
{
    return v->state == RL_WARM && rl_unsteadiness(v->run, v->row) > RL_STEADY_RATIO;
}

static void derive_flags(const struct view *v)
{
    struct rl_row_state *s = v->s;
    bool unpaid = v->state == RL_COLD && rl_is_known(s->bytes.dram) && rl_is_known(s->bytes.dram_settled) &&
                  s->bytes.dram_settled.value > RL_WRITEBACK_RATIO * s->bytes.dram.value;
    const bool holds[] = {
        rl_is_known(s->dram_per_ask) ? s->dram_per_ask.value < RL_RESIDENT_DRAM_PER_ASK
                                     : is_next_to_nothing(s->dram_per_ask),
        v->at_floor,
        unpaid,
        is_unsteady(v),
        rl_is_known(s->percent_of_ceiling) && s->percent_of_ceiling.value > 100,
        v->state == RL_COLD && !rl_is_known(s->bytes.dram_settled) && rl_is_known(v->owed),
    };
    drop_rule_flags(v->run->arena, &s->flags);
    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++)
        if (holds[i])
            rl_strings_add(v->run->arena, &s->flags, rule_flags[i]);
}

static void derive_state(struct rl_run *run, struct rl_row *row, enum rl_state state)
{
    struct view v = {.run = run, .row = row, .s = &row->state[state], .state = state, .why_floor = why_at_floor};
    v.flop = known_count(row->flop);
    v.fma = fma_ceiling(run);
    derive_bytes(&v);
    v.owed = rl_dram_owed(run, row, state);
    v.roof = memory_roof(run, state, &v.s->bytes);
    judge_floor(&v);
    derive_rates(&v);
    derive_intensity(&v);
    derive_roof(&v);
    derive_levels(&v);
    v.s->bound = bound(&v);
    derive_advice(&v);
    derive_flags(&v);
}

void rl_derive(struct rl_run *run)
{
    for (size_t i = 0; i < run->ceiling_count; i++)
        derive_ceiling(&run->ceilings[i]);
    run->ridge_flop_per_byte = quotient(fma_ceiling(run), copy_ceiling(run, RL_WARM), "the copy ceiling is zero");
    run->counter_backed = run->row_count > 0;
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = RL_WARM; state < RL_ROW_STATES; state++) {
            const struct rl_row_state *s = &run->rows[i].state[state];
            if (!s->present)
                continue;
            derive_state(run, &run->rows[i], state);
            run->counter_backed = run->counter_backed && rl_is_known(s->bytes.dram);
        }
}
