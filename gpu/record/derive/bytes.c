/* A row's DRAM bytes: their sum, what a cold launch owes with its write-backs, whether they are steady. */
#include "gpu/record/derive/internal.h"

struct rl_real rl_dram_owed(const struct rl_run *run, const struct rl_row *row, enum rl_state state)
{
    const struct rl_bytes *bytes = &row->state[state].bytes;
    bool unsettled = state == RL_COLD && run->source == RL_IMPORTED && !rl_is_known(bytes->dram_settled) &&
                     bytes->dram_settled.code != RL_WHY_BELOW_SPREAD;
    return state == RL_MIXED || unsettled ? bytes->dram : bytes->dram_settled;
}

void derive_bytes(const struct derive_view *v)
{
    struct rl_bytes *bytes = &v->s->bytes;
    if (rl_is_known(bytes->dram_read) && rl_is_known(bytes->dram_write))
        bytes->dram = rl_known(bytes->dram_read.value + bytes->dram_write.value);
    if (v->state == RL_WARM) {
        bytes->dram_settled = bytes->dram;
        return;
    }
    bytes->dram_4n = rl_unknown("a single launch is counted when cold");
    if (v->state == RL_MIXED) {
        bytes->dram_settled = rl_unknown("a profiler counts the launch alone, not what it leaves dirty");
        return;
    }
    struct rl_real spread = v->run->counters.flush_spread_bytes;
    if (rl_is_known(bytes->dram_settled) && rl_is_known(spread) &&
        bytes->dram_settled.value < RL_SETTLED_SPREADS * spread.value)
        bytes->dram_settled = rl_unknown_by(RL_WHY_BELOW_SPREAD);
}

double rl_unsteadiness(const struct rl_run *run, const struct rl_row *row)
{
    const struct rl_row_state *s = &row->state[RL_WARM];
    struct rl_real one = s->bytes.dram, four = s->bytes.dram_4n, floor = run->counters.floor_dram_bytes;
    if (!rl_is_known(one) || !rl_is_known(four))
        return NAN;
    double apart = fabs(one.value - four.value);
    if (rl_is_known(floor) && s->time_s.launches > 0 &&
        apart <= RL_FLOOR_FACTOR * floor.value / (double)s->time_s.launches)
        return 0;
    if (!row->ask_bytes.why && apart <= RL_STEADY_ASK * (double)row->ask_bytes.value)
        return 0;
    return apart > 0 ? apart / fmax(one.value, four.value) : 0;
}
