/* Which roofs a row has: its memory roof by its mix of reads and writes, its compute roof by its precisions, lent ones
 * where a run has none of a kind. */
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/record/derive/internal.h"

const char derive_why_no_flop[] = "the kernel does no floating-point work";
const char derive_why_mixed[] = "bytes of cold launches with times of warm ones are shown, not judged";

/* ---- ceilings, own and lent ---- */

static struct rl_real value_or_why(struct rl_real value)
{
    return rl_is_known(value) && value.value <= 0 ? rl_unknown("the ceiling is zero") : value;
}

static struct rl_real own_value(const struct rl_run *run, const char *name, enum rl_state state, const char *why_absent)
{
    const struct rl_ceiling *ceiling = rl_run_ceiling(run, name, state);
    return ceiling != NULL ? value_or_why(ceiling->value) : rl_unknown(why_absent);
}

static const struct rl_lent_ceiling *lent_ceiling(const struct rl_run *run, const char *name, enum rl_state state)
{
    for (size_t i = 0; run->lent.present && i < run->lent.ceiling_count; i++)
        if (strcmp(run->lent.ceilings[i].name, name) == 0 && run->lent.ceilings[i].state == state)
            return &run->lent.ceilings[i];
    return NULL;
}

struct rl_real derive_ceiling_value(const struct rl_run *run, const char *name, enum rl_state state, bool lent,
                                    const char *why_absent)
{
    struct rl_real own = own_value(run, name, state, why_absent);
    /* The DRAM roofs of a state are one kind: those of two runs are not mixed. */
    bool dram = strncmp(name, "dram_", 5) == 0;
    bool has_kind = dram ? rl_is_known(own_value(run, "dram_copy", state, why_absent)) : rl_is_known(own);
    const struct rl_lent_ceiling *other = lent && !has_kind ? lent_ceiling(run, name, state) : NULL;
    if (other != NULL)
        return value_or_why(other->value);
    bool copy_lent = lent && dram && !has_kind && lent_ceiling(run, "dram_copy", state) != NULL;
    return copy_lent ? rl_unknown(why_absent) : own;
}

struct rl_real derive_copy_ceiling(const struct rl_run *run, enum rl_state state, bool lent)
{
    state = state == RL_MIXED ? RL_WARM : state; /* by its times */
    return derive_ceiling_value(run, "dram_copy", state, lent,
                                state == RL_COLD ? "the run has no cold dram_copy ceiling"
                                                 : "the run has no warm dram_copy ceiling");
}

/* L2, L1 and compute roofs have no cold form: one of either state serves both. */
static struct rl_real stateless(const struct rl_run *run, const char *name, bool lent, const char *why_absent)
{
    struct rl_real warm = derive_ceiling_value(run, name, RL_WARM, lent, why_absent);
    struct rl_real cold = rl_is_known(warm) ? warm : derive_ceiling_value(run, name, RL_COLD, lent, why_absent);
    return rl_is_known(cold) ? cold : warm;
}

struct rl_real derive_fma_ceiling(const struct rl_run *run, bool lent)
{
    return stateless(run, "fp32_fma", lent, "the run has no fp32_fma ceiling");
}

/* ---- memory ---- */

/* Ceilings of the envelope by the share of their DRAM bytes that are reads. */
static const struct mix {
    const char *name;
    double read_share;
} mixes[] = {{"dram_write", 0}, {"dram_copy", 0.5}, {"dram_triad", 2.0 / 3}, {"dram_read", 1}};

/* The share of the row's DRAM bytes that are reads; NaN when it is not known. */
static double read_share(const struct rl_bytes *bytes)
{
    if (!rl_is_known(bytes->dram_read) || !rl_is_known(bytes->dram_write))
        return NAN;
    double total = bytes->dram_read.value + bytes->dram_write.value;
    return total > 0 ? bytes->dram_read.value / total : NAN;
}

