/* The table for people. */
#include "gpu/record/print/text.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/base/width.h"
#include "gpu/record/derive/derive.h"

#define MICRO 1e-6
#define MEGA  1e6
#define GIGA  1e9

enum column { ASK, COL_L1, COL_L2, COL_DRAM, PER_ASK, CEIL, TIME, ASK_RATE, FLOP_RATE, COLUMN_COUNT };

static const struct {
    const char *title;
    int width, decimals;
    double unit;
} columns[COLUMN_COUNT] = {
    [ASK] = {"ask MB", 8, 1, MEGA},       [COL_L1] = {"L1 MB", 8, 1, MEGA},      [COL_L2] = {"L2 MB", 8, 1, MEGA},
    [COL_DRAM] = {"DRAM MB", 8, 1, MEGA}, [PER_ASK] = {"DRAM/ask", 8, 4, 1},     [CEIL] = {"%ceil", 6, 1, 1},
    [TIME] = {"time us", 10, 2, MICRO},   [ASK_RATE] = {"ask GB/s", 9, 1, GIGA}, [FLOP_RATE] = {"GFLOP/s", 9, 1, GIGA},
};
#define NAME_WIDTH     22
#define NAME_WIDTH_MAX 40 /* longer names are cut in the middle and stand whole below the table */

/* Whether any row has bytes of any level: without, the table is one of times. */
static bool is_counted(const struct rl_run *run, enum rl_state state)
{
    bool any_row = false;
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row_state *s = &run->rows[i].state[state];
        any_row = any_row || s->present;
        if (s->present && (rl_is_known(s->bytes.l1) || rl_is_known(s->bytes.l2) || rl_is_known(s->bytes.dram) ||
                           rl_is_known(s->bytes.dram_settled)))
            return true;
    }
    return !any_row;
}

/* The first column of the state's table after ASK, and the one past its last. */
static enum column first_column(bool counted)
{
    return counted ? COL_L1 : TIME;
}
static enum column end_column(bool counted)
{
    return counted ? TIME : COLUMN_COUNT;
}
/* The column after c in the table: ASK leads both. */
static enum column next_column(bool counted, enum column c)
{
    return c == ASK ? first_column(counted) : c + 1;
}

static struct rl_real ask_bytes(const struct rl_row *row)
{
    return row->ask_bytes.why == NULL ? rl_known((double)row->ask_bytes.value) : rl_unknown(row->ask_bytes.why);
}

/* Only for the eye: how fast the kernel is in terms of its own demand. */
static struct rl_real ask_rate(const struct rl_row *row, enum rl_state state)
{
    struct rl_real ask = ask_bytes(row), time = row->state[state].time_s.median;
    if (!rl_is_known(ask))
        return ask;
    if (!rl_is_known(time))
        return time;
    return time.value > 0 ? rl_known(ask.value / time.value) : rl_unknown("the median time is zero");
}

static struct rl_real cell(const struct rl_run *run, const struct rl_row *row, enum rl_state state, enum column column)
{
    const struct rl_row_state *s = &row->state[state];
    switch (column) {
    case ASK:
        return ask_bytes(row);
    case COL_L1:
        return s->bytes.l1;
    case COL_L2:
        return s->bytes.l2;
    case COL_DRAM:
        return rl_dram_owed(run, row, state);
    case PER_ASK:
        return s->dram_per_ask;
    case TIME:
        return s->time_s.median;
    case ASK_RATE:
        return ask_rate(row, state);
    case FLOP_RATE:
        return s->flop_per_s;
    default:
        return s->percent_of_ceiling;
    }
}

static const char *or_dash(struct rl_text text)
{
    return text.why == NULL && text.value != NULL ? text.value : "-";
}

/* Little is not none: what would be printed as zeros is below the last digit. */
static const char *number(char text[400], struct rl_real real, double unit, int decimals)
{
    if (!rl_is_known(real) || rl_format_fixed(text, 400, real.value / unit, decimals) < 0)
        return "-";
    if (real.value == 0)
        return "0";
    if (text[strspn(text, "-0.")] != '\0')
        return text;
    double last = 1;
    for (int i = 0; i < decimals; i++)
        last /= 10;
    text[0] = '<';
    return rl_format_fixed(text + 1, 399, last, decimals) < 0 ? "-" : text;
}

