/* What a change of time comes from: the whole machine, a clock, or bytes. Rules: server/compare/compare.h. */
#include <math.h>
#include <string.h>

#include "gpu/record/derive/derive.h"
#include "gpu/record/derive/quantile.h"
#include "server/compare/internal.h"

#define SHARE_NEEDED 0.5
#define SHARE_LEVEL  0.95
#define SHARE_SEED   20261129u

/* ---- the machine ---- */

bool compare_is_primary(const char *ceiling)
{
    return strcmp(ceiling, "dram_copy") == 0 || strcmp(ceiling, "fp32_fma") == 0;
}

void compare_no_machine(const char *why, struct compare_machine *ret)
{
    *ret = (struct compare_machine){.verdict = COMPARE_NONE};
    ret->ratio = ret->low = ret->high = rl_unknown(why);
}

bool compare_with_machine(const struct compare_judged *time, const struct compare_machine *machine)
{
    double ratio = machine->ratio.value;
    return rl_is_known(time->low) && (time->ratio.value > 1) == (ratio > 1) &&
           time->low.value * (1 - COMPARE_CHANGE) <= ratio && time->high.value * (1 + COMPARE_CHANGE) >= ratio;
}

/* The verdict that every primary ceiling has, each of the two being there; else COMPARE_NONE. */
static enum compare_verdict of_ceilings(const struct compare_result *result, size_t *ret_count)
{
    enum compare_verdict verdict = COMPARE_NONE;
    bool copy = false, fma = false;
    size_t count = 0;
    for (size_t i = 0; i < result->ceiling_count; i++) {
        const struct compare_ceiling *ceiling = &result->ceilings[i];
        if (!compare_is_primary(ceiling->name) || ceiling->value.verdict == COMPARE_NOT_COMPARABLE)
            continue;
        if (count++ > 0 && ceiling->value.verdict != verdict)
            return COMPARE_NONE;
        verdict = ceiling->value.verdict;
        *(ceiling->name[0] == 'd' ? &copy : &fma) = true;
    }
    *ret_count = count;
    return copy && fma && (verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER) ? verdict : COMPARE_NONE;
}

/* Fills ratio: the median of the time ratios of rows and primary ceilings. -1 when memory ran out. */
static int common_ratio(const struct compare_result *result, struct compare_machine *machine)
{
    double *ratios = rl_arena_array(result->arena, result->row_count + result->ceiling_count + 1, sizeof *ratios);
    size_t n = 0;
    if (ratios == NULL)
        return -1;
    for (size_t i = 0; i < result->row_count; i++)
        if (rl_is_known(result->rows[i].time.low))
            ratios[n++] = result->rows[i].time.ratio.value;
    machine->rows = n;
    for (size_t i = 0; i < result->ceiling_count; i++)
        if (compare_is_primary(result->ceilings[i].name) && rl_is_known(result->ceilings[i].value.low))
            ratios[n++] = compare_time_ratio(result->ceilings[i].value.ratio.value);
    rl_sort_doubles(ratios, n);
    machine->ratio = rl_known(rl_quantile_sorted(ratios, n, 0.5));
    return 0;
}

/* Counts the rows that moved together and the range of their ratios; how many of them have the verdict. */
static size_t count_together(const struct compare_result *result, enum compare_verdict verdict,
                             struct compare_machine *machine)
{
    size_t with_verdict = 0;
    machine->low = machine->high = machine->ratio;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct compare_judged *time = &result->rows[i].time;
        with_verdict += time->verdict == verdict;
        if (!compare_with_machine(time, machine))
            continue;
        machine->rows_together++;
        machine->low.value = fmin(machine->low.value, time->ratio.value);
        machine->high.value = fmax(machine->high.value, time->ratio.value);
    }
    return with_verdict;
}

int compare_find_machine(struct compare_result *result)
{
    struct compare_machine machine;
    compare_no_machine("rows and ceilings did not move together", &machine);
    enum compare_verdict verdict = of_ceilings(result, &machine.ceilings);
    if (verdict != COMPARE_NONE) {
        if (common_ratio(result, &machine) != 0)
            return -1;
        size_t with_verdict = count_together(result, verdict, &machine);
        bool together = machine.rows > 0 && 2 * with_verdict >= machine.rows &&
                        (double)machine.rows_together >= COMPARE_TOGETHER * (double)machine.rows;
        if (together)
            machine.verdict = verdict;
        else
            compare_no_machine("rows and ceilings did not move together", &machine);
    }
    machine.sentence = compare_machine_words(&machine, result->arena);
    result->machine = machine;
    return machine.sentence == NULL ? -1 : 0;
}

/* ---- clocks and bytes ---- */

