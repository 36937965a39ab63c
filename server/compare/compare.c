/* The verdicts: from runs to rows, from rows to families, from families to one answer. Rules: server/compare/compare.h.
 */
#include "server/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/record/derive/derive.h"
#include "gpu/record/derive/quantile.h"
#include "server/compare/internal.h"

/* A row takes under 6 kB (1.9 kB of draws, 0.7 kB of verdicts, sentences; 2026-11-30) however long its name is, since
 * sentences shorten it. As many ceilings take no more. */
#define ARENA_MAX (2u * COMPARE_ROWS_MAX * 8192u)

/* ---- verdicts ---- */

struct middle { /* of one side's draws */
    struct rl_real p25, median, p75;
};

static struct middle middle_of(const double *values, size_t n, const char *why)
{
    double sorted[COMPARE_RUNS_MAX];
    struct rl_real unknown = rl_unknown(why != NULL ? why : "the side has no such row");
    if (n == 0)
        return (struct middle){unknown, unknown, unknown};
    memcpy(sorted, values, n * sizeof *values);
    rl_sort_doubles(sorted, n);
    return (struct middle){rl_known(rl_quantile_sorted(sorted, n, 0.25)), rl_known(rl_quantile_sorted(sorted, n, 0.5)),
                           rl_known(rl_quantile_sorted(sorted, n, 0.75))};
}

/* From logarithms of times to times, or to a ceiling's values, which are their reciprocals. */
static struct middle from_logs(struct middle logs, bool ceiling)
{
    double turn = ceiling ? -1 : 1;
    struct middle ret = ceiling ? (struct middle){logs.p75, logs.median, logs.p25} : logs;
    ret.p25.value = exp(turn * ret.p25.value);
    ret.median.value = exp(turn * ret.median.value);
    ret.p75.value = exp(turn * ret.p75.value);
    return ret;
}

static void put_middles(struct compare_judged *ret, struct middle base, struct middle head)
{
    ret->base_p25 = base.p25;
    ret->base = base.median;
    ret->base_p75 = base.p75;
    ret->head_p25 = head.p25;
    ret->head = head.median;
    ret->head_p75 = head.p75;
}

static void unknown_numbers(struct compare_judged *judged, const char *why)
{
    struct rl_real nothing = rl_unknown(why);
    judged->ratio = judged->low = judged->high = judged->level = judged->p = judged->p_holm = nothing;
    judged->spread = judged->floor_bytes = judged->shift_bytes = nothing;
}

/* Missing sides, and the numbers that do not need a verdict. True when there is something to judge. */
static bool begin(struct compare_judged *ret, size_t base_n, size_t head_n, bool apart)
{
    ret->base_n = base_n;
    ret->head_n = head_n;
    ret->method = STATS_NONE;
    unknown_numbers(ret, "one side has no value");
    ret->verdict = base_n > 0 && head_n > 0 ? COMPARE_AMBIGUOUS
                   : base_n > 0             ? COMPARE_MISSING_HEAD
                   : head_n > 0             ? COMPARE_MISSING_BASE
                                            : COMPARE_NONE;
    if (apart && ret->verdict == COMPARE_AMBIGUOUS) {
        ret->verdict = COMPARE_NOT_COMPARABLE;
        unknown_numbers(ret, "the sides are not comparable here");
    }
    return ret->verdict == COMPARE_AMBIGUOUS;
}

static void take_item(struct compare_judged *ret, const struct stats_item *item)
{
    ret->method = item->method;
    unknown_numbers(ret, item->method == STATS_NONE ? "too few runs on a side, and no spread from history"
                                                    : "not of this quantity");
    if (item->method == STATS_NONE)
        return;
    ret->level = rl_known(item->level);
    ret->p = rl_known(item->p);
    ret->p_holm = rl_known(item->p_holm);
    ret->spread = item->method == STATS_SPREAD ? rl_known(item->spread) : rl_unknown("the runs' own ranks were used");
}

