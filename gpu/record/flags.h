/* The one table of flags: flags.def. Documents hold flags by name, the store and comparisons as bits. */
#ifndef GPU_RECORD_FLAGS_H
#define GPU_RECORD_FLAGS_H

#include "gpu/record/run.h"

enum rl_run_flag_at {
#define RL_RUN_FLAG(name, id, baseline, words)       RL_RUN_AT_##name,
#define RL_ROW_FLAG(name, id, rank, words, judged)
#define RL_OTHER_FLAG(id, words)
#include "gpu/record/flags.def"
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG
#undef RL_OTHER_FLAG
    RL_RUN_FLAG_COUNT
};
enum rl_row_flag_at {
#define RL_RUN_FLAG(name, id, baseline, words)
#define RL_ROW_FLAG(name, id, rank, words, judged) RL_ROW_AT_##name,
#define RL_OTHER_FLAG(id, words)
#include "gpu/record/flags.def"
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG
#undef RL_OTHER_FLAG
    RL_ROW_FLAG_COUNT
};

/* The same as bits: RL_RUN_SHARED, RL_ROW_CLOCK_MOVED, … */
enum rl_run_flag {
#define RL_RUN_FLAG(name, id, baseline, words)     RL_RUN_##name = 1u << RL_RUN_AT_##name,
#define RL_ROW_FLAG(name, id, rank, words, judged)
#define RL_OTHER_FLAG(id, words)
#include "gpu/record/flags.def"
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG
#undef RL_OTHER_FLAG
};
enum rl_row_flag {
#define RL_RUN_FLAG(name, id, baseline, words)
#define RL_ROW_FLAG(name, id, rank, words, judged) RL_ROW_##name = 1u << RL_ROW_AT_##name,
#define RL_OTHER_FLAG(id, words)
#include "gpu/record/flags.def"
#undef RL_RUN_FLAG
#undef RL_ROW_FLAG
#undef RL_OTHER_FLAG
};
