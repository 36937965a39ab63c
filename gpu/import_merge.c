/* Counters beside times: each row finds its launches, and gets their bytes in the state that both were taken in. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "import_internal.h"

#define LAUNCHES_SHOWN_IN_ALL 2048u /* of all rows together: up to 350 bytes each, where read and write are absent */
#define LAUNCHES_DIFFER       0.01  /* launches of one row whose DRAM bytes are further apart are flagged */
#define SUM_DIFFERS           0.001 /* the total beside read + write: counted in passes of their own */

static int missing(struct import *import, const char *table, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int missing(struct import *import, const char *table, const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct import_source source = {"ncu", table, 0, NULL};
    return import_fail(import->err, RL_E_IMPORT_MISSING, &source, "%s", text);
}

/* ---- values of a row ---- */

static struct rl_real mean_of(const struct import_group *group, enum import_value value, const char *why)
{
    double sum = 0;
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group) {
        if (l->from[value] == NULL)
            return rl_unknown(why);
        sum += l->value[value];
    }
    return rl_known(sum / (double)group->count);
}

/* A launch's DRAM bytes: read + write, or the total. */
static struct rl_real launch_dram(const struct import_launch *l)
{
    if (l->from[IMPORT_DRAM_READ] != NULL && l->from[IMPORT_DRAM_WRITE] != NULL)
        return rl_known(l->value[IMPORT_DRAM_READ] + l->value[IMPORT_DRAM_WRITE]);
    if (l->from[IMPORT_DRAM] != NULL)
        return rl_known(l->value[IMPORT_DRAM]);
    return rl_unknown("the launch has no DRAM bytes in the counter file");
}

static int no_dram(struct import *import, const struct import_table *t, const struct rl_row *row,
                   const struct import_launch *l)
{
    char one[IMPORT_QUOTE], seen[320] = "";
    size_t len = 0;
    import_quote(one, row->kernel);
    if (l->from[IMPORT_DRAM_READ] != NULL || l->from[IMPORT_DRAM_WRITE] != NULL)
        return missing(import, t->name,
                       "\"%s\" (line %zu) has DRAM bytes %s only: %s is not there, and missing is not zero", one,
                       l->line, l->from[IMPORT_DRAM_READ] != NULL ? "read" : "written",
                       l->from[IMPORT_DRAM_READ] != NULL ? "dram__bytes_write.sum" : "dram__bytes_read.sum");
    if (t->rate_seen != NULL)
        return missing(
            import, t->name,
            "\"%s\" (line %zu) has no DRAM row: %s is there, but a rate at the profiler's clocks is no count of "
            "bytes",
            one, l->line, t->rate_seen);
    for (size_t i = 0; i < t->metrics_seen_count && i < 4; i++) {
        char quoted[IMPORT_QUOTE];
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%s", i > 0 ? ", " : "",
                                import_quote(quoted, t->metrics_seen[i]));
    }
    return missing(import, t->name,
                   "\"%s\" (line %zu) has no DRAM row: neither dram__bytes.sum nor dram__bytes_read.sum and "
                   "dram__bytes_write.sum, nor "
                   "another name of theirs, has a value; metrics that are there: %s",
                   one, l->line, t->metrics_seen_count > 0 ? seen : "none");
}