static void judge_time(const struct subject *subject, bool ceiling, struct compare_judged *ret)
{
    const struct draws *base = &subject->base, *head = &subject->head;
    const struct stats_item *item = &subject->time;
    double turn = ceiling ? -1 : 1; /* a ceiling's value is the reciprocal of its time */
    put_middles(ret, from_logs(middle_of(base->log_time, base->n, base->time_why), ceiling),
                from_logs(middle_of(head->log_time, head->n, head->time_why), ceiling));
    if (!begin(ret, base->n, head->n, subject->time_apart))
        return;
    take_item(ret, item);
    ret->ratio = rl_known(exp(turn * item->shift));
    if (item->method == STATS_NONE)
        return;
    double ratio = exp(item->shift), low = exp(item->low), high = exp(item->high);
    ret->low = rl_known(ceiling ? 1 / high : low);
    ret->high = rl_known(ceiling ? 1 / low : high);
    bool rejected = item->p_holm <= COMPARE_ALPHA;
    if (low >= 1 - COMPARE_CHANGE && high <= 1 + COMPARE_CHANGE)
        ret->verdict = COMPARE_SAME;
    else if (low > 1 && rejected && ratio >= 1 + COMPARE_CHANGE)
        ret->verdict = COMPARE_SLOWER;
    else if (high < 1 && rejected && ratio <= 1 - COMPARE_CHANGE)
        ret->verdict = COMPARE_FASTER;
}

/* The row's byte-noise floor: server/compare/compare.h. */
static double byte_floor(const struct draws *base, const struct draws *head)
{
    double values[COMPARE_RUNS_MAX], floor = 0;
    if (base->bytes_n > 0) {
        memcpy(values, base->bytes, base->bytes_n * sizeof *values);
        floor = RL_BAND_MADS * stats_scaled_mad(values, base->bytes_n);
    }
    const struct draws *sides[2] = {base, head};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->n; i++) {
            const struct compare_draw *draw = sides[s]->draw[i];
            if (compare_is_positive(&draw->ask_bytes))
                floor = fmax(floor, RL_STEADY_ASK * draw->ask_bytes.value);
            if (compare_is_positive(&draw->dram_floor))
                floor = fmax(floor, draw->dram_floor.value);
        }
    return floor;
}

static void judge_bytes(const struct subject *subject, struct compare_judged *ret)
{
    const struct draws *base = &subject->base, *head = &subject->head;
    const struct stats_item *item = &subject->bytes;
    put_middles(ret, middle_of(base->bytes, base->bytes_n, base->bytes_why),
                middle_of(head->bytes, head->bytes_n, head->bytes_why));
    if (!begin(ret, base->bytes_n, head->bytes_n, subject->bytes_apart))
        return;
    take_item(ret, item);
    double of = ret->base.value;
    ret->shift_bytes = rl_known(item->shift);
    ret->floor_bytes = rl_known(subject->floor_bytes);
    ret->ratio = of > 0 ? rl_known(1 + item->shift / of) : rl_unknown("base's median is 0 bytes");
    double needed = fmax(COMPARE_CHANGE * of, subject->floor_bytes);
    if (item->method == STATS_NONE)
        return;
    ret->low = of > 0 ? rl_known(1 + item->low / of) : ret->ratio;
    ret->high = of > 0 ? rl_known(1 + item->high / of) : ret->ratio;
    bool rejected = item->p_holm <= COMPARE_ALPHA;
    if (item->low >= -needed && item->high <= needed)
        ret->verdict = COMPARE_SAME;
    else if (item->low > 0 && rejected && item->shift >= needed)
        ret->verdict = COMPARE_MORE;
    else if (item->high < 0 && rejected && item->shift <= -needed)
        ret->verdict = COMPARE_FEWER;
}

/* Judges one family: times of rows or of ceilings, or bytes of rows. */
static int judge_family(struct gathered *all, bool bytes, struct rl_arena *arena)
{
    struct stats_item *items = rl_arena_array(arena, all->count + 1, sizeof *items);
    struct stats_item **of = rl_arena_array(arena, all->count + 1, sizeof(struct stats_item *));
    if (items == NULL || of == NULL)
        return -1;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct subject *subject = &all->items[i];
        struct stats_item *item = bytes ? &subject->bytes : &subject->time;
        item->base = bytes ? subject->base.bytes : subject->base.log_time;
        item->head = bytes ? subject->head.bytes : subject->head.log_time;
        item->base_n = bytes ? subject->base.bytes_n : subject->base.n;
        item->head_n = bytes ? subject->head.bytes_n : subject->head.n;
        if (item->base_n == 0 || item->head_n == 0 || (bytes ? subject->bytes_apart : subject->time_apart))
            continue;
        items[count] = *item;
        of[count++] = item;
    }
    stats_family(items, count, COMPARE_ALPHA, COMPARE_RANK_MIN);
    for (size_t i = 0; i < count; i++)
        *of[i] = items[i];
    return 0;
}

