/* Counts: one counter session over all rows and the copy, its self-test, and the bytes per launch that follow from it.
 */
#include "gpu/engine/counts.h"

#include <math.h>
#include <string.h>

#include "gpu/engine/blank.h"
#include "gpu/engine/tell.h"
#include "gpu/engine/unit.h"
#include "gpu/record/derive/derive.h"
#include "gpu/record/derive/quantile.h"

#define SECTOR_BYTES 32

struct session {
    struct gpu_count_item *items;
    struct gpu_count_answer *answers;
    struct engine_unit **units; /* of the items */
    size_t count;
    struct gpu_count_session result;
};

static struct rl_real sum(struct rl_real a, struct rl_real b)
{
    if (a.why || b.why)
        return rl_unknown(a.why ? a.why : b.why);
    return rl_known(a.value + b.value);
}

static struct rl_real scaled(struct rl_real value, double factor)
{
    return value.why ? value : rl_known(value.value * factor);
}

static struct rl_real dram_of(const struct gpu_counts *counts)
{
    return sum(counts->dram_read, counts->dram_write);
}

/* ---- what is asked ---- */

static void add_item(struct session *s, struct engine_unit *unit, enum rl_state state)
{
    s->items[s->count] = (struct gpu_count_item){
        .work = unit->work, .state = state, .launches = state == RL_WARM ? unit->warm_launches : 1};
    s->units[s->count++] = unit;
}

static bool was_timed(const struct engine_unit *unit, enum rl_state state)
{
    if (!unit->state[state])
        return false;
    if (unit->row)
        return rl_is_known(unit->row->state[state].time_s.median);
    return unit->ceiling[state] && rl_is_known(unit->ceiling[state]->time_s.median);
}

/* The copy first, since it is the session's self-test; then the rows that have times. */
static int choose_items(struct engine *e, struct session *s, struct rl_err *err)
{
    size_t max = rl_unit_count * RL_STATE_COUNT;
    struct engine_unit *copy = engine_unit_find(e, "dram_copy");

    s->items = rl_arena_array(e->arena, max, sizeof *s->items);
    s->answers = rl_arena_array(e->arena, max, sizeof *s->answers);
    s->units = rl_arena_array(e->arena, max, sizeof(struct engine_unit *));
    if (!s->items || !s->answers || !s->units)
        return rl_fail(err, RL_E_NO_MEMORY, NULL, "no memory for %zu counter items", max);
    for (enum rl_state state = 0; state < RL_STATE_COUNT; state++)
        if (copy && was_timed(copy, state))
            add_item(s, copy, state);
    for (size_t i = 0; i < rl_kernel_count; i++)
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++)
            if (e->units[i].asked && was_timed(&e->units[i], state))
                add_item(s, &e->units[i], state);
    return 0;
}

struct progress {
    struct engine *engine;
    size_t items;
};

static bool tell_progress(void *arg, size_t done, size_t total)
{
    struct progress *progress = arg;
    struct engine *e = progress->engine;
    unsigned step =
        total ? (unsigned)((double)progress->items * (double)(done < total ? done : total) / (double)total) : 0;

    if (e->count_base + step > e->done && e->count_base + step < e->total)
        e->done = e->count_base + step;
    engine_step_begin(e, "counters", engine_say(e, "range %zu of %zu", done, total));
    return true;
}

/* ---- what follows from the answers ---- */

/* Median and spread of the flush-only ranges' DRAM bytes. */
static void flush_statistics(struct session *s, struct rl_counters *counters)
{
    double totals[sizeof s->result.flush / sizeof s->result.flush[0]];
    size_t count = 0;

    for (size_t i = 0; i < s->result.flush_count && i < sizeof totals / sizeof totals[0]; i++) {
        struct rl_real total = dram_of(&s->result.flush[i]);

        if (rl_is_known(total))
            totals[count++] = total.value;
    }
    if (count < 2) {
        counters->flush_dram_bytes = counters->flush_spread_bytes =
            rl_unknown("fewer than two flush-only ranges were counted");
        return;
    }
    rl_sort_doubles(totals, count);
    counters->flush_dram_bytes = rl_known(rl_quantile_sorted(totals, count, 0.5));
    counters->flush_spread_bytes = rl_known(totals[count - 1] - totals[0]);
}