/* Names come from documents: nothing in them may move a terminal's cursor or fake a line. */
static void add_clean(struct rl_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        rl_buf_add(out, (unsigned char)*c < 0x20 || *c == 0x7F ? "?" : c, 1);
}

static void write_source(const struct rl_run *run, struct rl_buf *out)
{
    char time[RL_TIME_TEXT];
    if (run->source == RL_REPLAYED) {
        rl_time_format(run->recorded_at_ms, time);
        rl_buf_printf(out, "REPLAYED from a recording made at %s on ", time);
        add_clean(out, run->device.name);
        rl_buf_puts(out, "\n");
    } else if (run->source == RL_IMPORTED) {
        rl_buf_puts(out, "IMPORTED from uploaded files, not measured by this service\n");
    } else {
        rl_buf_puts(out, "measured\n");
    }
    if (rl_strings_has(&run->flags, "shared"))
        rl_buf_printf(out, "SHARED: something else was on the GPU, or could not be kept off it%s\n",
                      run->outcome == RL_OK ? "" : ": the likely reason of what follows");
    if (run->outcome == RL_OK)
        return;
    rl_buf_printf(out, "%s: ", run->outcome == RL_REFUSED ? "REFUSED, no roofline" : "PARTIAL");
    for (size_t i = 0; i < run->outcome_reasons.count; i++) {
        rl_buf_puts(out, i > 0 ? "; " : "");
        add_clean(out, run->outcome_reasons.items[i]);
    }
    rl_buf_puts(out, "\n");
}

static struct rl_real ceiling(const struct rl_run *run, const char *name, enum rl_state state)
{
    return rl_roof(run, name, state == RL_MIXED ? RL_WARM : state, "the run has no such ceiling");
}

/* Of the two ceilings in the same line: a cold table's is not the run's, which is of the warm pair. */
static struct rl_real ridge(const struct rl_run *run, enum rl_state state)
{
    struct rl_real copy = ceiling(run, "dram_copy", state), fma = ceiling(run, "fp32_fma", RL_WARM);
    if (!rl_is_known(fma))
        return fma;
    if (!rl_is_known(copy))
        return copy;
    return copy.value > 0 ? rl_known(fma.value / copy.value) : rl_unknown("the copy ceiling is zero");
}

/* "power 431.2 W on average, 15.1 J, 35 samples every 0.100 s from … until … by nvidia-smi's clock". */
static void write_power(const struct rl_run *run, struct rl_buf *out)
{
    const struct rl_power *power = &run->power;
    char text[400];
    if (!power->present)
        return;
    rl_buf_printf(out, "power %s W on average", number(text, power->average_w, 1, 1));
    if (rl_is_known(power->energy_j))
        rl_buf_printf(out, ", %s J", number(text, power->energy_j, 1, 1));
    rl_buf_printf(out, ", %lld sample%s", (long long)power->samples, rl_plural((uint64_t)power->samples));
    if (rl_is_known(power->interval_s))
        rl_buf_printf(out, " every %s s", number(text, power->interval_s, 1, 3));
    if (power->from.why == NULL && power->until.why == NULL) {
        rl_buf_puts(out, " from ");
        add_clean(out, power->from.value);
        rl_buf_puts(out, " until ");
        add_clean(out, power->until.value);
    }
    rl_buf_puts(out, " (");
    add_clean(out, power->source);
    rl_buf_puts(out, ")\n");
}