static int show_launches(struct import *import, const struct import_table *t, const struct import_group *group,
                         struct rl_row *row, struct rl_row_state *s)
{
    struct rl_row_import *shown = &row->import;
    struct rl_arena *arena = import->run->arena;
    double least = HUGE_VAL, most = 0, sum = 0;
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
    static const char absent[] = "the counter file does not have it";
    int64_t order = 0;
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group) {
        struct rl_real dram = launch_dram(l);
        order++;
        if (!rl_is_known(dram))
            return no_dram(import, t, row, l);
        least = fmin(least, dram.value);
        most = fmax(most, dram.value);
        sum += dram.value;
        if (shown->launches_shown < most_shown)
            shown->launches[shown->launches_shown++] = (struct rl_import_launch){
                order, l->id, dram,
                l->from[IMPORT_DRAM_READ] != NULL ? rl_known(l->value[IMPORT_DRAM_READ]) : rl_unknown(absent),
                l->from[IMPORT_DRAM_WRITE] != NULL ? rl_known(l->value[IMPORT_DRAM_WRITE]) : rl_unknown(absent)};
    }
    s->bytes.dram = rl_known(sum / (double)group->count);
    shown->combined = (struct rl_text){
        group->count == 1
            ? "one launch"
            : rl_arena_printf(
                  arena,
                  "mean of %zu launches of this name, grid and block (ID %lld to %lld): DRAM bytes from %.0f to "
                  "%.0f; percentages are averaged too",
                  group->count, (long long)group->first->id, (long long)group->last->id, least, most),
        NULL};
    if (most - least > LAUNCHES_DIFFER * most && rl_strings_add(arena, &s->flags, "launches_differ") != 0)
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
        struct rl_real mean = mean_of(group, percents[i], "");
        bool over = false;
        if (!rl_is_known(mean))
            continue;
        for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group)
            over = over || l->value[percents[i]] > 100;
        row->import.percents[row->import.percent_count++] =
            (struct rl_import_percent){group->first->from[percents[i]]->name, mean};
        if (over && rl_strings_add(arena, &row->flags, "percent_over_100") != 0)
            return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's flags");
    }
    return 0;
}

static void fill_flop(struct rl_row *row, const struct import_group *group)
{
    static const char why[] = "the counter file has not all six FP32 and FP64 instruction counts";
    struct rl_real sum = rl_known(0);
    for (enum import_value v = IMPORT_FADD; v <= IMPORT_DFMA; v++) {
        struct rl_real part = mean_of(group, v, why);
        if (!rl_is_known(part)) {
            sum = part;
            break;
        }
        sum.value += part.value * (v == IMPORT_FFMA || v == IMPORT_DFMA ? 2 : 1);
    }
    if (rl_is_known(sum) || !rl_is_known(row->flop_counted))
        row->flop_counted = sum;
}

static void fill_launch(struct rl_row *row, const struct import_group *group)
{
    struct rl_real registers = mean_of(group, IMPORT_REGISTERS, "the counter file does not say");
    struct rl_real fixed = mean_of(group, IMPORT_SHARED_STATIC, ""),
                   dynamic = mean_of(group, IMPORT_SHARED_DYNAMIC, "");
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
    static const char absent[] = "the counter file does not have it";
    s->bytes.dram_read = mean_of(group, IMPORT_DRAM_READ, absent);
    s->bytes.dram_write = mean_of(group, IMPORT_DRAM_WRITE, absent);
    s->bytes.l1 = mean_of(group, IMPORT_L1, absent);
    s->bytes.l2 = mean_of(group, IMPORT_L2, absent);
    s->bytes.l2_sm = mean_of(group, IMPORT_L2_SM, absent);
    s->bytes.dram_settled = rl_unknown("a profiler counts the launch alone, not what it leaves dirty");
    s->bytes.dram_4n = rl_unknown("the profiler counted launches one by one");
    s->local_bytes = mean_of(group, IMPORT_LOCAL, absent);
    s->occupancy = mean_of(group, IMPORT_OCCUPANCY, absent);
    if (rl_is_known(s->occupancy)) {
        s->occupancy.value /= 100;
        if (s->occupancy.value > 1.01)
            s->occupancy = rl_unknown("the counter file has more than 100 percent; see the row's percents");
    }
    struct rl_real total = mean_of(group, IMPORT_DRAM, "");
    if (rl_is_known(total) && rl_is_known(s->bytes.dram_read) && rl_is_known(s->bytes.dram_write) &&
        fabs(total.value - s->bytes.dram.value) > SUM_DIFFERS * s->bytes.dram.value) {
        char one[IMPORT_QUOTE];
        import_note(
            import->run,
            "%s: dram__bytes.sum is %.0f, read + write is %.0f: counted in different passes; read + write is used",
            import_quote(one, row->title), total.value, s->bytes.dram.value);
    }
}

/* ---- states ---- */

static bool counted_warm(const struct import *import, const struct import_table *t)
{
    const char *cache = import->request->fields.cache;
    return cache != NULL ? strcmp(cache, "warm") == 0 : t->uncontrolled;
}

