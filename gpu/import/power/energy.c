/* Average power and energy of a log's samples: of the GPU and the window that are meant, by the trapezoidal rule. */
#include "gpu/import/power/energy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpu/base/num.h"
#include "gpu/base/time.h"
#include "gpu/import/common/note.h"
#include "gpu/import/text/message.h"
#include "gpu/record/derive/quantile.h"

#define DAY_MS         86400000.0
#define GAP_FACTOR     3.0 /* an interval of more than so many usual ones has samples missing */
#define SEVERAL_FACTOR 0.1 /* intervals that short beside long ones: lines of several GPUs, one after the other */

struct summing {
    struct import *import;
    struct import_power *power;
    double from, until; /* ms of the log's clock */
    double interval;    /* usual, in ms; 0: no sample comes after another, or most at the time of the one before */
    size_t intervals;   /* samples that come after the one before them, or at its time */
    double integral, covered;
    size_t samples;
    size_t gap_line, step_line; /* the first of each within the window; 0: none */
    double gap_s;
};

/* "FIELD is "VALUE"…" */
static int bad_field(struct summing *s, const char *field, const char *value, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static int bad_field(struct summing *s, const char *field, const char *value, const char *fmt, ...)
{
    char text[256], quoted[IMPORT_QUOTE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return rl_fail(s->import->err, RL_E_BAD_FIELD, field, "%s is \"%s\"%s", field,
                   import_quote(quoted, value != NULL ? value : ""), text);
}

/* ---- the GPU ---- */

/* "00000000:18:00.0" and "0000:18:00.0" are one bus id. */
static bool same_bus(const char *one, const char *two)
{
    size_t a = strlen(one), b = strlen(two);
    const char *shorter = a < b ? one : two, *longer = a < b ? two : one;
    size_t len = strlen(shorter);
    return len >= 7 && strcasecmp(longer + strlen(longer) - len, shorter) == 0;
}

static bool is_gpu(const struct import_power_gpu *gpu, const char *wanted)
{
    return (gpu->index[0] != '\0' && strcmp(gpu->index, wanted) == 0) ||
           (gpu->uuid[0] != '\0' && strcmp(gpu->uuid, wanted) == 0) ||
           (gpu->bus[0] != '\0' && same_bus(gpu->bus, wanted));
}

static void list_gpus(const struct import_power *p, char out[400])
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < p->gpu_count && i < 8; i++) {
        char quoted[IMPORT_QUOTE];
        const struct import_power_gpu *gpu = &p->gpu[i];
        const char *id = gpu->index[0] != '\0' ? gpu->index : gpu->bus[0] != '\0' ? gpu->bus : "";
        import_quote(quoted, gpu->uuid[0] != '\0' ? gpu->uuid : "");
        int more = snprintf(out + len, 400 - len, "%s%s%s%s", i > 0 ? ", " : "", id,
                            id[0] != '\0' && quoted[0] != '\0' ? " " : "", quoted);
        len += more > 0 && (size_t)more < 400 - len ? (size_t)more : 0;
        out[len] = '\0';
    }
}

static int choose_gpu(struct summing *s, size_t *ret)
{
    const struct import_power *p = s->power;
    const struct rl_device *device = &s->import->run->device;
    const char *wanted = s->import->request->fields.power_gpu;
    const char *uuid = device->uuid.why == NULL ? device->uuid.value : NULL;
    const char *bus = device->pci_bus_id.why == NULL ? device->pci_bus_id.value : NULL;
    char names[400], one[IMPORT_QUOTE];
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < p->gpu_count && found == SIZE_MAX; i++)
        if (wanted != NULL ? is_gpu(&p->gpu[i], wanted)
                           : (uuid != NULL && is_gpu(&p->gpu[i], uuid)) || (bus != NULL && is_gpu(&p->gpu[i], bus)))
            found = i;
    list_gpus(p, names);
    if (wanted != NULL && found == SIZE_MAX)
        return rl_fail(s->import->err, RL_E_BAD_FIELD, "power_gpu", "power_gpu is \"%s\"; the power log has %s",
                       import_quote(one, wanted), names[0] != '\0' ? names : "one GPU, and does not say which");
    if (found == SIZE_MAX && p->gpu_count > 1)
        return rl_fail(s->import->err, RL_E_BAD_FIELD, "power_gpu",
                       "the power log has %zu GPUs (%s): say which one by power_gpu, or give the device's UUID",
                       p->gpu_count, names);
    *ret = found != SIZE_MAX ? found : 0;
    if (uuid != NULL && wanted == NULL && p->gpu[*ret].uuid[0] != '\0' && strcmp(p->gpu[*ret].uuid, uuid) != 0)
        return rl_fail(s->import->err, RL_E_IMPORT_DISAGREES, "power", "the power log is of %s, and the run of %s",
                       import_quote(one, p->gpu[*ret].uuid), uuid);
    return 0;
}