/* All that a launch owed DRAM: launch and read flush, less the flush alone. */
static struct rl_real settled(const struct engine *e, const struct gpu_count_answer *answer)
{
    const struct rl_counters *counters = &e->run->counters;
    struct rl_real with_flush = dram_of(&answer->four);
    double value;

    if (with_flush.why)
        return with_flush;
    if (counters->flush_dram_bytes.why)
        return counters->flush_dram_bytes;
    value = with_flush.value - counters->flush_dram_bytes.value;
    if (value < 0) /* cannot stand in a record; rl_derive judges the rest */
        return rl_unknown_by(RL_WHY_BELOW_SPREAD);
    return rl_known(value);
}

static struct rl_bytes bytes_of(const struct engine *e, const struct gpu_count_item *item,
                                const struct gpu_count_answer *answer)
{
    double each = 1 / (double)item->launches;
    struct rl_bytes bytes = {
        .l1 = scaled(answer->one.l1, each),
        .l2 = scaled(answer->one.l2, each),
        .l2_sm = scaled(answer->one.l2_sm_sectors, SECTOR_BYTES * each),
        .dram_read = scaled(answer->one.dram_read, each),
        .dram_write = scaled(answer->one.dram_write, each),
        .dram = scaled(dram_of(&answer->one), each),
    };

    if (item->state == RL_WARM) {
        bytes.dram_settled = bytes.dram; /* in the steady state every launch pays for the one before it */
        bytes.dram_4n = scaled(dram_of(&answer->four), each / 4);
    } else {
        bytes.dram_settled = settled(e, answer);
        bytes.dram_4n = rl_unknown("a cold range holds one launch");
    }
    return bytes;
}

static struct rl_real flop_of(struct rl_real add, struct rl_real mul, struct rl_real fma)
{
    return sum(sum(add, mul), scaled(fma, 2));
}

/* FP64 and FP32 only. The half counters do not tell arithmetic from constants: for sm_90 the compiler loads a constant
 * into a register by HFMA2 R, -RZ, RZ, c, which counted four flop a thread in transpose_naive, a kernel without
 * arithmetic (H200, CUDA 13.0, 2026-11-29). No kernel of the catalogue computes in half precision; the raw counts stay
 * in the counter events. */
static struct rl_real flop_counted(const struct gpu_count_answer *a)
{
    return sum(flop_of(a->fp64_add, a->fp64_mul, a->fp64_fma), flop_of(a->fp32_add, a->fp32_mul, a->fp32_fma));
}

/* Over the asked bytes of one launch. */
static struct rl_real over_ask(const struct engine_unit *unit, struct rl_real bytes)
{
    return scaled(bytes, 1 / (double)unit->unit->ask_bytes(&unit->work.dims));
}

static void assign_copy(struct engine *e, struct engine_unit *unit, enum rl_state state, const struct rl_bytes *bytes)
{
    struct rl_ceiling *ceiling = unit->ceiling[state];

    ceiling->dram = bytes->dram_settled;
    ceiling->dram_per_ask = over_ask(unit, bytes->dram_settled);
    if (state == RL_WARM) {
        e->copy_counted.warm = ceiling->dram_per_ask;
        e->copy_counted.warm_four = over_ask(unit, bytes->dram_4n);
    } else {
        e->copy_counted.cold = ceiling->dram_per_ask;
    }
}

