/* Synthetic runs for tests of the comparison: the ten kernels in two states with times, bytes, bounds and clocks as an
 * H200 gave them (driver 580.159.04, 2026-11-29), each draw scattered by a spread that the test chooses. */
#ifndef TESTS_UNIT_COMPARE_COMPARE_FIXTURE_H
#define TESTS_UNIT_COMPARE_COMPARE_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/record/derive/derive.h"
#include "server/compare/compare.h"

#define LAB_RUNS     64
#define LAB_ROWS     20
#define LAB_CEILINGS 4

struct lab_row {
    const char *kernel;
    enum rl_state state;
    double time_s, dram_bytes, ask_bytes;
    const char *bound;
    double byte_spread; /* relative, as seen from launch to launch */
};
static const struct lab_row lab_rows[LAB_ROWS] = {
    {"vector_add", RL_WARM, 60.738e-6, 201.33e6, 201326592, "memory", 1e-5},
    {"vector_add", RL_COLD, 59.808e-6, 186.79e6, 201326592, "memory", 1e-3},
    {"vector_add_stride32", RL_WARM, 999.696e-6, 3221.2e6, 201326592, "memory", 1e-5},
    {"vector_add_stride32", RL_COLD, 999.008e-6, 3216.4e6, 201326592, "memory", 1e-4},
    {"transpose_naive", RL_WARM, 259.371e-6, 140.88e6, 134217728, "latency", 1e-4},
    {"transpose_naive", RL_COLD, 258.320e-6, 118.67e6, 134217728, "latency", 1e-3},
    {"transpose_tiled", RL_WARM, 38.436e-6, 134.22e6, 134217728, "memory", 1e-5},
    {"transpose_tiled", RL_COLD, 35.424e-6, 109.69e6, 134217728, "memory", 1e-3},
    {"matmul_naive", RL_WARM, 55.096e-6, 6475.6, 1074790400, "latency", 0.8},
    {"matmul_naive", RL_COLD, 61.856e-6, 2.1061e6, 1074790400, "latency", 0.02},
    {"matmul_tiled16", RL_WARM, 36.865e-6, 63.0, 68157440, "latency", 2.0},
    {"matmul_tiled16", RL_COLD, 42.368e-6, 2.113e6, 68157440, "latency", 0.02},
    {"block_reduction", RL_WARM, 73.447e-6, 67.377e6, 67371008, "latency", 1e-5},
    {"block_reduction", RL_COLD, 75.360e-6, 67.234e6, 67371008, "latency", 1e-3},
    {"stencil_global", RL_WARM, 12.785e-6, 2.2655e6, 100466784, "latency", 1e-3},
    {"stencil_global", RL_COLD, 16.512e-6, 16.905e6, 100466784, "latency", 1e-3},
    {"stencil_tiled", RL_WARM, 17.346e-6, 2.3489e6, 38988832, "latency", 1e-3},
    {"stencil_tiled", RL_COLD, 21.760e-6, 16.892e6, 38988832, "latency", 1e-3},
    {"polynomial256", RL_WARM, 161.924e-6, 134.24e6, 134217728, "compute", 1e-5},
    {"polynomial256", RL_COLD, 163.568e-6, 113.02e6, 134217728, "compute", 1e-3},
};
static const struct {
    const char *name;
    enum rl_state state;
    double value;
} lab_ceilings[LAB_CEILINGS] = {{"dram_copy", RL_WARM, 4248.4e9},
                                {"fp32_fma", RL_WARM, 65492e9},
                                {"dram_copy", RL_COLD, 4069.4e9},
                                {"dram_read", RL_WARM, 4523.8e9}};
#define LAB_SM_HZ        1979e6
#define LAB_MEMORY_HZ    3201e6
#define LAB_CEILING_WORK 2147483648 /* a launch of any of them */
#define LAB_TICK_S       32e-9      /* of the events around a single cold launch */

struct lab {
    struct compare_run runs[LAB_RUNS];
    struct compare_draw draws[LAB_RUNS][LAB_ROWS];
    struct compare_ceiling_draw ceilings[LAB_RUNS][LAB_CEILINGS];
    char ids[LAB_RUNS][24];
};

static inline double lab_uniform(uint64_t *seed)
{
    return ((double)(stats_random(seed) >> 11) + 0.5) * 0x1p-53;
}

