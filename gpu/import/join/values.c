/* A row's figures from its launches: bytes, instructions, percentages, and what the profiler saw of time and clock. */
#include "gpu/import/join/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/common/note.h"
#include "gpu/import/join/flop.h"
#include "gpu/import/join/mean.h"
#include "gpu/import/ncu/launches.h"
#include "gpu/import/text/message.h"
#include "kernels/unit/catalogue.h"

#define LAUNCHES_SHOWN_IN_ALL 2048u /* of all rows together: up to 350 bytes each, where read and write are absent */
#define LAUNCHES_DIFFER       0.01  /* launches of one row whose DRAM bytes are further apart are flagged */
#define SUM_DIFFERS           0.001 /* the total beside read + write: counted in passes of their own */
/* No GPU's L2 is larger: B200 has 126 MB, H200 60. */
#define L2_LARGEST INT64_C(134217728)

static const char absent[] = "the counter file does not have it";

/* ---- DRAM bytes ---- */

struct dram {
    bool known, derived;
    int64_t bytes;
};

static bool is_counted(const struct import_launch *l, enum import_value value)
{
    return l->from[value] != NULL && !import_has_bit(l->derived, value);
}

/* Read + write rather than the total, but a count rather than a rate. */
static bool is_split(const struct import_launch *l)
{
    bool both = l->from[IMPORT_DRAM_READ] != NULL && l->from[IMPORT_DRAM_WRITE] != NULL;
    bool derived = !is_counted(l, IMPORT_DRAM_READ) || !is_counted(l, IMPORT_DRAM_WRITE);
    return both && !(derived && is_counted(l, IMPORT_DRAM));
}

static struct dram dram_of(const struct import_launch *l)
{
    bool derived = !is_counted(l, IMPORT_DRAM_READ) || !is_counted(l, IMPORT_DRAM_WRITE);
    if (is_split(l))
        return (struct dram){true, derived, l->whole[IMPORT_DRAM_READ] + l->whole[IMPORT_DRAM_WRITE]};
    return (struct dram){l->from[IMPORT_DRAM] != NULL, import_has_bit(l->derived, IMPORT_DRAM), l->whole[IMPORT_DRAM]};
}

static int missing(struct import *import, const struct import_table *t, const char *text)
{
    struct import_source source = {"ncu", t->name, 0, NULL};
    return import_fail(import->err, RL_E_IMPORT_MISSING, &source, "%s", text);
}

static int no_dram(struct import *import, const struct import_table *t, const struct rl_row *row,
                   const struct import_launch *l)
{
    char one[IMPORT_QUOTE], seen[320] = "", text[768];
    size_t len = 0;
    import_quote(one, row->kernel);
    bool read = l->from[IMPORT_DRAM_READ] != NULL;
    if (read || l->from[IMPORT_DRAM_WRITE] != NULL) {
        snprintf(text, sizeof text,
                 "\"%s\" (line %zu) has DRAM bytes %s only: %s is not there, and missing is not zero", one, l->line,
                 read ? "read" : "written", read ? "dram__bytes_write.sum" : "dram__bytes_read.sum");
        return missing(import, t, text);
    }
    if (t->rate_seen != NULL) {
        snprintf(text, sizeof text,
                 "\"%s\" (line %zu) has no DRAM row: %s is there, but a rate at the profiler's clocks is no count of "
                 "bytes, and none follows from it without gpu__time_duration.sum of the same launch",
                 one, l->line, t->rate_seen);
        return missing(import, t, text);
    }
    for (size_t i = 0; i < t->metrics_seen_count && i < 4; i++) {
        char quoted[IMPORT_QUOTE];
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%s", i > 0 ? ", " : "",
                                import_quote(quoted, t->metrics_seen[i]));
    }
    snprintf(text, sizeof text,
             "\"%s\" (line %zu) has no DRAM row: neither dram__bytes.sum nor dram__bytes_read.sum and "
             "dram__bytes_write.sum, nor another name of theirs, has a value; metrics that are there: %s",
             one, l->line, t->metrics_seen_count > 0 ? seen : "none");
    return missing(import, t, text);
}

/* The cell that keeps a launch's DRAM bytes from being known, or NULL: they are not asked for at all. */
static const struct import_reading *odd_dram(const struct import_launch *l)
{
    const struct import_reading *first = NULL;
    for (const struct import_reading *r = l->readings; r != NULL; r = r->next)
        if (r->odd && l->from[r->metric->value] == NULL && (first == NULL || r->line <= first->line))
            first = r; /* of one line the first column: the list is from the last to the first */
    return first;
}

