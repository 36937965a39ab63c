/* Verdicts in sentences. Numbers by rl_format_fixed, so that no locale changes them. */
#include <math.h>
#include <string.h>

#include "gpu/base/num.h"
#include "server/compare/internal.h"

#define WORD 48

static const char *fixed(char text[WORD], double value, int decimals)
{
    static const char minus[] = "−";
    char number[WORD - sizeof minus];
    if (rl_format_fixed(number, sizeof number, value, decimals) < 0)
        return "out of range";
    size_t signs = number[0] == '-' ? 1 : 0, at = signs == 1 ? sizeof minus - 1 : 0;
    memcpy(text, minus, at);
    memcpy(text + at, number + signs, strlen(number + signs) + 1);
    return text;
}

/* "+2.13 %" for a ratio of 1.0213 */
static const char *percent(char text[WORD], double ratio)
{
    double change = (ratio - 1) * 100;
    char number[WORD];
    /* what would round to zero has no sign */
    const char *digits = fixed(number, fabs(change) < 0.005 ? 0 : change, 2);
    text[0] = '\0';
    size_t at = 0;
    if (change >= 0.005)
        text[at++] = '+';
    size_t length = strnlen(digits, WORD - 4);
    memcpy(text + at, digits, length);
    memcpy(text + at + length, " %", 3);
    return text;
}

const char *compare_short_name(const char *name, char text[COMPARE_NAME_SHOWN])
{
    static const char cut[] = "…";
    size_t length = strlen(name), start = COMPARE_NAME_SHOWN - 60, end = length - (60 - sizeof cut);
    if (length < COMPARE_NAME_SHOWN)
        return name;
    while (((unsigned char)name[start] & 0xc0) == 0x80) /* inside a character */
        start--;
    while (((unsigned char)name[end] & 0xc0) == 0x80)
        end++;
    memcpy(text, name, start);
    memcpy(text + start, cut, sizeof cut - 1);
    memcpy(text + start + sizeof cut - 1, name + end, length - end + 1);
    return text;
}

struct scale {
    double from, unit;
    const char *name;
    bool whole; /* no decimals */
};

static const char *scaled(char text[WORD], double value, const struct scale *scales, size_t count)
{
    const struct scale *scale = &scales[count - 1];
    for (size_t i = 0; i < count; i++)
        if (fabs(value) >= scales[i].from) {
            scale = &scales[i];
            break;
        }
    double shown = value / scale->unit;
    int decimals = scale->whole || fabs(shown) >= 1000 ? 0 : fabs(shown) >= 100 ? 1 : fabs(shown) >= 10 ? 2 : 3;
    char number[WORD];
    const char *digits = fixed(number, shown, decimals);
    size_t length = strnlen(digits, WORD - 12), name = strlen(scale->name);
    memcpy(text, digits, length);
    text[length] = ' ';
    memcpy(text + length + 1, scale->name, name + 1);
    return text;
}

static const char *seconds(char text[WORD], double value)
{
    static const struct scale scales[] = {{1, 1, "s", false}, {1e-3, 1e-3, "ms", false}, {0, 1e-6, "µs", false}};
    return scaled(text, value, scales, 3);
}

static const char *bytes(char text[WORD], double value)
{
    static const struct scale scales[] = {
        {1e9, 1e9, "GB", false}, {1e6, 1e6, "MB", false}, {1e4, 1e3, "kB", false}, {0, 1, "bytes", true}};
    return scaled(text, value, scales, 4);
}

static const char *rate(char text[WORD], double value, const char *ceiling)
{
    static const struct scale byte_scales[] = {{0, 1e9, "GB/s", false}}, flop_scales[] = {{0, 1e9, "GFLOP/s", false}};
    /* names of ceilings tell their unit: fp64_fma, tensor_fp16 … and all others are bytes */
    bool flop = strncmp(ceiling, "fp", 2) == 0 || strncmp(ceiling, "bf", 2) == 0 || strncmp(ceiling, "tensor", 6) == 0;
    return scaled(text, value, flop ? flop_scales : byte_scales, 1);
}

static const char *confidence(char text[WORD], double level)
{
    char number[WORD];
    /* never rounded up to certainty */
    const char *digits = fixed(number, fmin(level * 100, 99.99), 2);
    size_t length = strnlen(digits, WORD - 4);
    memcpy(text, digits, length);
    memcpy(text + length, " %", 3);
    return text;
}

