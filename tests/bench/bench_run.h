/* Realistic runs for benchmarks: the figures of an H200, with noise. */
#ifndef TESTS_BENCH_RUN_H
#define TESTS_BENCH_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/record/run.h"

#define BENCH_KERNELS  10
#define BENCH_CEILINGS 11
#define BENCH_UNITS    (2 * BENCH_KERNELS + BENCH_CEILINGS) /* rows with a state each */

/* xorshift64*: the same databases on every machine. */
static inline uint64_t bench_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}
static inline double bench_uniform(uint64_t *state)
{
    return (double)(bench_random(state) >> 11) / 9007199254740992.0;
}
/* About normal, of this relative spread, around 1. */
static inline double bench_noise(uint64_t *state, double spread)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += bench_uniform(state);
    return 1 + spread * (sum - 2) * 1.7320508;
}

struct bench_unit {
    const char *name;
    bool ceiling;
    enum rl_state state;
    double time_s, value; /* value: of ceilings */
    double dram_bytes;
    int64_t ask_bytes;
};
extern const struct bench_unit bench_units[BENCH_UNITS];

/* A whole run whose document has the size of a real one. Free with rl_run_free. */
struct rl_run *bench_run_new(uint64_t *seed);
/* What a measuring process logs: about 11 kB. free(). */
char *bench_transcript(uint64_t *seed);

#endif