static int not_counted(struct import *import, const struct import_table *t, const struct rl_row *row,
                       const struct import_launch *l)
{
    const struct import_reading *odd = odd_dram(l);
    char one[IMPORT_QUOTE], text[IMPORT_QUOTE];
    struct import_source source = {"ncu", t->name, odd != NULL ? odd->line : l->line, NULL};
    return import_fail(
        import->err, RL_E_IMPORT_NOT_COUNTED, &source,
        "%s of \"%s\" is \"%s\": the profiler could not count it. A MIG slice, a virtual GPU and WSL have "
        "no DRAM counters; another profiler takes them",
        odd != NULL ? odd->metric->name : "DRAM", import_quote(one, row->kernel),
        import_quote(text, odd != NULL ? odd->text : ""));
}

/* ---- counters that failed ---- */

/* Bytes that a kernel cannot but move through DRAM when they are more than the L2 holds; 0: not known. */
static uint64_t working_set(const struct import *import, const struct import_table *t, const struct rl_row *row)
{
    const struct rl_unit *unit = rl_unit_find(row->kernel);
    struct rl_count l2 = import_table_device(t, IMPORT_DEVICE_L2, 1);
    enum rl_sizes sizes;
    struct rl_dims dims;
    /* what a matmul asks for is mostly the same again */
    if (unit != NULL && unit->kind == RL_UNIT_KERNEL && rl_sizes_from_name(import->run->sizes, &sizes) == 0 &&
        (sizes != RL_SCALED || l2.why == NULL) &&
        unit->dims(sizes, sizes == RL_SCALED ? (uint64_t)l2.value : 0, &dims) == 0)
        return unit->footprint_bytes(&dims);
    return row->ask_bytes.why == NULL && row->ask_bytes.value > 0 ? (uint64_t)row->ask_bytes.value : 0;
}

/* Why a launch's zeros are no answer, or NULL. */
static const char *failed(const struct import *import, const struct import_table *t, const struct rl_row *row,
                          const struct import_launch *l, struct dram dram)
{
    static const char more[] = "the profiler counted no DRAM bytes of a kernel that asks for more than the L2 holds";
    static const char none[] =
        "the profiler counted no bytes, neither of DRAM nor of the caches, of a kernel that asks "
        "for some";
    if (!dram.known || dram.bytes > 0)
        return NULL;
    struct rl_count own = import->run->device.l2_bytes, told = import_table_device(t, IMPORT_DEVICE_L2, 1);
    int64_t l2 = told.why == NULL ? told.value : own.why == NULL ? own.value : L2_LARGEST;
    if (working_set(import, t, row) > (uint64_t)l2)
        return more;
    bool any = l->from[IMPORT_L1] != NULL || l->from[IMPORT_L2] != NULL || l->from[IMPORT_L2_SM] != NULL;
    bool zero = l->whole[IMPORT_L1] == 0 && l->whole[IMPORT_L2] == 0 && l->whole[IMPORT_L2_SM] == 0;
    return any && zero && row->ask_bytes.why == NULL && row->ask_bytes.value > 0 ? none : NULL;
}

/* Which launches count, and why not the others. A row of which none counts is refused, or has no bytes. */
static int leave_out(struct import *import, struct import_table *t, struct import_group *group, struct rl_row *row)
{
    const struct import_launch *first_odd = NULL, *first_failed = NULL;
    size_t odd = 0, zero = 0;
    char one[IMPORT_QUOTE];
    for (struct import_launch *l = group->first; l != NULL; l = l->next_in_group) {
        struct dram dram = dram_of(l);
        const struct import_reading *cell = dram.known ? NULL : odd_dram(l);
        if (!dram.known && cell == NULL)
            return no_dram(import, t, row, l);
        l->left_out = dram.known ? failed(import, t, row, l, dram)
                                 : rl_arena_printf(import->run->arena,
                                                   "it is \"%.32s\" in line %zu: the profiler could "
                                                   "not count it",
                                                   cell->text, cell->line);
        if (!dram.known && l->left_out == NULL)
            return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's launches");
        first_odd = !dram.known && odd++ == 0 ? l : first_odd;
        first_failed = dram.known && l->left_out != NULL && zero++ == 0 ? l : first_failed;
    }
    group->left_out = odd + zero;
    if (group->left_out < group->count) {
        import_quote(one, row->kernel);
        if (odd > 0)
            import_note(import->run,
                        "%s: %zu of %zu launches left out, whose DRAM bytes the profiler could not count (the first "
                        "begins in line %zu)",
                        one, odd, group->count, first_odd->line);
        if (zero > 0)
            import_note(import->run, "%s: %zu of %zu launches left out: %s (the first begins in line %zu)", one, zero,
                        group->count, first_failed->left_out, first_failed->line);
        return 0;
    }
    if (first_failed == NULL)
        return not_counted(import, t, row, first_odd);
    t->unreliable = t->unreliable == NULL ? first_failed->left_out : t->unreliable;
    group->unreliable = first_failed->left_out;
    import_note(import->run, "%s: %s: its counts are taken for failed (line %zu)", import_quote(one, row->kernel),
                group->unreliable, first_failed->line);
    group->left_out = 0; /* the profiler's time and percentages are those of all of them */
    for (struct import_launch *l = group->first; l != NULL; l = l->next_in_group)
        l->left_out = NULL;
    return 0;
}