/* Leaves the samples of this GPU alone. */
static void keep_gpu(struct import_power *p, size_t gpu)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->samples[i].gpu == gpu)
            p->samples[kept++] = p->samples[i];
    p->count = kept;
}

/* ---- the window ---- */

/* "2026-09-01 12:00:00", with a fraction or a Z or without; of a log without days "12:00:00". */
static int parse_field(struct summing *s, const char *field, const char *value, double *ret)
{
    char text[80];
    int64_t ms;
    size_t len = value != NULL ? strlen(value) : 0;
    if (value == NULL)
        return 0;
    if (len > 0 && value[len - 1] == 'Z')
        len--;
    snprintf(text, sizeof text, "%s%.*s%s", s->power->dated ? "" : "2000-01-01T", (int)(len < 40 ? len : 40), value,
             s->power->dated && len <= 10 ? "" : "Z");
    if (len > 10 && text[10] == ' ')
        text[10] = 'T';
    for (size_t i = 0; s->power->dated && i < 8 && text[i] != '\0'; i++)
        text[i] = text[i] == '/' ? '-' : text[i];
    if (rl_time_parse(text, &ms) != 0)
        return bad_field(s, field, value, "; a time of the log's own clock is expected, as %s",
                         s->power->dated ? "2026-09-01 12:00:00" : "12:00:00");
    *ret = (double)ms;
    return 0;
}

static void words_of(const struct import_power *p, double ms, char out[RL_TIME_TEXT])
{
    char text[RL_TIME_TEXT];
    rl_time_format((int64_t)ms, text);
    text[strcspn(text, "Z")] = '\0'; /* the log does not say its zone */
    snprintf(out, RL_TIME_TEXT, "%s", p->dated ? text : text + 11);
}

/* A log without days begins on its first: a field's time before the first sample's is of the second, and so is an end
 * before the beginning where the log goes on until then. */
static void set_days(struct summing *s, double first, double last)
{
    const struct import_fields *fields = &s->import->request->fields;
    if (s->power->dated)
        return;
    if (fields->since != NULL && s->from < first)
        s->from += DAY_MS;
    if (fields->until != NULL && (s->until < first || (s->until < s->from && s->until + DAY_MS <= last)))
        s->until += DAY_MS;
}

static int set_window(struct summing *s)
{
    const struct import_fields *fields = &s->import->request->fields;
    const struct import_power *p = s->power;
    double first = (double)p->samples[0].ms, last = first;
    char begin[RL_TIME_TEXT], end[RL_TIME_TEXT];
    if (!p->timed)
        return fields->since == NULL && fields->until == NULL
                   ? 0
                   : bad_field(s, fields->since != NULL ? "since" : "until",
                               fields->since != NULL ? fields->since : fields->until,
                               ", but the power log has no times: nvidia-smi dmon -o DT writes them");
    for (size_t i = 0; i < p->count; i++) {
        first = fmin(first, (double)p->samples[i].ms);
        last = fmax(last, (double)p->samples[i].ms);
    }
    s->from = first;
    s->until = last;
    words_of(p, first, begin);
    words_of(p, last, end);
    if (parse_field(s, "since", fields->since, &s->from) != 0 || parse_field(s, "until", fields->until, &s->until) != 0)
        return -1;
    set_days(s, first, last);
    if (s->from < first || s->from > last)
        return bad_field(s, "since", fields->since, ", outside the power log, which goes from %s to %s", begin, end);
    if (s->until > last || s->until < first)
        return bad_field(s, "until", fields->until, ", outside the power log, which goes from %s to %s", begin, end);
    if (s->until <= s->from && p->count > 1 && fields->since != NULL)
        return bad_field(s, "since", fields->since, ", which is not before until, the window's end");
    return 0;
}

