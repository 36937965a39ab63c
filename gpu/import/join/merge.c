/* Counters beside times: each row finds its launches, and gets their bytes in the state that both were taken in. */
#include "gpu/import/join/merge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/base/num.h"
#include "gpu/import/common/note.h"
#include "gpu/import/common/rows.h"
#include "gpu/import/join/tell.h"
#include "gpu/import/join/values.h"
#include "gpu/import/text/message.h"
#include "gpu/import/timings/samples.h"
#include "gpu/record/derive/quantile.h"

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

/* ---- times ---- */

#define TIME_DIFFERS 0.10 /* a given time and the profiler's further apart than this are flagged */

/* Where no times are given, the profiler's: each launch's duration is a sample. */
static int take_profiler_times(struct import *import, const struct import_group *group, struct rl_row_state *s)
{
    double *values = rl_arena_array(import->arena, group->count, sizeof *values);
    size_t count = 0;
    if (values == NULL)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's times");
    for (const struct import_launch *l = group->first; l != NULL; l = l->next_in_group)
        if (l->left_out == NULL && l->from[IMPORT_DURATION] != NULL && l->value[IMPORT_DURATION] > 0)
            values[count++] = l->value[IMPORT_DURATION];
    if (count == 0)
        return 0;
    if (rl_times_from_samples(values, count, &s->time_s) != 0 ||
        rl_strings_add(import->run->arena, &s->flags, "profiler_time") != 0)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's times");
    s->time_s.launches = 1;
    s->time_s.stop = (struct rl_text){NULL, "the launches of a counter file are as many as there are"};
    s->attempts = 1;
    s->sm_hz = s->profiled.sm_hz;
    return 0;
}

/* How far a given time is from the profiler's: 0.25 is a quarter more or less; 0 where one is not known. */
static double apart(const struct rl_row_state *s)
{
    if (!rl_is_known(s->time_s.median) || !s->profiled.present || !rl_is_known(s->profiled.time_s))
        return 0;
    return fabs(s->time_s.median.value / s->profiled.time_s.value - 1);
}

/* What all rows' times have to be told with, in a sentence or two. */
static void tell_times(struct import *import)
{
    struct rl_run *run = import->run;
    const struct rl_row *worst = NULL;
    size_t profiled = 0, differ = 0;
    double most = 0, low = HUGE_VAL, high = 0;
    char one[IMPORT_QUOTE], text[32] = "?", other[32] = "?";
    for (size_t i = 0; i < run->row_count; i++)
        for (enum rl_state state = 0; state < RL_ROW_STATES; state++) {
            const struct rl_row_state *s = &run->rows[i].state[state];
            if (!s->present)
                continue;
            bool own = rl_strings_has(&s->flags, "profiler_time");
            profiled += own;
            differ += rl_strings_has(&s->flags, "time_disagrees");
            worst = apart(s) > most ? &run->rows[i] : worst;
            most = fmax(most, apart(s));
            if (own && rl_is_known(s->sm_hz)) {
                low = fmin(low, s->sm_hz.value);
                high = fmax(high, s->sm_hz.value);
            }
        }
    rl_format_fixed(text, sizeof text, low / 1e6, 0);
    rl_format_fixed(other, sizeof other, high / 1e6, 0);
    if (profiled > 0 && high > 0)
        import_note(run,
                    "times are the profiler's own durations of the launches that it counted, at an SM clock of %s to "
                    "%s MHz",
                    text, other);
    else if (profiled > 0)
        import_note(run, "times are the profiler's own durations of the launches that it counted; the file does not "
                         "tell their SM clock, which the profiler locks by default");
    rl_format_fixed(text, sizeof text, 100 * most, 0);
    if (differ > 0)
        import_note(run,
                    "%zu kernel%s a given time more than 10 percent from the profiler's duration, the furthest %s "
                    "(%s percent)",
                    differ, differ == 1 ? " has" : "s have", import_quote(one, worst->title), text);
}

static int merge_row(struct import *import, struct import_table *t, struct import_group *group, struct rl_row *row)
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
    if (import_row_values(import, t, group, row, &s) != 0)
        return -1;
    if (times == NULL && take_profiler_times(import, group, &s) != 0)
        return -1;
    if (times != NULL && apart(&s) > TIME_DIFFERS + 1e-9 &&
        rl_strings_add(import->run->arena, &s.flags, "time_disagrees") != 0)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's flags");
    if (state == RL_WARM && rl_strings_add(import->run->arena, &s.flags, "single_launch") != 0)
        return rl_fail(import->err, RL_E_NO_MEMORY, "ncu", "no memory for a row's flags");
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
    [IMPORT_HADD] = "fp16_add",
    [IMPORT_HMUL] = "fp16_mul",
    [IMPORT_HFMA] = "fp16_fma",
    [IMPORT_FADD2] = "fp32_add2",
    [IMPORT_FMUL2] = "fp32_mul2",
    [IMPORT_FFMA2] = "fp32_fma2",
    [IMPORT_TENSOR_FP16] = "tensor_fp16",
    [IMPORT_TENSOR_BF16] = "tensor_bf16",
    [IMPORT_TENSOR_TF32] = "tensor_tf32",
    [IMPORT_TENSOR_FP64] = "tensor_fp64",
    [IMPORT_TENSOR_FP8] = "tensor_fp8",
    [IMPORT_TENSOR_FP8_SPARSE] = "tensor_fp8_sparse",
    [IMPORT_OCCUPANCY] = "occupancy",
};

static int set_counters(struct import *import, const struct import_table *t)
{
    struct rl_run *run = import->run;
    struct rl_counters *counters = &run->counters;
    rl_counters_unknown(counters, "an import has no counter session of its own");
    counters->status = t->unreliable != NULL ? rl_code_id(RL_E_COUNTERS_UNRELIABLE) : "ok";
    counters->why = (struct rl_text){t->unreliable, t->unreliable != NULL ? NULL : "the counters are there"};
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
    import_lines_tell(import->run, &t->lines);
    import_tell_values(import->run, t);
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
    tell_times(import);
    tell_rest(import, t);
    return set_counters(import, t);
}
