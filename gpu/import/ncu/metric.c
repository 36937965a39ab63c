/* The metrics that an import uses, under every name that a profiler has given them, and their units.
 *
 * Names: GB20x has dram__bytes_op_read and _op_write for dram__bytes_read and _write; Volta's first tools had fbpa__
 * ones. A DRAM or L2 sector is 32 bytes (the profiler's own documentation). Prefixes of units are decimal: K, M, G are
 * 10^3, 10^6, 10^9. */
#include "gpu/import/ncu/metric.h"

#include <stdbool.h>
#include <string.h>

/* Thread instructions of one kind: of the sub-partitions, or summed over the SM; counted, or per cycle that the SMs'
 * clocks ran (ncu 2025.3 --set full, H200: 147.75 per cycle x sm__cycles_elapsed.avg is 1.00002 of what vector_add
 * executes, x smsp__cycles_elapsed.avg, of another pass, 0.989). */
#define INSTRUCTIONS(op, value)                                                                                        \
    {"smsp__sass_thread_inst_executed_op_" op "_pred_on.sum", value, IMPORT_COUNTS, 1},                                \
        {"sm__sass_thread_inst_executed_op_" op "_pred_on.sum", value, IMPORT_COUNTS, 1},                              \
        {"smsp__sass_thread_inst_executed_op_" op "_pred_on.sum.per_cycle_elapsed", value, IMPORT_PER_CYCLE, 1},       \
    {                                                                                                                  \
        "sm__sass_thread_inst_executed_op_" op "_pred_on.sum.per_cycle_elapsed", value, IMPORT_PER_CYCLE, 1            \
    }