/* ---- intervals ---- */

/* In a log that does not say of which GPU a line is, whether its lines look like several GPUs': at one time, or a few
 * milliseconds apart in rounds. Of k GPUs one interval in k is long. Rare ones do not count: a sample that came early,
 * or a pause among more than 64 intervals, as many as there may be GPUs. */
static int refuse_several(struct summing *s, const double *sorted)
{
    static const char way_out[] = "as of several GPUs, and does not say which is whose: log with "
                                  "--query-gpu=timestamp,index,uuid,power.draw";
    const struct import_power *p = s->power;
    double low = sorted[s->intervals / 4], high = sorted[s->intervals - 1 - s->intervals / IMPORT_POWER_GPUS];
    char a[32] = "?", b[32] = "?";
    for (size_t i = 1; i < p->count; i++)
        if (p->samples[i].ms == p->samples[i - 1].ms)
            return rl_fail(s->import->err, RL_E_BAD_FIELD, "power_gpu",
                           "the power log's line %zu has the same time as the sample before it, %s", p->samples[i].line,
                           way_out);
    if (low >= SEVERAL_FACTOR * high)
        return 0;
    rl_format_fixed(a, sizeof a, low, 0);
    rl_format_fixed(b, sizeof b, high, 0);
    return rl_fail(s->import->err, RL_E_BAD_FIELD, "power_gpu",
                   "the power log has lines %s ms apart beside ones %s ms apart, %s (of one GPU with a pause, send the "
                   "lines before or after it)",
                   a, b, way_out);
}

static int usual_interval(struct summing *s)
{
    const struct import_power *p = s->power;
    double *intervals = rl_arena_array(s->import->arena, p->count, sizeof *intervals);
    if (intervals == NULL)
        return rl_fail(s->import->err, RL_E_NO_MEMORY, "power", "no memory for the power log");
    for (size_t i = 1; i < p->count; i++)
        if (p->samples[i].ms >= p->samples[i - 1].ms)
            intervals[s->intervals++] = (double)(p->samples[i].ms - p->samples[i - 1].ms);
    if (s->intervals == 0 || !p->timed)
        return 0;
    rl_sort_doubles(intervals, s->intervals);
    s->interval = rl_quantile_sorted(intervals, s->intervals, 0.5);
    return p->told ? 0 : refuse_several(s, intervals);
}

/* The part of one interval that is in the window. */
static void add_interval(struct summing *s, const struct import_power_sample *a, const struct import_power_sample *b)
{
    double from = fmax((double)a->ms, s->from), until = fmin((double)b->ms, s->until), dt = (double)(b->ms - a->ms);
    if (b->ms < a->ms) {
        /* the log has what lies between them twice */
        if ((double)b->ms > s->until || (double)a->ms < s->from)
            return;
        s->step_line = s->step_line == 0 ? b->line : s->step_line;
        return;
    }
    if (until <= from)
        return;
    if (dt > GAP_FACTOR * s->interval) {
        s->gap_s += dt / 1000;
        s->gap_line = s->gap_line == 0 ? b->line : s->gap_line;
        return;
    }
    double slope = (b->watts - a->watts) / dt, left = a->watts + slope * (from - (double)a->ms),
           right = a->watts + slope * (until - (double)a->ms);
    s->integral += (left + right) / 2 * (until - from) / 1000;
    s->covered += (until - from) / 1000;
}