/* ---- what the row shows ---- */

static const char *combined(struct rl_arena *arena, const struct import_group *group, int64_t least, int64_t most)
{
    if (group->count == 1)
        return "one launch";
    if (group->count - group->left_out == 1)
        return rl_arena_printf(arena, "one of %zu launches of this name, grid and block: the others left out",
                               group->count);
    if (group->unreliable != NULL)
        return rl_arena_printf(arena, "%zu launches of this name, grid and block (ID %lld to %lld)", group->count,
                               (long long)group->first->id, (long long)group->last->id);
    char out[64] = "";
    if (group->left_out > 0)
        snprintf(out, sizeof out, ", %zu of which left out", group->left_out);
    return rl_arena_printf(
        arena,
        "mean of %zu launches of this name, grid and block (ID %lld to %lld%s): DRAM bytes from %lld "
        "to %lld; percentages are averaged too",
        group->count - group->left_out, (long long)group->first->id, (long long)group->last->id, out, (long long)least,
        (long long)most);
}

static struct rl_real shown_count(const struct import_launch *l, enum import_value value)
{
    return is_counted(l, value) ? rl_known((double)l->whole[value]) : rl_unknown(absent);
}

static int show_launches(struct import *import, const struct import_table *t, struct import_group *group,
                         struct rl_row *row, struct rl_row_state *s)
{
    struct rl_row_import *shown = &row->import;
    struct rl_arena *arena = import->run->arena;
    int64_t least = INT64_MAX, most = 0, order = 0;
    __int128 sum = 0;
    bool derived = false;
    shown->launch_count = (int64_t)group->count;
    /* so that the run of as many kernels as there may be is one that the daemon takes */
    size_t most_shown = t->group_count > 0 && LAUNCHES_SHOWN_IN_ALL / t->group_count < RL_IMPORT_LAUNCHES_SHOWN
                            ? LAUNCHES_SHOWN_IN_ALL / t->group_count
                            : RL_IMPORT_LAUNCHES_SHOWN;
    if (most_shown == 0)
        most_shown = 1;
    shown->launches = rl_arena_array(arena, most_shown, sizeof *shown->launches);
    if (shown->launches == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's launches");
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group) {
        struct dram dram = dram_of(l);
        order++;
        if (l->left_out == NULL) {
            least = dram.bytes < least ? dram.bytes : least;
            most = dram.bytes > most ? dram.bytes : most;
            sum += dram.bytes;
            derived = derived || dram.derived;
        }
        if (shown->launches_shown < most_shown)
            shown->launches[shown->launches_shown++] = (struct rl_import_launch){
                order, l->id, dram.known ? rl_known((double)dram.bytes) : rl_unknown(l->left_out),
                shown_count(l, IMPORT_DRAM_READ), shown_count(l, IMPORT_DRAM_WRITE)};
    }
    s->bytes.dram = rl_known((double)((long double)sum / (long double)(group->count - group->left_out)));
    shown->combined = (struct rl_text){combined(arena, group, least, most), NULL};
    if (shown->combined.value == NULL ||
        (most - least > LAUNCHES_DIFFER * (double)most && rl_strings_add(arena, &s->flags, "launches_differ") != 0) ||
        (derived && group->unreliable == NULL && rl_strings_add(arena, &s->flags, "bytes_derived") != 0))
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's flags");
    return 0;
}

static int show_percents(struct import *import, const struct import_group *group, struct rl_row *row)
{
    static const enum import_value percents[] = {IMPORT_OCCUPANCY, IMPORT_L2_HIT, IMPORT_L1_HIT, IMPORT_DRAM_PERCENT,
                                                 IMPORT_SM_PERCENT};
    struct rl_arena *arena = import->run->arena;
    size_t count = sizeof percents / sizeof percents[0];
    row->import.percents = rl_arena_array(arena, count, sizeof *row->import.percents);
    if (row->import.percents == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's percentages");
    for (size_t i = 0; i < count; i++) {
        struct rl_real mean = import_mean(group, percents[i], "");
        const struct import_metric *metric = NULL;
        bool over = false;
        if (!rl_is_known(mean))
            continue;
        for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group) {
            over = over || l->value[percents[i]] > 100;
            metric = metric == NULL ? l->from[percents[i]] : metric;
        }
        row->import.percents[row->import.percent_count++] = (struct rl_import_percent){metric->name, mean};
        if (over && rl_strings_add(arena, &row->flags, "percent_over_100") != 0)
            return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's flags");
    }
    return 0;
}

