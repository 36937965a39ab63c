/* Raw counts by name. */
#include "gpu/backend/count_fields.h"

#include <stddef.h>

struct field {
    const char *name;
    size_t offset;
};
#define RANGE(member)                                                                                                  \
    {                                                                                                                  \
#member, offsetof(struct gpu_counts, member)                                                                   \
    }
#define LAUNCH(member)                                                                                                 \
    {                                                                                                                  \
#member, offsetof(struct gpu_count_answer, member)                                                             \
    }

static const struct field range_fields[] = {RANGE(dram_read),     RANGE(dram_write), RANGE(l2),
                                            RANGE(l2_sm_sectors), RANGE(l1),         RANGE(warps_active_pct)};
static const struct field launch_fields[] = {LAUNCH(fp64_add), LAUNCH(fp64_mul),   LAUNCH(fp64_fma), LAUNCH(fp32_add),
                                             LAUNCH(fp32_mul), LAUNCH(fp32_fma),   LAUNCH(fp16_add), LAUNCH(fp16_mul),
                                             LAUNCH(fp16_fma), LAUNCH(local_bytes)};
_Static_assert(sizeof range_fields / sizeof range_fields[0] == GPU_RANGE_FIELDS, "one field per counter of a range");
_Static_assert(sizeof(struct gpu_counts) == GPU_RANGE_FIELDS * sizeof(struct rl_real), "no counter is left out");
_Static_assert(sizeof launch_fields / sizeof launch_fields[0] == GPU_LAUNCH_FIELDS, "one field per count of a launch");
_Static_assert(sizeof(struct gpu_count_answer) ==
                   2 * sizeof(struct gpu_counts) + GPU_LAUNCH_FIELDS * sizeof(struct rl_real),
               "no count is left out");

const char *gpu_range_name(size_t i)
{
    return range_fields[i].name;
}

struct rl_real *gpu_range_field(struct gpu_counts *counts, size_t i)
{
    return (struct rl_real *)(void *)((char *)counts + range_fields[i].offset);
}

struct rl_real gpu_range_value(const struct gpu_counts *counts, size_t i)
{
    struct gpu_counts copy = *counts;
    return *gpu_range_field(&copy, i);
}

const char *gpu_launch_name(size_t i)
{
    return launch_fields[i].name;
}

struct rl_real *gpu_launch_field(struct gpu_count_answer *answer, size_t i)
{
    return (struct rl_real *)(void *)((char *)answer + launch_fields[i].offset);
}

struct rl_real gpu_launch_value(const struct gpu_count_answer *answer, size_t i)
{
    struct gpu_count_answer copy = *answer;
    return *gpu_launch_field(&copy, i);
}