static int judge_all(struct gathered *all, const struct compare_history *history, struct rl_arena *arena)
{
    for (size_t i = 0; i < all->count; i++) {
        struct subject *subject = &all->items[i];
        if (compare_part(subject, all->ceilings, arena) != 0)
            return -1;
        if (!all->ceilings)
            subject->floor_bytes = byte_floor(&subject->base, &subject->head);
    }
    if (history != NULL && compare_use_history(all, history, arena) != 0)
        return -1;
    if (judge_family(all, false, arena) != 0)
        return -1;
    return all->ceilings ? 0 : judge_family(all, true, arena);
}

/* ---- the answer ---- */

static int fill_ceilings(const struct gathered *all, struct compare_result *result)
{
    result->ceilings = rl_arena_array(result->arena, all->count + 1, sizeof *result->ceilings);
    if (result->ceilings == NULL)
        return -1;
    result->ceiling_count = all->count;
    for (size_t i = 0; i < all->count; i++) {
        struct compare_ceiling *ceiling = &result->ceilings[i];
        ceiling->name = all->items[i].name;
        ceiling->state = all->items[i].state;
        judge_time(&all->items[i], true, &ceiling->value);
        ceiling->notes = all->items[i].notes;
        ceiling->value.sentence =
            compare_with_left_out(compare_time_words(&all->items[i], &ceiling->value, true, result->arena),
                                  &ceiling->notes, "time", result->arena);
        if (ceiling->value.sentence == NULL)
            return -1;
    }
    return 0;
}

static int fill_rows(const struct gathered *all, struct compare_result *result)
{
    result->rows = rl_arena_array(result->arena, all->count + 1, sizeof *result->rows);
    if (result->rows == NULL)
        return -1;
    result->row_count = all->count;
    for (size_t i = 0; i < all->count; i++) {
        const struct subject *subject = &all->items[i];
        struct compare_row *row = &result->rows[i];
        row->kernel = subject->name;
        row->state = subject->state;
        judge_time(subject, false, &row->time);
        judge_bytes(subject, &row->bytes);
        row->notes = subject->notes;
        row->time.sentence = compare_with_left_out(compare_time_words(subject, &row->time, false, result->arena),
                                                   &row->notes, "time", result->arena);
        row->bytes.sentence = compare_with_left_out(compare_bytes_words(subject, &row->bytes, result->arena),
                                                    &row->notes, "bytes", result->arena);
        if (row->time.sentence == NULL || row->bytes.sentence == NULL)
            return -1;
        result->time_counts[row->time.verdict]++;
        result->bytes_counts[row->bytes.verdict]++;
    }
    return 0;
}

static int rank_of(const struct compare_row *row)
{
    bool machine = row->cause == COMPARE_CAUSE_MACHINE;
    switch (row->time.verdict) {
    case COMPARE_SLOWER:
        return machine ? 1 : 0;
    case COMPARE_MISSING_HEAD:
    case COMPARE_NOT_COMPARABLE:
        return 3;
    case COMPARE_AMBIGUOUS:
        return row->bytes.verdict == COMPARE_MORE ? 2 : 4;
    case COMPARE_FASTER:
        return machine ? 6 : 5;
    default:
        break;
    }
    switch (row->bytes.verdict) {
    case COMPARE_MORE:
        return 2;
    case COMPARE_FEWER:
        return 7;
    default:
        return row->time.verdict == COMPARE_MISSING_BASE ? 8 : 9;
    }
}

/* Regressions first; among those of one kind the largest ratio first; else by name, so that the order is one. */
static int regressions_first(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    int by = rank_of(x) - rank_of(y);
    if (by != 0)
        return by;
    double x_ratio = rl_is_known(x->time.ratio) ? x->time.ratio.value : 0;
    double y_ratio = rl_is_known(y->time.ratio) ? y->time.ratio.value : 0;
    if (rank_of(x) < 8 && (x_ratio > y_ratio || x_ratio < y_ratio))
        return x_ratio < y_ratio ? 1 : -1;
    by = strcmp(x->kernel, y->kernel);
    return by != 0 ? by : (int)x->state - (int)y->state;
}