struct paired { /* draws of both sides in which time and x are known: logarithms of time and of what x leaves of it */
    double time[2][COMPARE_RUNS_MAX], left[2][COMPARE_RUNS_MAX];
    /* their indices in ascending order, for medians of drawn runs without sorting each time */
    size_t time_order[2][COMPARE_RUNS_MAX], left_order[2][COMPARE_RUNS_MAX];
    size_t n[2];
};

static void order_of(const double *values, size_t n, size_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && values[ret[at - 1]] > values[i]; at--)
            ret[at] = ret[at - 1];
        ret[at] = i;
    }
}

static struct rl_real draw_value(const struct compare_draw *draw, enum compare_cause what)
{
    switch (what) {
    case COMPARE_CAUSE_CLOCK:
        return draw->sm_hz;
    case COMPARE_CAUSE_MEMORY_CLOCK:
        return draw->memory_hz;
    default:
        return draw->dram_bytes;
    }
}

/* False when a side has no draw with both. */
static bool pair_up(const struct subject *subject, enum compare_cause what, struct paired *ret)
{
    const struct draws *sides[2] = {&subject->base, &subject->head};
    /* time grows with bytes and falls with a clock */
    double turn = what == COMPARE_CAUSE_BYTES ? -1 : 1;
    for (size_t s = 0; s < 2; s++) {
        ret->n[s] = 0;
        for (size_t i = 0; i < sides[s]->n; i++) {
            struct rl_real value = draw_value(sides[s]->draw[i], what);
            if (!rl_is_known(value) || !isfinite(value.value) || value.value <= 0)
                continue;
            ret->time[s][ret->n[s]] = sides[s]->log_time[i];
            ret->left[s][ret->n[s]++] = sides[s]->log_time[i] + turn * log(value.value);
        }
    }
    return ret->n[0] > 0 && ret->n[1] > 0;
}

/* The median of n drawn values: times[i] says how often value i was drawn, order is that of the values. */
static double drawn_median(const double *values, const size_t *order, const size_t *times, size_t n)
{
    size_t seen = 0, at = 0;
    while ((seen += times[order[at]]) <= (n - 1) / 2)
        at++;
    double lower = values[order[at]];
    while (seen <= n / 2)
        seen += times[order[++at]];
    return (lower + values[order[at]]) / 2;
}

/* 1 - change of what is left / change of time; 0 where the drawn runs show no change of time at all. */
static double share(const void *arg, const size_t *base, const size_t *head)
{
    const struct paired *paired = arg;
    const size_t *drawn[2] = {base, head};
    double time[2], left[2];
    for (size_t s = 0; s < 2; s++) {
        size_t times[COMPARE_RUNS_MAX] = {0}, n = paired->n[s];
        for (size_t i = 0; i < n; i++)
            times[drawn[s][i]]++;
        time[s] = drawn_median(paired->time[s], paired->time_order[s], times, n);
        left[s] = drawn_median(paired->left[s], paired->left_order[s], times, n);
    }
    double change = time[1] - time[0];
    return fabs(change) > 0 ? 1 - (left[1] - left[0]) / change : 0;
}

static struct rl_real median_ratio(double values[2][COMPARE_RUNS_MAX], const size_t n[2])
{
    double medians[2];
    for (size_t s = 0; s < 2; s++) {
        double sorted[COMPARE_RUNS_MAX];
        memcpy(sorted, values[s], n[s] * sizeof sorted[0]);
        rl_sort_doubles(sorted, n[s]);
        medians[s] = rl_quantile_sorted(sorted, n[s], 0.5);
    }
    return rl_known(exp(medians[1] - medians[0]));
}

/* Ratios of medians: of a clock, and of the time in its cycles; unknown when a side does not know the clock. */
static void clock_ratios(const struct subject *subject, enum compare_cause clock, struct rl_real *ret_clock,
                         struct rl_real *ret_cycles)
{
    struct paired paired;
    *ret_clock = *ret_cycles = rl_unknown("the clock is not known on both sides");
    if (!pair_up(subject, clock, &paired))
        return;
    *ret_cycles = median_ratio(paired.left, paired.n);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < paired.n[s]; i++)
            paired.left[s][i] -= paired.time[s][i];
    *ret_clock = median_ratio(paired.left, paired.n);
}

