/* Figures of a row that nothing is known of yet. */
#include "gpu/engine/blank.h"

#include <string.h>

void engine_blank_bytes(struct rl_bytes *bytes, const char *why)
{
    struct rl_real none = rl_unknown(why);

    *bytes = (struct rl_bytes){.l1 = none,
                               .l2 = none,
                               .l2_sm = none,
                               .dram = none,
                               .dram_read = none,
                               .dram_write = none,
                               .dram_settled = none,
                               .dram_4n = none};
}

void engine_blank_state(struct rl_row_state *state, const char *why)
{
    struct rl_real none = rl_unknown(why);
    struct rl_text no_text = {NULL, why};

    memset(state, 0, sizeof *state);
    state->present = true;
    state->time_s =
        (struct rl_times){.median = none, .p25 = none, .p75 = none, .min = none, .std_error = none, .stop = no_text};
    engine_blank_bytes(&state->bytes, why);
    state->dram_per_ask = none;
    state->intensity = (struct rl_intensity){none, none, none, none};
    state->flop_per_s = state->dram_byte_per_s = state->percent_of_ceiling = none;
    state->bound = state->advice = state->advice_code = no_text;
    state->attainable_flop_per_s = state->percent_of_roof = none;
    state->occupancy = state->local_bytes = none;
    state->sm_hz = state->memory_hz = state->temperature_c = none;
}