struct rl_real derive_memory_roof(const struct derive_view *v, bool lent)
{
    enum rl_state state = v->state == RL_MIXED ? RL_WARM : v->state;
    struct rl_real copy = derive_copy_ceiling(v->run, state, lent);
    double share = read_share(&v->s->bytes);
    if (!rl_is_known(copy) || isnan(share))
        return copy;
    /* The nearest measured mix on each side; seconds per byte there. */
    double below = -1, above = 2, below_cost = 0, above_cost = 0;
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        struct rl_real value = derive_ceiling_value(v->run, mixes[i].name, state, lent, "not measured");
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

/* ---- compute ---- */

enum { FP64, FP32, FP16, TENSOR, PRECISIONS };
static const struct {
    const char *ceiling, *why_absent;
} precisions[PRECISIONS] = {
    [FP64] = {"fp64_fma", "there is no fp64_fma ceiling for its FP64 work"},
    [FP32] = {"fp32_fma", "the run has no fp32_fma ceiling"},
    [FP16] = {"fp16_fma", "there is no fp16_fma ceiling for its FP16 work"},
    [TENSOR] = {NULL, "there is no tensor ceiling for its tensor work"},
};
static const char *const tensor_ceilings[] = {"tensor_fp64", "tensor_tf32", "tensor_fp16",
                                              "tensor_bf16", "tensor_fp8",  "tensor_int8"};

/* The counters do not tell what precision tensor work is of: the one tensor ceiling that there is is taken for it. */
static struct rl_real tensor_ceiling(const struct rl_run *run, bool lent)
{
    struct rl_real found = rl_unknown(precisions[TENSOR].why_absent);
    size_t count = 0;
    for (int from = 0; from < (lent ? 2 : 1) && count == 0; from++)
        for (size_t i = 0; i < sizeof tensor_ceilings / sizeof tensor_ceilings[0]; i++) {
            struct rl_real value = stateless(run, tensor_ceilings[i], from == 1, precisions[TENSOR].why_absent);
            if (!rl_is_known(value))
                continue;
            found = value;
            count++;
        }
    return count < 2 ? found
                     : rl_unknown("there are several tensor ceilings, and the counters do not tell which precision "
                                  "its tensor work is of");
}

struct counted { /* flop by precision; those not counted are 0 */
    double part[PRECISIONS], sum;
    bool any, all; /* counted */
};

static struct counted count_flop(const struct rl_row *row)
{
    const struct rl_flop_by_precision *by = &row->flop_by_precision;
    const struct rl_real parts[PRECISIONS] = {
        [FP64] = by->fp64, [FP32] = by->fp32, [FP16] = by->fp16, [TENSOR] = by->tensor};
    struct counted counted = {.all = by->present};
    for (size_t i = 0; by->present && i < PRECISIONS; i++) {
        if (!rl_is_known(parts[i])) {
            counted.all = false;
            continue;
        }
        counted.any = true;
        counted.part[i] = parts[i].value;
        counted.sum += parts[i].value;
    }
    return counted;
}

static bool is_apart(double a, double b)
{
    return fabs(a - b) > RL_FLOP_APART * fmax(a, b);
}

/* Compilers load constants by half-precision instructions in kernels that do no such arithmetic
 * (kernels/unit/catalogue.h): where the given flop are the rest of those counted, they are that. */
static bool fp16_is_no_work(const struct counted *counted, struct rl_count given)
{
    double flop = (double)given.value;
    return given.why == NULL && counted->part[FP16] > 0 && is_apart(flop, counted->sum) &&
           !is_apart(flop, counted->sum - counted->part[FP16]);
}

struct rl_real rl_flop_counted(const struct rl_row *row)
{
    struct counted counted = count_flop(row);
    if (!counted.any)
        return row->flop_counted;
    return rl_known(fp16_is_no_work(&counted, row->flop) ? counted.sum - counted.part[FP16] : counted.sum);
}

struct rl_real rl_flop_used(const struct rl_run *run, const struct rl_row *row)
{
    struct rl_real given = derive_count(row->flop), counted = rl_flop_counted(row);
    if (rl_is_known(given) || run->source != RL_IMPORTED || !rl_is_known(counted))
        return given;
    if (counted.value <= 0 && !count_flop(row).all)
        return rl_unknown("no flop were given, and none were counted in the precisions that were looked at");
    return counted;
}

bool rl_flop_disagrees(const struct rl_run *run, const struct rl_row *row)
{
    struct rl_real counted = rl_flop_counted(row);
    return run->source == RL_IMPORTED && row->flop.why == NULL && rl_is_known(counted) &&
           is_apart((double)row->flop.value, counted.value);
}

struct rl_real derive_compute_roof(const struct derive_view *v, bool lent)
{
    struct counted counted = count_flop(v->row);
    struct rl_real fp32 = derive_fma_ceiling(v->run, lent), last = fp32;
    if (!counted.any || !rl_is_known(v->flop) || v->flop.value <= 0)
        return fp32;
    if (fp16_is_no_work(&counted, v->row->flop)) {
        counted.sum -= counted.part[FP16];
        counted.part[FP16] = 0;
    }
    if (!counted.all && v->flop.value > (1 + RL_FLOP_UNCOUNTED) * counted.sum)
        return rl_unknown("more flop are given than were counted, and not every precision was counted: that of the "
                          "rest is not known");
    if (counted.sum <= 0)
        return rl_unknown("flop are given, and none were counted");
    double seconds = 0, judged = 0;
    size_t used = 0;
    for (size_t i = 0; i < PRECISIONS; i++) {
        if (counted.part[i] <= 0)
            continue;
        struct rl_real ceiling = i == FP32 ? fp32
                                 : i == TENSOR
                                     ? tensor_ceiling(v->run, lent)
                                     : stateless(v->run, precisions[i].ceiling, lent, precisions[i].why_absent);
        /* quicker than FP32, so that a hundredth of the flop is at most a hundredth of the time */
        if (!rl_is_known(ceiling) && i >= FP16 && counted.part[i] < RL_FLOP_MINOR * counted.sum)
            continue;
        if (!rl_is_known(ceiling))
            return ceiling;
        seconds += counted.part[i] / ceiling.value;
        judged += counted.part[i];
        last = ceiling;
        used++;
    }
    return used > 1 ? rl_known(judged / seconds) : last;
}

bool derive_constants_alone(const struct derive_view *v)
{
    const struct rl_flop_by_precision *by = &v->row->flop_by_precision;
    struct rl_real fp32 = derive_fma_ceiling(v->run, v->lent),
                   fp16 = stateless(v->run, precisions[FP16].ceiling, v->lent, precisions[FP16].why_absent),
                   peak = rl_is_known(fp16) ? fp16 : fp32;
    const struct rl_real others[] = {by->fp64, by->fp32, by->tensor};
    double most = 4.0 * RL_HALF_CONSTANTS_A_THREAD;
    if (v->run->source != RL_IMPORTED || rl_is_known(v->flop) || v->row->flop.why == NULL || !by->present ||
        rl_is_known(by->fp16) || by->fp16.code != RL_WHY_HALF_CONSTANTS || v->row->launch.dims_why != NULL)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!rl_is_known(others[i]) || others[i].value > 0)
            return false;
    for (int i = 0; i < 3; i++)
        most *= (double)v->row->launch.grid[i] * (double)v->row->launch.block[i];
    return rl_is_known(v->owed) && !v->at_floor && rl_is_known(v->roof) && rl_is_known(peak) &&
           most * v->roof.value < peak.value * v->owed.value;
}

