/* Nsight Compute's metrics, and what they are to us. */
#ifndef GPU_IMPORT_NCU_METRIC_H
#define GPU_IMPORT_NCU_METRIC_H

#include <stddef.h>

enum import_value {
    /* whole numbers of one launch: bytes, instructions, operations */
    IMPORT_DRAM,
    IMPORT_DRAM_READ,
    IMPORT_DRAM_WRITE,
    IMPORT_L1,
    IMPORT_L2,
    IMPORT_L2_SM,
    IMPORT_LOCAL,
    IMPORT_FADD,
    IMPORT_FMUL,
    IMPORT_FFMA,
    IMPORT_DADD,
    IMPORT_DMUL,
    IMPORT_DFMA,
    IMPORT_HADD,
    IMPORT_HMUL,
    IMPORT_HFMA,
    IMPORT_FADD2, /* packed FP32 of GB10x: two operations, or two FMA, each */
    IMPORT_FMUL2,
    IMPORT_FFMA2,
    IMPORT_TENSOR_FP16, /* operations of the tensor cores by the type that they read */
    IMPORT_TENSOR_BF16,
    IMPORT_TENSOR_TF32,
    IMPORT_TENSOR_FP64,
    IMPORT_TENSOR_FP8,
    IMPORT_TENSOR_FP8_SPARSE,
    IMPORT_WHOLE_VALUES,
    IMPORT_REGISTERS = IMPORT_WHOLE_VALUES,
    IMPORT_SHARED_STATIC,
    IMPORT_SHARED_DYNAMIC,
    IMPORT_OCCUPANCY,
    IMPORT_L2_HIT,
    IMPORT_L1_HIT,
    IMPORT_DRAM_PERCENT,
    IMPORT_SM_PERCENT,
    IMPORT_DURATION,    /* s, of the profiler's own clock */
    IMPORT_SM_HZ,       /* SM clock, mean over the launch */
    IMPORT_CYCLES,      /* elapsed, mean over the SMs */
    IMPORT_TENSOR_SEEN, /* above 0 where the tensor cores did anything */
    IMPORT_LAUNCH_VALUES,
    /* of the device: read once */
    IMPORT_DEVICE_L2 = IMPORT_LAUNCH_VALUES,
    IMPORT_DEVICE_SMS,
    IMPORT_DEVICE_MEMORY,
    IMPORT_DEVICE_BUS,
    IMPORT_DEVICE_SM_KHZ,
    IMPORT_DEVICE_MEMORY_KHZ,
    IMPORT_DEVICE_WARP,
    IMPORT_DEVICE_THREADS,
    IMPORT_DEVICE_NAME, /* a text */
    IMPORT_VALUES
};
enum import_unit {
    IMPORT_BYTES,
    IMPORT_COUNTS,
    IMPORT_PERCENT,
    IMPORT_PLAIN,
    IMPORT_TEXT,
    IMPORT_SECONDS,
    IMPORT_HERTZ,
    IMPORT_PER_SECOND, /* of a whole value: times the launch's duration it is one */
    IMPORT_PER_CYCLE,  /* times its elapsed cycles */
    IMPORT_ANY         /* whether it is 0 is all that is asked */
};
struct import_metric {
    const char *name;
    enum import_value value;
    enum import_unit unit;
    double factor; /* of the metric's own unit to ours: a sector is 32 bytes */
};
extern const struct import_metric import_metrics[]; /* those of one value stand in order of preference */
extern const size_t import_metric_count;
/* The entry of a metric's name, or NULL: not one that is used. */
const struct import_metric *import_metric_find(const char *name);
/* How many of the metric's base unit one of `unit` is (decimal prefixes); -1 for an unknown unit. */
int import_unit_scale(enum import_unit kind, const char *unit, double *ret);
const char *import_unit_expected(enum import_unit kind); /* "byte, Kbyte, Mbyte, …" */

#endif
