/* The metrics that an import uses, under every name that a profiler has given them, and their units.
 *
 * Names: GB20x has dram__bytes_op_read and _op_write for dram__bytes_read and _write; Volta's first tools had fbpa__
 * ones. A DRAM or L2 sector is 32 bytes (the profiler's own documentation). Prefixes of units are decimal: K, M, G are
 * 10^3, 10^6, 10^9. */
#include <string.h>

#include "import_internal.h"

const struct import_metric import_metrics[] = {
    {"dram__bytes.sum", IMPORT_DRAM, IMPORT_BYTES, 1},
    {"dram__bytes_read.sum", IMPORT_DRAM_READ, IMPORT_BYTES, 1},
    {"dram__bytes_op_read.sum", IMPORT_DRAM_READ, IMPORT_BYTES, 1},
    {"fbpa__dram_read_bytes.sum", IMPORT_DRAM_READ, IMPORT_BYTES, 1},
    {"dram__sectors_read.sum", IMPORT_DRAM_READ, IMPORT_COUNTS, 32},
    {"fbpa__dram_read_sectors.sum", IMPORT_DRAM_READ, IMPORT_COUNTS, 32},
    {"dram__bytes_write.sum", IMPORT_DRAM_WRITE, IMPORT_BYTES, 1},
    {"dram__bytes_op_write.sum", IMPORT_DRAM_WRITE, IMPORT_BYTES, 1},
    {"fbpa__dram_write_bytes.sum", IMPORT_DRAM_WRITE, IMPORT_BYTES, 1},
    {"dram__sectors_write.sum", IMPORT_DRAM_WRITE, IMPORT_COUNTS, 32},
    {"fbpa__dram_write_sectors.sum", IMPORT_DRAM_WRITE, IMPORT_COUNTS, 32},
    {"l1tex__t_bytes.sum", IMPORT_L1, IMPORT_BYTES, 1},
    {"lts__t_bytes.sum", IMPORT_L2, IMPORT_BYTES, 1},
    {"lts__t_sectors.sum", IMPORT_L2, IMPORT_COUNTS, 32},
    {"lts__t_sectors_srcunit_tex.sum", IMPORT_L2_SM, IMPORT_COUNTS, 32},
    {"smsp__sass_data_bytes_mem_local.sum", IMPORT_LOCAL, IMPORT_BYTES, 1},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", IMPORT_FADD, IMPORT_COUNTS, 1},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", IMPORT_FMUL, IMPORT_COUNTS, 1},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", IMPORT_FFMA, IMPORT_COUNTS, 1},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", IMPORT_DADD, IMPORT_COUNTS, 1},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", IMPORT_DMUL, IMPORT_COUNTS, 1},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", IMPORT_DFMA, IMPORT_COUNTS, 1},
    {"launch__registers_per_thread", IMPORT_REGISTERS, IMPORT_PLAIN, 1},
    {"launch__shared_mem_per_block_static", IMPORT_SHARED_STATIC, IMPORT_BYTES, 1},
    {"launch__shared_mem_per_block_dynamic", IMPORT_SHARED_DYNAMIC, IMPORT_BYTES, 1},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", IMPORT_OCCUPANCY, IMPORT_PERCENT, 1},
    {"lts__t_sector_hit_rate.pct", IMPORT_L2_HIT, IMPORT_PERCENT, 1},
    {"l1tex__t_sector_hit_rate.pct", IMPORT_L1_HIT, IMPORT_PERCENT, 1},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", IMPORT_DRAM_PERCENT, IMPORT_PERCENT, 1},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", IMPORT_DRAM_PERCENT, IMPORT_PERCENT, 1},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", IMPORT_SM_PERCENT, IMPORT_PERCENT, 1},
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

const struct import_metric *import_metric_find(const char *name)
{
    for (size_t i = 0; i < import_metric_count; i++)
        if (strcmp(import_metrics[i].name, name) == 0)
            return &import_metrics[i];
    return NULL;
}

static const char *const bases[][6] = {
    [IMPORT_BYTES] = {"byte", "byte/block", NULL},
    [IMPORT_COUNTS] = {"", "inst", "sector", "sectors", NULL},
    [IMPORT_PERCENT] = {"%", NULL},
    [IMPORT_PLAIN] = {"", "register/thread", "byte", "thread", NULL},
    [IMPORT_TEXT] = {"", NULL},
};

static bool is_base(enum import_unit kind, const char *unit)
{
    for (size_t i = 0; bases[kind][i] != NULL; i++)
        if (strcmp(bases[kind][i], unit) == 0)
            return true;
    return false;
}

int import_unit_scale(enum import_unit kind, const char *unit, double *ret)
{
    static const struct {
        char prefix;
        double scale;
    } prefixes[] = {{'K', 1e3}, {'k', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
    if (is_base(kind, unit)) {
        *ret = 1;
        return 0;
    }
    if (kind != IMPORT_BYTES && kind != IMPORT_COUNTS)
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
    };
    return words[kind];
}
