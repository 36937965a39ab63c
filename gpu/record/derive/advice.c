/* What a row's figures say: bound, advice, sentences beside them, flags. */
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/derive/internal.h"

static const char *const level_names[DERIVE_LEVELS] = {"DRAM", "L2", "L1", "compute"};
static const char why_no_memory[] = "memory ran out";

static struct rl_text text_or_why(const char *text)
{
    return text != NULL ? (struct rl_text){text, NULL} : (struct rl_text){NULL, why_no_memory};
}

/* printf's %f follows the locale; a stored sentence must not. */
static const char *fixed(char text[32], double value, int decimals)
{
    return rl_format_fixed(text, 32, value, decimals) < 0 ? "?" : text;
}

bool derive_is_next_to_nothing(struct rl_real per_ask)
{
    return !rl_is_known(per_ask) && per_ask.code == RL_WHY_BELOW_SPREAD;
}

/* ---- bound ---- */

/* The level nearest to its roof among those whose roof was measured; DERIVE_LEVELS when DRAM is not one of them:
 * without it the row cannot be judged. */
static enum derive_level nearest(const struct derive_view *v)
{
    if (!rl_is_known(v->level[DERIVE_DRAM]))
        return DERIVE_LEVELS;
    enum derive_level best = DERIVE_DRAM;
    for (enum derive_level level = DERIVE_DRAM; level < DERIVE_LEVELS; level++)
        if (rl_is_known(v->level[level]) && v->level[level].value > v->level[best].value)
            best = level;
    return best;
}

static struct rl_text bound(const struct derive_view *v)
{
    enum derive_level best = nearest(v);
    if (v->state == RL_MIXED)
        return (struct rl_text){NULL, derive_why_mixed};
    if (best == DERIVE_LEVELS)
        return (struct rl_text){NULL, v->level[DERIVE_DRAM].why};
    /* A row with flop is judged only where its flop rate can be: a compute-bound row must not read as latency. */
    bool has_flop = !v->constants && (!rl_is_known(v->flop) || v->flop.value > 0);
    if (has_flop && !rl_is_known(v->level[DERIVE_COMPUTE]))
        return (struct rl_text){NULL, v->level[DERIVE_COMPUTE].why};
    if (v->level[best].value <= RL_LATENCY_PERCENT)
        return (struct rl_text){"latency", NULL};
    if (!has_flop)
        return (struct rl_text){"memory", NULL};
    if (!rl_is_known(v->s->attainable_flop_per_s))
        return (struct rl_text){NULL, v->s->attainable_flop_per_s.why};
    return (struct rl_text){v->s->attainable_flop_per_s.value < v->compute.value ? "memory" : "compute", NULL};
}

/* ---- advice ---- */

static void set_advice(const struct derive_view *v, const char *code, const char *sentence)
{
    v->s->advice_code = (struct rl_text){code, NULL};
    v->s->advice = text_or_why(sentence);
}

