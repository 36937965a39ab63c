/* See bench_run.h. Sizes of documents, transcripts and samples are those of a replayed H200 run (2026-11-29). */
#include "tests/bench/bench_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/record/derive/derive.h"

#define KERNEL(name, time, dram, ask)                                                                                  \
    {name, false, RL_WARM, time, 0, dram, ask},                                                                        \
    {                                                                                                                  \
        name, false, RL_COLD, (time)*1.2, 0, dram, ask                                                                 \
    }
#define CEILING(name, state, time, value, dram)                                                                        \
    {                                                                                                                  \
        name, true, state, time, value, dram, 2147483648                                                               \
    }
const struct bench_unit bench_units[BENCH_UNITS] = {
    KERNEL("vector_add", 47.1e-6, 201.3e6, 201326592),
    KERNEL("vector_add_stride32", 1010e-6, 3221.4e6, 201326592),
    KERNEL("transpose_naive", 290e-6, 140.8e6, 134217728),
    KERNEL("transpose_tiled", 42e-6, 134.2e6, 134217728),
    KERNEL("matmul_naive", 91e-6, 3800, 1074790400),
    KERNEL("matmul_tiled16", 60e-6, 3900, 68157440),
    KERNEL("block_reduction", 75e-6, 67.4e6, 67371008),
    KERNEL("stencil_global", 31e-6, 2.9e6, 100466784),
    KERNEL("stencil_tiled", 41e-6, 2.9e6, 39026704),
    KERNEL("polynomial256", 190e-6, 134.2e6, 134217728),
    CEILING("dram_copy", RL_WARM, 505e-6, 4.248e12, 2147.5e6),
    CEILING("dram_copy", RL_COLD, 527e-6, 4.069e12, 2147.5e6),
    CEILING("fp32_fma", RL_WARM, 2098e-6, 65.4e12, 0),
    CEILING("dram_copy_scalar", RL_WARM, 791e-6, 2.714e12, 2147.5e6),
    CEILING("dram_memcpy", RL_WARM, 505e-6, 4.245e12, 2147.5e6),
    CEILING("dram_read", RL_WARM, 237e-6, 4.52e12, 1073.7e6),
    CEILING("dram_read", RL_COLD, 250e-6, 4.31e12, 1073.7e6),
    CEILING("dram_write", RL_WARM, 231e-6, 4.65e12, 1073.7e6),
    CEILING("dram_write", RL_COLD, 240e-6, 4.49e12, 1073.7e6),
    CEILING("dram_triad", RL_WARM, 735e-6, 4.38e12, 3221.2e6),
    CEILING("dram_triad", RL_COLD, 750e-6, 4.29e12, 3221.2e6),
};

static struct rl_text text(const char *value)
{
    return (struct rl_text){value, NULL};
}
static struct rl_count count(int64_t value)
{
    return (struct rl_count){value, NULL};
}

static struct rl_times times(uint64_t *seed, double median, int64_t launches)
{
    return (struct rl_times){.median = rl_known(median),
                             .p25 = rl_known(median * bench_noise(seed, 1e-3)),
                             .p75 = rl_known(median * bench_noise(seed, 1e-3)),
                             .min = rl_known(median * bench_noise(seed, 1e-3)),
                             .std_error = rl_known(median * 1e-3 * bench_noise(seed, 0.1)),
                             .n = 12,
                             .launches = launches,
                             .stop = text("std_error")};
}

static void fill_state(uint64_t *seed, struct rl_row_state *s, const struct bench_unit *unit)
{
    double dram = unit->dram_bytes * bench_noise(seed, 1e-3);

    s->present = true;
    s->attempts = 1;
    s->time_s = times(seed, unit->time_s * bench_noise(seed, 3e-3), unit->state == RL_COLD ? 1 : 22);
    s->bytes.l1 = rl_known((double)unit->ask_bytes);
    s->bytes.l2 = rl_known((double)unit->ask_bytes * 1.5 * bench_noise(seed, 1e-3));
    s->bytes.l2_sm = rl_known((double)unit->ask_bytes);
    s->bytes.dram_read = rl_known(dram * 0.66);
    s->bytes.dram_write = rl_known(dram * 0.34);
    s->bytes.dram_settled = rl_known(dram);
    s->bytes.dram_4n = rl_known(dram * bench_noise(seed, 1e-3));
    s->occupancy = rl_known(0.9 * bench_noise(seed, 1e-2));
    s->local_bytes = rl_known(0);
    s->sm_hz = rl_known(1.98e9 * bench_noise(seed, 1e-3));
    s->memory_hz = rl_known(3.201e9);
    s->temperature_c = rl_known(50);
}

static void fill_rows(uint64_t *seed, struct rl_run *run)
{
    for (size_t i = 0; i < BENCH_KERNELS; i++) {
        struct rl_row *row = &run->rows[i];

        rl_row_unknown(row, "not counted in this benchmark");
        row->kernel = row->title = bench_units[2 * i].name;
        row->flop = count(268435456);
        row->flop_counted = rl_known(268435456);
        row->ask_bytes = count(bench_units[2 * i].ask_bytes);
        for (int k = 0; k < 3; k++)
            row->launch.grid[k] = row->launch.block[k] = 256;
        row->launch.registers = count(32);
        row->launch.shape = text("n 16777216");
        for (size_t k = 0; k < 2; k++)
            fill_state(seed, &row->state[k], &bench_units[2 * i + k]);
    }
}