/* "why it could not be judged", for a quantity that both sides have */
static const char *unjudged(const char *what, const struct compare_judged *judged, size_t past, struct rl_arena *arena)
{
    if (judged->base_n >= COMPARE_RANK_MIN && judged->head_n >= COMPARE_RANK_MIN)
        return rl_arena_printf(
            arena,
            "%s cannot be told: %zu runs against %zu are too few for a family of this many rows, and "
            "history has %zu run%s with it on this device (%d are needed).",
            what, judged->base_n, judged->head_n, past, rl_plural(past), COMPARE_HISTORY_MIN);
    return rl_arena_printf(
        arena,
        "%s cannot be told: with %zu run%s against %zu (the rank test needs %d a side) the spread has to "
        "come from history, which has %zu run%s with it on this device (%d are needed).",
        what, judged->base_n, rl_plural(judged->base_n), judged->head_n, COMPARE_RANK_MIN, past, rl_plural(past),
        COMPARE_HISTORY_MIN);
}

static const char *missing(const char *what, const struct compare_judged *judged, struct rl_arena *arena)
{
    bool base = judged->verdict != COMPARE_MISSING_HEAD, head = judged->verdict != COMPARE_MISSING_BASE;
    const char *side = base && head ? "neither side has" : base ? "base does not have" : "head does not have";
    const char *why = base ? judged->base.why : judged->head.why;
    return rl_arena_printf(arena, "%s: %s it: %s.", what, side, why);
}

/* "… is not comparable (1.003 ms in base, 2.003 ms in head). It is other work: …" */
static const char *apart(const char *what, const char *is, const char *base, const char *head,
                         const struct compare_notes *notes, const char *skip, struct rl_arena *arena)
{
    const char *text = rl_arena_printf(arena, "%s %s not comparable (%s in base, %s in head).", what, is, base, head);
    for (size_t i = 0; text != NULL && i < notes->not_comparable_count; i++)
        if (strcmp(notes->not_comparable[i].field, skip) != 0)
            text = rl_arena_printf(arena, "%s %s", text, notes->not_comparable[i].sentence);
    return text;
}

/* ", by a spread from history of …" where that is so, else "" */
static const char *method(const struct compare_judged *judged, bool relative, struct rl_arena *arena)
{
    char number[WORD];
    if (judged->method != STATS_SPREAD)
        return "";
    if (!relative)
        return rl_arena_printf(arena, ", by a spread from history of %s", bytes(number, judged->spread.value));
    return rl_arena_printf(arena, ", by a spread from history of %s %%", fixed(number, judged->spread.value * 100, 3));
}

static const char *time_verdict(const struct compare_judged *judged, bool ceiling)
{
    switch (judged->verdict) {
    case COMPARE_SAME:
        return "is the same";
    case COMPARE_SLOWER:
        return ceiling ? "is lower" : "is slower";
    case COMPARE_FASTER:
        return ceiling ? "is higher" : "is faster";
    default:
        break;
    }
    bool beyond = judged->low.value > 1 || judged->high.value < 1;
    return beyond ? "is ambiguous (a change, but neither surely 1 % nor surely less)"
                  : "is ambiguous (neither surely the same nor surely changed)";
}

const char *compare_time_words(const struct subject *subject, const struct compare_judged *judged, bool ceiling,
                               struct rl_arena *arena)
{
    char name[COMPARE_NAME_SHOWN];
    const char *what =
        rl_arena_printf(arena, "%s %s%s", ceiling ? "Ceiling" : "Time of", compare_short_name(subject->name, name),
                        subject->state == RL_WARM ? " warm" : " cold");
    if (what == NULL)
        return NULL;
    char base[WORD], head[WORD], change[WORD], low[WORD], high[WORD], level[WORD];
    if (judged->verdict == COMPARE_NOT_COMPARABLE)
        return apart(what, "is",
                     ceiling ? rate(base, judged->base.value, subject->name) : seconds(base, judged->base.value),
                     ceiling ? rate(head, judged->head.value, subject->name) : seconds(head, judged->head.value),
                     &subject->notes, "bytes_derived", arena);
    if (judged->verdict != COMPARE_AMBIGUOUS && !rl_is_known(judged->low))
        return missing(what, judged, arena);
    if (judged->method == STATS_NONE)
        return unjudged(what, judged, subject->past_times, arena);
    const char *how = method(judged, true, arena);
    if (how == NULL)
        return NULL;
    return rl_arena_printf(
        arena,
        "%s %s: %s against %s (medians of %zu and %zu run%s), a change of %s, between %s and %s with %s confidence%s.",
        what, time_verdict(judged, ceiling),
        ceiling ? rate(head, judged->head.value, subject->name) : seconds(head, judged->head.value),
        ceiling ? rate(base, judged->base.value, subject->name) : seconds(base, judged->base.value), judged->head_n,
        judged->base_n, rl_plural(judged->base_n), percent(change, judged->ratio.value),
        percent(low, judged->low.value), percent(high, judged->high.value), confidence(level, judged->level.value),
        how);
}