/* The state that the row's bytes and times are in together. RL_ROW_STATES: they cannot be put together. */
static enum rl_state joint_state(const struct rl_row *row, bool counted_warm, const struct rl_times **ret_times)
{
    const struct rl_row_state *warm = &row->state[RL_WARM], *cold = &row->state[RL_COLD];
    bool has_warm = warm->present && rl_is_known(warm->time_s.median),
         has_cold = cold->present && rl_is_known(cold->time_s.median);
    *ret_times = NULL;
    if (!has_warm && !has_cold)
        return counted_warm ? RL_WARM : RL_COLD;
    if (counted_warm) {
        *ret_times = &warm->time_s;
        return has_warm ? RL_WARM : RL_ROW_STATES;
    }
    *ret_times = has_cold ? &cold->time_s : &warm->time_s;
    return has_cold ? RL_COLD : RL_MIXED;
}

static int merge_row(struct import *import, const struct import_table *t, struct import_group *group,
                     struct rl_row *row)
{
    const struct rl_times *times;
    enum rl_state state = joint_state(row, counted_warm(import, t), &times);
    char one[IMPORT_QUOTE];
    if (state == RL_ROW_STATES)
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "cache",
                       "the counters are of warm launches, but \"%s\" has times of cold ones alone: they cannot be put "
                       "together",
                       import_quote(one, row->kernel));
    enum rl_state timed = state == RL_MIXED ? RL_WARM : state;
    struct rl_row blank;
    import_blank_row(&blank, "the imported files do not say");
    struct rl_row_state s = blank.state[state];
    if (times != NULL) { /* what was seen while the times were taken stays with them */
        s = row->state[timed];
        s.time_s = *times;
        s.bytes = blank.state[state].bytes;
    } else {
        s.time_s.median = s.time_s.p25 = s.time_s.p75 = s.time_s.min = s.time_s.std_error =
            rl_unknown("no times were imported");
        s.time_s.stop = (struct rl_text){NULL, "no times were imported"};
    }
    s.present = true;
    row->import =
        (struct rl_row_import){.present = true, .function = {rl_arena_strdup(import->run->arena, group->name), NULL}};
    if (row->import.function.value == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a kernel's name");
    if (show_launches(import, t, group, row, &s) != 0 || show_percents(import, group, row) != 0)
        return -1;
    fill_bytes(import, row, &s, group);
    if (state == RL_WARM && rl_strings_add(import->run->arena, &s.flags, "single_launch") != 0)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's flags");
    fill_flop(row, group);
    fill_launch(row, group);
    for (enum rl_state other = 0; other < RL_ROW_STATES; other++)
        row->state[other] = (struct rl_row_state){0};
    row->state[state] = s;
    return 0;
}

/* ---- the run ---- */

static const char *const our_names[IMPORT_LAUNCH_VALUES] = {
    [IMPORT_DRAM] = "dram",
    [IMPORT_DRAM_READ] = "dram_read",
    [IMPORT_DRAM_WRITE] = "dram_write",
    [IMPORT_L1] = "l1",
    [IMPORT_L2] = "l2",
    [IMPORT_L2_SM] = "l2_sm",
    [IMPORT_LOCAL] = "local_bytes",
    [IMPORT_FADD] = "fp32_add",
    [IMPORT_FMUL] = "fp32_mul",
    [IMPORT_FFMA] = "fp32_fma",
    [IMPORT_DADD] = "fp64_add",
    [IMPORT_DMUL] = "fp64_mul",
    [IMPORT_DFMA] = "fp64_fma",
    [IMPORT_OCCUPANCY] = "occupancy",
};