static void write_head(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    char time[RL_TIME_TEXT], copy[400], fma[400], point[400];
    rl_time_format(run->finished_at_ms, time);
    write_source(run, out);
    rl_buf_puts(out, "device ");
    add_clean(out, run->device.name);
    rl_buf_puts(out, ", driver ");
    add_clean(out, or_dash(run->environment.driver_version));
    rl_buf_puts(out, ", CUDA ");
    add_clean(out, or_dash(run->environment.cuda_runtime_version));
    rl_buf_printf(out, ", %s\n%s sizes, %s cache, counters ", time, run->sizes, rl_state_name(state));
    add_clean(out, run->counters.status);
    rl_buf_puts(out, "\n");
    write_power(run, out);
    rl_buf_puts(out, "\n");
    struct rl_real copy_value = ceiling(run, "dram_copy", state);
    struct rl_real fma_value = ceiling(run, "fp32_fma", RL_WARM);
    rl_buf_printf(out, "copy ceiling %s GB/s, FMA ceiling %s GFLOP/s, ridge point %s FLOP/byte\n\n",
                  number(copy, copy_value, GIGA, 1), number(fma, fma_value, GIGA, 1),
                  number(point, ridge(run, state), 1, 2));
    if (run->lent.present && run->source == RL_IMPORTED) {
        out->len--; /* the blank line is below it */
        add_clean(out, run->lent.sentence);
        rl_buf_puts(out, "\n\n");
    }
}

/* As add_clean; the caller frees. NULL when memory ran out. */
static char *clean_copy(const struct rl_buf *out, const char *text)
{
    struct rl_buf clean;
    rl_buf_init(&clean, out->max);
    rl_buf_puts(&clean, "");
    add_clean(&clean, text);
    return rl_buf_take(&clean);
}

/* Pads to the column, or cuts. */
static void add_name(struct rl_buf *out, const char *name, int width)
{
    char text[4 * NAME_WIDTH_MAX + 64];
    char *clean = clean_copy(out, name);
    if (clean != NULL)
        rl_text_fit(text, sizeof text, clean, width);
    rl_buf_puts(out, clean != NULL ? text : "?");
    out->failed = out->failed || clean == NULL;
    free(clean);
}

/* Of the table's column of names: as wide as the widest name of its rows, within limits. */
static int name_width(const struct rl_run *run, enum rl_state state)
{
    int width = NAME_WIDTH;
    for (size_t i = 0; i < run->row_count; i++) {
        int own = run->rows[i].state[state].present ? rl_text_width(run->rows[i].title) : 0;
        width = own > width ? own : width;
    }
    return width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
}

/* The names that the table has only in part, as it has them and whole. */
static void write_cut_names(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    for (size_t i = 0; i < run->row_count; i++) {
        if (!run->rows[i].state[state].present || rl_text_width(run->rows[i].title) <= NAME_WIDTH_MAX)
            continue;
        add_name(out, run->rows[i].title, NAME_WIDTH_MAX);
        rl_buf_puts(out, " is ");
        add_clean(out, run->rows[i].title);
        rl_buf_puts(out, "\n");
    }
}

static void write_rows(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    static const char rule[] = "----------------------------------------";
    bool counted = is_counted(run, state);
    int width = name_width(run, state);
    enum column end = end_column(counted);
    char text[400];
    add_name(out, "kernel", width);
    for (enum column c = ASK; c < end; c = next_column(counted, c))
        rl_buf_printf(out, " %*s", columns[c].width, columns[c].title);
    rl_buf_printf(out, "\n%.*s", width, rule);
    for (enum column c = ASK; c < end; c = next_column(counted, c))
        rl_buf_printf(out, " %.*s", columns[c].width, rule);
    rl_buf_puts(out, "\n");
    for (size_t i = 0; i < run->row_count; i++) {
        if (!run->rows[i].state[state].present)
            continue;
        add_name(out, run->rows[i].title, width);
        for (enum column c = ASK; c < end; c = next_column(counted, c))
            rl_buf_printf(out, " %*s", columns[c].width,
                          number(text, cell(run, &run->rows[i], state, c), columns[c].unit, columns[c].decimals));
        rl_buf_puts(out, "\n");
    }
}

/* ---- reasons: of the table's cells; a table of times also says why it has no bytes ---- */

struct cells { /* what the reasons of one table are looked for in */
    const struct rl_run *run;
    enum rl_state state;
    bool counted;
};

static bool is_looked_at(const struct cells *in, enum column c)
{
    return in->counted ? c < TIME : c <= COL_DRAM || c >= TIME;
}

static bool has_reason(const struct cells *in, size_t row, enum column c, const char *why)
{
    if (!in->run->rows[row].state[in->state].present || !is_looked_at(in, c))
        return false;
    struct rl_real real = cell(in->run, &in->run->rows[row], in->state, c);
    return !rl_is_known(real) && strcmp(real.why, why) == 0;
}

