/* The raw counts of a range and of one launch by name: the names that they have in recordings and the protocol's
 * counter lines, in the order of the structs. */
#ifndef GPU_BACKEND_COUNT_FIELDS_H
#define GPU_BACKEND_COUNT_FIELDS_H

#include "gpu/backend/backend.h"

#define GPU_RANGE_FIELDS  6  /* of struct gpu_counts: "dram_read" … */
#define GPU_LAUNCH_FIELDS 10 /* of struct gpu_count_answer beside its ranges: "fp64_add" … "local_bytes" */

/* i is below the number of fields. */
const char *gpu_range_name(size_t i);
struct rl_real *gpu_range_field(struct gpu_counts *counts, size_t i);
struct rl_real gpu_range_value(const struct gpu_counts *counts, size_t i);
const char *gpu_launch_name(size_t i);
struct rl_real *gpu_launch_field(struct gpu_count_answer *answer, size_t i);
struct rl_real gpu_launch_value(const struct gpu_count_answer *answer, size_t i);

#endif
