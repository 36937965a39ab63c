/* The one table of flags: flags.def. Documents hold flags by name, the store and comparisons as bits. */
#ifndef GPU_RECORD_FLAGS_H
#define GPU_RECORD_FLAGS_H

#include "gpu/record/run.h"

/* clang-format off */
#define RL_ROW_FLAG(name, id, rank, words, judged)
#define RL_OTHER_FLAG(id, words)
#define RL_RUN_FLAG(name, id, baseline, words) RL_RUN_AT_##name,
enum rl_run_flag_at {
#include "gpu/record/flags.def"
    RL_RUN_FLAG_COUNT
};
#undef RL_RUN_FLAG
#define RL_RUN_FLAG(name, id, baseline, words) RL_RUN_##name = 1u << RL_RUN_AT_##name,
enum rl_run_flag { /* RL_RUN_SHARED, … */
#include "gpu/record/flags.def"
};
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG

#define RL_RUN_FLAG(name, id, baseline, words)
#define RL_ROW_FLAG(name, id, rank, words, judged) RL_ROW_AT_##name,
enum rl_row_flag_at {
#include "gpu/record/flags.def"
    RL_ROW_FLAG_COUNT
};
#undef RL_ROW_FLAG
#define RL_ROW_FLAG(name, id, rank, words, judged) RL_ROW_##name = 1u << RL_ROW_AT_##name,
enum rl_row_flag { /* RL_ROW_CLOCK_MOVED, … */
#include "gpu/record/flags.def"
};
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG
#undef RL_OTHER_FLAG
/* clang-format on */

struct rl_row_flag_info {
    const char *id, *words;
    const char *judged; /* how comparisons treat such rows; NULL: as any other */
    unsigned rank;      /* in which order they tell it, from 1; 0 with judged NULL */
};
extern const struct rl_row_flag_info rl_row_flags[RL_ROW_FLAG_COUNT]; /* by enum rl_row_flag_at */

/* The flags in the list as bits of enum rl_run_flag or rl_row_flag; names of neither are passed over. */
unsigned rl_run_flag_bits(const struct rl_strings *flags);
unsigned rl_row_flag_bits(const struct rl_strings *flags);
/* The bits of those run flags that keep a run from being one of a side, a baseline or a band. */
unsigned rl_run_flags_barring(void);

#endif