/* Whether the reason of (row, column) stands in an earlier cell, in reading order. */
static bool told_before(const struct cells *in, size_t row, enum column column, const char *why)
{
    for (size_t i = 0; i <= row; i++)
        for (enum column c = ASK; c < (i == row ? column : COLUMN_COUNT); c++)
            if (has_reason(in, i, c, why))
                return true;
    return false;
}

/* Whether the reason covers the same columns of every row, two rows at least. */
static bool is_of_every_row(const struct cells *in, const char *why)
{
    size_t first = in->run->row_count, rows = 0;
    for (size_t i = 0; i < in->run->row_count; i++) {
        if (!in->run->rows[i].state[in->state].present)
            continue;
        if (rows++ == 0)
            first = i;
        for (enum column c = ASK; c < COLUMN_COUNT; c++)
            if (has_reason(in, i, c, why) != has_reason(in, first, c, why))
                return false;
    }
    return rows > 1;
}

static void write_covered(const struct cells *in, size_t row, const char *name, const char *why, struct rl_buf *out)
{
    bool first = true;
    for (enum column c = ASK; c < COLUMN_COUNT; c++) {
        if (!has_reason(in, row, c, why))
            continue;
        if (first)
            add_clean(out, name);
        rl_buf_printf(out, "%s %s", first ? ":" : ",", columns[c].title);
        first = false;
    }
}

/* first: the first row that has the reason. */
static void write_reason(const struct cells *in, size_t first, const char *why, struct rl_buf *out)
{
    rl_buf_puts(out, "- ");
    add_clean(out, why);
    rl_buf_puts(out, " (");
    if (is_of_every_row(in, why)) {
        write_covered(in, first, "every row", why, out);
    } else {
        for (size_t i = first; i < in->run->row_count; i++) {
            bool has = false;
            for (enum column c = ASK; c < COLUMN_COUNT; c++)
                has = has || has_reason(in, i, c, why);
            rl_buf_puts(out, has && i > first ? "; " : "");
            write_covered(in, i, in->run->rows[i].title, why, out);
        }
    }
    rl_buf_puts(out, ")\n");
}

static void write_reasons(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    const struct cells in = {run, state, is_counted(run, state)};
    for (size_t i = 0; i < run->row_count; i++)
        for (enum column c = ASK; run->rows[i].state[state].present && c < COLUMN_COUNT; c++) {
            struct rl_real real = cell(run, &run->rows[i], state, c);
            if (is_looked_at(&in, c) && !rl_is_known(real) && !told_before(&in, i, c, real.why))
                write_reason(&in, i, real.why, out);
        }
    const struct {
        const char *name;
        struct rl_real real;
    } head[] = {{"copy ceiling", ceiling(run, "dram_copy", state)},
                {"FMA ceiling", ceiling(run, "fp32_fma", RL_WARM)},
                {"ridge point", ridge(run, state)}};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        if (!rl_is_known(head[i].real)) {
            rl_buf_puts(out, "- ");
            add_clean(out, head[i].real.why);
            rl_buf_printf(out, " (%s)\n", head[i].name);
        }
}

static void add_words(struct rl_buf *out, const char *label, const struct rl_strings *words)
{
    if (words->count == 0)
        return;
    rl_buf_puts(out, "* ");
    add_clean(out, label);
    for (size_t i = 0; i < words->count; i++) {
        rl_buf_puts(out, i > 0 ? ", " : ": ");
        add_clean(out, words->items[i]);
    }
    rl_buf_puts(out, "\n");
}

/* Whether a cold table's DRAM columns hold settled bytes: those of an import may not. */
static bool is_unsettled(const struct rl_run *run)
{
    for (size_t i = 0; i < run->row_count; i++)
        if (rl_strings_has(&run->rows[i].state[RL_COLD].flags, "unsettled"))
            return true;
    return false;
}