/* Whether x explains the change; fills the share, and what is left as a ratio. */
static bool explains(const struct subject *subject, enum compare_cause what, struct compare_row *row, double *ret_left)
{
    struct paired paired;
    if (!pair_up(subject, what, &paired))
        return false;
    double left = stats_shift(paired.left[0], paired.n[0], paired.left[1], paired.n[1]);
    double time = stats_shift(paired.time[0], paired.n[0], paired.time[1], paired.n[1]);
    double part = fabs(time) > 0 ? 1 - left / time : 0, low = part, high;
    if (!compare_is_small(exp(left)))
        return false;
    bool enough = paired.n[0] >= COMPARE_RANK_MIN && paired.n[1] >= COMPARE_RANK_MIN;
    for (size_t s = 0; enough && s < 2; s++) {
        order_of(paired.time[s], paired.n[s], paired.time_order[s]);
        order_of(paired.left[s], paired.n[s], paired.left_order[s]);
    }
    if (enough)
        stats_bootstrap(paired.n[0], paired.n[1], share, &paired, SHARE_LEVEL, SHARE_SEED, &low, &high);
    if (low < SHARE_NEEDED)
        return false;
    row->explained = rl_known(part);
    row->explained_low = enough ? rl_known(low) : rl_unknown("fewer than 6 runs on a side");
    *ret_left = exp(left);
    return true;
}

/* The newest run's word for what bounds the row; NULL when no run knows. */
static const char *bound_of(const struct draws *side)
{
    for (size_t i = 0; i < side->n; i++)
        if (side->draw[i]->bound != NULL)
            return side->draw[i]->bound;
    return NULL;
}

static bool is_memory(const char *bound)
{
    return bound != NULL && strcmp(bound, "memory") == 0;
}

/* Whether the row takes its bytes from DRAM rather than from a cache. */
static bool streams(const struct subject *subject, const struct compare_row *row)
{
    if (is_memory(bound_of(&subject->base)) || is_memory(bound_of(&subject->head)))
        return true;
    const struct compare_draw *draw = subject->base.draw[0];
    return rl_is_known(row->bytes.base) && rl_is_known(draw->ask_bytes) && draw->ask_bytes.value > 0 &&
           row->bytes.base.value >= RL_RESIDENT_DRAM_PER_ASK * draw->ask_bytes.value;
}

static enum compare_cause search(const struct subject *subject, struct compare_row *row, double *ret_left)
{
    const char *bound = bound_of(&subject->base);
    bool slower = row->time.verdict == COMPARE_SLOWER;
    if (row->bytes.verdict == (slower ? COMPARE_MORE : COMPARE_FEWER) && streams(subject, row) &&
        explains(subject, COMPARE_CAUSE_BYTES, row, ret_left))
        return COMPARE_CAUSE_BYTES;
    if (bound != NULL && !is_memory(bound) && explains(subject, COMPARE_CAUSE_CLOCK, row, ret_left))
        return COMPARE_CAUSE_CLOCK;
    if (is_memory(bound) && explains(subject, COMPARE_CAUSE_MEMORY_CLOCK, row, ret_left))
        return COMPARE_CAUSE_MEMORY_CLOCK;
    return COMPARE_CAUSE_NOT_FOUND;
}

/* What could not be looked at while searching, in words; NULL when everything was there. */
static const char *not_looked_at(const struct subject *subject, const struct compare_row *row)
{
    if (bound_of(&subject->base) == NULL)
        return "what bounds the row is not known, so that no clock can be blamed";
    if (!rl_is_known(row->bytes.ratio))
        return "DRAM bytes are not known on both sides";
    if (!rl_is_known(row->sm_hz_ratio))
        return "the SM clock is not known on both sides";
    if (!rl_is_known(row->memory_hz_ratio))
        return "the memory clock is not known on both sides";
    return NULL;
}

int compare_find_cause(const struct subject *subject, struct compare_row *row, const struct compare_machine *machine,
                       struct rl_arena *arena)
{
    row->cause = COMPARE_CAUSE_NONE;
    row->cause_sentence = NULL;
    row->explained = row->explained_low = rl_unknown("no cause is given");
    struct rl_real memory_cycles;
    clock_ratios(subject, COMPARE_CAUSE_CLOCK, &row->sm_hz_ratio, &row->cycles_ratio);
    clock_ratios(subject, COMPARE_CAUSE_MEMORY_CLOCK, &row->memory_hz_ratio, &memory_cycles);
    if (row->time.verdict != COMPARE_SLOWER && row->time.verdict != COMPARE_FASTER)
        return 0;
    double left = 1;
    if (machine->verdict == row->time.verdict && compare_with_machine(&row->time, machine))
        row->cause = COMPARE_CAUSE_MACHINE;
    else
        row->cause = search(subject, row, &left);
    const char *missing = row->cause == COMPARE_CAUSE_NOT_FOUND ? not_looked_at(subject, row) : NULL;
    row->cause_sentence = compare_cause_words(row, machine, left, missing, arena);
    return row->cause_sentence == NULL ? -1 : 0;
}