static void assign_row(struct rl_row *row, enum rl_state state, const struct gpu_count_answer *answer,
                       const struct rl_bytes *bytes)
{
    struct rl_real flop = flop_counted(answer);

    row->state[state].bytes = *bytes;
    row->state[state].occupancy = scaled(answer->one.warps_active_pct, 0.01);
    row->state[state].local_bytes = answer->local_bytes;
    if (!rl_is_known(row->flop_counted))
        row->flop_counted = flop;
}

static void assign(struct engine *e, const struct session *s)
{
    const struct engine_events *events = e->events;

    for (size_t i = 0; i < s->count; i++) {
        const struct gpu_count_item *item = &s->items[i];
        struct rl_bytes bytes = bytes_of(e, item, &s->answers[i]);

        if (events && events->counts)
            events->counts(events->arg, item->work.unit->id, item->state, &s->answers[i]);
        if (s->units[i]->row)
            assign_row(s->units[i]->row, item->state, &s->answers[i], &bytes);
        else
            assign_copy(e, s->units[i], item->state, &bytes);
    }
}

/* ---- whether the counters can be believed ---- */

/* The first sign of broken counters, as a sentence; NULL when there is none. */
static const char *distrust(struct engine *e, const struct session *s)
{
    bool any_known = false, any_more = false;
    struct rl_real self = e->run->counters.self_test;
    const char *absent = "no range was counted";

    for (size_t i = 0; i < s->count; i++) {
        struct rl_real dram = dram_of(&s->answers[i].one);

        absent = dram.why ? dram.why : absent;
        any_known = any_known || rl_is_known(dram);
        any_more = any_more || (rl_is_known(dram) && dram.value > 0);
    }
    if (!any_known)
        return engine_say(e, "none of %zu ranges has DRAM bytes: %s", s->count, absent);
    if (!any_more)
        return engine_say(e, "DRAM bytes are zero in all of %zu ranges", s->count);
    if (self.why)
        return engine_say(e, "the self-test could not be made: %s", self.why);
    if (fabs(self.value - 1) > ENGINE_SELF_TEST)
        return engine_say(e, "the warm copy moved %.4f of the bytes that it asks for, not 1 within 1 percent",
                          self.value);
    for (size_t i = 0; i < s->count; i++) {
        const struct rl_unit *unit = s->items[i].work.unit;
        struct rl_real dram = dram_of(&s->answers[i].one);
        /* a warm loop over less than the L2 may rightly stay inside it */
        bool must_move = s->items[i].state == RL_COLD ||
                         unit->footprint_bytes(&s->items[i].work.dims) > (uint64_t)e->run->device.l2_bytes.value;

        if (unit->streaming && must_move && rl_is_known(dram) && dram.value <= 0)
            return engine_say(e, "zero DRAM bytes on %s %s, which streams", unit->id, rl_state_name(s->items[i].state));
    }
    return NULL;
}

static void set_status(struct rl_counters *counters, const char *status, const char *why)
{
    counters->status = status;
    counters->why = (struct rl_text){why, why ? NULL : "the counters are available and passed their self-test"};
}

/* Byte columns, and what else only counters tell, unknown with this reason. */
static void blank(struct engine *e, const char *why, bool bytes_only)
{
    struct rl_run *run = e->run;

    for (size_t i = 0; i < run->ceiling_count; i++) {
        struct engine_unit *unit = engine_unit_find(e, run->ceilings[i].name);

        if (unit->unit->kind == RL_UNIT_MEMORY_CEILING && strcmp(unit->unit->id, "dram_copy") == 0)
            run->ceilings[i].dram = run->ceilings[i].dram_per_ask = rl_unknown(why);
    }
    for (size_t i = 0; i < run->row_count; i++) {
        if (!bytes_only)
            run->rows[i].flop_counted = rl_unknown(why);
        for (enum rl_state state = 0; state < RL_STATE_COUNT; state++) {
            struct rl_row_state *row = &run->rows[i].state[state];

            if (!row->present)
                continue;
            engine_blank_bytes(&row->bytes, why);
            if (!bytes_only)
                row->occupancy = row->local_bytes = rl_unknown(why);
        }
    }
}