bool derive_fp32_assumed(const struct derive_view *v)
{
    return v->run->source == RL_IMPORTED && strcmp(v->run->suite, "import") == 0 && !count_flop(v->row).any &&
           rl_is_known(v->flop) && v->flop.value > 0 && rl_is_known(v->compute);
}

/* ---- levels ---- */

void derive_level_percents(const struct derive_view *v, struct rl_real roof, struct rl_real compute, bool lent,
                           struct rl_real ret[DERIVE_LEVELS], struct rl_real *l2, struct rl_real *l1)
{
    const struct rl_bytes *bytes = &v->s->bytes;
    struct rl_real time = v->s->time_s.median;
    static const char why_zero[] = "the median time is zero";
    struct rl_real l2_roof = stateless(v->run, "l2_read", lent, "no L2 roof");
    struct rl_real l1_roof = stateless(v->run, "l1_read", lent, "no L1 roof");
    ret[DERIVE_DRAM] = derive_percent(v->s->dram_byte_per_s, roof);
    ret[DERIVE_L2] = derive_percent(derive_quotient(bytes->l2_sm, time, why_zero), l2_roof);
    ret[DERIVE_L1] = derive_percent(derive_quotient(bytes->l1, time, why_zero), l1_roof);
    ret[DERIVE_COMPUTE] = derive_percent(v->s->flop_per_s, compute);
    if (l2 != NULL)
        *l2 = l2_roof;
    if (l1 != NULL)
        *l1 = l1_roof;
}

void derive_set_levels(const struct derive_view *v)
{
    struct rl_levels *levels = &v->s->levels;
    struct rl_real percent[DERIVE_LEVELS];
    *levels = (struct rl_levels){0};
    if (!v->run->lent.present && !v->row->flop_by_precision.present)
        return;
    levels->present = true;
    levels->dram_byte_per_s = derive_memory_roof(v, true);
    levels->compute_flop_per_s = derive_compute_roof(v, true);
    derive_level_percents(v, levels->dram_byte_per_s, levels->compute_flop_per_s, true, percent, &levels->l2_byte_per_s,
                          &levels->l1_byte_per_s);
    for (size_t i = 0; v->state == RL_MIXED && i < DERIVE_LEVELS; i++)
        percent[i] = rl_unknown(derive_why_mixed);
    levels->dram_percent = percent[DERIVE_DRAM];
    levels->l2_percent = percent[DERIVE_L2];
    levels->l1_percent = percent[DERIVE_L1];
    levels->compute_percent = percent[DERIVE_COMPUTE];
}