/* Waste on the way to DRAM, or between SMs and caches only. false: none is seen, and nothing is written. */
static bool advise_access(const struct derive_view *v, bool little)
{
    struct rl_real dram = v->s->dram_per_ask;
    struct rl_real l1 =
        derive_quotient(v->s->bytes.l1, derive_count(v->row->ask_bytes), "the kernel asks for no bytes");
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

/* Why no advice is given under a roof; NULL: it can be. The access pattern needs none, and is looked at between. */
static const char *why_none(const struct derive_view *v, bool little)
{
    if (!rl_is_known(v->s->dram_per_ask) && !little)
        return v->s->dram_per_ask.why;
    if (nearest(v) == DERIVE_LEVELS)
        return v->level[DERIVE_DRAM].why;
    /* Work without a compute roof may be at it, however far it is from DRAM's. */
    if (rl_is_known(v->flop) && v->flop.value > 0 && !rl_is_known(v->compute))
        return v->compute.why;
    return NULL;
}

static void derive_advice(const struct derive_view *v)
{
    struct rl_arena *arena = v->run->arena;
    bool little = derive_is_next_to_nothing(v->s->dram_per_ask);
    enum derive_level best = nearest(v);
    char number[32];
    const char *why = v->state == RL_MIXED ? derive_why_mixed : v->above_roof;
    if (why == NULL && (little || rl_is_known(v->s->dram_per_ask)) && advise_access(v, little))
        return;
    why = why != NULL ? why : why_none(v, little);
    if (why != NULL) {
        v->s->advice_code = (struct rl_text){NULL, why};
        v->s->advice = (struct rl_text){NULL, why};
        return;
    }
    fixed(number, v->level[best].value, 0);
    if (v->level[best].value >= RL_AT_CEILING_PERCENT)
        set_advice(
            v, "change_algorithm",
            rl_arena_printf(arena,
                            "At the ceiling: %s runs at %s percent of its measured roof. This code is as good as its "
                            "data flow allows, so change the algorithm: %s.",
                            level_names[best], number,
                            best == DERIVE_COMPUTE
                                ? "fewer operations per result"
                                : "fewer bytes per result, by larger tiles, fusion or another formulation"));
    else
        set_advice(
            v, "fix_kernel",
            rl_arena_printf(arena,
                            "Below every measured roof: the nearest is %s at %s percent. Fix the kernel: find what it "
                            "waits for, then give each SM more independent work in flight.",
                            level_names[best], number));
}

void derive_judge(struct derive_view *v)
{
    v->above_roof = derive_above_roof(v);
    v->s->bound = bound(v);
    derive_advice(v);
}

/* ---- sentences beside the figures ---- */

/* DRAM bytes over asked ones as a product of what each part of the way did:
 *   owed / ask = (L1 / ask) x (between SMs and L2 / L1) x (DRAM / between SMs and L2) x (owed / DRAM)
 * The first factor is what sectors add of which a part is used; the third, what the L2 fetched again or wrote again;
 * the last, what a cold launch left to be written back. The second, at most 1, is what L1 kept. */
struct cause {
    const char *word, *words;
    double factor;
};

static double ratio_of(struct rl_real above, struct rl_real below)
{
    return rl_is_known(above) && rl_is_known(below) && below.value > 0 ? above.value / below.value : NAN;
}

static struct cause dram_cause(const struct derive_view *v, double total)
{
    const struct rl_bytes *bytes = &v->s->bytes;
    struct rl_real ask = derive_count(v->row->ask_bytes);
    double sectors = ratio_of(bytes->l1, ask), kept = ratio_of(bytes->l2_sm, bytes->l1);
    double beyond = ratio_of(bytes->dram, bytes->l2_sm);
    double later = v->state == RL_COLD && rl_is_known(bytes->dram_settled) ? ratio_of(v->owed, bytes->dram) : NAN;
    /* Where the L1 serves more than half, threads ask for the same bytes again: what of L1 / ask is sectors' is not
     * told by these counters. */
    if (!(kept >= 0.5))
        sectors = NAN;
    bool split = rl_is_known(bytes->dram_read) && rl_is_known(bytes->dram_write);
    bool writes = split && bytes->dram_write.value > bytes->dram_read.value;
    const struct cause causes[] = {
        {"half_used_sectors", "sectors of which the kernel uses only a part: L1 moves %s bytes for each byte asked",
         sectors},
        {writes ? "write_back" : "re_reads",
         writes ? "lines that are written back more than once: DRAM moves %s bytes for each byte between SMs and L2"
                : "re-reads, of lines that the L2 no longer held or of neighbours that nobody asked for: DRAM moves %s "
                  "bytes for each byte between SMs and L2",
         split ? beyond : NAN},
        {"write_back",
         "lines that the launch left to be written back: with them it owes %s times the bytes that moved "
         "while it ran",
         later}};
    struct cause best = {NULL, NULL, 1};
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].factor > best.factor)
            best = causes[i];
    /* It has to be the greater part of the way from 1 to the total, which multiplies. */
    return best.word != NULL && best.factor * best.factor >= total ? best : (struct cause){0};
}

static void explain_dram(const struct derive_view *v, struct rl_explained *explained)
{
    double total = rl_is_known(v->s->dram_per_ask) ? v->s->dram_per_ask.value : 0;
    const char *why = "DRAM/ask is not above 1";
    explained->dram_per_ask = explained->dram_cause = (struct rl_text){NULL, why};
    if (total <= RL_CAUSE_PER_ASK || v->state == RL_MIXED)
        return;
    struct cause cause = dram_cause(v, total);
    explained->dram_per_ask = explained->dram_cause = (struct rl_text){NULL, "the counters do not tell it"};
    if (cause.word == NULL)
        return;
    char number[32], all[32];
    fixed(number, cause.factor, 2);
    fixed(all, total, 2);
    /* the cause's words hold one %s */
    const char *at = strstr(cause.words, "%s");
    explained->dram_cause = (struct rl_text){cause.word, NULL};
    explained->dram_per_ask = text_or_why(rl_arena_printf(v->run->arena, "DRAM/ask is %s mostly because of %.*s%s%s.",
                                                          all, (int)(at - cause.words), cause.words, number, at + 2));
}

static const char *whole(char text[32], double value)
{
    return rl_format_fixed(text, 32, value, 0) < 0 ? "?" : text;
}

static void explain_flop(const struct derive_view *v, struct rl_explained *explained)
{
    char given[32], counted[32];
    struct rl_real count = rl_flop_counted(v->row);
    explained->flop = (struct rl_text){NULL, "the flop are those given"};
    if (!rl_is_known(count))
        return;
    whole(counted, count.value);
    if (rl_flop_disagrees(v->run, v->row))
        explained->flop = text_or_why(rl_arena_printf(
            v->run->arena,
            "%s flop were given and %s were counted: one of them is wrong, or the count leaves out a precision. Rates "
            "and intensities use the given ones.",
            whole(given, (double)v->row->flop.value), counted));
    else if (v->row->flop.why != NULL && rl_is_known(v->flop))
        explained->flop = text_or_why(rl_arena_printf(
            v->run->arena, "No flop were given: rates and intensities use the %s that were counted.", counted));
}