static const char *bytes_verdict(const struct compare_judged *judged)
{
    switch (judged->verdict) {
    case COMPARE_SAME:
        return "are the same";
    case COMPARE_MORE:
        return "are more";
    case COMPARE_FEWER:
        return "are fewer";
    default:
        return "are ambiguous";
    }
}

const char *compare_bytes_words(const struct subject *subject, const struct compare_judged *judged,
                                struct rl_arena *arena)
{
    char name[COMPARE_NAME_SHOWN];
    const char *what = rl_arena_printf(arena, "DRAM bytes of %s%s", compare_short_name(subject->name, name),
                                       subject->state == RL_WARM ? " warm" : " cold");
    if (what == NULL)
        return NULL;
    if (judged->base_n == 0 || judged->head_n == 0)
        return missing(what, judged, arena);
    char base[WORD], head[WORD], shift[WORD], low[WORD], high[WORD], level[WORD], floor[WORD];
    if (judged->verdict == COMPARE_NOT_COMPARABLE)
        return apart(what, "are", bytes(base, judged->base.value), bytes(head, judged->head.value), &subject->notes,
                     "profiler_time", arena);
    if (judged->method == STATS_NONE)
        return unjudged(what, judged, subject->past_bytes, arena);
    const char *how = method(judged, false, arena);
    if (how == NULL)
        return NULL;
    return rl_arena_printf(arena,
                           "%s %s: %s against %s (medians of %zu and %zu run%s), %s apart, between %s and %s with %s "
                           "confidence%s; a change is at least 1 %% and at least %s, this row's noise floor.",
                           what, bytes_verdict(judged), bytes(head, judged->head.value),
                           bytes(base, judged->base.value), judged->head_n, judged->base_n, rl_plural(judged->base_n),
                           bytes(shift, judged->shift_bytes.value), bytes(low, subject->bytes.low),
                           bytes(high, subject->bytes.high), confidence(level, judged->level.value), how,
                           bytes(floor, judged->floor_bytes.value));
}

static const char *explained(const struct compare_row *row, const char *what, double ratio, const char *left_is,
                             double left, struct rl_arena *arena)
{
    char change[WORD], rest[WORD], share[WORD], low[WORD];
    if (!rl_is_known(row->explained_low))
        return rl_arena_printf(arena, "%s changed by %s, which explains %s %% of the change; %s changed by %s.", what,
                               percent(change, ratio), fixed(share, row->explained.value * 100, 0), left_is,
                               percent(rest, left));
    return rl_arena_printf(
        arena,
        "%s changed by %s, which explains %s %% of the change (at least %s %% with 97.5 %% confidence); "
        "%s changed by %s.",
        what, percent(change, ratio), fixed(share, row->explained.value * 100, 0),
        fixed(low, row->explained_low.value * 100, 0), left_is, percent(rest, left));
}

const char *compare_cause_words(const struct compare_row *row, const struct compare_machine *machine, double left,
                                const char *missing_what, struct rl_arena *arena)
{
    char change[WORD], clock[WORD], memory[WORD];
    switch (row->cause) {
    case COMPARE_CAUSE_MACHINE:
        return rl_arena_printf(arena, "It moved with the machine, all of which changed by %s.",
                               percent(change, machine->ratio.value));
    case COMPARE_CAUSE_BYTES:
        return explained(row, "The bytes from and to DRAM", row->bytes.ratio.value, "the time per byte", left, arena);
    case COMPARE_CAUSE_CLOCK:
        return explained(row, "The SM clock", row->sm_hz_ratio.value, "the time in SM cycles", left, arena);
    case COMPARE_CAUSE_MEMORY_CLOCK:
        return explained(row, "The memory clock", row->memory_hz_ratio.value, "the time in memory cycles", left, arena);
    default:
        break;
    }
    if (missing_what != NULL)
        return rl_arena_printf(arena, "No cause was found: %s.", missing_what);
    return rl_arena_printf(
        arena,
        "No cause was found: neither DRAM bytes (%s) nor SM clock (%s) nor memory clock (%s) explain "
        "the change, and the machine as a whole did not move with it.",
        percent(change, row->bytes.ratio.value), percent(clock, row->sm_hz_ratio.value),
        percent(memory, row->memory_hz_ratio.value));
}