static void fill_launch(struct rl_row *row, const struct import_group *group)
{
    struct rl_real registers = import_mean(group, IMPORT_REGISTERS, "the counter file does not say");
    struct rl_real fixed = import_mean(group, IMPORT_SHARED_STATIC, ""),
                   dynamic = import_mean(group, IMPORT_SHARED_DYNAMIC, "");
    if (group->has_dims && row->launch.dims_why != NULL) {
        memcpy(row->launch.grid, group->grid, sizeof row->launch.grid);
        memcpy(row->launch.block, group->block, sizeof row->launch.block);
        row->launch.dims_why = NULL;
    }
    if (row->launch.shared_why != NULL && rl_is_known(fixed) && rl_is_known(dynamic) &&
        fixed.value + dynamic.value < INT32_MAX) {
        row->launch.shared_bytes = (int64_t)(fixed.value + dynamic.value);
        row->launch.shared_why = NULL;
    }
    if (row->launch.registers.why != NULL && rl_is_known(registers))
        row->launch.registers = (struct rl_count){(int64_t)registers.value, NULL};
}

static void fill_bytes(struct import *import, struct rl_row *row, struct rl_row_state *s,
                       const struct import_group *group)
{
    bool split = true; /* the DRAM bytes of every launch are read + write, which rl_derive sums again */
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group)
        split = split && (l->left_out != NULL || is_split(l));
    s->bytes.dram_read = import_mean(group, IMPORT_DRAM_READ, absent);
    s->bytes.dram_write = import_mean(group, IMPORT_DRAM_WRITE, absent);
    if (!split && rl_is_known(s->bytes.dram_read) && rl_is_known(s->bytes.dram_write))
        s->bytes.dram_read = s->bytes.dram_write =
            rl_unknown("the counter file has a count of the total, and a rate or no number here");
    s->bytes.l1 = import_mean(group, IMPORT_L1, absent);
    s->bytes.l2 = import_mean(group, IMPORT_L2, absent);
    s->bytes.l2_sm = import_mean(group, IMPORT_L2_SM, absent);
    s->bytes.dram_settled = rl_unknown("a profiler counts the launch alone, not what it leaves dirty");
    s->bytes.dram_4n = rl_unknown("the profiler counted launches one by one");
    s->local_bytes = import_mean(group, IMPORT_LOCAL, absent);
    struct rl_real total = import_mean(group, IMPORT_DRAM, "");
    if (rl_is_known(total) && rl_is_known(s->bytes.dram_read) && rl_is_known(s->bytes.dram_write) &&
        is_counted(group->first, IMPORT_DRAM) &&
        fabs(total.value - s->bytes.dram.value) > SUM_DIFFERS * s->bytes.dram.value) {
        char one[IMPORT_QUOTE];
        import_note(
            import->run,
            "%s: dram__bytes.sum is %.0f, read + write is %.0f: counted in different passes; read + write is used",
            import_quote(one, row->title), total.value, s->bytes.dram.value);
    }
}

static void fill_occupancy(struct rl_row_state *s, const struct import_group *group)
{
    s->occupancy = import_mean(group, IMPORT_OCCUPANCY, absent);
    if (!rl_is_known(s->occupancy))
        return;
    s->occupancy.value /= 100;
    if (s->occupancy.value > 1.01)
        s->occupancy = rl_unknown("the counter file has more than 100 percent; see the row's percents");
}

/* The profiler's own time and clock of the launches that the bytes are of. */
static void fill_profiled(struct rl_row_state *s, const struct import_group *group)
{
    s->profiled.time_s = import_mean(group, IMPORT_DURATION, absent);
    s->profiled.sm_hz = import_mean(group, IMPORT_SM_HZ, absent);
    s->profiled.present = rl_is_known(s->profiled.time_s) || rl_is_known(s->profiled.sm_hz);
}

static void blank_counts(struct rl_row *row, struct rl_row_state *s, const char *why)
{
    struct rl_real none = rl_unknown(why);
    s->bytes = (struct rl_bytes){none, none, none, none, none, none, none, none};
    s->local_bytes = none;
    row->flop_counted = none;
}

int import_row_values(struct import *import, struct import_table *t, struct import_group *group, struct rl_row *row,
                      struct rl_row_state *s)
{
    if (leave_out(import, t, group, row) != 0 || show_launches(import, t, group, row, s) != 0 ||
        show_percents(import, group, row) != 0)
        return -1;
    if (group->unreliable != NULL)
        blank_counts(row, s, group->unreliable);
    else {
        fill_bytes(import, row, s, group);
        import_row_flop(row, group);
    }
    fill_occupancy(s, group);
    fill_profiled(s, group);
    fill_launch(row, group);
    return 0;
}