static void explain_roof(const struct derive_view *v, struct rl_explained *explained)
{
    const char *missing = derive_missing_mix(v), *above = v->above_roof;
    double dram = rl_is_known(v->level[DERIVE_DRAM]) ? v->level[DERIVE_DRAM].value : 0;
    bool skewed = above == NULL && v->state != RL_MIXED && missing != NULL && dram > RL_ABOVE_ROOF_PERCENT;
    bool assumed = derive_fp32_assumed(v),
         alone = rl_is_known(v->s->percent_of_roof) && v->flop.value > 0 && !rl_is_known(v->s->attainable_flop_per_s);
    char number[32];
    explained->roof = (struct rl_text){NULL, "the roof is the row's own"};
    bool constants = v->constants && v->state != RL_MIXED;
    if (above == NULL && !skewed && !assumed && !alone && !constants)
        return;
    fixed(number, dram, 0);
    explained->roof = text_or_why(rl_arena_printf(
        v->run->arena, "%s%s%s%s%s%s%s%s%s", above != NULL ? "Counts, time or roof must be wrong" : "",
        above != NULL ? above + strlen("counts, time or roof must be wrong") : "", above != NULL ? ". " : "",
        skewed ? "DRAM traffic stands above the copy's roof; a " : "", skewed ? missing : "",
        skewed ? " roof was not measured. " : "",
        assumed ? "The flop are taken as FP32: nothing tells their precision. " : "",
        alone ? "Without DRAM bytes the percentage is of the compute roof alone; the memory roof may be nearer. " : "",
        constants ? "The percentage is of the memory roof: a few FP16 instructions a thread, by which compilers load "
                    "constants, leave the kernel below the ridge even if all of them are work."
                  : ""));
}

void derive_explain(const struct derive_view *v)
{
    struct rl_explained explained = {.present = true};
    explain_dram(v, &explained);
    explain_flop(v, &explained);
    explain_roof(v, &explained);
    explained.present = explained.dram_per_ask.why == NULL || explained.flop.why == NULL || explained.roof.why == NULL;
    v->s->explained = explained.present ? explained : (struct rl_explained){0};
}

/* ---- flags ---- */

static bool is_one_of(const char *flag, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(flag, names[i]) == 0)
            return true;
    return false;
}

/* Takes out the named ones, then adds those that hold. */
static void set_rule_flags(struct rl_arena *arena, struct rl_strings *flags, const char *const *names,
                           const bool *holds, size_t count)
{
    const char **items = rl_arena_array(arena, flags->count, sizeof *items);
    size_t kept = 0;
    if (items != NULL) {
        for (size_t i = 0; i < flags->count; i++)
            if (!is_one_of(flags->items[i], names, count))
                items[kept++] = flags->items[i];
        *flags = (struct rl_strings){items, kept};
    }
    for (size_t i = 0; i < count; i++)
        if (holds[i])
            rl_strings_add(arena, flags, names[i]);
}

void derive_state_flags(const struct derive_view *v)
{
    struct rl_row_state *s = v->s;
    bool unpaid = v->state == RL_COLD && rl_is_known(s->bytes.dram) && rl_is_known(s->bytes.dram_settled) &&
                  s->bytes.dram_settled.value > RL_WRITEBACK_RATIO * s->bytes.dram.value;
    static const char *const names[] = {"cache_resident", "at_floor",  "writeback_unpaid", "not_steady",
                                        "above_ceiling",  "unsettled", "above_roof"};
    const bool holds[] = {
        rl_is_known(s->dram_per_ask) ? s->dram_per_ask.value < RL_RESIDENT_DRAM_PER_ASK
                                     : derive_is_next_to_nothing(s->dram_per_ask),
        v->at_floor,
        unpaid,
        v->state == RL_WARM && rl_unsteadiness(v->run, v->row) > RL_STEADY_RATIO,
        rl_is_known(s->percent_of_ceiling) && s->percent_of_ceiling.value > 100,
        v->state == RL_COLD && !rl_is_known(s->bytes.dram_settled) && rl_is_known(v->owed),
        v->above_roof != NULL,
    };
    set_rule_flags(v->run->arena, &s->flags, names, holds, sizeof holds / sizeof holds[0]);
}

void derive_row_flags(struct rl_run *run, struct rl_row *row)
{
    static const char *const names[] = {"flop_from_counters", "flop_disagrees", "fp32_assumed"};
    bool assumed = false;
    for (enum rl_state state = RL_WARM; state < RL_ROW_STATES; state++) {
        struct derive_view v = {.run = run, .row = row, .s = &row->state[state], .state = state};
        if (!v.s->present)
            continue;
        v.lent = run->source == RL_IMPORTED;
        v.flop = rl_flop_used(run, row);
        v.compute = derive_compute_roof(&v, v.lent);
        assumed = assumed || derive_fp32_assumed(&v);
    }
    const bool holds[] = {row->flop.why != NULL && rl_is_known(rl_flop_used(run, row)), rl_flop_disagrees(run, row),
                          assumed};
    set_rule_flags(run->arena, &row->flags, names, holds, sizeof holds / sizeof holds[0]);
}