static void fill_ceilings(uint64_t *seed, struct rl_run *run)
{
    for (size_t i = 0; i < BENCH_CEILINGS; i++) {
        const struct bench_unit *unit = &bench_units[2 * BENCH_KERNELS + i];
        struct rl_ceiling *ceiling = &run->ceilings[i];

        rl_ceiling_unknown(ceiling, "not counted in this benchmark");
        ceiling->name = unit->name;
        ceiling->state = unit->state;
        ceiling->unit = strcmp(unit->name, "fp32_fma") == 0 ? "flop_per_s" : "byte_per_s";
        ceiling->method = "copy: 2 * n * 4 bytes per launch over the median time of a launch in back-to-back batches";
        ceiling->shape = text("grid 131072, block 512, 1 x 16 bytes, one-shot, streaming");
        ceiling->value = rl_known(unit->value * bench_noise(seed, 2e-3));
        ceiling->time_s = times(seed, unit->time_s * bench_noise(seed, 2e-3), 10);
        ceiling->dram = rl_known(unit->dram_bytes * bench_noise(seed, 1e-3));
        ceiling->nominal = rl_known(unit->value * 1.13);
        ceiling->nominal_of = text("memory clock seen x 2 x bus width / 8");
        ceiling->sm_hz = rl_known(1.98e9 * bench_noise(seed, 1e-3));
        ceiling->memory_hz = rl_known(3.201e9);
    }
}

static void fill_records(uint64_t *seed, struct rl_run *run)
{
    for (size_t i = 0; i < run->check_count; i++)
        run->checks[i] = (struct rl_check){
            bench_units[i % BENCH_UNITS].name,
            "the whole output compared with an independent computation in double precision on the device",
            {true, NULL},
            rl_arena_printf(run->arena,
                            "max relative error %.3g of 4.0e-6 allowed at 16777216 elements; 10000 and all "
                            "edges compared with the host, %.0f bytes",
                            1e-7 * bench_uniform(seed), 1e9 * bench_uniform(seed)),
            true};
    for (size_t i = 0; i < run->telemetry_count; i++) {
        struct rl_telemetry *at = &run->telemetry[i];

        rl_telemetry_unknown(at, "not read in this benchmark");
        at->at = rl_arena_printf(run->arena, "%s %s %s", bench_units[i % BENCH_UNITS].name, i % 2 ? "warm" : "cold",
                                 i % 3 ? "before" : "after");
        at->time_s = rl_known((double)i * 0.1 * bench_noise(seed, 1e-2));
        at->sm_hz = rl_known(1.98e9);
        at->memory_hz = rl_known(3.201e9);
        at->temperature_c = rl_known(48 + 5 * (bench_random(seed) % 2 ? 1 : 0));
        at->power_w = rl_known(300 * bench_noise(seed, 0.1));
        at->energy_j = rl_known(1e6 * bench_noise(seed, 0.1));
    }
}

static void fill_head(struct rl_run *run)
{
    struct rl_environment *environment = &run->environment;

    run->suite = "verify";
    run->sizes = "course";
    run->started_at_ms = 1795982611000;
    run->finished_at_ms = 1795982615123;
    rl_device_unknown(&run->device, "not known in this benchmark");
    run->device.id = run->device.name = "NVIDIA H200";
    rl_environment_unknown(environment, "not known in this benchmark");
    environment->driver_version = text("580.159.04");
    environment->cuda_driver_version = environment->cuda_runtime_version = text("13.0");
    environment->hostname = text("node-1");
    environment->ecc = (struct rl_flag3){true, NULL};
    environment->mig = text("off");
    environment->power_limit_w = rl_known(700);
    environment->build = "0.1.0+bench";
    environment->cubin = text("sm_90");
    environment->method_version = RL_METHOD_VERSION;
    rl_counters_unknown(&run->counters, "not opened in this benchmark");
    run->counters.status = "ok";
    run->counters.floor_dram_bytes = rl_known(512);
    run->counters.flush_spread_bytes = rl_known(1024);
    run->counter_backed = true;
    run->ridge_flop_per_byte = rl_known(15.4);
}

struct rl_run *bench_run_new(uint64_t *seed)
{
    struct rl_run *run = rl_run_new();

    if (run == NULL)
        return NULL;
    fill_head(run);
    run->rows = rl_arena_array(run->arena, BENCH_KERNELS, sizeof *run->rows);
    run->ceilings = rl_arena_array(run->arena, BENCH_CEILINGS, sizeof *run->ceilings);
    run->checks = rl_arena_array(run->arena, 28, sizeof *run->checks);
    run->telemetry = rl_arena_array(run->arena, 64, sizeof *run->telemetry);
    if (run->rows == NULL || run->ceilings == NULL || run->checks == NULL || run->telemetry == NULL) {
        rl_run_free(run);
        return NULL;
    }
    run->row_count = BENCH_KERNELS;
    run->ceiling_count = BENCH_CEILINGS;
    run->check_count = 28;
    run->telemetry_count = 64;
    fill_rows(seed, run);
    fill_ceilings(seed, run);
    fill_records(seed, run);
    rl_derive(run);
    return run;
}

char *bench_transcript(uint64_t *seed)
{
    struct rl_buf out;

    rl_buf_init(&out, 1 << 20);
    for (int i = 0; i < 110; i++) {
        const struct bench_unit *unit = &bench_units[bench_random(seed) % BENCH_UNITS];

        rl_buf_printf(&out, "[%9.3f s] %-20s %-6s %10.3f us  n %3d x %-4d stop std_error    SM %d MHz\n",
                      i * 0.1 + bench_uniform(seed), unit->name, rl_state_name(unit->state),
                      unit->time_s * 1e6 * bench_noise(seed, 1e-2), 10 + (int)(bench_random(seed) % 20), 22,
                      1970 + (int)(bench_random(seed) % 11));
    }
    return rl_buf_take(&out);
}