static inline double lab_normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(lab_uniform(seed)));
    return radius * cos(2 * M_PI * lab_uniform(seed));
}

/* The time of a single launch is read in ticks; a median of several of them often is one, too. */
static inline double lab_ticked(enum rl_state state, double time)
{
    return state == RL_COLD ? nearbyint(time / (LAB_TICK_S / 2)) * (LAB_TICK_S / 2) : time;
}

/* Fills count runs, oldest first, an hour apart. spread[LAB_ROWS] of the rows' times; 0.1 percent of the ceilings'. */
static inline void lab_fill(struct lab *lab, size_t count, const double *spread, uint64_t seed)
{
    memset(lab, 0, sizeof *lab);
    for (size_t i = 0; i < count; i++) {
        snprintf(lab->ids[i], sizeof lab->ids[i], "%zu", i + 1);
        lab->runs[i] = (struct compare_run){
            .id = lab->ids[i],
            .date_ms = 1795996800000 + (int64_t)i * 3600000,
            .device = "GPU-1",
            .suite = "verify",
            .sizes = "course",
            .build = "0.1.0",
            .method_version = 1,
            .source = RL_MEASURED,
            .outcome = RL_OK,
            .ecc = {true, NULL},
            .mig = {"off", NULL},
            .power_limit_w = rl_known(700),
            .driver_version = {"580.159.04", NULL},
            .cuda_runtime_version = {"13.0", NULL},
            .cubin = {"sm_90", NULL},
            .draws = lab->draws[i],
            .draw_count = LAB_ROWS,
            .ceilings = lab->ceilings[i],
            .ceiling_count = LAB_CEILINGS,
        };
        for (size_t r = 0; r < LAB_ROWS; r++) {
            const struct lab_row *row = &lab_rows[r];
            double time = row->time_s * exp(spread[r] * lab_normal(&seed));
            lab->draws[i][r] = (struct compare_draw){
                .kernel = row->kernel,
                .state = row->state,
                .time_s = rl_known(lab_ticked(row->state, time)),
                .sm_hz = rl_known(LAB_SM_HZ * exp(5e-4 * lab_normal(&seed))),
                .memory_hz = rl_known(LAB_MEMORY_HZ),
                .dram_bytes = rl_known(fabs(row->dram_bytes * (1 + row->byte_spread * lab_normal(&seed)))),
                .dram_floor = rl_known(row->state == RL_COLD ? 61440 : 6144),
                .ask_bytes = rl_known(row->ask_bytes),
                .bound = row->bound,
                .work = {-1, (int64_t)row->ask_bytes, NULL},
            };
        }
        for (size_t c = 0; c < LAB_CEILINGS; c++)
            lab->ceilings[i][c] =
                (struct compare_ceiling_draw){.name = lab_ceilings[c].name,
                                              .state = lab_ceilings[c].state,
                                              .value = rl_known(lab_ceilings[c].value * exp(1e-3 * lab_normal(&seed))),
                                              .work = {-1, LAB_CEILING_WORK, NULL},
                                              .launch = {.shape = "grid 131072, block 512"}};
    }
}

/* Runs from … from + count - 1 get this row's time multiplied; row LAB_ROWS: every row. */
static inline void lab_scale_time(struct lab *lab, size_t from, size_t count, size_t row, double factor)
{
    for (size_t i = from; i < from + count; i++)
        for (size_t r = 0; r < LAB_ROWS; r++)
            if (r == row || row == LAB_ROWS)
                lab->draws[i][r].time_s.value = lab_ticked(lab_rows[r].state, lab->draws[i][r].time_s.value * factor);
}

static inline void lab_scale_ceilings(struct lab *lab, size_t from, size_t count, double factor)
{
    for (size_t i = from; i < from + count; i++)
        for (size_t c = 0; c < LAB_CEILINGS; c++)
            lab->ceilings[i][c].value.value *= factor;
}

static inline void lab_spreads(double *spread, double value)
{
    for (size_t r = 0; r < LAB_ROWS; r++)
        spread[r] = value;
}

static inline const struct compare_row *lab_find(const struct compare_result *result, size_t row)
{
    for (size_t i = 0; i < result->row_count; i++)
        if (strcmp(result->rows[i].kernel, lab_rows[row].kernel) == 0 && result->rows[i].state == lab_rows[row].state)
            return &result->rows[i];
    return NULL;
}

#endif
