/* Which metric of a chip answers each of our counters. Data only: no CUPTI here, so that every row can be tested on a
 * machine without a GPU (tests/unit/counters/test_counters.c configures all of them with CUPTI's host library).
 *
 * The chips are those that CUPTI 13.0 lists (cuptiProfilerHostGetSupportedChips, 2026-11-29), but for GV11B, which it
 * lists and then refuses to configure (result 27). Differences between them:
 * - GB20x renames DRAM reads and writes to dram__bytes_op_read and dram__bytes_op_write;
 * - chips that share the CPU's memory (GA10B, GB10B, GB20B) have no DRAM counters at all;
 * - GB100, GB102 and GB110 also have packed FP32 instructions, whose threads do two operations each.
 */
#include <string.h>

#include "gpu/counters/counters.h"

enum family { DISCRETE, DISCRETE_PACKED_FP32, DISCRETE_OP_DRAM, SHARED_MEMORY };

struct chip {
    const char *name;
    enum family family;
};

static const struct chip chips[] = {
    {"GV100", DISCRETE},
    {"TU102", DISCRETE},
    {"TU104", DISCRETE},
    {"TU106", DISCRETE},
    {"TU116", DISCRETE},
    {"TU117", DISCRETE},
    {"GA100", DISCRETE},
    {"GA102", DISCRETE},
    {"GA103", DISCRETE},
    {"GA104", DISCRETE},
    {"GA106", DISCRETE},
    {"GA107", DISCRETE},
    {"GA10B", SHARED_MEMORY},
    {"GH100", DISCRETE},
    {"AD102", DISCRETE},
    {"AD103", DISCRETE},
    {"AD104", DISCRETE},
    {"AD106", DISCRETE},
    {"AD107", DISCRETE},
    {"GB100", DISCRETE_PACKED_FP32},
    {"GB102", DISCRETE_PACKED_FP32},
    {"GB110", DISCRETE_PACKED_FP32},
    {"GB10B", SHARED_MEMORY},
    {"GB202", DISCRETE_OP_DRAM},
    {"GB203", DISCRETE_OP_DRAM},
    {"GB205", DISCRETE_OP_DRAM},
    {"GB206", DISCRETE_OP_DRAM},
    {"GB207", DISCRETE_OP_DRAM},
    {"GB20B", SHARED_MEMORY},
};

static const char *const names[COUNTER_COUNT] = {
    [COUNTER_DRAM_READ] = "dram_read",
    [COUNTER_DRAM_WRITE] = "dram_write",
    [COUNTER_L2] = "l2",
    [COUNTER_L2_SM_SECTORS] = "l2_sm_sectors",
    [COUNTER_L1] = "l1",
    [COUNTER_WARPS_ACTIVE] = "warps_active_pct",
    [COUNTER_FP64_ADD] = "fp64_add",
    [COUNTER_FP64_MUL] = "fp64_mul",
    [COUNTER_FP64_FMA] = "fp64_fma",
    [COUNTER_FP32_ADD] = "fp32_add",
    [COUNTER_FP32_MUL] = "fp32_mul",
    [COUNTER_FP32_FMA] = "fp32_fma",
    [COUNTER_FP16_ADD] = "fp16_add",
    [COUNTER_FP16_MUL] = "fp16_mul",
    [COUNTER_FP16_FMA] = "fp16_fma",
    [COUNTER_LOCAL_BYTES] = "local_bytes",
};

/* The same on every chip of the list, but for the two DRAM counters. */
static const char *const common[COUNTER_COUNT] = {
    [COUNTER_DRAM_READ] = "dram__bytes_read.sum",
    [COUNTER_DRAM_WRITE] = "dram__bytes_write.sum",
    [COUNTER_L2] = "lts__t_bytes.sum",
    [COUNTER_L2_SM_SECTORS] = "lts__t_sectors_srcunit_tex.sum",
    [COUNTER_L1] = "l1tex__t_bytes.sum",
    [COUNTER_WARPS_ACTIVE] = "sm__warps_active.avg.pct_of_peak_sustained_active",
    [COUNTER_FP64_ADD] = "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    [COUNTER_FP64_MUL] = "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    [COUNTER_FP64_FMA] = "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    [COUNTER_FP32_ADD] = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    [COUNTER_FP32_MUL] = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    [COUNTER_FP32_FMA] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    [COUNTER_FP16_ADD] = "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
    [COUNTER_FP16_MUL] = "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
    [COUNTER_FP16_FMA] = "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
    [COUNTER_LOCAL_BYTES] = "smsp__sass_data_bytes_mem_local.sum",
};

static const struct chip *find(const char *name)
{
    for (size_t i = 0; name && i < sizeof chips / sizeof *chips; i++)
        if (!strcmp(chips[i].name, name))
            return &chips[i];
    return NULL;
}

size_t counter_chip_count(void)
{
    return sizeof chips / sizeof *chips;
}

const char *counter_chip(size_t index)
{
    return index < counter_chip_count() ? chips[index].name : NULL;
}

const char *counter_name(enum counter_id id)
{
    return names[id];
}

const char *counter_metric(const char *chip, enum counter_id id, const char **ret_why)
{
    const struct chip *c = find(chip);
    if (!c) {
        if (ret_why)
            *ret_why = "this build's metric table does not know the chip";
        return NULL;
    }
    if (id == COUNTER_DRAM_READ || id == COUNTER_DRAM_WRITE) {
        if (c->family == SHARED_MEMORY) {
            if (ret_why)
                *ret_why = "the chip shares the CPU's memory and has no DRAM counters";
            return NULL;
        }
        if (c->family == DISCRETE_OP_DRAM)
            return id == COUNTER_DRAM_READ ? "dram__bytes_op_read.sum" : "dram__bytes_op_write.sum";
    }
    return common[id];
}

const char *counter_packed_metric(const char *chip, enum counter_id id)
{
    const struct chip *c = find(chip);
    if (!c || c->family != DISCRETE_PACKED_FP32)
        return NULL;
    switch (id) {
    case COUNTER_FP32_ADD:
        return "smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum";
    case COUNTER_FP32_MUL:
        return "smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum";
    case COUNTER_FP32_FMA:
        return "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum";
    default:
        return NULL;
    }
}