static double plain_mean(const struct import_power *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += p->samples[i].watts;
    return sum / (double)p->count;
}

/* ---- the result ---- */

/* Why a log with times has no usual interval between its samples. */
static const char *why_no_interval(const struct summing *s)
{
    if (s->power->count < 2)
        return "the power log has one sample";
    return s->intervals > 0 ? "most samples of the power log have the same time as the one before"
                            : "the power log's clock was set back before each of its samples";
}

static struct rl_real energy_of(struct summing *s)
{
    struct rl_arena *arena = s->import->run->arena;
    char gap[32] = "?";
    const char *why = NULL;
    if (!s->power->timed)
        why = "the power log has no times: nvidia-smi dmon -o DT writes them";
    else if (s->step_line != 0)
        why = rl_arena_printf(arena, "the power log's clock was set back before its line %zu", s->step_line);
    else if (s->interval <= 0)
        why = why_no_interval(s);
    else if (s->gap_line != 0 && rl_format_fixed(gap, sizeof gap, s->gap_s, 1) > 0)
        why = rl_arena_printf(arena, "samples are missing: %s s without, the first before the power log's line %zu",
                              gap, s->gap_line);
    else if (s->covered <= 0)
        why = "the samples of the window have one and the same time";
    return why == NULL ? rl_known(s->integral) : rl_unknown(why);
}

static int set_power(struct summing *s)
{
    struct rl_run *run = s->import->run;
    const struct import_power *p = s->power;
    static const char no_times[] = "the power log has no times";
    char from[RL_TIME_TEXT], until[RL_TIME_TEXT];
    struct rl_power *power = &run->power;
    words_of(p, s->from, from);
    words_of(p, s->until, until);
    power->present = true;
    power->average_w = rl_known(s->covered > 0 ? s->integral / s->covered : plain_mean(p));
    power->energy_j = energy_of(s);
    power->samples = (int64_t)s->samples;
    power->interval_s =
        s->interval > 0 ? rl_known(s->interval / 1000) : rl_unknown(p->timed ? why_no_interval(s) : no_times);
    power->from = p->timed ? rl_text_copy(run->arena, from) : (struct rl_text){NULL, no_times};
    power->until = p->timed ? rl_text_copy(run->arena, until) : (struct rl_text){NULL, no_times};
    power->source = p->source;
    if (p->missing > 0)
        import_note(run, "%zu line%s of the power log %s no value (the first is line %zu)", p->missing,
                    rl_plural(p->missing), p->missing == 1 ? "has" : "have", p->missing_line);
    if (!rl_is_known(power->energy_j))
        import_note(run, "no energy: %s", power->energy_j.why);
    return 0;
}

int import_energy(struct import *import, struct import_power *power)
{
    struct summing s = {.import = import, .power = power};
    size_t gpu = 0;
    if (choose_gpu(&s, &gpu) != 0)
        return -1;
    keep_gpu(power, gpu);
    if (power->count == 0)
        return rl_fail(import->err, RL_E_IMPORT_NOT_POWER, "power", "%s: has no sample of that GPU", power->file->name);
    if (usual_interval(&s) != 0 || set_window(&s) != 0)
        return -1;
    for (size_t i = 1; i < power->count && power->timed; i++)
        add_interval(&s, &power->samples[i - 1], &power->samples[i]);
    for (size_t i = 0; i < power->count; i++)
        s.samples +=
            !power->timed || ((double)power->samples[i].ms >= s.from && (double)power->samples[i].ms <= s.until);
    if (s.samples < 2 && power->count > 1) {
        char grain[32] = "?";
        rl_format_fixed(grain, sizeof grain, s.interval / 1000, 3);
        return rl_fail(import->err, RL_E_BAD_FIELD, import->request->fields.since != NULL ? "since" : "until",
                       "the window has %zu sample%s of the power log, which has one every %s s: two are needed",
                       s.samples, rl_plural(s.samples), grain);
    }
    return set_power(&s);
}
