/* Flags by name and as bits. */
#include "gpu/record/flags.h"

#define RL_OTHER_FLAG(id, words)

#define RL_ROW_FLAG(name, id, rank, words, judged)
#define RL_RUN_FLAG(name, id, baseline, words) [RL_RUN_AT_##name] = {id, baseline},
static const struct {
    const char *id;
    bool baseline;
} run_flags[RL_RUN_FLAG_COUNT] = {
#include "gpu/record/flags.def"
};
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG

#define RL_RUN_FLAG(name, id, baseline, words)
#define RL_ROW_FLAG(name, id, rank, words, judged) [RL_ROW_AT_##name] = {id, words, judged, rank},
const struct rl_row_flag_info rl_row_flags[RL_ROW_FLAG_COUNT] = {
#include "gpu/record/flags.def"
};

unsigned rl_run_flag_bits(const struct rl_strings *flags)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < RL_RUN_FLAG_COUNT; i++)
        bits |= (unsigned)rl_strings_has(flags, run_flags[i].id) << i;
    return bits;
}

unsigned rl_row_flag_bits(const struct rl_strings *flags)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < RL_ROW_FLAG_COUNT; i++)
        bits |= (unsigned)rl_strings_has(flags, rl_row_flags[i].id) << i;
    return bits;
}

unsigned rl_run_flags_barring(void)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < RL_RUN_FLAG_COUNT; i++)
        bits |= (unsigned)!run_flags[i].baseline << i;
    return bits;
}