const char *compare_machine_words(const struct compare_machine *machine, struct rl_arena *arena)
{
    char change[WORD], low[WORD], high[WORD];
    if (machine->verdict == COMPARE_NONE)
        return "Rows and ceilings did not change together.";
    return rl_arena_printf(
        arena,
        "The machine as a whole is %s: times changed by %s in %zu of %zu row%s (from %s to %s), and both "
        "ceilings with them.",
        machine->verdict == COMPARE_SLOWER ? "slower" : "faster", percent(change, machine->ratio.value),
        machine->rows_together, machine->rows, rl_plural(machine->rows), percent(low, machine->low.value),
        percent(high, machine->high.value));
}

static const char *bytes_note(const struct compare_result *result, struct rl_arena *arena)
{
    size_t more = result->bytes_counts[COMPARE_MORE], fewer = result->bytes_counts[COMPARE_FEWER];
    if (more + fewer == 0)
        return "";
    return rl_arena_printf(arena, " DRAM bytes: more in %zu row%s, fewer in %zu.", more, rl_plural(more), fewer);
}

const char *compare_label_words(const char *label, struct rl_arena *arena)
{
    static const struct {
        const char *part, *words;
        bool quoted; /* a person's own words, with commas behind a backslash */
    } parts[] = {{"driver:", "driver ", false},
                 {"cuda:", "CUDA ", false},
                 {"run:", "run ", false},
                 {"label:", "label \"", true}};
    char *words = rl_arena_alloc(arena, 2 * strlen(label) + 1), *at = words;
    while (words != NULL && *label != '\0') {
        size_t i = 0, count = sizeof parts / sizeof parts[0];
        while (i < count && strncmp(label, parts[i].part, strlen(parts[i].part)) != 0)
            i++;
        bool quoted = i < count && parts[i].quoted;
        at = i < count ? stpcpy(at, parts[i].words) : at;
        label += i < count ? strlen(parts[i].part) : 0;
        for (; *label != '\0' && *label != ','; label++) {
            label += quoted && *label == '\\' && label[1] != '\0';
            *at++ = *label;
        }
        at = stpcpy(at, quoted ? "\"" : "");
        at = stpcpy(at, *label == ',' ? ", " : "");
        label += *label == ',';
    }
    if (words != NULL)
        *at = '\0';
    return words;
}

/* "head (run 6)", "head (8 runs)" */
static const char *side_words(const char *name, const struct compare_used *side, struct rl_arena *arena)
{
    return side->id_count == 1 ? rl_arena_printf(arena, "%s (run %s)", name, side->ids[0])
                               : rl_arena_printf(arena, "%s (%zu runs)", name, side->id_count);
}

static const char *nothing_words(const struct compare_result *result)
{
    struct rl_arena *arena = result->arena;
    const char *base = side_words("base", &result->base, arena), *head = side_words("head", &result->head, arena);
    if (base == NULL || head == NULL)
        return NULL;
    if (result->base.draws == 0 && result->head.draws == 0)
        return rl_arena_printf(arena, "Nothing to judge: neither %s nor %s has rows in the warm or cold state.", base,
                               head);
    return rl_arena_printf(arena, "Nothing to judge: %s has no rows in the warm or cold state.",
                           result->base.draws == 0 ? base : head);
}

/* " (why; 2 times), (…)" of the runs that were left out, each reason once */
static const char *reasons_words(const struct compare_used *used, struct rl_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; text != NULL && i < used->left_out_count; i++) {
        size_t same = 0, before = 0;
        for (size_t k = 0; k < used->left_out_count; k++)
            if (strcmp(used->left_out[k].why, used->left_out[i].why) == 0) {
                same++;
                before += k < i;
            }
        if (before == 0)
            text = rl_arena_printf(arena, "%s%s%zu run%s %s left out, %s", text, text[0] == '\0' ? "" : "; ", same,
                                   rl_plural(same), same == 1 ? "was" : "were", used->left_out[i].why);
    }
    return text;
}