static void write_import(const struct rl_run *run, struct rl_buf *out)
{
    for (size_t i = 0; i < run->import.file_count; i++) {
        rl_buf_printf(out, "file %s: ", run->import.files[i].kind);
        add_clean(out, run->import.files[i].format);
        rl_buf_puts(out, "\n");
    }
    for (size_t i = 0; i < run->import.notes.count; i++) {
        rl_buf_puts(out, "note: ");
        add_clean(out, run->import.notes.items[i]);
        rl_buf_puts(out, "\n");
    }
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_row_import *import = &run->rows[i].import;
        if (!import->present || import->combined.why != NULL || import->launch_count < 2)
            continue;
        rl_buf_puts(out, "note: ");
        add_clean(out, run->rows[i].title);
        rl_buf_puts(out, ": ");
        add_clean(out, import->combined.value);
        rl_buf_puts(out, "\n");
    }
}

static void write_explained(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    for (size_t i = 0; i < run->row_count; i++) {
        const struct rl_explained *explained = &run->rows[i].state[state].explained;
        const struct rl_text said[] = {explained->dram_per_ask, explained->flop, explained->roof};
        for (size_t k = 0; explained->present && k < sizeof said / sizeof said[0]; k++) {
            if (said[k].why != NULL)
                continue;
            rl_buf_puts(out, "note: ");
            add_clean(out, run->rows[i].title);
            rl_buf_puts(out, ": ");
            add_clean(out, said[k].value);
            rl_buf_puts(out, "\n");
        }
    }
}

static bool has_state(const struct rl_run *run, enum rl_state state)
{
    for (size_t i = 0; i < run->row_count; i++)
        if (run->rows[i].state[state].present)
            return true;
    return false;
}

static void write_absent(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    bool any = false;
    rl_buf_printf(out, "no row of this run is %s", rl_state_name(state));
    for (enum rl_state other = RL_WARM; other < RL_ROW_STATES; other++) {
        if (!has_state(run, other))
            continue;
        rl_buf_printf(out, "%s%s", any ? ", " : "; it has rows that are ", rl_state_name(other));
        any = true;
    }
    rl_buf_puts(out, "\n");
}

static void write_notes(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    if (!has_state(run, state))
        write_absent(run, state, out);
    else if (!is_counted(run, state))
        rl_buf_puts(out, "timed only: ask GB/s is asked bytes over time, not DRAM traffic\n");
    else if (state == RL_MIXED)
        rl_buf_puts(out,
                    "mixed: bytes of cold launches beside times of warm ones, so that %ceil may pass 100; shown, not "
                    "judged\n");
    else if (state == RL_COLD && is_unsettled(run))
        rl_buf_puts(out,
                    "cold: DRAM MB and DRAM/ask are what moved during the launch; lines that it left dirty are not "
                    "in them\n");
    else if (state == RL_COLD)
        rl_buf_puts(out,
                    "cold: DRAM MB and DRAM/ask are settled bytes, what the launch owed DRAM with the lines it left "
                    "dirty; %ceil is of what moved while it ran\n");
    write_cut_names(run, state, out);
    if (run->import.present)
        write_import(run, out);
    write_explained(run, state, out);
    write_reasons(run, state, out);
    add_words(out, "run", &run->flags);
    for (size_t i = 0; i < run->row_count; i++) {
        add_words(out, run->rows[i].title, &run->rows[i].flags);
        if (run->rows[i].state[state].present)
            add_words(out, run->rows[i].title, &run->rows[i].state[state].flags);
    }
    for (size_t i = 0; i < run->check_count; i++) {
        const struct rl_check *check = &run->checks[i];
        if (check->passed.why == NULL && check->passed.value)
            continue;
        rl_buf_puts(out, check->passed.why == NULL ? "! check failed: " : "! check not made: ");
        add_clean(out, check->title);
        rl_buf_puts(out, ": ");
        add_clean(out, check->passed.why == NULL ? check->detail : check->passed.why);
        rl_buf_puts(out, "\n");
    }
}

int rl_table_write(const struct rl_run *run, enum rl_state state, struct rl_buf *out)
{
    write_head(run, state, out);
    write_rows(run, state, out);
    struct rl_buf notes;
    rl_buf_init(&notes, out->max);
    write_notes(run, state, &notes);
    if (notes.len > 0) {
        rl_buf_puts(out, "\n");
        rl_buf_add(out, notes.data, notes.len);
    }
    out->failed = out->failed || notes.failed;
    rl_buf_free(&notes);
    return out->failed ? -1 : 0;
}