/* Whether this row leaves open that head is slower by 1 percent or more. */
static bool leaves_open(const struct compare_row *row)
{
    if (row->time.verdict == COMPARE_MISSING_HEAD || row->time.verdict == COMPARE_NOT_COMPARABLE)
        return true;
    if (row->time.verdict != COMPARE_AMBIGUOUS)
        return false;
    return !rl_is_known(row->time.high) || row->time.high.value >= 1 + COMPARE_CHANGE;
}

static void sum_up(struct compare_result *result)
{
    size_t open = 0, judged = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct compare_row *row = &result->rows[i];
        bool own = row->cause != COMPARE_CAUSE_MACHINE;
        result->regressions += own && row->time.verdict == COMPARE_SLOWER;
        result->improvements += own && row->time.verdict == COMPARE_FASTER;
        open += leaves_open(row);
        judged += row->time.verdict == COMPARE_SAME || row->time.verdict == COMPARE_SLOWER ||
                  row->time.verdict == COMPARE_FASTER || row->time.verdict == COMPARE_AMBIGUOUS;
    }
    for (size_t i = 0; i < result->ceiling_count; i++) {
        const struct compare_ceiling *ceiling = &result->ceilings[i];
        if (!compare_is_primary(ceiling->name) || ceiling->value.verdict == result->machine.verdict)
            continue;
        result->regressions += ceiling->value.verdict == COMPARE_SLOWER;
        result->improvements += ceiling->value.verdict == COMPARE_FASTER;
    }
    result->regressions += result->machine.verdict == COMPARE_SLOWER;
    result->improvements += result->machine.verdict == COMPARE_FASTER;
    if (result->not_comparable_count > 0)
        result->outcome = COMPARE_UNDECIDED;
    else if (result->regressions > 0)
        result->outcome = COMPARE_REGRESSION;
    else
        result->outcome = open > 0 || judged == 0 ? COMPARE_UNDECIDED : COMPARE_NO_REGRESSION;
}

static int judge_sides(const struct chosen *base, const struct chosen *head, const struct compare_history *history,
                       struct compare_result *result, struct rl_err *err)
{
    struct gathered rows = {.ceilings = false}, ceilings = {.ceilings = true};
    if (compare_gather(&rows, base, head, result->arena, err) != 0 ||
        compare_gather(&ceilings, base, head, result->arena, err) != 0)
        return -1;
    if (judge_all(&rows, history, result->arena) != 0 || judge_all(&ceilings, history, result->arena) != 0 ||
        fill_rows(&rows, result) != 0 || fill_ceilings(&ceilings, result) != 0 ||
        compare_work_warnings(&rows, &ceilings, result) != 0 || compare_find_machine(result) != 0)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare the runs.");
    for (size_t i = 0; i < rows.count; i++)
        if (compare_find_cause(&rows.items[i], &result->rows[i], &result->machine, result->arena) != 0)
            return rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare the runs.");
    qsort(result->rows, result->row_count, sizeof *result->rows, regressions_first);
    return 0;
}

int compare_judge(const struct compare_side *base, const struct compare_side *head,
                  const struct compare_history *history, struct compare_result **ret, struct rl_err *err)
{
    struct rl_arena *arena = rl_arena_new(ARENA_MAX);
    struct compare_result *result = arena == NULL ? NULL : rl_arena_alloc(arena, sizeof *result);
    struct chosen base_runs, head_runs;
    if (result == NULL) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare the runs.");
        goto out;
    }
    result->arena = arena;
    compare_no_machine("the sides were not judged", &result->machine);
    result->machine.sentence = "The sides were not judged.";
    if (compare_choose(base, arena, &base_runs, &result->base) != 0 ||
        compare_choose(head, arena, &head_runs, &result->head) != 0 ||
        compare_identity(&base_runs, &head_runs, result) != 0) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare the runs.");
        goto out;
    }
    if (result->not_comparable_count == 0 && judge_sides(&base_runs, &head_runs, history, result, err) != 0)
        goto out;
    sum_up(result);
    result->sentence = compare_answer_words(result);
    if (result->sentence == NULL) {
        rl_fail(err, RL_E_NO_MEMORY, NULL, "No memory to compare the runs.");
        goto out;
    }
    *ret = result;
    return 0;
out:
    rl_arena_free(arena);
    return -1;
}

void compare_free(struct compare_result *result)
{
    if (result != NULL)
        rl_arena_free(result->arena);
}
