/* Rates, ratios and places from times and counts. Definitions and thresholds: derive.h. */
#include <string.h>

#include "gpu/record/derive/internal.h"

static const char why_at_floor[] = "the DRAM bytes are at the counter's floor";
static const char why_changing[] = "the DRAM bytes are below 0.0001 of the asked bytes, and others in each run";

/* ---- ceilings ---- */

static void derive_ceiling(struct rl_ceiling *ceiling)
{
    struct rl_real work = derive_count(ceiling->work);
    struct rl_real rate = derive_quotient(work, ceiling->time_s.median, "the median time is zero");
    if (rl_is_known(ceiling->value) && rl_is_known(rate))
        ceiling->value = rate;
    if (strcmp(ceiling->unit, "byte_per_s") == 0)
        ceiling->dram_per_ask = derive_quotient(ceiling->dram, work, "the ceiling asks for no bytes");
    else
        ceiling->dram_per_ask = rl_unknown("a compute ceiling asks for no bytes");
    ceiling->percent_of_nominal = derive_percent(ceiling->value, ceiling->nominal);
}

/* ---- one row in one state ---- */

static void judge_floor(struct derive_view *v)
{
    struct rl_real floor = v->run->counters.floor_dram_bytes;
    int64_t launches = v->state == RL_WARM && v->s->time_s.launches > 0 ? v->s->time_s.launches : 1;
    struct rl_real bytes = v->owed;
    if (rl_is_known(floor))
        v->floor_bytes = RL_FLOOR_FACTOR * floor.value / (double)launches;
    if (rl_is_known(bytes)) {
        /* No bytes at all are at the floor of any counter. */
        v->at_floor = bytes.value < v->floor_bytes || bytes.value <= 0;
        double next_to_nothing = v->row->ask_bytes.why == NULL ? RL_STEADY_ASK * (double)v->row->ask_bytes.value : 0;
        if (v->state == RL_WARM && bytes.value < next_to_nothing) {
            v->why_floor = v->at_floor ? v->why_floor : why_changing;
            v->at_floor = true;
            v->floor_bytes = fmax(v->floor_bytes, next_to_nothing);
        }
    } else if (bytes.code == RL_WHY_BELOW_SPREAD) {
        v->at_floor = true;
        v->floor_bytes = fmax(v->floor_bytes, RL_SETTLED_SPREADS * v->run->counters.flush_spread_bytes.value);
    }
}

static void derive_intensity(const struct derive_view *v)
{
    struct rl_intensity *intensity = &v->s->intensity;
    const struct rl_bytes *bytes = &v->s->bytes;
    if (rl_is_known(v->flop) && v->flop.value <= 0) {
        struct rl_real none = rl_unknown(derive_why_no_flop);
        *intensity = (struct rl_intensity){none, none, none, none};
        return;
    }
    intensity->ask = derive_quotient(v->flop, derive_count(v->row->ask_bytes), "the kernel asks for no bytes");
    intensity->l1 = derive_quotient(v->flop, bytes->l1, "no L1 bytes were counted");
    intensity->l2 = derive_quotient(v->flop, bytes->l2_sm, "no bytes were counted between SMs and L2");
    intensity->dram = v->at_floor ? rl_unknown(v->why_floor) : derive_quotient(v->flop, v->owed, why_at_floor);
}

static void derive_rates(const struct derive_view *v)
{
    struct rl_row_state *s = v->s;
    static const char why_zero[] = "the median time is zero";
    s->dram_per_ask = derive_quotient(v->owed, derive_count(v->row->ask_bytes), "the kernel asks for no bytes");
    s->flop_per_s = derive_quotient(v->flop, s->time_s.median, why_zero);
    s->dram_byte_per_s = derive_quotient(s->bytes.dram, s->time_s.median, why_zero);
    s->percent_of_ceiling = derive_percent(s->dram_byte_per_s, derive_copy_ceiling(v->run, v->state, v->lent));
}

static struct rl_real attainable(const struct derive_view *v)
{
    if (!rl_is_known(v->flop))
        return v->flop;
    if (v->flop.value <= 0)
        return rl_unknown(derive_why_no_flop);
    if (!rl_is_known(v->compute))
        return v->compute;
    if (!rl_is_known(v->roof))
        return v->roof;
    if (rl_is_known(v->s->intensity.dram))
        return rl_known(fmin(v->compute.value, v->s->intensity.dram.value * v->roof.value));
    if (v->at_floor && v->floor_bytes > 0 && v->flop.value / v->floor_bytes * v->roof.value >= v->compute.value)
        return v->compute;
    return rl_unknown(v->s->intensity.dram.why);
}

static void derive_roof(const struct derive_view *v)
{
    struct rl_row_state *s = v->s;
    if (v->state == RL_MIXED) {
        s->attainable_flop_per_s = s->percent_of_roof = rl_unknown(derive_why_mixed);
        return;
    }
    s->attainable_flop_per_s = attainable(v);
    if (v->constants || (rl_is_known(v->flop) && v->flop.value <= 0))
        s->percent_of_roof = derive_percent(s->dram_byte_per_s, v->roof);
    else
        s->percent_of_roof = derive_percent(s->flop_per_s, s->attainable_flop_per_s);
    /* Of an import that was only timed, the one roof that can be told. */
    if (v->run->source == RL_IMPORTED && rl_is_known(v->flop) && v->flop.value > 0 && !rl_is_known(s->bytes.dram))
        s->percent_of_roof = derive_percent(s->flop_per_s, v->compute);
}

static void derive_state(struct rl_run *run, struct rl_row *row, enum rl_state state)
{
    struct derive_view v = {.run = run, .row = row, .s = &row->state[state], .state = state, .why_floor = why_at_floor};
    v.lent = run->source == RL_IMPORTED;
    v.flop = rl_flop_used(run, row);
    v.compute = derive_compute_roof(&v, v.lent);
    derive_bytes(&v);
    v.owed = rl_dram_owed(run, row, state);
    v.roof = derive_memory_roof(&v, v.lent);
    judge_floor(&v);
    v.constants = derive_constants_alone(&v);
    derive_rates(&v);
    derive_intensity(&v);
    derive_roof(&v);
    derive_level_percents(&v, v.roof, v.compute, v.lent, v.level, NULL, NULL);
    derive_judge(&v);
    derive_set_levels(&v);
    derive_explain(&v);
    derive_state_flags(&v);
}

void rl_derive(struct rl_run *run)
{
    for (size_t i = 0; i < run->ceiling_count; i++)
        derive_ceiling(&run->ceilings[i]);
    run->ridge_flop_per_byte =
        derive_quotient(derive_ceiling_value(run, "fp32_fma", RL_WARM, false, "the run has no fp32_fma ceiling"),
                        derive_copy_ceiling(run, RL_WARM, false), "the copy ceiling is zero");
    run->counter_backed = run->row_count > 0;
    for (size_t i = 0; i < run->row_count; i++) {
        derive_row_flags(run, &run->rows[i]);
        for (enum rl_state state = RL_WARM; state < RL_ROW_STATES; state++) {
            const struct rl_row_state *s = &run->rows[i].state[state];
            if (!s->present)
                continue;
            derive_state(run, &run->rows[i], state);
            run->counter_backed = run->counter_backed && rl_is_known(s->bytes.dram);
        }
    }
}