static int set_counters(struct import *import, const struct import_table *t)
{
    struct rl_run *run = import->run;
    struct rl_counters *counters = &run->counters;
    rl_counters_unknown(counters, "an import has no counter session of its own");
    counters->status = "ok";
    counters->why = (struct rl_text){NULL, "the counters are there"};
    counters->metrics = rl_arena_array(run->arena, IMPORT_LAUNCH_VALUES, sizeof *counters->metrics);
    counters->metric_count = 0;
    if (counters->metrics == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for the counters' names");
    const struct import_metric *read = NULL, *write = NULL;
    for (enum import_value v = 0; v < IMPORT_LAUNCH_VALUES; v++) {
        const struct import_metric *used = NULL;
        for (size_t i = 0; i < t->launch_count && used == NULL; i++)
            used = t->launches[i]->from[v];
        if (used == NULL || our_names[v] == NULL)
            continue;
        counters->metrics[counters->metric_count++] = (struct rl_metric){our_names[v], used->name};
        read = v == IMPORT_DRAM_READ ? used : read;
        write = v == IMPORT_DRAM_WRITE ? used : write;
    }
    if (read != NULL && write != NULL)
        import_note(run, "DRAM bytes are %s + %s%s", read->name, write->name,
                    read->factor > 1 ? ", 32 bytes a sector" : "");
    return 0;
}

/* Checks of the document's own counters say nothing about the profiler's. */
static void drop_counter_checks(struct rl_run *run)
{
    static const char *const names[] = {"every_kernel_has_dram_row", "counters_self_test", "copy_streams_dram",
                                        "flop_counted_equals_hand", "steady"};
    size_t kept = 0;
    for (size_t i = 0; i < run->check_count; i++) {
        bool drop = false;
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            drop = drop || strcmp(run->checks[i].name, names[n]) == 0;
        if (!drop)
            run->checks[kept++] = run->checks[i];
    }
    run->check_count = kept;
}

static void tell_states(struct import *import, const struct import_table *t, bool had_both)
{
    bool warm = counted_warm(import, t);
    if (import->request->fields.cache == NULL && !warm)
        import_note(import->run, "the counter file does not tell its cache state: cold is taken, the profiler's "
                                 "default (--cache-control all)");
    if (warm)
        import_note(import->run, "warm bytes are those of single launches, which find what the kernel before them left "
                                 "in the caches: not those of a loop");
    if (had_both)
        import_note(import->run, "the timings' %s times were left out: the counters are of %s launches",
                    warm ? "cold" : "warm", warm ? "warm" : "cold");
}

static void tell_rest(struct import *import, const struct import_table *t)
{
    char names[256] = "";
    size_t unused = 0, len = 0;
    for (size_t i = 0; i < t->group_count; i++) {
        char quoted[IMPORT_QUOTE];
        if (t->groups[i].used)
            continue;
        int more = unused < 6 ? snprintf(names + len, sizeof names - len, "%s%s", unused > 0 ? ", " : "",
                                         import_quote(quoted, t->groups[i].base))
                              : 0;
        len += more > 0 && (size_t)more < sizeof names - len ? (size_t)more : 0;
        names[len] = '\0';
        unused++;
    }
    if (unused > 0)
        import_note(import->run, "%zu kernel%s of the counter file %s no timing and %s left out: %s%s", unused,
                    rl_plural(unused), unused == 1 ? "has" : "have", unused == 1 ? "was" : "were", names,
                    unused > 6 ? ", …" : "");
    if (t->output_lines > 0)
        import_note(import->run,
                    "%zu line%s of the counter file after its header %s not the profiler's and %s passed over, the "
                    "first in line %zu",
                    t->output_lines, rl_plural(t->output_lines), t->output_lines == 1 ? "is" : "are",
                    t->output_lines == 1 ? "was" : "were", t->output_line);
}

int import_merge(struct import *import, struct import_table *t)
{
    struct rl_run *run = import->run;
    if (t->groups == NULL || import->row_group == NULL)
        return rl_fail(import->err, RL_E_INTERNAL, "ncu", "the launches were not grouped");
    if (t->uncontrolled && import->request->fields.cache != NULL && !counted_warm(import, t))
        return rl_fail(import->err, RL_E_IMPORT_DISAGREES, "cache",
                       "cache is \"cold\", but %s says that the profiler did not control the caches", t->name);
    bool had_both = false, had_bytes = false;
    for (size_t i = 0; i < run->row_count; i++) {
        struct import_group *group = import->row_group[i];
        const struct rl_row *row = &run->rows[i];
        had_both = had_both || (row->state[RL_WARM].present && row->state[RL_COLD].present);
        had_bytes = had_bytes || (row->state[RL_COLD].present && rl_is_known(row->state[RL_COLD].bytes.dram));
        if (merge_row(import, t, group, &run->rows[i]) != 0)
            return -1;
    }
    drop_counter_checks(run);
    import_samples_drop(import);
    if (had_bytes)
        import_note(run, "the run's own byte counts were left out: those of the counter file stand in their place");
    tell_states(import, t, had_both);
    tell_rest(import, t);
    return set_counters(import, t);
}
