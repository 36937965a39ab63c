/* Two runs for tests: a small whole one in which every kind of member is known somewhere and unknown somewhere, and the
 * source record's Tesla T4 table. */
#ifndef TESTS_UNIT_RECORD_SAMPLE_RUN_H
#define TESTS_UNIT_RECORD_SAMPLE_RUN_H

#include <stdlib.h>
#include <string.h>

#include "gpu/record/derive/derive.h"
#include "gpu/record/run.h"

#define MUST(x)                                                                                                        \
    do {                                                                                                               \
        if (!(x))                                                                                                      \
            abort();                                                                                                   \
    } while (0)

static inline struct rl_text sample_text(const char *value)
{
    return (struct rl_text){value, NULL};
}

static inline struct rl_count sample_count(int64_t value)
{
    return (struct rl_count){value, NULL};
}

static inline void sample_head(struct rl_run *run)
{
    run->suite = "verify";
    run->sizes = "course";
    run->source = RL_MEASURED;
    run->outcome = RL_OK;
    run->started_at_ms = 1795982611000;
    run->finished_at_ms = 1795982615123;
    struct rl_device *device = &run->device;
    rl_device_unknown(device, "the driver does not say");
    device->id = "GPU-11111111-2222-3333-4444-555555555555";
    device->uuid = sample_text(device->id);
    device->name = "NVIDIA H200";
    device->chip = sample_text("GH100");
    device->sm_count = sample_count(132);
    device->l2_bytes = sample_count(62914560);
    struct rl_environment *environment = &run->environment;
    rl_environment_unknown(environment, "NVML is missing");
    environment->driver_version = sample_text("580.159.04");
    environment->cuda_driver_version = sample_text("13.0");
    environment->cuda_runtime_version = sample_text("13.0");
    environment->hostname = sample_text("node-1");
    environment->ecc = (struct rl_flag3){true, NULL};
    environment->power_limit_w = rl_known(700);
    environment->build = "0.1.0+test";
    environment->method_version = RL_METHOD_VERSION;
    rl_counters_unknown(&run->counters, "no session was opened");
    run->counters.status = "ok";
    run->counters.why = (struct rl_text){NULL, "status is ok"};
    run->counters.passes = sample_count(3);
    run->counters.floor_dram_bytes = rl_known(100);
    run->counters.flush_dram_bytes = rl_known(251659000);
    run->counters.flush_spread_bytes = rl_known(1024);
    run->counters.self_test = rl_known(1.0004);
    run->ridge_flop_per_byte = rl_unknown("not derived");
}

static inline struct rl_times sample_times(double median)
{
    return (struct rl_times){.median = rl_known(median),
                             .p25 = rl_known(median * 0.99),
                             .p75 = rl_known(median * 1.01),
                             .min = rl_known(median * 0.98),
                             .std_error = rl_known(median * 1e-3),
                             .n = 20,
                             .launches = 10,
                             .stop = sample_text("std_error")};
}

static inline void sample_ceiling(struct rl_ceiling *ceiling, const char *name, enum rl_state state, const char *unit,
                                  double value)
{
    rl_ceiling_unknown(ceiling, "not measured in this test");
    ceiling->name = name;
    ceiling->state = state;
    ceiling->unit = unit;
    ceiling->method = "a test's figure";
    ceiling->value = rl_known(value);
}

/* State of a row with a time and DRAM bytes; everything else is unknown. */
static inline struct rl_row_state *sample_state(struct rl_row *row, enum rl_state state, double time_s, double read,
                                                double write)
{
    struct rl_row_state *s = &row->state[state];
    s->present = true;
    s->attempts = 1;
    s->time_s = sample_times(time_s);
    if (state == RL_COLD)
        s->time_s.launches = 1;
    s->bytes.dram_read = rl_known(read);
    s->bytes.dram_write = rl_known(write);
    s->bytes.dram_settled = rl_known(read + write);
    return s;
}

static inline struct rl_row *sample_rows(struct rl_run *run, size_t count)
{
    run->rows = rl_arena_array(run->arena, count, sizeof *run->rows);
    MUST(run->rows != NULL);
    run->row_count = count;
    for (size_t i = 0; i < count; i++)
        rl_row_unknown(&run->rows[i], "not counted in this test");
    return run->rows;
}