/* ---- above a roof ---- */

const char *derive_missing_mix(const struct derive_view *v)
{
    enum rl_state state = v->state == RL_MIXED ? RL_WARM : v->state;
    double share = read_share(&v->s->bytes);
    bool reads = share >= RL_SKEWED_SHARE, writes = share <= 1 - RL_SKEWED_SHARE;
    const char *name = writes ? "dram_write" : "dram_read";
    /* Of a sum alone the mix is not known: it may be either. */
    if (!isnan(share) && !reads && !writes)
        return NULL;
    if (rl_is_known(derive_ceiling_value(v->run, name, state, v->lent, "not measured")) && !isnan(share))
        return NULL;
    return writes ? "write" : "read";
}

const char *derive_above_roof(const struct derive_view *v)
{
    static const char *const names[DERIVE_LEVELS] = {"DRAM traffic", "L2 traffic", "L1 traffic", "the flop rate"};
    char number[32];
    if (v->state == RL_MIXED)
        return NULL;
    for (size_t i = 0; i < DERIVE_LEVELS; i++) {
        double limit =
            i == DERIVE_DRAM && derive_missing_mix(v) != NULL ? RL_ABOVE_COPY_PERCENT : RL_ABOVE_ROOF_PERCENT;
        if (!rl_is_known(v->level[i]) || v->level[i].value <= limit)
            continue;
        const char *text = rl_format_fixed(number, sizeof number, v->level[i].value, 0) < 0 ? "?" : number;
        const char *made = rl_arena_printf(v->run->arena,
                                           "counts, time or roof must be wrong: %s stands at %s "
                                           "percent of its roof",
                                           names[i], text);
        return made != NULL ? made : "counts, time or roof must be wrong";
    }
    return NULL;
}

/* ---- lending ---- */

static bool has_rows(const struct rl_run *run, enum rl_state state)
{
    for (size_t i = 0; i < run->row_count; i++)
        if (run->rows[i].state[state].present || (state == RL_WARM && run->rows[i].state[RL_MIXED].present))
            return true;
    return false;
}

/* Whether the run has rows for a roof of this name and state, and none of its kind. */
static bool lacks(const struct rl_run *run, const char *name, enum rl_state state)
{
    if (strncmp(name, "dram_", 5) == 0)
        return has_rows(run, state) && !rl_is_known(own_value(run, "dram_copy", state, "none"));
    return run->row_count > 0 && !rl_is_known(own_value(run, name, RL_WARM, "none")) &&
           !rl_is_known(own_value(run, name, RL_COLD, "none"));
}

bool rl_lacks_roofs(const struct rl_run *run)
{
    return lacks(run, "dram_copy", RL_WARM) || lacks(run, "dram_copy", RL_COLD) || lacks(run, "fp32_fma", RL_WARM);
}

struct rl_real rl_roof(const struct rl_run *run, const char *name, enum rl_state state, const char *why_absent)
{
    return derive_ceiling_value(run, name, state, run->source == RL_IMPORTED, why_absent);
}

int rl_lend(struct rl_run *run, const struct rl_lent *from)
{
    struct rl_lent lent = *from;
    run->lent = (struct rl_lent){0};
    lent.ceiling_count = 0;
    if (!from->present || from->ceiling_count == 0)
        return 0;
    lent.ceilings = rl_arena_array(run->arena, from->ceiling_count, sizeof *lent.ceilings);
    for (size_t i = 0; lent.ceilings != NULL && i < from->ceiling_count; i++) {
        struct rl_lent_ceiling one = from->ceilings[i];
        if (!lacks(run, one.name, one.state))
            continue;
        one.name = rl_arena_strdup(run->arena, one.name);
        one.unit = rl_arena_strdup(run->arena, one.unit);
        if (one.name == NULL || one.unit == NULL)
            return -1;
        lent.ceilings[lent.ceiling_count++] = one;
    }
    lent.run = rl_arena_strdup(run->arena, from->run);
    lent.device_by = rl_arena_strdup(run->arena, from->device_by);
    lent.sentence = rl_arena_strdup(run->arena, from->sentence);
    lent.driver = from->driver.why == NULL ? rl_text_copy(run->arena, from->driver.value)
                                           : (struct rl_text){NULL, rl_why_copy(run->arena, from->driver.why)};
    if (lent.ceilings == NULL || lent.run == NULL || lent.device_by == NULL || lent.sentence == NULL)
        return -1;
    if (lent.ceiling_count > 0)
        run->lent = lent;
    return 0;
}