const struct import_metric import_metrics[] = {
    {"dram__bytes.sum", IMPORT_DRAM, IMPORT_BYTES, 1},
    {"dram__bytes.sum.per_second", IMPORT_DRAM, IMPORT_PER_SECOND, 1},
    {"dram__bytes_read.sum", IMPORT_DRAM_READ, IMPORT_BYTES, 1},
    {"dram__bytes_op_read.sum", IMPORT_DRAM_READ, IMPORT_BYTES, 1},
    {"fbpa__dram_read_bytes.sum", IMPORT_DRAM_READ, IMPORT_BYTES, 1},
    {"dram__sectors_read.sum", IMPORT_DRAM_READ, IMPORT_COUNTS, 32},
    {"fbpa__dram_read_sectors.sum", IMPORT_DRAM_READ, IMPORT_COUNTS, 32},
    {"dram__bytes_read.sum.per_second", IMPORT_DRAM_READ, IMPORT_PER_SECOND, 1},
    {"dram__bytes_op_read.sum.per_second", IMPORT_DRAM_READ, IMPORT_PER_SECOND, 1},
    {"dram__bytes_write.sum", IMPORT_DRAM_WRITE, IMPORT_BYTES, 1},
    {"dram__bytes_op_write.sum", IMPORT_DRAM_WRITE, IMPORT_BYTES, 1},
    {"fbpa__dram_write_bytes.sum", IMPORT_DRAM_WRITE, IMPORT_BYTES, 1},
    {"dram__sectors_write.sum", IMPORT_DRAM_WRITE, IMPORT_COUNTS, 32},
    {"fbpa__dram_write_sectors.sum", IMPORT_DRAM_WRITE, IMPORT_COUNTS, 32},
    {"dram__bytes_write.sum.per_second", IMPORT_DRAM_WRITE, IMPORT_PER_SECOND, 1},
    {"dram__bytes_op_write.sum.per_second", IMPORT_DRAM_WRITE, IMPORT_PER_SECOND, 1},
    {"l1tex__t_bytes.sum", IMPORT_L1, IMPORT_BYTES, 1},
    {"l1tex__t_bytes.sum.per_second", IMPORT_L1, IMPORT_PER_SECOND, 1},
    {"lts__t_bytes.sum", IMPORT_L2, IMPORT_BYTES, 1},
    {"lts__t_sectors.sum", IMPORT_L2, IMPORT_COUNTS, 32},
    {"lts__t_bytes.sum.per_second", IMPORT_L2, IMPORT_PER_SECOND, 1},
    {"lts__t_sectors.sum.per_second", IMPORT_L2, IMPORT_PER_SECOND, 32},
    {"lts__t_sectors_srcunit_tex.sum", IMPORT_L2_SM, IMPORT_COUNTS, 32},
    {"smsp__sass_data_bytes_mem_local.sum", IMPORT_LOCAL, IMPORT_BYTES, 1},
    INSTRUCTIONS("fadd", IMPORT_FADD),
    INSTRUCTIONS("fmul", IMPORT_FMUL),
    INSTRUCTIONS("ffma", IMPORT_FFMA),
    INSTRUCTIONS("dadd", IMPORT_DADD),
    INSTRUCTIONS("dmul", IMPORT_DMUL),
    INSTRUCTIONS("dfma", IMPORT_DFMA),
    INSTRUCTIONS("hadd", IMPORT_HADD),
    INSTRUCTIONS("hmul", IMPORT_HMUL),
    INSTRUCTIONS("hfma", IMPORT_HFMA),
    INSTRUCTIONS("fadd2", IMPORT_FADD2),
    INSTRUCTIONS("fmul2", IMPORT_FMUL2),
    INSTRUCTIONS("ffma2", IMPORT_FFMA2),
    {"sm__ops_path_tensor_src_fp16.sum", IMPORT_TENSOR_FP16, IMPORT_COUNTS, 1},
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", IMPORT_TENSOR_BF16, IMPORT_COUNTS, 1},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", IMPORT_TENSOR_TF32, IMPORT_COUNTS, 1},
    {"sm__ops_path_tensor_src_fp64.sum", IMPORT_TENSOR_FP64, IMPORT_COUNTS, 1},
    {"sm__ops_path_tensor_src_fp8_sparsity_off.sum", IMPORT_TENSOR_FP8, IMPORT_COUNTS, 1},
    {"sm__ops_path_tensor_src_fp8_sparsity_on.sum", IMPORT_TENSOR_FP8_SPARSE, IMPORT_COUNTS, 1},
    {"launch__registers_per_thread", IMPORT_REGISTERS, IMPORT_PLAIN, 1},
    {"launch__shared_mem_per_block_static", IMPORT_SHARED_STATIC, IMPORT_BYTES, 1},
    {"launch__shared_mem_per_block_dynamic", IMPORT_SHARED_DYNAMIC, IMPORT_BYTES, 1},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", IMPORT_OCCUPANCY, IMPORT_PERCENT, 1},
    {"lts__t_sector_hit_rate.pct", IMPORT_L2_HIT, IMPORT_PERCENT, 1},
    {"l1tex__t_sector_hit_rate.pct", IMPORT_L1_HIT, IMPORT_PERCENT, 1},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", IMPORT_DRAM_PERCENT, IMPORT_PERCENT, 1},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", IMPORT_DRAM_PERCENT, IMPORT_PERCENT, 1},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", IMPORT_SM_PERCENT, IMPORT_PERCENT, 1},
    {"gpu__time_duration.sum", IMPORT_DURATION, IMPORT_SECONDS, 1},
    {"gpu__time_duration.avg", IMPORT_DURATION, IMPORT_SECONDS, 1},
    {"gpu__time_duration.max", IMPORT_DURATION, IMPORT_SECONDS, 1},
    {"Duration", IMPORT_DURATION, IMPORT_SECONDS, 1},
    {"smsp__cycles_elapsed.avg.per_second", IMPORT_SM_HZ, IMPORT_HERTZ, 1},
    {"sm__cycles_elapsed.avg.per_second", IMPORT_SM_HZ, IMPORT_HERTZ, 1},
    {"SM Frequency", IMPORT_SM_HZ, IMPORT_HERTZ, 1},
    {"sm__cycles_elapsed.avg", IMPORT_CYCLES, IMPORT_PLAIN, 1},
    {"smsp__cycles_elapsed.avg", IMPORT_CYCLES, IMPORT_PLAIN, 1},
    {"sm__cycles_elapsed.max", IMPORT_CYCLES, IMPORT_PLAIN, 1},
    {"smsp__cycles_elapsed.max", IMPORT_CYCLES, IMPORT_PLAIN, 1},
    {"Elapsed Cycles", IMPORT_CYCLES, IMPORT_PLAIN, 1},
    {"device__attribute_l2_cache_size", IMPORT_DEVICE_L2, IMPORT_PLAIN, 1},
    {"device__attribute_multiprocessor_count", IMPORT_DEVICE_SMS, IMPORT_PLAIN, 1},
    {"device__attribute_total_memory", IMPORT_DEVICE_MEMORY, IMPORT_PLAIN, 1},
    {"device__attribute_global_memory_bus_width", IMPORT_DEVICE_BUS, IMPORT_PLAIN, 1},
    {"device__attribute_clock_rate", IMPORT_DEVICE_SM_KHZ, IMPORT_PLAIN, 1},
    {"device__attribute_memory_clock_rate", IMPORT_DEVICE_MEMORY_KHZ, IMPORT_PLAIN, 1},
    {"device__attribute_warp_size", IMPORT_DEVICE_WARP, IMPORT_PLAIN, 1},
    {"device__attribute_max_threads_per_multiprocessor", IMPORT_DEVICE_THREADS, IMPORT_PLAIN, 1},
    {"device__attribute_display_name", IMPORT_DEVICE_NAME, IMPORT_TEXT, 1},
};
const size_t import_metric_count = sizeof import_metrics / sizeof import_metrics[0];

static const struct import_metric tensor_seen = {"a tensor pipe", IMPORT_TENSOR_SEEN, IMPORT_ANY, 1};

/* Metrics that tell only whether the tensor cores worked on floating-point numbers: instructions, cycles, utilisation,
 * under names that each chip has its own of. What a pipe can do at most (".peak_sustained" alone) tells nothing. */