const char *compare_empty_words(const struct compare_used *used, struct rl_arena *arena)
{
    const char *words = compare_label_words(used->label, arena), *text = reasons_words(used, arena);
    for (size_t i = 0; text != NULL && i < used->excluded_count; i++)
        text = rl_arena_printf(arena, "%s%s%s", text, text[0] == '\0' ? "" : "; ", used->excluded[i].sentence);
    if (words == NULL || text == NULL)
        return NULL;
    return rl_arena_printf(arena, "No run of %s counts: %s.", words,
                           text[0] == '\0' ? "there is none, of any suite, sizes or source" : text);
}

/* ", 2 not comparable" */
static const char *apart_note(const struct compare_result *result)
{
    size_t count = result->time_counts[COMPARE_NOT_COMPARABLE];
    return count == 0 ? "" : rl_arena_printf(result->arena, ", %zu not comparable", count);
}

static const char *all_apart_words(const struct compare_result *result)
{
    const struct compare_row *row = &result->rows[0];
    return rl_arena_printf(result->arena,
                           "Whether head is slower cannot be told: no row is comparable (%zu run%s against "
                           "%zu). %s",
                           result->head.id_count, rl_plural(result->head.id_count), result->base.id_count,
                           row->time.sentence);
}

const char *compare_answer_words(const struct compare_result *result)
{
    struct rl_arena *arena = result->arena;
    if (result->not_comparable_count > 0)
        return rl_arena_printf(arena, "The runs cannot be compared. %s", result->not_comparable[0].sentence);
    if (result->base.draws == 0 || result->head.draws == 0)
        return nothing_words(result);
    const size_t *counts = result->time_counts;
    if (result->row_count > 0 && counts[COMPARE_NOT_COMPARABLE] == result->row_count)
        return all_apart_words(result);
    const char *lead = result->outcome == COMPARE_REGRESSION      ? "Head is slower"
                       : result->outcome == COMPARE_NO_REGRESSION ? "Head is not slower"
                                                                  : "Whether head is slower cannot be told";
    const char *note = bytes_note(result, arena), *apart = apart_note(result);
    const char *machine = result->machine.verdict == COMPARE_NONE ? "" : ", the machine as a whole";
    if (note == NULL || apart == NULL)
        return NULL;
    return rl_arena_printf(arena,
                           "%s%s: %zu of %zu row%s %s slower, %zu faster, %zu the same, %zu ambiguous, %zu missing%s "
                           "(%zu run%s against %zu).%s",
                           lead, result->outcome == COMPARE_REGRESSION ? machine : "", counts[COMPARE_SLOWER],
                           result->row_count, rl_plural(result->row_count), counts[COMPARE_SLOWER] == 1 ? "is" : "are",
                           counts[COMPARE_FASTER], counts[COMPARE_SAME], counts[COMPARE_AMBIGUOUS],
                           counts[COMPARE_MISSING_BASE] + counts[COMPARE_MISSING_HEAD] + counts[COMPARE_NONE], apart,
                           result->head.id_count, rl_plural(result->head.id_count), result->base.id_count, note);
}

const char *compare_verdict_name(enum compare_verdict verdict)
{
    static const char *const names[COMPARE_VERDICT_COUNT] = {
        [COMPARE_SAME] = "same",
        [COMPARE_SLOWER] = "slower",
        [COMPARE_FASTER] = "faster",
        [COMPARE_MORE] = "more",
        [COMPARE_FEWER] = "fewer",
        [COMPARE_AMBIGUOUS] = "ambiguous",
        [COMPARE_MISSING_BASE] = "missing_base",
        [COMPARE_MISSING_HEAD] = "missing_head",
        [COMPARE_NOT_COMPARABLE] = "not_comparable",
    };
    return names[verdict];
}

const char *compare_cause_name(enum compare_cause cause)
{
    static const char *const names[] = {
        [COMPARE_CAUSE_NONE] = NULL,         [COMPARE_CAUSE_CLOCK] = "clock",
        [COMPARE_CAUSE_BYTES] = "bytes",     [COMPARE_CAUSE_MEMORY_CLOCK] = "memory_clock",
        [COMPARE_CAUSE_MACHINE] = "machine", [COMPARE_CAUSE_NOT_FOUND] = "none_found",
    };
    return names[cause];
}

const char *compare_outcome_name(enum compare_outcome outcome)
{
    static const char *const names[] = {
        [COMPARE_REGRESSION] = "slower", [COMPARE_NO_REGRESSION] = "not_slower", [COMPARE_UNDECIDED] = "undecided"};
    return names[outcome];
}