/* A run without counters: every figure of theirs is unknown with the same reason. */
static int go_without(struct engine *e, const char *status, const char *why)
{
    struct rl_counters *counters = &e->run->counters;
    struct rl_real none = rl_unknown(why);

    set_status(counters, status, why);
    if (!counters->passes.why && counters->passes.value == 0)
        counters->passes = (struct rl_count){0, why};
    counters->floor_dram_bytes = counters->flush_dram_bytes = counters->flush_spread_bytes = none;
    counters->self_test = none;
    e->copy_counted.warm = e->copy_counted.warm_four = e->copy_counted.cold = none;
    blank(e, why, false);
    engine_log(e, "no counters (%s): %s", status, why);
    return 0;
}

static int ask_backend(struct engine *e, struct session *s, struct rl_err *err)
{
    struct progress progress = {e, s->count};

    e->count_base = e->done;
    engine_step_begin(e, "counters", "opening the counter session");
    if (e->backend->ops->count(e->backend, e->arena, s->items, s->count, s->answers, &s->result, tell_progress,
                               &progress, err) == 0)
        return 0;
    if (!rl_code_is_counters(err->code))
        return rl_wrap(err, "counting");
    s->result.counters.status = rl_code_id(err->code);
    s->result.counters.why = (struct rl_text){engine_say(e, "%s", err->message), NULL};
    return 0;
}

static const char *figure(struct engine *e, struct rl_real value, int decimals)
{
    return rl_is_known(value) ? engine_say(e, "%.*f", decimals, value.value) : "unknown";
}

static int take_session(struct engine *e, struct session *s)
{
    struct rl_counters *counters = &e->run->counters;
    const char *why;

    *counters = s->result.counters;
    if (s->result.chip.value) /* CUPTI names the chip, and is not loaded before the timing is over */
        e->run->device.chip = s->result.chip;
    if (strcmp(counters->status, "ok") != 0) {
        why = counters->why.value ? counters->why.value : "the counter session gave no reason";
        if (rl_code_from_id(counters->status) != RL_E_NONE) /* "off" is no error */
            engine_warn(e, rl_code_from_id(counters->status), why);
        return go_without(e, counters->status, why);
    }
    counters->floor_dram_bytes = dram_of(&s->result.empty);
    flush_statistics(s, counters);
    assign(e, s);
    counters->self_test = e->copy_counted.warm;
    engine_log(e, "counters: %zu ranges in %lld passes, floor %s bytes, flush %s bytes (spread %s), self-test %s",
               s->count, (long long)counters->passes.value, figure(e, counters->floor_dram_bytes, 0),
               figure(e, counters->flush_dram_bytes, 0), figure(e, counters->flush_spread_bytes, 0),
               figure(e, counters->self_test, 4));
    why = distrust(e, s);
    set_status(counters, why ? rl_code_id(RL_E_COUNTERS_UNRELIABLE) : "ok", why);
    if (why) {
        engine_warn(e, RL_E_COUNTERS_UNRELIABLE, why);
        blank(e, engine_say(e, "the counters are unreliable: %s", why), true);
    }
    return 0;
}

int engine_counts(struct engine *e, struct rl_err *err)
{
    struct session s = {0};
    unsigned done;

    if (!e->request->counters)
        return go_without(e, "off", "the request turned counters off");
    e->copy_counted.warm = e->copy_counted.warm_four = rl_unknown("the warm copy was not counted");
    e->copy_counted.cold = rl_unknown("the cold copy was not counted");
    if (choose_items(e, &s, err))
        return -1;
    done = e->done + (unsigned)s.count;
    if (s.count == 0)
        return go_without(e, "off", "nothing was timed, so there was nothing to count");
    if (ask_backend(e, &s, err) || take_session(e, &s))
        return -1;
    e->done = done < e->total ? done : e->total;
    return 0;
}