static bool tells_of_tensors(const char *name)
{
    static const char *const integer[] = {"_imma", "_igmma", "_bmma", "_bgmma"};
    static const char *const floating[] = {"_hmma", "_dmma", "_hgmma", "_qgmma", "_fp"};
    if (strstr(name, "pipe_tensor") == NULL || strncmp(name, "sm", 2) != 0)
        return false;
    if (strstr(name, ".peak_sustained") != NULL)
        return false;
    bool of_integers = false;
    for (size_t i = 0; i < sizeof integer / sizeof integer[0]; i++)
        of_integers = of_integers || strstr(name, integer[i]) != NULL;
    for (size_t i = 0; i < sizeof floating / sizeof floating[0]; i++)
        if (strstr(name, floating[i]) != NULL)
            return true;
    return !of_integers;
}

const struct import_metric *import_metric_find(const char *name)
{
    for (size_t i = 0; i < import_metric_count; i++)
        if (strcmp(import_metrics[i].name, name) == 0)
            return &import_metrics[i];
    return tells_of_tensors(name) ? &tensor_seen : NULL;
}

static const char *const bases[][8] = {
    [IMPORT_BYTES] = {"byte", "byte/block", NULL},
    [IMPORT_COUNTS] = {"", "inst", "thread", "op", "sector", "sectors", NULL},
    [IMPORT_PERCENT] = {"%", NULL},
    [IMPORT_PLAIN] = {"", "register/thread", "byte", "thread", "cycle", NULL},
    [IMPORT_TEXT] = {"", NULL},
    [IMPORT_SECONDS] = {"s", "second", "sec", NULL},
    [IMPORT_HERTZ] = {"hz", "Hz", "cycle/second", "cycle/s", NULL},
    [IMPORT_PER_SECOND] = {"byte/s", "byte/second", "sector/s", "sector/second", NULL},
    [IMPORT_PER_CYCLE] = {"", "inst/cycle", "thread/cycle", "1/cycle", NULL},
};

static bool is_base(enum import_unit kind, const char *unit)
{
    for (size_t i = 0; bases[kind][i] != NULL; i++)
        if (strcmp(bases[kind][i], unit) == 0)
            return true;
    return false;
}

/* Units of their own: parts of a second, and clocks against them. */
static int special_scale(enum import_unit kind, const char *unit, double *ret)
{
    static const struct {
        enum import_unit kind;
        const char *unit;
        double scale;
    } units[] = {{IMPORT_SECONDS, "ns", 1e-9},         {IMPORT_SECONDS, "nsecond", 1e-9},
                 {IMPORT_SECONDS, "us", 1e-6},         {IMPORT_SECONDS, "usecond", 1e-6},
                 {IMPORT_SECONDS, "ms", 1e-3},         {IMPORT_SECONDS, "msecond", 1e-3},
                 {IMPORT_HERTZ, "cycle/nsecond", 1e9}, {IMPORT_HERTZ, "cycle/ns", 1e9},
                 {IMPORT_HERTZ, "cycle/usecond", 1e6}, {IMPORT_HERTZ, "cycle/us", 1e6},
                 {IMPORT_HERTZ, "cycle/msecond", 1e3}, {IMPORT_HERTZ, "cycle/ms", 1e3},
                 {IMPORT_PER_SECOND, "byte/ns", 1e9},  {IMPORT_PER_SECOND, "byte/nsecond", 1e9},
                 {IMPORT_PER_SECOND, "byte/us", 1e6},  {IMPORT_PER_SECOND, "byte/usecond", 1e6}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].kind == kind && strcmp(units[i].unit, unit) == 0) {
            *ret = units[i].scale;
            return 0;
        }
    return -1;
}

int import_unit_scale(enum import_unit kind, const char *unit, double *ret)
{
    static const struct {
        char prefix;
        double scale;
    } prefixes[] = {{'K', 1e3}, {'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
    if (kind == IMPORT_ANY || is_base(kind, unit)) {
        *ret = 1;
        return 0;
    }
    if (special_scale(kind, unit, ret) == 0)
        return 0;
    if (kind == IMPORT_PERCENT || kind == IMPORT_TEXT || kind == IMPORT_SECONDS)
        return -1;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (unit[0] == prefixes[i].prefix && unit[1] != '\0' && is_base(kind, unit + 1)) {
            *ret = prefixes[i].scale;
            return 0;
        }
    return -1;
}

const char *import_unit_expected(enum import_unit kind)
{
    static const char *const words[] = {
        [IMPORT_BYTES] = "byte, Kbyte, Mbyte, Gbyte or Tbyte (decimal)",
        [IMPORT_COUNTS] = "none, inst or sector, with K, M or G before it (decimal)",
        [IMPORT_PERCENT] = "%",
        [IMPORT_PLAIN] = "none",
        [IMPORT_TEXT] = "none",
        [IMPORT_SECONDS] = "ns, us, ms or second",
        [IMPORT_HERTZ] = "hz, Mhz, Ghz or cycle/nsecond",
        [IMPORT_PER_SECOND] = "byte/second, with K, M, G or T before it (decimal)",
        [IMPORT_PER_CYCLE] = "inst/cycle",
        [IMPORT_ANY] = "any",
    };
    return words[kind];
}