/* One vector add in both states under the figures of an H200, derived. */
static inline struct rl_run *sample_run_small(void)
{
    struct rl_run *run = rl_run_new();
    MUST(run != NULL);
    sample_head(run);
    run->ceilings = rl_arena_array(run->arena, 3, sizeof *run->ceilings);
    run->ceiling_count = 3;
    MUST(run->ceilings != NULL);
    sample_ceiling(&run->ceilings[0], "dram_copy", RL_WARM, "byte_per_s", 4000e9); /* work and time say 4270 */
    sample_ceiling(&run->ceilings[1], "dram_copy", RL_COLD, "byte_per_s", 4200e9);
    sample_ceiling(&run->ceilings[2], "fp32_fma", RL_WARM, "flop_per_s", 60e12);
    run->ceilings[0].time_s = sample_times(0.0005);
    run->ceilings[0].work = sample_count(2135000000);
    run->ceilings[0].shape = sample_text("grid 1056, block 512");
    run->ceilings[0].nominal = rl_known(4.8e12);
    struct rl_row *row = sample_rows(run, 1);
    row->kernel = "vector_add";
    row->title = "vector add";
    row->flop = sample_count(16777216);
    row->flop_counted = rl_known(16777216);
    row->ask_bytes = sample_count(201326592);
    row->launch.grid[0] = 65536;
    row->launch.grid[1] = row->launch.grid[2] = row->launch.block[1] = row->launch.block[2] = 1;
    row->launch.block[0] = 256;
    row->launch.registers = sample_count(16);
    struct rl_row_state *warm = sample_state(row, RL_WARM, 47.1e-6, 134.2e6, 67.1e6);
    warm->bytes.dram_4n = rl_known(201.4e6);
    warm->bytes.l1 = rl_known(201326592);
    warm->occupancy = rl_known(0.93);
    MUST(rl_strings_add(run->arena, &warm->reasons, "sw_power_cap") == 0);
    MUST(rl_strings_add(run->arena, &warm->flags, "clock_moved") == 0);
    struct rl_row_state *cold = sample_state(row, RL_COLD, 55e-6, 134.3e6, 40e6);
    cold->bytes.dram_settled = rl_known(201.5e6);
    run->checks = rl_arena_array(run->arena, 2, sizeof *run->checks);
    MUST(run->checks != NULL);
    run->check_count = 2;
    run->checks[0] =
        (struct rl_check){"vector_add", "every element equals the host's", {true, NULL}, "0 of 16777216 wrong", true};
    run->checks[1] = (struct rl_check){"steady", "bytes per launch agree", {false, "no counters"}, "", false};
    run->telemetry = rl_arena_array(run->arena, 1, sizeof *run->telemetry);
    run->counters.metrics = rl_arena_array(run->arena, 1, sizeof *run->counters.metrics);
    MUST(run->telemetry != NULL && run->counters.metrics != NULL);
    run->telemetry_count = run->counters.metric_count = 1;
    rl_telemetry_unknown(&run->telemetry[0], "NVML is missing");
    run->telemetry[0].at = "start";
    run->telemetry[0].time_s = rl_known(0);
    run->counters.metrics[0] = (struct rl_metric){"dram_read", "dram__bytes_read.sum"};
    rl_derive(run);
    return run;
}

/* The published ten rows: a Tesla T4, driver 595.84, CUDA 12.6, 2026-09-01. Asked bytes are exact (formulas over the
 * sizes); megabytes and percents are printed figures. The table prints no times: they follow from bytes, percent and
 * the copy ceiling of 245.1 GB/s. The FMA ceiling is that of the printed ridge point, 30.49 FLOP/byte. */
struct t4_row {
    const char *kernel, *title;
    int64_t flop, ask;
    double l1_mb, l2_mb, dram_mb, per_ask, percent;
};
static const struct t4_row t4_rows[10] = {
    {"vector_add", "vector add", 16777216, 201326592, 201.3, 201.5, 219.9, 1.0922, 116.9},
    {"vector_add_stride32", "vector add, stride 32", 16777216, 201326592, 1610.6, 1610.9, 4339.9, 21.5566, 107.6},
    {"transpose_naive", "transpose, naive", 0, 134217728, 604.0, 604.4, 360.3, 2.6844, 111.5},
    {"transpose_tiled", "transpose, tiled", 0, 134217728, 134.2, 134.5, 159.3, 1.1871, 102.4},
    {"matmul_naive", "matmul, naive", 268435456, 1074790400, 537.9, 67.3, 4.2, 0.0039, 3.8},
    {"matmul_tiled16", "matmul, tiled 16", 268435456, 68157440, 67.8, 65.1, 3.9, 0.0579, 5.7},
    {"block_reduction", "block reduction", 16777215, 67371008, 69.2, 69.6, 92.2, 1.3688, 65.5},
    {"stencil_global", "stencil, global", 41861160, 100466784, 121.1, 46.9, 44.7, 0.4448, 112.0},
    {"stencil_tiled", "stencil, tiled", 41861160, 39026704, 48.5, 47.0, 48.2, 1.2350, 106.9},
    {"polynomial256", "polynomial, 256", 8606711808, 134217728, 134.2, 134.6, 170.8, 1.2724, 60.7},
};

static inline struct rl_run *sample_run_t4(void)
{
    struct rl_run *run = rl_run_new();
    MUST(run != NULL);
    sample_head(run);
    run->source = RL_IMPORTED;
    run->device.name = "Tesla T4";
    run->environment.driver_version = sample_text("595.84");
    run->environment.cuda_runtime_version = sample_text("12.6");
    run->counters.floor_dram_bytes = rl_unknown("the table does not say");
    run->ceilings = rl_arena_array(run->arena, 2, sizeof *run->ceilings);
    run->ceiling_count = 2;
    MUST(run->ceilings != NULL);
    sample_ceiling(&run->ceilings[0], "dram_copy", RL_WARM, "byte_per_s", 245.1e9);
    sample_ceiling(&run->ceilings[1], "fp32_fma", RL_WARM, "flop_per_s", 30.49 * 245.1e9);
    struct rl_row *rows = sample_rows(run, 10);
    for (size_t i = 0; i < 10; i++) {
        const struct t4_row *t4 = &t4_rows[i];
        struct rl_row_state *s = &rows[i].state[RL_WARM];
        rows[i].kernel = t4->kernel;
        rows[i].title = t4->title;
        rows[i].flop = sample_count(t4->flop);
        rows[i].ask_bytes = sample_count(t4->ask);
        s->present = true;
        s->attempts = 1;
        s->time_s = sample_times(t4->dram_mb * 1e6 / (t4->percent / 100 * 245.1e9));
        s->bytes.l1 = rl_known(t4->l1_mb * 1e6);
        s->bytes.l2 = rl_known(t4->l2_mb * 1e6);
        s->bytes.dram = rl_known(t4->dram_mb * 1e6);
    }
    rl_derive(run);
    return run;
}

#endif
